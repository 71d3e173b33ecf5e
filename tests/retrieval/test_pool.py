from types import SimpleNamespace

import numpy as np
import pytest

from mpbert.corpus.queries import Queries
from mpbert.corpus.records import UNKNOWN_YEAR
from mpbert.foundation.ragged import offsets_of
from mpbert.retrieval import approximate, dense
from mpbert.retrieval.dense import DenseIndex
from mpbert.retrieval.options import POOLS, SIMILARITIES
from mpbert.retrieval.pool import candidates_by_year, num_candidates
from mpbert.retrieval.vector_search import VectorSearch
from mpbert.vectors.store import VectorStore


def corpus_of(years, splits):
    ids = [f"p{row:05}" for row in range(len(years))]
    return SimpleNamespace(
        num_papers=len(years), paper_ids=ids, years=years, paper_splits=np.array(splits)
    )


def queries_of(store, citing_rows):
    return Queries(
        [f"q{i}" for i in range(len(citing_rows))], citing_rows,
        offsets_of(np.zeros(len(citing_rows), dtype=np.int64)), np.zeros(0, dtype=np.int64),
        store.years[citing_rows], np.zeros(len(citing_rows), dtype=bool),
    )  # fmt: skip


def made(tmp_path, num_papers, num_queries, seed, split="test", num_years=9):
    """A corpus, queries and vectors; of each third paper there is no vector, and some are equal."""
    rng = np.random.default_rng(seed)
    years = rng.integers(2000, 2000 + num_years, num_papers)
    store = corpus_of(years, rng.choice(["train", "valid", "test"], num_papers))
    of_split = np.flatnonzero(store.paper_splits == split)
    queries = queries_of(store, rng.choice(of_split, num_queries))
    store.queries = lambda *_: queries
    papers = rng.standard_normal((12, 4)).astype(np.float32)[rng.integers(0, 12, num_papers)]
    papers[::3] = 0
    vectors = rng.standard_normal((num_queries, 4)).astype(np.float32)
    VectorStore(store.paper_ids, papers).save(tmp_path, "papers")
    VectorStore(queries.query_ids, vectors).save(tmp_path, f"contexts.{split}")
    return store, queries, papers, vectors


def by_definition(store, queries, papers, vectors, split, pool, k, similarity):
    """One query and one paper at a time."""
    found = []
    for i, own in enumerate(queries.citing_rows):
        scores = []
        for row, paper in enumerate(papers.astype(float)):
            late = pool == "known" and store.years[row] > store.years[own]
            if row == own or late or (split == "train" and store.paper_splits[row] != "train"):
                continue
            lengths = np.linalg.norm(paper) * np.linalg.norm(vectors[i])
            score = float(vectors[i].astype(float) @ paper)
            score = score / lengths if similarity == "cosine" and lengths else score
            scores.append((not paper.any(), -round(score, 5), row))
        found.append([row for *_, row in sorted(scores)[:k]])
    return found


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("split", ["test", "train"])
@pytest.mark.parametrize("k", [3, 100])
def test_search_of_a_pool_equals_the_slow_loop(tmp_path, split, pool, k, similarity):
    for seed in range(4):
        store, queries, *vectors = made(tmp_path, 60, 25, seed, split)
        search = VectorSearch(store, tmp_path, "local", similarity, pool=pool)
        rows, scores = search.search(queries, split, k)
        expected = by_definition(store, queries, *vectors, split, pool, k, similarity)
        assert [list(found[found >= 0]) for found in rows] == expected
        assert ((rows >= 0) == np.isfinite(scores)).all()
        assert (np.diff(np.where(rows >= 0, scores, -9e9), axis=1) <= 0).all()
        if k == 100 and (pool == "known" or split == "train"):
            assert min(map(len, expected)) < rows.shape[1]


def test_a_part_of_an_index_scores_as_an_index_of_these_papers_alone(monkeypatch):
    monkeypatch.setattr(dense, "_SPARE", (0, 2))  # so that all papers are scored for some queries
    rng = np.random.default_rng(4)
    papers = rng.standard_normal((400, 5)).astype(np.float32)
    papers[100:200] = papers[100]
    papers[::7] = 0
    index, queries = DenseIndex(papers), rng.standard_normal((30, 5))
    queries[3], queries[4] = papers[100], 0
    for share in (0.9, 0.3, 0.01):
        part = rng.random(400) < share
        part[101] = True
        places = np.flatnonzero(part)
        own = np.append(rng.choice(places, 29), 101)
        rows, scores = index.within(part).search(queries, 8, own)
        alone, best = DenseIndex(papers[part]).search(queries, 8, np.searchsorted(places, own))
        assert np.array_equal(rows, places[alone])
        has = papers[rows].any(axis=2)
        assert np.array_equal(scores[has], best[has])


