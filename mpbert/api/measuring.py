"""Measures of rankings as tables of pandas: of one, and of several with intervals and tests."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mpbert.corpus.trec import Qrels, Run, read_qrels, read_run
from mpbert.evaluation import compare as comparing
from mpbert.evaluation.compare import MEASURES
from mpbert.evaluation.evaluate import evaluate as evaluate_run
from mpbert.evaluation.side_by_side import as_markdown, as_text
from mpbert.foundation.errors import RunError
from mpbert.foundation.manifest import check_inputs
from mpbert.foundation.ragged import offsets_of

if TYPE_CHECKING:  # half a second, which mpbert compare need not wait for
    import pandas as pd

Cited = Mapping[str, Sequence[str]]


def evaluate(
    qrels: str | Path | Qrels | Cited,
    run: str | Path | Run | Cited,
    measures: Sequence[str] = MEASURES,
) -> "pd.DataFrame":
    """Measure one ranking.

    >>> from mpbert import evaluate
    >>> cited = {"q1": ["a", "b"], "q2": ["c"]}
    >>> ranked = {"q1": ["a", "x", "b"], "q2": ["y", "c"]}
    >>> found = evaluate(cited, ranked, ["MRR@10", "Recall@2"])
    >>> float(found.loc[("MRR@10", "P>=1"), "mean"])
    0.75
    >>> found["mean"].unstack()
    subset     P=1  P>=1  P>=2
    measure
    MRR@10     0.5  0.75   1.0
    Recall@2   1.0  0.75   0.5

    Files do as well, ``evaluate("qrels.test.txt", "test.run")``, and a corpus says where its own
    lie: ``evaluate(corpus.qrels("test"), "runs/trec/rfc/bm25/test.run")``.

    :param qrels: what each query cites: a TREC file, or query id to ids of papers.
    :param run: what was found: a TREC file, or query id to ids of papers, best first.
    :param measures: Recall, P, F1, MAP, MRR or nDCG with a cutoff such as ``MAP@10``, or ``MRR``.
    :returns: by ``measure`` and ``subset`` of the queries, ``P=1``, ``P>=1`` (all) or ``P>=2`` by
        the number of papers that a query cites. Columns: ``mean`` from 0 to 1, NaN where the subset
        is empty; ``queries``; ``missing``, those that are not in the run and count 0.
    :raises ConfigError: a measure is unknown.
    :raises RunError: a file is malformed, or the run has queries that the qrels lack.
    """
    import pandas as pd

    scores = evaluate_run(_qrels(qrels), _run(run, "the run"), measures, _name(run))
    table = pd.DataFrame(scores).set_index(["measure", "subset"])
    return table[["mean", "queries", "missing"]]


def compare(
    qrels: str | Path | Qrels | Cited,
    runs: Mapping[str, str | Path | Run | Cited],
    measures: Sequence[str] = MEASURES,
    seed: int = 1,
    cluster: str = "paper",
) -> "Comparison":
    """Measure several rankings, and test each against the best other one.

    >>> from mpbert import Corpus, compare
    >>> runs = {name: f"runs/trec/rfc/{name}/test.run" for name in ("bm25", "tfidf")}
    >>> found = compare(Corpus("runs/corpus/rfc").qrels("test"), runs, ["Recall@10"])
    >>> found.table.loc[("Recall@10", "P>=1", "bm25"), "other"]
    'tfidf'
    >>> print(str(found).splitlines()[0])
    P=1: ... queries

    :param qrels: what each query cites, as in :func:`evaluate`.
    :param runs: name to run, each as in :func:`evaluate`.
    :param measures: as in :func:`evaluate`; F1 has a mean alone, as it has no value for a query.
    :param seed: of intervals and tests, from 0.
    :param cluster: what the bootstrap and the randomization test take as a whole: ``paper``, all
        queries ``paper#position`` of a citing paper; or ``query``, each by itself.
    :raises ConfigError: a measure or the cluster is unknown, or there is no run or measure.
    :raises RunError: a file is malformed, or a run has queries that the qrels lack.
    """
    loaded = {name: _run(run, name) for name, run in runs.items()}
    return Comparison(comparing.compare(_qrels(qrels), loaded, measures, seed, cluster))


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What :func:`compare` has found; ``print`` shows it as text.

    :param scores: by measure, then by subset, then by run.
    """

    scores: list[comparing.ComparedScore]

    @property
    def table(self) -> "pd.DataFrame":
        """All numbers, by ``measure``, ``subset`` of the queries and ``run``.

        The columns are the fields of :class:`mpbert.evaluation.compare.ComparedScore`: ``queries``,
        ``missing``; ``mean`` from 0 to 1, ``low`` and ``high``, the ends of its 95 % interval;
        ``other``, the best other run; ``difference`` to it, with ``difference_low`` and
        ``difference_high``; ``p_randomization`` and ``p_t_test``, corrected by Holm. NaN is what
        cannot be had.

        >>> from mpbert import compare
        >>> cited = {f"p{i}#1": ["a"] for i in range(9)}
        >>> found = compare(cited, {"good": cited, "bad": dict.fromkeys(cited, ["b"])}, ["MRR@10"])
        >>> found.table.loc[("MRR@10", "P>=1"), "mean"].to_dict()
        {'good': 1.0, 'bad': 0.0}
        """
        import pandas as pd

        return pd.DataFrame(self.scores).set_index(["measure", "subset", "run"])

    def __str__(self) -> str:
        return as_text(self.scores)

    def to_markdown(self) -> str:
        """Return the tables of ``str`` in Markdown.

        >>> from mpbert import compare
        >>> cited = {f"p{i}#1": ["a"] for i in range(9)}
        >>> print(compare(cited, {"good": cited}, ["MRR@10"]).to_markdown().splitlines()[2])
        | run | missing | MRR@10 |
        """
        return as_markdown(self.scores)


def _qrels(given: str | Path | Qrels | Cited) -> Qrels:
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


def _run(given: str | Path | Run | Cited, name: str) -> Run:
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


def _name(given: object) -> str:
    return str(given) if isinstance(given, (str, Path)) else "the run"
