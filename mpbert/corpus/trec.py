"""TREC qrels and runs: relevance judgements and result lists as text files.

A line of qrels is ``query 0 paper relevance``, relevance 0 or 1; a line of a run is
``query Q0 paper rank score tag``. Fields are separated by spaces or tabs. What is read is ordered
by one tie rule: larger score first, among equal scores the smaller paper id (by code points, the
order of rows in a corpus store). The rank column is written but not read, as in trec_eval. Unlike
trec_eval, scores are compared in double precision and ties favour the smaller id.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mpbert.corpus.trec_lines import bytes_of, line_number, read_lines
from mpbert.foundation.errors import RunError
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers

_QRELS = ("query id", "0", "paper id", "relevance")
_RUN = ("query id", "Q0", "paper id", "rank", "score", "tag")
_LINES = 1 << 20  # lines written at once


@dataclass(frozen=True)
class _PapersOfQueries:
    """Papers of each query; query i has ``codes[offsets[i]:offsets[i + 1]]``.

    :param query_ids: (Q,) in the order of the file.
    :param offsets: (Q + 1,) int64.
    :param paper_ids: distinct ids of papers, in no particular order.
    :param codes: places in ``paper_ids``.
    """

    query_ids: list[str]
    offsets: np.ndarray
    paper_ids: list[str]
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.query_ids)


class Qrels(_PapersOfQueries):
    """Relevant papers of each query."""


@dataclass(frozen=True)
class Run(_PapersOfQueries):
    """Ranked papers of each query, best first.

    :param scores: float64, of each code; larger is better.
    """

    scores: np.ndarray

    @property
    def longest(self) -> int:
        """Number of papers of the longest ranking, at least 1."""
        return int(np.diff(self.offsets).max(initial=1))

    def take(self, places: np.ndarray) -> "Run":
        """Return the rankings of some queries, in the order given.

        :param places: (M,) which ones, as int64.
        """
        lengths = np.diff(self.offsets)[places]
        kept = ranges(self.offsets[places], lengths)
        ids = [self.query_ids[place] for place in places]
        return Run(ids, offsets_of(lengths), self.paper_ids, self.codes[kept], self.scores[kept])


def read_qrels(path: Path) -> Qrels:
    """Read relevance judgements; lines of relevance 0 are left out.

    :raises RunError: unreadable or malformed, a pair judged twice, a query without relevant paper.
    """
    table, data = read_lines(path, bytes_of(path), _QRELS, pa.int64())
    queries, query_ids, papers, paper_ids = _codes(table)
    relevance = table["relevance"].to_numpy()
    odd = np.flatnonzero((relevance != 0) & (relevance != 1))
    if len(odd):
        raise RunError(
            f"{path}:{line_number(data, odd[0])}: found relevance {relevance[odd[0]]}; "
            f"expected 0 or 1"
        )
    _refuse_duplicates(path, data, queries, query_ids, papers, paper_ids)
    order = np.argsort(queries, kind="stable")
    order = order[relevance[order] == 1]
    lengths = np.bincount(queries[order], minlength=len(query_ids))
    if not lengths.all():
        query = query_ids[int(np.argmin(lengths))]
        raise RunError(
            f"{path}: query {query!r} has no relevant paper, so nothing can be measured; "
            f"remove its lines"
        )
    return Qrels(query_ids, offsets_of(lengths), paper_ids, papers[order])


def read_run(path: Path, may_be_empty: bool = False) -> Run:
    """Read result lists and order them by the tie rule.

    :param may_be_empty: a file without lines is a run, that of no queries.
    :raises RunError: unreadable or malformed, a score that is not finite, a paper ranked twice.
    """
    data = bytes_of(path)
    if may_be_empty and not data.strip():
        return run_of_matrix([], [], np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0)))
    table, data = read_lines(path, data, _RUN, pa.float64())
    queries, query_ids, papers, paper_ids = _codes(table)
    scores = table["score"].to_numpy()
    odd = np.flatnonzero(~np.isfinite(scores))
    if len(odd):
        raise RunError(
            f"{path}:{line_number(data, odd[0])}: found score {scores[odd[0]]}; expected a "
            f"finite number, rank again"
        )
    _refuse_duplicates(path, data, queries, query_ids, papers, paper_ids)
    place = np.empty(len(paper_ids), dtype=np.int64)  # of each paper in the order of ids
    place[pc.array_sort_indices(pa.array(paper_ids, pa.string())).to_numpy()] = np.arange(
        len(paper_ids)
    )
    ascending = (queries[1:] > queries[:-1]) | (
        (queries[1:] == queries[:-1])
        & (
            (scores[1:] < scores[:-1])
            | ((scores[1:] == scores[:-1]) & (place[papers[1:]] > place[papers[:-1]]))
        )
    )
    if not ascending.all():
        order = np.lexsort((place[papers], -scores, queries))
        queries, papers, scores = queries[order], papers[order], scores[order]
    lengths = np.bincount(queries, minlength=len(query_ids))
    return Run(query_ids, offsets_of(lengths), paper_ids, papers, scores)


def run_of_matrix(
    query_ids: Sequence[str], paper_ids: Sequence[str], rows: np.ndarray, scores: np.ndarray
) -> Run:
    """Return the result lists of a search of all papers.

    :param paper_ids: (N,) sorted, so that rows and ids order ties alike.
    :param rows: (Q, K) places in ``paper_ids``, best first.
    :param scores: (Q, K).
    """
    offsets = np.arange(len(rows) + 1, dtype=np.int64) * rows.shape[1]
    return Run(list(query_ids), offsets, list(paper_ids), rows.ravel(), scores.ravel())


def matrices_of_run(
    run: Run, query_ids: Sequence[str], paper_ids: Sequence[str], source: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the result lists of these queries as matrices.

    :param paper_ids: (N,) of the corpus.
    :param source: what the messages call the run.
    :returns: (Q, K) rows, -1 beyond the end of a list, and (Q, K) scores, -inf there.
    :raises RunError: the run names a query or a paper that is not among these.
    """
    places = [
        pc.fill_null(pc.index_in(pa.array(found, pa.string()), pa.array(known, pa.string())), -1)
        for found, known in ((run.query_ids, query_ids), (run.paper_ids, paper_ids))
    ]
    queries, papers = (place.to_numpy().astype(np.int64) for place in places)
    for what, ids, rows in (("query", run.query_ids, queries), ("paper", run.paper_ids, papers)):
        if (rows < 0).any():
            raise RunError(
                f"{source}: found the unknown {what} {ids[int(np.argmin(rows))]!r}; expected those "
                f"of the corpus, rank again from it"
            )
    lengths = np.diff(run.offsets)
    shape = len(query_ids), int(lengths.max(initial=1))
    rows, scores = np.full(shape, -1, dtype=np.int64), np.full(shape, -np.inf)
    at = (
        np.repeat(queries, lengths),
        np.arange(len(run.codes)) - np.repeat(run.offsets[:-1], lengths),
    )
    rows[at], scores[at] = papers[run.codes], run.scores
    return rows, scores


