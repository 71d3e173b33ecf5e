"""Readers of raw corpora: one module per format; importing this folder registers them all."""

from mpbert.data.readers import (  # noqa: F401
    acl,
    beir,
    citeomatic,
    contexts,
    doc2json,
    jats,
    jsonl,
    rfc,
    s2orc,
    table_files,
    tei,
    unarxive,
)
from mpbert.data.readers.base import READERS, Reader

__all__ = ["READERS", "Reader"]
