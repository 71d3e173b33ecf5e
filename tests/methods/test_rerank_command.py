import shutil
from pathlib import Path

import numpy as np
import pytest

from mpbert.commands import build_corpus, rerank, retrieve
from mpbert.corpus.queries import qrels_name
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import read_qrels, read_run
from mpbert.evaluation.evaluate import judge, num_gold
from mpbert.evaluation.measures import measure
from mpbert.foundation.errors import ConfigError, CorpusError, OutputError, RunError


@pytest.fixture(scope="module")
def runs(rfc_corpus, tmp_path_factory):
    """Runs of both tasks of two lexical methods."""
    place = tmp_path_factory.mktemp("runs")
    for task in ("local", "global"):
        for name, fields in (("abstract", "abstract"), ("citing", "citing")):
            retrieve.run(
                retrieve.Config(
                    rfc_corpus, place / task / name, lexical="bm25", settings=[f"fields={fields}"],
                    task=task, top=50,
                )
            )  # fmt: skip
    return place


def _score(corpus, run, task):
    qrels = read_qrels(corpus / qrels_name(task, "valid"))
    judged = judge(read_run(run / "valid.run"), qrels, 100)
    return measure("nDCG@100", judged.hits, num_gold(qrels)).mean()


@pytest.mark.parametrize("task", ["local", "global"])
def test_fusion_is_better_than_each_run_where_its_weights_were_learnt(
    rfc_corpus, runs, tmp_path, task
):
    inputs = [runs / task / "abstract", runs / task / "citing"]
    rerank.run(rerank.Config(rfc_corpus, tmp_path / "fused", inputs, task=task))
    alone = [_score(rfc_corpus, run, task) for run in inputs]
    assert _score(rfc_corpus, tmp_path / "fused", task) > max(alone)
    fused = read_run(tmp_path / "fused" / "test.run")
    citing = np.array([query.rpartition("#")[0] or query for query in fused.query_ids])
    ranked = np.array(fused.paper_ids)[fused.codes]
    assert not (np.repeat(citing, np.diff(fused.offsets)) == ranked).any()


def test_a_query_that_all_runs_lack_has_no_papers(rfc_corpus, runs, tmp_path):
    inputs = []
    for name in ("abstract", "citing"):
        inputs.append(tmp_path / name)
        inputs[-1].mkdir()
        for split in ("valid", "test"):
            text = (runs / "local" / name / f"{split}.run").read_text().splitlines()
            first = text[0].split()[0]
            kept = [line for line in text if line.split()[0] != first]
            (inputs[-1] / f"{split}.run").write_text("\n".join(kept) + "\n")
    rerank.run(rerank.Config(rfc_corpus, tmp_path / "fused", inputs))
    found = read_run(tmp_path / "fused" / "test.run")
    assert len(found) == len(CorpusStore(rfc_corpus).contexts("test")) - 1


def test_what_a_reranker_learns_from_is_read_after_what_it_ranks(
    rfc_corpus, runs, tmp_path, monkeypatch
):
    one = runs / "local" / "abstract"
    monkeypatch.setattr(rerank, "_fit", lambda *_: 1 / 0)
    with pytest.raises(RunError, match=r"test\.run: cannot be read"):
        rerank.run(rerank.Config(rfc_corpus, tmp_path / "out", [one, tmp_path / "nothing"]))


def test_a_sample_is_reranked_by_what_all_queries_taught(rfc_corpus, runs, tmp_path):
    inputs, found = [runs / "local" / "abstract", runs / "local" / "citing"], {}
    for name, sample in (("all", None), ("some", 30)):
        rerank.run(rerank.Config(rfc_corpus, tmp_path / name, runs=inputs, sample=sample))
        run = (tmp_path / name / "test.run").read_text().splitlines()
        found[name] = {line.removesuffix(name) for line in run}
    assert found["some"] < found["all"]
    assert len(read_run(tmp_path / "some" / "test.run")) == 30
    with pytest.raises(ConfigError, match="--sample 0; expected 1 or more, or leave it out"):
        rerank.Config(rfc_corpus, tmp_path / "none", runs=inputs, sample=0)


def test_reciprocal_ranks_need_no_validation_queries(rfc_corpus, runs, tmp_path):
    inputs = []
    for name in ("abstract", "citing"):
        inputs.append(tmp_path / name)
        inputs[-1].mkdir()
        shutil.copy(runs / "local" / name / "test.run", inputs[-1])
    options = {"settings": ["method=reciprocal"], "splits": ["test"]}
    rerank.run(rerank.Config(rfc_corpus, tmp_path / "fused", inputs, **options))
    first = (tmp_path / "fused" / "test.run").read_bytes()
    with pytest.raises(RunError, match=r"valid\.run: cannot be read"):
        rerank.run(rerank.Config(rfc_corpus, tmp_path / "learnt", inputs, splits=["test"]))
    shutil.copy(runs / "local" / "citing" / "test.run", inputs[0])  # other runs, not made by us
    again = rerank.Config(rfc_corpus, tmp_path / "fused", inputs, **options)
    with pytest.raises(OutputError, match="was made with another inputs"):
        rerank.run(again)
    shutil.rmtree(tmp_path / "fused")
    rerank.run(again)
    assert (tmp_path / "fused" / "test.run").read_bytes() != first


