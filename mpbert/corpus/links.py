"""Citations between the papers of a corpus: cited ids become rows.

Papers are read one after the other. What is found of them is written to disk, since a large corpus
has more citations than memory holds.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import pyarrow as pa

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.repeats import KEY, context_key
from mpbert.corpus.spill import StoredPapers
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.growing_arrays import Numbers

_ID = np.dtype("S16")  # digest of an id


@dataclass(frozen=True)
class Links:
    """Citations between papers of a corpus, as rows; arrays are mapped from disk.

    :param citing_rows: (C,) int32 of the contexts, ascending; ``positions`` (C,) int32 of their
        sentences, ascending in a paper.
    :param cited_offsets: (C + 1,) int64, context i cites ``cited_rows[offsets[i]:offsets[i + 1]]``,
        in order of appearance.
    :param keys: (C,) what contexts share that repeat each other, see ``corpus.repeats``.
    :param citations: (M, 2) int32, distinct (citing row, cited row) pairs, sorted: references and
        everything that a context cites.
    """

    citing_rows: np.ndarray
    positions: np.ndarray
    cited_offsets: np.ndarray
    cited_rows: np.ndarray
    keys: np.ndarray
    citations: np.ndarray


def link_papers(papers: Sequence[CleanPaper], unknown_cited: str, counts: Counter[str]) -> Links:
    """Resolve cited ids to rows; citations of a paper by itself and of unknown papers are dropped.

    :param papers: sorted by id.
    :param unknown_cited: ``drop`` (and count), or ``error``.
    :raises CorpusError: an id is in no paper, and ``unknown_cited`` is ``error``.
    """
    if isinstance(papers, StoredPapers):
        ids, years = papers.paper_ids, papers.years
    else:
        ids = pa.array([paper.paper_id for paper in papers], pa.large_string())
        years = np.array([paper.year for paper in papers], np.int32)
    found = _CitedRows(_RowOfId(ids), unknown_cited, counts)
    linked, num_references, later = _Linked(), 0, 0
    for citing_row, paper in enumerate(papers):
        references, contexts = found.of(citing_row, paper)
        in_text: set[int] = set()
        for position, rows in contexts:
            linked.add(citing_row, position, rows, paper.sentences[position])
            in_text.update(rows)
        num_references += len(references)
        counts["references_found_in_text"] += len(references & in_text)
        counts["cited_in_text_but_not_in_references"] += len(in_text - references)
        cited = np.array(sorted(references | in_text), dtype=np.int32)
        linked.cite(citing_row, cited)
        if years[citing_row] > 0:
            later += int((years[cited] > years[citing_row]).sum())
    counts["references"] = num_references
    if later:
        counts["citations_of_papers_of_later_years"] = later
    return linked.links()


class _Linked:
    """Links as they are found, paper after paper."""

    def __init__(self) -> None:
        self._citing, self._positions = Numbers(np.int32), Numbers(np.int32)
        self._offsets, self._cited = Numbers(np.int64), Numbers(np.int32)
        self._keys, self._citations = Numbers(KEY), Numbers(np.int32)
        self._offsets.extend([0])
        self._num_cited = 0

    def add(self, citing_row: int, position: int, rows: list[int], sentence: str) -> None:
        """Add a context."""
        self._num_cited += len(rows)
        self._citing.extend([citing_row])
        self._positions.extend([position])
        self._offsets.extend([self._num_cited])
        self._cited.extend(rows)
        self._keys.extend([context_key(sentence, rows)])

    def cite(self, citing_row: int, cited: np.ndarray) -> None:
        """Add the distinct rows, ascending, of all that a paper cites."""
        self._citations.extend(np.stack([np.full_like(cited, citing_row), cited], axis=1))

    def links(self) -> Links:
        """Return all of them."""
        return Links(
            self._citing.array(),
            self._positions.array(),
            self._offsets.array(),
            self._cited.array(),
            self._keys.array(),
            self._citations.array().reshape(-1, 2),
        )


class _RowOfId:
    """Finds rows by digests of ids, 20 bytes a paper."""

    def __init__(self, ids: pa.LargeStringArray) -> None:
        digests = _digests((scalar.as_py() for scalar in ids), len(ids))
        self._rows = np.argsort(digests, kind="stable").astype(np.int32)
        self._digests = digests[self._rows]

    def __call__(self, ids: Sequence[str]) -> np.ndarray:
        """Return (K,) the row of each id, -1 where there is none."""
        wanted = _digests(ids, len(ids))
        if not len(self._rows):
            return np.full(len(wanted), -1)
        places = np.minimum(np.searchsorted(self._digests, wanted), len(self._rows) - 1)
        return np.where(self._digests[places] == wanted, self._rows[places], -1)


def _digests(ids: Iterable[str], count: int) -> np.ndarray:
    made = (blake2b(i.encode("utf-8", "surrogatepass"), digest_size=16).digest() for i in ids)
    return np.fromiter(made, _ID, count)


@dataclass(frozen=True)
class _CitedRows:
    """Finds the rows of what papers cite, and counts what has none."""

    row_of: _RowOfId
    unknown_cited: str
    counts: Counter[str]

    def of(
        self, citing_row: int, paper: CleanPaper
    ) -> tuple[set[int], list[tuple[int, list[int]]]]:
        """Return the rows of a paper's references, and those of each context that has some."""
        lists = [paper.references, *(ids for _, ids in paper.cited)]
        rows = self.row_of([cited_id for ids in lists for cited_id in ids]).tolist()
        start = len(paper.references)
        references = set(self._kept(citing_row, paper, paper.references, rows[:start]))
        contexts = []
        for position, ids in paper.cited:
            end = start + len(ids)
            if kept := self._kept(citing_row, paper, ids, rows[start:end], "in_text_citations"):
                contexts.append((position, kept))
            else:
                self.counts["citing_sentences_without_a_paper_of_the_corpus"] += 1
            start = end
        return references, contexts

    def _kept(
        self,
        citing_row: int,
        paper: CleanPaper,
        ids: Sequence[str],
        rows: list[int],
        what: str = "references",
    ) -> list[int]:
        """Return the rows of papers that a paper cites, without its own.

        :param what: how the counts name these citations.
        """
        for cited_id, row in zip(ids, rows, strict=True):
            if row < 0:
                if self.unknown_cited == "error":
                    raise CorpusError(
                        f"paper {paper.paper_id!r} cites {cited_id!r}, which is not "
                        f"in the corpus; add that paper or build with --unknown-cited drop"
                    )
                self.counts[f"{what}_of_papers_outside_the_corpus"] += 1
            elif row == citing_row:
                self.counts[f"{what}_of_the_paper_itself"] += 1
        return [row for row in rows if row >= 0 and row != citing_row]
