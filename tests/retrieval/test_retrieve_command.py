import numpy as np
import pytest

from mpbert.commands import retrieve
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import matrices_of_run, read_qrels, read_run
from mpbert.foundation.errors import ConfigError, OutputError, VectorsError
from mpbert.foundation.manifest import read_manifest
from mpbert.foundation.seeding import named_rng
from mpbert.methods.chance.embedder import Chance
from mpbert.retrieval.vector_search import VectorSearch


@pytest.fixture(scope="module")
def vectors(rfc_corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors")
    store = CorpusStore(rfc_corpus)
    chance = Chance()
    chance.fit(store, named_rng(1, "test"))
    chance.embed_papers(store).save(path, "papers")
    for split in ("valid", "test"):
        chance.embed_queries(store, store.contexts(split)).save(path, f"contexts.{split}")
    return path


def test_every_query_of_the_qrels_is_ranked_without_its_own_paper(rfc_corpus, vectors, tmp_path):
    output = tmp_path / "chance"
    retrieve.run(retrieve.Config(rfc_corpus, output, vectors=vectors, top=30))
    for split in ("valid", "test"):
        run = read_run(output / f"{split}.run")
        assert set(run.query_ids) == set(
            read_qrels(rfc_corpus / f"qrels.{split}.all.txt").query_ids
        )
        for query, start, end in zip(run.query_ids, run.offsets, run.offsets[1:], strict=False):
            ranked = [run.paper_ids[code] for code in run.codes[start:end]]
            assert len(set(ranked)) == 30 and query.rpartition("#")[0] not in ranked
        counts = read_manifest(output)["counts"]
        assert counts[f"queries_{split}"] == counts[f"citing_papers_excluded_{split}"] == len(run)


def test_all_queries_of_a_split_may_be_asked_in_any_order(rfc_corpus, vectors):
    store = CorpusStore(rfc_corpus)
    search, queries = VectorSearch(store, vectors, "local"), store.contexts("test")
    order = np.random.default_rng(1).permutation(len(queries))
    rows, scores = search.search(queries, "test", 9)
    mixed_rows, mixed_scores = search.search(queries.take(order), "test", 9)
    assert np.array_equal(mixed_rows, rows[order]) and np.array_equal(mixed_scores, scores[order])


@pytest.mark.parametrize("words", [True, False])
def test_newer_papers_are_ranked_where_all_are_asked_for(rfc_corpus, vectors, tmp_path, words):
    store, search = CorpusStore(rfc_corpus), {"lexical": "bm25"} if words else {"vectors": vectors}
    lists = {}
    for pool in ("known", "all"):
        config = retrieve.Config(rfc_corpus, tmp_path / pool, top=200, pool=pool, **search)
        retrieve.run(config)
        queries = store.contexts("valid")
        run = read_run(tmp_path / pool / "valid.run")
        rows, _ = matrices_of_run(run, queries.query_ids, store.paper_ids, "run")
        newer = (rows >= 0) & (store.years[rows] > queries.years[:, None])
        assert newer.any() == (pool == "all")
        counts = read_manifest(tmp_path / pool)["counts"]
        kept = (rows >= 0) & ~newer
        lists[pool] = [row[has].tolist() for row, has in zip(rows, kept, strict=True)]
        left_out = len(queries) * (store.num_papers - 1) - (rows >= 0).sum()
        assert counts["newer_papers_excluded_valid"] == left_out
        assert (left_out > 0) == (pool == "known")
    assert lists["known"] == lists["all"]  # what stays keeps its order
    with pytest.raises(OutputError, match="was made with another config"):
        retrieve.run(retrieve.Config(rfc_corpus, tmp_path / "all", top=200, **search))


def test_a_training_query_finds_training_papers_of_its_year_or_earlier(rfc_corpus, tmp_path):
    store = CorpusStore(rfc_corpus)
    retrieve.run(
        retrieve.Config(rfc_corpus, tmp_path / "run", lexical="bm25", splits=["train"], top=200)
    )
    queries = store.contexts("train")
    run = read_run(tmp_path / "run" / "train.run")
    rows, _ = matrices_of_run(run, queries.query_ids, store.paper_ids, "run")
    for i, own in enumerate(queries.citing_rows):
        known = (store.paper_splits == "train") & (store.years <= store.years[own])
        known[own] = False
        assert set(rows[i][rows[i] >= 0].tolist()) == set(np.flatnonzero(known).tolist())


def test_the_same_inputs_give_the_same_bytes_and_a_second_run_reuses_them(
    rfc_corpus, tmp_path, capsys
):
    for name in ("a/run", "b/run", "a/run"):
        settings = ["fields=abstract+citing", "k1=1.2"]
        config = retrieve.Config(rfc_corpus, tmp_path / name, lexical="bm25", settings=settings)
        retrieve.run(config)
    assert "exists, reused" in capsys.readouterr().out
    for file in ("valid.run", "test.run", "manifest.json"):
        one, two = tmp_path / "a" / "run" / file, tmp_path / "b" / "run" / file
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("kind", ["vectors", "lexical"])
def test_a_sample_is_ranked_as_among_all_queries(rfc_corpus, vectors, tmp_path, kind):
    how = {"vectors": vectors} if kind == "vectors" else {"lexical": "bm25"}
    runs = {}
    for name, sample in (("all", None), ("some", 40), ("again", 40), ("plenty", 10**6)):
        retrieve.run(retrieve.Config(rfc_corpus, tmp_path / name, **how, top=9, sample=sample))
        runs[name] = (tmp_path / name / "valid.run").read_text().splitlines()
    lines = [{line.removesuffix(name) for line in found} for name, found in runs.items()]
    assert len(lines[1]) == 40 * 9
    assert lines[1] == lines[2] < lines[3] <= lines[0]
    distinct = CorpusStore(rfc_corpus).contexts("valid").distinct()
    assert {line.split()[0] for line in lines[3]} == set(distinct.query_ids)
    assert len(read_run(tmp_path / "some" / "test.run")) == 40


def test_one_thing_to_search_is_needed(tmp_path):
    with pytest.raises(ConfigError, match="expected one of --vectors and --lexical"):
        retrieve.Config(tmp_path, tmp_path)
    with pytest.raises(ConfigError, match="--top 0; expected 1 or more"):
        retrieve.Config(tmp_path, tmp_path, lexical="bm25", top=0)
    with pytest.raises(ConfigError, match="--sample 0; expected 1 or more, or leave it out"):
        retrieve.Config(tmp_path, tmp_path, lexical="bm25", sample=0)
    with pytest.raises(ConfigError, match="--settings are of a lexical method"):
        retrieve.Config(tmp_path, tmp_path, vectors=tmp_path, settings=["k1=1"])
    with pytest.raises(ConfigError, match="--similarity is of vectors"):
        retrieve.Config(tmp_path, tmp_path, lexical="bm25", similarity="dot")


def test_settings_and_similarity_reach_the_search(rfc_corpus, vectors, tmp_path):
    for name, search in {
        "cosine": {"vectors": vectors},
        "dot": {"vectors": vectors, "similarity": "dot"},
        "bm25": {"lexical": "bm25"},
        "text": {"lexical": "bm25", "settings": ["fields=text"]},
    }.items():
        retrieve.run(retrieve.Config(rfc_corpus, tmp_path / name, splits=["valid"], **search))
    runs = {path.name: read_run(path / "valid.run") for path in tmp_path.iterdir()}
    for one, two in (("cosine", "dot"), ("bm25", "text")):
        assert not np.array_equal(runs[one].codes, runs[two].codes)


def test_vectors_of_another_corpus_leave_no_run(rfc_corpus, vectors, tmp_path):
    for file in vectors.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    ids = tmp_path / "contexts.test.ids.txt"
    ids.write_text(ids.read_text().replace("#", "~", 1))
    with pytest.raises(VectorsError, match=r"contexts\.test: found id .* in row 0; expected"):
        retrieve.run(retrieve.Config(rfc_corpus, tmp_path / "out", vectors=tmp_path))
    assert not (tmp_path / "out").exists()
