"""Contexts of the same words and citations count once, from the raw papers to the report."""

import json
from pathlib import Path

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.commands import binarize, build_corpus, report, rerank, retrieve
from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.queries import qrels_name
from mpbert.corpus.repeats import context_keys, find_repeats, repeats_of
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import matrices_of_run, read_qrels, read_run
from mpbert.evaluation import plots
from mpbert.foundation.manifest import read_manifest
from mpbert.methods.fusion.reranker import Fusion
from tests.papers import citing

KEY_WORDS = "The key words MUST and SHOULD are those of @."
QUEUES = "Queues of packets are short, as @ shows."


def paper(name, year, *sentences):
    return {
        "paper_id": name,
        "title": f"Paper {name}",
        "year": year,
        "abstract": ["Key words and queues of packets."],
        "sections": [{"sentences": ["We begin.", *sentences]}],
    }


PAPERS = [
    *(paper(name, 2000) for name in ("k1", "k2", "q1")),
    paper("t1", 2001, citing(KEY_WORDS, "k1", "k2"), citing("Never again @.", "q1")),
    paper("t2", 2001, citing(KEY_WORDS, "k1", "k2")),  # training contexts are data
    paper("v1", 2010, citing(QUEUES, "q1"), citing(QUEUES, "q1"), citing("Others @.", "k1")),
    paper("x1", 2020, citing(KEY_WORDS, "k1", "k2"), citing(QUEUES, "q1"), "So.", "It is."),
    # other case and signs, another order of papers, other neighbours
    paper("x2", 2021, citing("the KEY words 'must' and should are those of @!", "k2", "k1"), "So?"),
    paper("x3", 2021, citing(KEY_WORDS, "k1"), citing("Words key the @.", "k1", "k2")),
    paper("x4", 2021, "Once more.", citing(KEY_WORDS, "k1", "k2"), citing(QUEUES, "q1", "k1")),
]
FIRST = ["x1#2", "x1#3", "x3#2", "x3#3", "x4#4"]
REPEATS = ["x2#2", "x4#3"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with papers, their corpus store, and runs of all queries by two methods."""
    path = tmp_path_factory.mktemp("repeats")
    (path / "papers.jsonl").write_text("".join(json.dumps(each) + "\n" for each in PAPERS))
    build_corpus.run(
        build_corpus.Config(path / "papers.jsonl", path / "store", valid_year=2010, test_year=2020)
    )
    for name in ("bm25", "tfidf"):
        output = path / "out" / "trec" / "store" / name
        retrieve.run(retrieve.Config(path / "store", output, lexical=name))
    return path


@pytest.fixture(scope="module")
def store(place):
    return CorpusStore(place / "store")


def test_the_first_of_equal_contexts_is_no_repeat():
    keys = context_keys(
        ["A b.", "a B", "b a", "a, b!", "Straße", "STRASSE"], [[1, 2]] * 3 + [[2, 1]] * 3
    )
    found = find_repeats(keys, [keys[2:3]])
    assert found.is_repeat.tolist() == [False, True, False, True, False, True]
    assert (found.num_contexts, found.num_repeats) == (6, 3)
    assert (found.largest, found.in_training) == (3, 1)


def test_other_words_and_other_citations_make_another_context():
    keys = context_keys(["a b", "a b", "a b c"], [[1], [1, 2], [1]])
    assert find_repeats(keys, [keys[:0]]).num_repeats == 0


def test_a_split_without_contexts_has_no_repeats():
    nothing = context_keys([], [])
    found = find_repeats(nothing, [nothing])
    assert (found.num_contexts, found.num_repeats, found.largest, found.in_training) == (0, 0, 0, 0)


def test_repeats_are_those_of_a_split_and_training_has_none(store):
    contexts = store.contexts("test")
    assert contexts.query_ids == sorted(FIRST + REPEATS)
    assert np.array(contexts.query_ids)[contexts.is_repeat].tolist() == REPEATS
    assert contexts.distinct().query_ids == FIRST and not contexts.distinct().is_repeat.any()
    assert store.contexts("valid").is_repeat.tolist() == [False, True, False]
    assert not store.contexts("train").is_repeat.any() and len(store.contexts("train")) == 3
    assert not store.manuscripts("test").is_repeat.any()


def test_what_the_store_gives_is_what_was_counted_when_it_was_built(store):
    counts = read_manifest(store.path)["counts"]
    for split, repeats, largest, in_training in (("valid", 1, 2, 0), ("test", 2, 3, 1)):
        found = repeats_of(store, split)
        assert found.is_repeat.tolist() == store.contexts(split).is_repeat.tolist()
        assert (found.num_repeats, found.largest, found.in_training) == (
            repeats,
            largest,
            in_training,
        )
        assert counts[f"contexts_that_repeat_another_{split}"] == repeats
        assert counts[f"contexts_as_in_training_{split}"] == in_training


def test_qrels_hold_the_distinct_queries_and_beside_them_all(store):
    assert qrels_name("local", "test") == "qrels.test.txt"
    assert qrels_name("local", "test", "all") == "qrels.test.all.txt"
    assert qrels_name("local", "train", "all") == "qrels.train.txt"
    assert qrels_name("global", "test", "all") == "qrels.global.test.txt"
    assert read_qrels(store.path / "qrels.test.txt").query_ids == FIRST
    every = read_qrels(store.path / "qrels.test.all.txt")
    assert every.query_ids == store.contexts("test").query_ids
    names = {path.name for path in store.path.glob("qrels*")}
    splits = ("train", "valid", "test")
    local = {f"qrels.{split}.txt" for split in splits} | {
        "qrels.valid.all.txt",
        "qrels.test.all.txt",
    }
    assert names == local | {f"qrels.global.{split}.txt" for split in splits}


def test_runs_rank_all_queries_and_measures_count_the_distinct_ones(place, store, capsys):
    ranked = place / "out/trec/store/bm25/test.run"
    assert read_run(ranked).query_ids == store.contexts("test").query_ids
    assert main(["evaluate", str(store.path / "qrels.test.txt"), str(ranked)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].split() == ["queries", "2", "5", "3"]
    assert out.endswith("left out 2 queries of the run that the qrels lack\n")
    assert main(["evaluate", str(store.path / "qrels.test.all.txt"), str(ranked)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].split() == ["queries", "2", "7", "5"] and "left out" not in out


def _reported(place, monkeypatch, output, **options):
    monkeypatch.setattr(plots, "plot_report", lambda *_: {})
    (place / "rows").mkdir(exist_ok=True)
    for name in ("bm25", "tfidf"):
        row = {"title": name, "method": name}
        (place / "rows" / f"{name}.yaml").write_text(json.dumps(row))
    config = report.Config(place / "store", place / "rows", place / "out", output, **options)
    report.run(config)
    text = " ".join((output / "report.txt").read_text().split())
    return text, json.loads((output / "report.json").read_text())


def _recall_at_1(place, query_ids):
    run, found = read_run(place / "out/trec/store/bm25/test.run"), {}
    qrels = read_qrels(place / "store" / "qrels.test.all.txt")
    for i, query in enumerate(qrels.query_ids):
        cited = [qrels.paper_ids[c] for c in qrels.codes[qrels.offsets[i] : qrels.offsets[i + 1]]]
        j = run.query_ids.index(query)
        ranked = [run.paper_ids[c] for c in run.codes[run.offsets[j] : run.offsets[j + 1]]][:2]
        found[query] = len(set(ranked) & set(cited)) / len(cited)
    return np.mean([found[query] for query in query_ids])


@pytest.mark.parametrize("split", ["test", "valid"])
def test_the_report_counts_distinct_queries_or_all(place, store, tmp_path, monkeypatch, split):
    contexts = store.contexts(split)
    text, found = _reported(place, monkeypatch, tmp_path / "distinct", split=split)
    repeats = int(contexts.is_repeat.sum())
    assert f"P >= 1: {len(contexts) - repeats}," in text
    in_training = {"test": 1, "valid": 0}[split]
    assert (
        f"Repeats: of {len(contexts)} contexts of the split, {repeats} have the words and the "
        f"citations of an earlier one, and do not count. The largest group of equal contexts has "
        f"{repeats + 1}. Of those that count, {in_training} have the words and the citations of a "
        f"training context."
    ) in text
    assert found["queries"] == "distinct" and found["repeats"]["repeats"] == repeats
    assert "which the qrels lack" not in text and "none of the split" not in text
    text, found = _reported(place, monkeypatch, tmp_path / "all", split=split, queries="all")
    assert f"P >= 1: {len(contexts)}," in text and "and count all the same" in text
    assert found["queries"] == "all"


def test_curves_and_tables_of_the_report_are_of_the_chosen_queries(
    place, store, tmp_path, monkeypatch
):
    contexts = store.contexts("test")
    for queries, ids in (("distinct", FIRST), ("all", contexts.query_ids)):
        _, found = _reported(place, monkeypatch, tmp_path / queries, queries=queries)
        curve = next(each for each in found["curves"].values() if 2 in each["x"])
        at_2 = curve["x"].index(2)
        assert max(curve["queries"]) == len(ids)
        assert curve["values"]["bm25"][at_2] == pytest.approx(_recall_at_1(place, ids), abs=1e-5)
    assert _recall_at_1(place, FIRST) != _recall_at_1(place, contexts.query_ids)


def test_what_learns_on_validation_learns_from_distinct_queries(
    place, store, tmp_path, monkeypatch
):
    seen, fit = [], Fusion.fit

    def spy(self, store, queries, rankings, rng):
        seen.append((queries, rankings))
        return fit(self, store, queries, rankings, rng)

    monkeypatch.setattr(Fusion, "fit", spy)
    runs = [place / "out/trec/store" / name for name in ("bm25", "tfidf")]
    rerank.run(rerank.Config(store.path, tmp_path / "fused", runs))
    ((queries, rankings),) = seen
    assert queries.query_ids == ["v1#2", "v1#4"]
    every = store.contexts("valid").query_ids
    rows, _ = matrices_of_run(read_run(runs[0] / "valid.run"), every, store.paper_ids, "bm25")
    assert rankings[0].rows.tolist() == rows[[0, 2]].tolist()
    assert read_run(tmp_path / "fused" / "valid.run").query_ids == every


def test_a_binary_corpus_knows_the_repeats(store, tmp_path):
    binarize.run(binarize.Config(store.path, tmp_path / "binary", vocab_size=300))
    corpus = BinaryCorpus(tmp_path / "binary")
    for split in ("train", "valid", "test"):
        contexts, distinct = store.contexts(split), store.contexts(split).distinct()
        assert corpus.contexts(split).is_repeat.tolist() == contexts.is_repeat.tolist()
        found = corpus.distinct_contexts(split)
        assert found.citing_rows.tolist() == distinct.citing_rows.tolist()
        assert found.cited_offsets.tolist() == distinct.cited_offsets.tolist()
        assert found.cited_rows.tolist() == distinct.cited_rows.tolist()


def test_misses_and_exported_data_leave_repeats_out(place, store, tmp_path, capsys):
    run = place / "out/trec/store/bm25/test.run"
    assert main(["misses", str(store.path), str(run), "--top=1", "--number=99"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("2 of 7 queries repeat another and are left out\n")
    assert "x1#2: " in out and not any(f"{query}: " in out for query in REPEATS)
    assert main(["export-data", str(store.path), str(tmp_path / "beir")]) == 0
    lines = (tmp_path / "beir" / "qrels" / "test.tsv").read_text().splitlines()[1:]
    assert {line.split("\t")[0] for line in lines} == set(FIRST)
    ids = [json.loads(line)["_id"] for line in (tmp_path / "beir" / "queries.jsonl").open()]
    assert set(FIRST) <= set(ids) and not set(REPEATS) & set(ids)


@pytest.mark.parametrize("corpus", ["rfc", "acl"])
@pytest.mark.parametrize("split", ["valid", "test"])
def test_the_page_tells_the_counts_that_are_expected(corpus, split):
    root = Path(__file__).parents[2]
    counts = json.loads((root / "datasets" / corpus / "expected.json").read_text())
    every, repeats = (counts[f"contexts{kind}_{split}"] for kind in ("", "_that_repeat_another"))
    begin = f"| {corpus.upper()} | {split} | {every:,} | {repeats:,} | {every - repeats:,} | "
    end = f" | {counts[f'contexts_as_in_training_{split}']:,} |"
    lines = (root / "docs" / "measuring.md").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith(begin) and line.endswith(end) for line in lines) == 1