def run_of_lists(
    query_ids: Sequence[str], paper_ids: Sequence[str], rows: np.ndarray, scores: np.ndarray
) -> Run:
    """Return result lists of different lengths: rows are -1 beyond the end of a list."""
    has = rows >= 0
    return Run(
        list(query_ids), offsets_of(has.sum(axis=1)), list(paper_ids), rows[has], scores[has]
    )


def write_run(path: Path, run: Run, tag: str) -> None:
    """Write result lists; scores in the shortest form that reads back to the same number.

    :param tag: name of the system, the last field of each line.
    :raises RunError: an id or the tag is empty or holds white space; a score is not finite.
    """
    for what, ids in (("query id", run.query_ids), ("paper id", run.paper_ids), ("tag", [tag])):
        _refuse_white_space(path, what, ids)
    if not np.isfinite(run.scores).all():
        place = int(np.argmin(np.isfinite(run.scores)))
        query = run.query_ids[int(np.searchsorted(run.offsets, place, side="right")) - 1]
        raise RunError(
            f"{path}: query {query!r} has the score {run.scores[place]}; expected finite numbers"
        )
    lengths = np.diff(run.offsets)
    queries = row_numbers(lengths)
    ranks = np.arange(len(queries)) - run.offsets[:-1][queries] + 1
    query_ids, paper_ids = (pa.array(ids, pa.string()) for ids in (run.query_ids, run.paper_ids))
    with path.open("wb") as file:
        for start in range(0, len(queries), _LINES):
            block = slice(start, start + _LINES)
            _write_lines(
                file,
                query_ids.take(pa.array(queries[block])),
                "Q0",
                paper_ids.take(pa.array(run.codes[block])),
                pa.array(ranks[block]).cast(pa.string()),
                pa.array(run.scores[block].astype(np.float64)).cast(pa.string()),
                tag,
            )


def _write_lines(file: io.BufferedIOBase, *columns: pa.Array | str) -> None:
    lines = pc.binary_join_element_wise(*columns, " ")
    file.write("".join(f"{line}\n" for line in lines.to_pylist()).encode())


def _codes(table: pa.Table) -> tuple[np.ndarray, list[str], np.ndarray, list[str]]:
    """Return codes and distinct ids of queries, in order of appearance, and of papers."""
    found: list = []
    for name in ("query id", "paper id"):
        column = table[name].chunk(0)
        found += [column.indices.to_numpy(), column.dictionary.to_pylist()]
    queries, query_ids, papers, paper_ids = found
    lines = np.arange(len(queries))
    first = np.empty(len(query_ids), dtype=np.int64)
    first[queries[::-1]] = lines[::-1]  # of several assignments the last one, the first line, stays
    order = np.argsort(first)
    renumbered = np.empty(len(query_ids), dtype=np.int64)
    renumbered[order] = np.arange(len(order))
    return renumbered[queries], [query_ids[code] for code in order], papers, paper_ids


def _refuse_duplicates(
    path: Path,
    data: bytes,
    queries: np.ndarray,
    query_ids: list[str],
    papers: np.ndarray,
    paper_ids: list[str],
) -> None:
    keys = queries * len(paper_ids) + papers
    order = np.argsort(keys, kind="stable")
    again = order[1:][keys[order[1:]] == keys[order[:-1]]]
    if len(again):
        row = int(again.min())
        raise RunError(
            f"{path}:{line_number(data, row)}: paper {paper_ids[papers[row]]!r} stands a second "
            f"time under query {query_ids[queries[row]]!r}; expected each paper once, remove one"
        )


def _refuse_white_space(path: Path, what: str, ids: Sequence[str]) -> None:
    odd = pc.match_substring_regex(pa.array(ids, pa.string()), r"^$|\s").to_numpy(False)
    if odd.any():
        name = ids[int(np.argmax(odd))]
        raise RunError(
            f"{path}: the {what} {name!r} is empty or holds white space; expected one word, "
            f"as TREC files are separated by spaces"
        )
