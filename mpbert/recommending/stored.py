"""An index whose papers lie in a store, too, which proposes them by their vectors."""

from pathlib import Path

import numpy as np

from mpbert.foundation.checksums import fingerprint
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.manifest import read_manifest
from mpbert.recommending.directory import IndexData, read_index
from mpbert.recommending.near import NearPapers
from mpbert.retrieval.stores.base import Mark
from mpbert.retrieval.stores.papers import owner_of, papers_in_store
from mpbert.retrieval.stores.urls import open_store


def read_stored(path: Path, url: str) -> tuple[IndexData, NearPapers]:
    """Return what an index holds, and its papers in a store, which is brought up to date.

    :raises ConfigError: the index has no vectors.
    :raises StoreUnavailableError: the store does not answer.
    """
    state = fingerprint(path)
    data = read_index(path)
    if fingerprint(path) != state:  # it was changed meanwhile
        return read_stored(path, url)
    vectors = data.tables.vectors
    rows = np.flatnonzero(vectors.any(axis=1))
    if not len(rows):
        raise ConfigError(
            f"--store {url}: {path} ranks by words and has no vectors; leave --store out"
        )
    papers = data.tables.papers
    ids, years = papers["paper_id"], papers["year"].astype(np.int64)
    mark = Mark(owner_of(_origin(path)), state)
    stored = papers_in_store(url, mark, ids, years, rows, lambda some: vectors[some])
    return data, NearPapers(stored, vectors, rows, years)


def check_reached(path: Path, url: str) -> None:
    """Check that a store answers, before an index is changed.

    :raises StoreUnavailableError: it does not.
    """
    open_store(url, owner_of(_origin(path))).mark()


def _origin(path: Path) -> str:
    """Return what stays of the manifest of an index when papers are added and removed."""
    manifest = read_manifest(path)
    return repr([manifest[name] for name in ("command", "config", "inputs")])
