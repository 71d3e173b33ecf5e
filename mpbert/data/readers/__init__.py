"""Readers of raw corpora: one module per format; importing this folder registers them all."""

from mpbert.data.readers import acl, jsonl, rfc  # noqa: F401
from mpbert.data.readers.base import READERS, Reader

__all__ = ["READERS", "Reader"]
