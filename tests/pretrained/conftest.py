"""A short name of the store."""

import pytest

from mpbert.corpus.store import CorpusStore


@pytest.fixture(scope="session")
def store(rfc_store: CorpusStore) -> CorpusStore:
    """Store of the 120 RFCs."""
    return rfc_store
