"""Measures of rankings as tables of pandas: of one, and of several with intervals and tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mpbert.api.comparison import Comparison
from mpbert.api.rankings import Cited, qrels_of, run_of
from mpbert.corpus.trec import Qrels, Run
from mpbert.evaluation import compare as comparing
from mpbert.evaluation.compared import MEASURES
from mpbert.evaluation.evaluate import evaluate as evaluate_run
from mpbert.foundation.errors import ConfigError

if TYPE_CHECKING:  # it takes half a second to import
    import pandas as pd


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
    :param run: what was found: a TREC file, or query id to ids of papers, best first. Queries that
        ``qrels`` lacks are left out, as trec_eval does.
    :param measures: Recall, P, F1, MAP, MRR or nDCG with a cutoff such as ``MAP@10``, or ``MRR``.
    :returns: by ``measure`` and ``subset`` of the queries, ``P=1``, ``P>=1`` (all) or ``P>=2`` by
        the number of papers that a query cites. Columns: ``mean`` from 0 to 1, NaN where the subset
        is empty; ``queries``; ``missing``, those that are not in the run and count 0.
    :raises ConfigError: a measure is unknown.
    :raises RunError: a file is malformed, or the qrels lack all queries of the run.
    """
    import pandas as pd

    _check_measures(measures)
    scores = evaluate_run(qrels_of(qrels), run_of(run, "the run"), measures, _name(run))
    table = pd.DataFrame(scores).set_index(["measure", "subset"])
    return table[["mean", "queries", "missing"]]


def compare(
    qrels: str | Path | Qrels | Cited,
    runs: Mapping[str, str | Path | Run | Cited],
    measures: Sequence[str] = MEASURES,
    seed: int = 1,
    cluster: str = "paper",
) -> Comparison:
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
    :raises ConfigError: a measure or the cluster is unknown, there is no run or measure, or
        ``runs`` is no dictionary.
    :raises RunError: a file is malformed, or the qrels lack all queries of a run.
    """
    _check_measures(measures)
    if not isinstance(runs, Mapping):
        raise ConfigError(f"runs is a {type(runs).__name__}; expected a dictionary: name to run")
    loaded = {name: run_of(run, name) for name, run in runs.items()}
    return Comparison(comparing.compare(qrels_of(qrels), loaded, measures, seed, cluster))


def _check_measures(measures: Sequence[str]) -> None:
    if isinstance(measures, str):
        raise ConfigError(f"measures is one text, {measures!r}; expected a list, [{measures!r}]")


def _name(given: object) -> str:
    return str(given) if isinstance(given, (str, Path)) else "the run"