def test_a_corpus_without_validation_queries_is_reranked(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "papers.csv").write_text(
        "paper_id,title,split\na,On mail,train\nb,On news,train\nc,On mail and news,test\n"
    )
    (tmp_path / "raw" / "citations.csv").write_text("citing_id,cited_id\nb,a\nc,a\nc,b\n")
    corpus = tmp_path / "corpus"
    build_corpus.run(build_corpus.Config(tmp_path / "raw", corpus, reader="csv", split="given"))
    inputs = [tmp_path / "abstract", tmp_path / "text"]
    for run in inputs:
        settings = [f"fields={run.name}"]
        options = {"lexical": "bm25", "settings": settings, "task": "global"}
        retrieve.run(retrieve.Config(corpus, run, **options))
    options = {"task": "global", "settings": ["method=reciprocal"]}
    rerank.run(rerank.Config(corpus, tmp_path / "fused", inputs, **options))
    assert (tmp_path / "fused" / "valid.run").read_text() == ""
    assert len(read_run(tmp_path / "fused" / "test.run")) == 1
    with pytest.raises(CorpusError, match="corpus: has no valid queries; expected some, as fusion"):
        rerank.run(rerank.Config(corpus, tmp_path / "learnt", inputs, task="global"))


def test_the_same_runs_by_another_path_are_reused(rfc_corpus, runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(runs)
    relative = [Path("local/abstract"), Path("local/citing")]
    options = {"settings": ["method=reciprocal"]}
    rerank.run(rerank.Config(rfc_corpus, tmp_path / "fused", relative, **options))
    absolute = [runs / path for path in relative]
    rerank.run(rerank.Config(rfc_corpus, tmp_path / "fused", absolute, **options))
    assert "fused exists, reused" in capsys.readouterr().out
    for others in (absolute[::-1], [*absolute, absolute[0]]):
        with pytest.raises(OutputError, match="was made with another config"):
            rerank.run(rerank.Config(rfc_corpus, tmp_path / "fused", others, **options))


def test_papers_that_the_first_ones_cite_reach_the_run(rfc_corpus, runs, tmp_path):
    one = runs / "local" / "abstract"
    method = {"reranker": "citation_candidates", "settings": ["k=10", "rest=drop"]}
    rerank.run(rerank.Config(rfc_corpus, tmp_path / "out", [one], top=300, **method))
    before, after = (read_run(path / "test.run") for path in (one, tmp_path / "out"))

    def pairs(run):
        queries = np.repeat(run.query_ids, np.diff(run.offsets))
        return set(zip(queries, np.array(run.paper_ids)[run.codes], strict=True))

    added = pairs(after) - pairs(before)
    assert len(added) > len(after)  # more than one for each query


def test_training_lists_hold_training_papers_only_and_never_what_would_tell(rfc_corpus, tmp_path):
    store = CorpusStore(rfc_corpus)
    config = retrieve.Config(
        rfc_corpus, tmp_path / "train", lexical="bm25", splits=["train"], top=10
    )
    retrieve.run(config)
    found = read_run(tmp_path / "train" / "train.run")
    assert len(found) == len(store.contexts("train"))
    used = {found.paper_ids[code] for code in found.codes}
    assert all(store.paper_splits[store.row_of[paper]] == "train" for paper in used)
    with pytest.raises(ConfigError, match="--splits train: its contexts are known"):
        retrieve.Config(
            rfc_corpus, tmp_path / "x", lexical="bm25", settings=["fields=citing"], splits=["train"]
        )
    without = retrieve.Config(rfc_corpus, tmp_path / "x", vectors=tmp_path, splits=["train"])
    with pytest.raises(ConfigError, match="train: these vectors have no training queries"):
        retrieve.run(without)


def test_wrong_numbers_of_runs_and_foreign_runs_are_refused(rfc_corpus, runs, tmp_path):
    one = runs / "local" / "abstract"
    with pytest.raises(ConfigError, match="--runs: found 1; fusion takes 2 or more"):
        rerank.Config(rfc_corpus, tmp_path / "out", [one])
    with pytest.raises(ConfigError, match="fusion does not learn from training lists; leave"):
        rerank.Config(rfc_corpus, tmp_path / "out", [one, one], training=one)
    with pytest.raises(RunError, match=r"test.run: found the unknown query 'RFC\d+'"):
        rerank.run(rerank.Config(rfc_corpus, tmp_path / "out", [one, runs / "global" / "citing"]))
    with pytest.raises(RunError, match=r"test\.run: cannot be read"):
        rerank.run(rerank.Config(rfc_corpus, tmp_path / "out", [one, tmp_path / "nothing"]))
    assert not (tmp_path / "out").exists()