def test_a_paper_outside_the_part_takes_no_place_of_it():
    index = DenseIndex(np.eye(4)).within(np.array([True, True, False, False]))
    rows, _ = index.search(np.ones((1, 4)), 9, np.array([3]))
    assert rows.tolist() == [[0, 1]]
    nothing = DenseIndex(np.eye(4)).within(np.zeros(4, dtype=bool))
    assert nothing.search(np.ones((1, 4)), 9, np.array([3]))[0].shape == (1, 0)


def test_vectors_are_not_copied():
    papers = np.eye(4)
    index = DenseIndex(papers)
    part = index.within(np.array([True, False, True, True]))
    assert part._vectors is papers and part._has_vector is index._has_vector
    assert index.search(papers[:1], 1, np.array([-1]))[0].tolist() == [[0]]  # it is as it was


@pytest.mark.parametrize("pool", POOLS)
def test_approximate_search_keeps_to_the_pool_and_finds_nearly_all_of_it(
    tmp_path, pool, monkeypatch
):
    monkeypatch.setattr(approximate, "_SAMPLE", 40)
    monkeypatch.setattr(approximate, "_MOST", 1)  # these vectors have no neighbourhoods
    rng = np.random.default_rng(2)
    store = corpus_of(rng.integers(2000, 2003, 3000), ["test"] * 3000)
    queries = queries_of(store, rng.integers(0, 3000, 300))
    store.queries = lambda *_: queries
    papers = rng.standard_normal((3000, 16)).astype(np.float32)
    VectorStore(store.paper_ids, papers).save(tmp_path, "papers")
    VectorStore(queries.query_ids, papers[queries.citing_rows] + 0.1).save(
        tmp_path, "contexts.test"
    )
    searches = [VectorSearch(store, tmp_path, "local", approximate=a, pool=pool) for a in (1, 0)]
    (rows, _), (exact, _) = (search.search(queries, "test", 10) for search in searches)
    assert (rows != queries.citing_rows[:, None]).all()
    if pool == "known":
        assert (store.years[rows] <= queries.years[:, None]).all()
    assert 0.9 < (rows[:, :, None] == exact[:, None]).any(2).mean() < 1


def test_a_manuscript_of_unknown_year_may_cite_all_papers(tmp_path):
    store = corpus_of(np.array([UNKNOWN_YEAR, 1990, 2000, 2010]), ["test"] * 4)
    queries = queries_of(store, np.array([0, 2]))
    store.queries = lambda *_: queries
    papers = np.eye(4, dtype=np.float32)
    VectorStore(store.paper_ids, papers).save(tmp_path, "papers")
    VectorStore(queries.query_ids, papers[:2]).save(tmp_path, "contexts.test")
    rows, _ = VectorSearch(store, tmp_path, "local").search(queries, "test", 9)
    assert [sorted(found[found >= 0].tolist()) for found in rows] == [[1, 2, 3], [0, 1]]


def test_vectors_of_queries_are_read_once(tmp_path, monkeypatch):
    store, queries, *_ = made(tmp_path, 30, 10, 1)
    search, read = VectorSearch(store, tmp_path, "local"), []
    load = VectorStore.load
    monkeypatch.setattr(
        VectorStore, "load", lambda directory, name: read.append(name) or load(directory, name)
    )
    first, second = (search.search(queries, "test", 3) for _ in range(2))
    assert np.array_equal(first[0], second[0])
    assert read == ["contexts.test"]


@pytest.mark.parametrize("are_known", [True, False])
def test_candidates_are_counted_as_they_are_searched(are_known):
    rng = np.random.default_rng(1)
    years = rng.integers(1990, 2000, 50)
    if not are_known:
        years[::3] = UNKNOWN_YEAR
    store = corpus_of(years, ["test"] * 50)
    queries = queries_of(store, rng.integers(0, 50, 30))
    for pool in POOLS:
        counts = num_candidates(store.years, queries.years, pool)
        seen = []
        for places, papers in candidates_by_year(store, queries, "test", pool):
            assert papers[queries.citing_rows[places]].all()
            assert (counts[places] == papers.sum() - 1).all()
            seen += places.tolist()
        assert sorted(seen) == list(range(30))
    known = num_candidates(store.years, queries.years, "known")
    assert known.tolist() == [
        (store.years <= year).sum() - 1 if year != UNKNOWN_YEAR else 49 for year in queries.years
    ]
