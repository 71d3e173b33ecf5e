"""Qrels and runs as files, opened by the programs that others measure with."""

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import read_qrels, read_run, run_of_matrix, write_run
from mpbert.evaluation.evaluate import judge, num_gold
from mpbert.evaluation.measures import mean_measure

DEPTH = 30


@pytest.fixture(scope="module")
def files(rfc_corpus, tmp_path_factory):
    """Paths of the qrels of a corpus store and of a run with many ties that finds some of them."""
    corpus = CorpusStore(rfc_corpus)
    queries = corpus.contexts("test")
    rng = np.random.default_rng(7)
    rows = np.argsort(rng.random((len(queries), corpus.num_papers)), axis=1)[:, :DEPTH]
    scores = -np.sort(-rng.integers(0, 12, rows.shape), axis=1) / 7
    order = np.array(corpus.paper_ids)[rows]
    within = np.lexsort((order, -scores), axis=1)  # ties: the smaller id first, as we write
    rows = np.take_along_axis(rows, within, axis=1)
    path = tmp_path_factory.mktemp("trec") / "test.run"
    write_run(path, run_of_matrix(queries.query_ids, corpus.paper_ids, rows, scores), "random")
    return rfc_corpus / "qrels.test.txt", path


@pytest.fixture(scope="module")
def ours(files):
    qrels, ranked = read_qrels(files[0]), read_run(files[1])
    judged = judge(ranked, qrels, DEPTH, "run")
    names = ("Recall@10", "P@5", "MAP@10", "Recall@30")
    return {name: mean_measure(name, judged.hits, num_gold(qrels)) for name in names}


def test_ir_measures_reads_both_and_finds_what_we_find(files, ours):
    qrels = list(ir_measures.read_trec_qrels(str(files[0])))
    run = list(ir_measures.read_trec_run(str(files[1])))
    assert len(run) == DEPTH * len({entry.query_id for entry in run})
    theirs = {"Recall@10": "R@10", "P@5": "P@5", "MAP@10": "AP@10", "Recall@30": "R@30"}
    without_ties = [  # trec_eval takes tied papers the other way round: by larger id
        ir_measures.ScoredDoc(entry.query_id, entry.doc_id, -place)
        for place, entry in enumerate(run)
    ]
    measures = [ir_measures.parse_measure(name) for name in theirs.values()]
    found = ir_measures.calc_aggregate(measures, qrels, without_ties)
    for name, measure in zip(theirs, measures, strict=True):
        assert found[measure] == pytest.approx(ours[name], abs=1e-9) and ours[name] > 0


def test_trec_eval_reads_both(files, ours):
    with files[0].open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    with files[1].open() as file:
        run = pytrec_eval.parse_run(file)
    expected = read_qrels(files[0])
    assert list(qrels) == expected.query_ids
    assert [query for query in run if query in qrels] == expected.query_ids
    found = pytrec_eval.RelevanceEvaluator(qrels, {"recall_30"}).evaluate(run)
    mean = np.mean([values["recall_30"] for values in found.values()])
    assert mean == pytest.approx(ours["Recall@30"])


@pytest.mark.slow
def test_ranx_reads_both_and_finds_what_we_find(files, ours):
    """Where it is installed; it is no requirement, since it compiles for half a minute."""
    ranx = pytest.importorskip("ranx")
    qrels = ranx.Qrels.from_file(str(files[0]), kind="trec")
    run = ranx.Run.from_file(str(files[1]), kind="trec")
    assert ranx.evaluate(qrels, run, "recall@30") == pytest.approx(ours["Recall@30"])
