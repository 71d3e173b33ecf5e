"""What an index knows of papers, and the sentences that cite them.

Tables, the vectors and the weights of exact matches are the source of everything else in an
index. The tables:

* papers, by row in the order of ids: ``paper_id title authors year venue abstract digest key
  published``, with what :class:`~mpbert.corpus.published.Publication` says as a list of texts;
* contexts, by row of the citing paper and position: ``citing_row position text around cited_rows``,
  with the sentences before and behind as one text, ``around``;
* bodies: ``body``, by row of the paper, and ``codes`` of its words, see
  :mod:`mpbert.recommending.sentence_codes`; indexes of earlier versions have none.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.recommending.columns import (
    CODES,
    INT32,
    ROWS,
    SHA256,
    TEXT,
    TEXTS,
    ColumnTable,
    ListColumn,
    Schema,
)
from mpbert.recommending.matching import PapersByToken

PAPERS: Schema = {
    "paper_id": TEXT,
    "title": TEXT,
    "authors": TEXTS,
    "year": INT32,
    "venue": TEXT,
    "abstract": TEXT,
    "digest": SHA256,
    "key": TEXT,
    "published": TEXTS,
}
CONTEXTS: Schema = {
    "citing_row": INT32,
    "position": INT32,
    "text": TEXT,
    "around": TEXT,
    "cited_rows": ROWS,
}
BODIES: Schema = {"body": TEXT, "codes": CODES}


@dataclass(frozen=True)
class IndexTables:
    """The source of an index.

    :param papers: (N,) rows of schema ``PAPERS``.
    :param contexts: (C,) rows of schema ``CONTEXTS``.
    :param vectors: (N, D) float32 of length 1; zeros where a paper has no vector.
    :param matches: (N, V) weights of tokens; None: the encoder counts no exact matches.
    :param origin: (N,) row of each paper in the tables that these were made of, where title,
        abstract and body are as there, else -1; None: they were made of none.
    :param bodies: (N,) rows of schema ``BODIES``, all sentences after the abstract as one text,
        see :mod:`mpbert.recommending.bodies`; None: words of bodies are not searched.
    """

    papers: ColumnTable
    contexts: ColumnTable
    vectors: np.ndarray
    matches: PapersByToken | None = None
    bodies: ColumnTable | None = None
    origin: np.ndarray | None = None

    def origins(self) -> np.ndarray:
        """Return ``origin``; where there is none, that of tables that are changed now."""
        return np.arange(self.papers.num_rows) if self.origin is None else self.origin

    def cited(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (C + 1,) offsets and the rows of papers that each context cites."""
        lists: ListColumn = self.contexts["cited_rows"]
        return lists.offsets, lists.values


def digest(
    title: str, authors: Sequence[str], year: int, venue: str, num_abstract: int, texts: list[str]
) -> bytes:
    """Return the SHA-256 of what a paper says, to tell whether two records are the same.

    Where it appeared is compared by itself.
    """
    record = [title, list(authors), year, venue, num_abstract, texts]
    return hashlib.sha256(json.dumps(record, ensure_ascii=False).encode()).digest()
