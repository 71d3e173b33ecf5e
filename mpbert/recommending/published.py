"""Where papers appeared, as a column of texts of an index: a list of as many for each paper."""

from collections.abc import Sequence

from mpbert.corpus.published import TEXTS, Publication
from mpbert.recommending.columns import ListColumn

NUM_PUBLISHED = len(TEXTS) + 1  # texts of a list
_DOI = TEXTS.index("doi")


def published_texts(published: Publication) -> list[str]:
    """Return a value of the column."""
    texts = [getattr(published, name) for name in TEXTS]
    return [*texts, "key" if published.id_is_key else ""]


def published_of(texts: Sequence[str]) -> Publication:
    """Return what a value of the column says."""
    *known, is_key = texts
    return Publication(*known, id_is_key=bool(is_key))


def doi_at(published: ListColumn, row: int) -> str:
    """Return the DOI of a row of the column; empty where there is none."""
    return published.values[NUM_PUBLISHED * row + _DOI]
