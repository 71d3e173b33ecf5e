"""Qrels and runs as users have them: files, or lists of ids by query."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mpbert.corpus.trec import Qrels, Run, read_qrels, read_run
from mpbert.foundation.errors import RunError
from mpbert.foundation.manifest import check_inputs
from mpbert.foundation.ragged import offsets_of

Cited = Mapping[str, Sequence[str]]
"""Query id to ids of papers."""


def qrels_of(given: str | Path | Qrels | Cited) -> Qrels:
    """Return what each query cites, of a TREC file or of lists.

    :raises RunError: the file is malformed, a paper stands twice, or a query cites none.
    """
    if isinstance(given, Qrels):
        return given
    if isinstance(given, Mapping):
        if empty := [query for query, papers in given.items() if not papers]:
            raise RunError(
                f"the qrels: query {empty[0]!r} has no relevant paper; expected one, leave it out"
            )
        return Qrels(*_lists(given, "the qrels"))
    path = Path(given)
    check_inputs([path])
    return read_qrels(path)


def run_of(given: str | Path | Run | Cited, name: str) -> Run:
    """Return what was found for each query, of a TREC file or of lists, best first.

    :param name: what messages call lists.
    :raises RunError: the file is malformed, or a paper stands twice.
    """
    if isinstance(given, Run):
        return given
    if isinstance(given, Mapping):
        lists = _lists(given, name)
        offsets = lists[1]
        ranks = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
        return Run(*lists, -ranks.astype(np.float64))
    path = Path(given)
    check_inputs([path])
    return read_run(path)


def _lists(given: Cited, name: str) -> tuple[list[str], np.ndarray, list[str], np.ndarray]:
    """Return query ids, offsets, ids of papers and codes of lists by query.

    :raises RunError: a paper stands twice in a list.
    """
    codes: dict[str, int] = {}
    found: list[int] = []
    for query, papers in given.items():
        if isinstance(papers, str) or len(set(papers)) < len(papers):
            raise RunError(
                f"{name}: query {query!r} has a paper twice, or a text for a list; expected a list "
                f"of different ids"
            )
        found += [codes.setdefault(paper, len(codes)) for paper in papers]
    offsets = offsets_of(np.array([len(papers) for papers in given.values()], dtype=np.int64))
    return list(given), offsets, list(codes), np.array(found, dtype=np.int64)
