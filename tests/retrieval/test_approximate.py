import logging

import faiss
import numpy as np
import pytest

from mpbert.retrieval import approximate
from mpbert.retrieval.approximate import ApproximateIndex
from mpbert.retrieval.dense import DenseIndex


def clustered(num_vectors, seed):
    """Vectors around 50 centres: lists of neighbours exist."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(7).standard_normal((50, 16))
    noise = 0.4 * rng.standard_normal((num_vectors, 16))
    return (centres[rng.integers(0, 50, num_vectors)] + noise).astype(np.float32)


@pytest.mark.parametrize("recall", [0.5, 0.98])
def test_the_recall_asked_for_is_reached_and_scores_are_exact(recall, caplog):
    papers, queries = clustered(5000, 1), clustered(400, 2)
    nobody = np.array([-1])
    with caplog.at_level(logging.INFO):
        rows, scores = ApproximateIndex(papers, recall=recall).search(queries, 10, nobody)
    exact, best = DenseIndex(papers).search(queries, 10, nobody)
    assert (rows[:, :, None] == exact[:, None]).any(2).mean() >= recall - 0.05
    assert (scores <= best + 1e-12).all()
    unit = papers / np.linalg.norm(papers, axis=1, keepdims=True)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    assert np.allclose(scores, np.einsum("qd,qkd->qk", queries, unit[rows]), atol=1e-5)
    assert "papers found, by 256 queries" in caplog.text


def test_the_excluded_paper_is_never_ranked():
    papers = clustered(3000, 1)
    rows, _ = ApproximateIndex(papers).search(papers[:300], 5, np.arange(300))
    assert not (rows == np.arange(300)[:, None]).any()


def test_all_papers_may_be_asked_for():
    papers, queries = clustered(1200, 1), clustered(300, 2)
    own = np.arange(300)
    rows, scores = ApproximateIndex(papers).search(queries, 1199, own)
    exact, best = DenseIndex(papers).search(queries, 1199, own)
    assert rows.tolist() == exact.tolist()
    assert scores.tolist() == best.tolist()


@pytest.mark.parametrize("num_papers", [1, 12, 999])
def test_few_papers_are_searched_exactly(num_papers):
    papers, queries = clustered(num_papers, 1), clustered(300, 2)
    found, scores = ApproximateIndex(papers).search(queries, 5, np.array([-1]))
    exact, best = DenseIndex(papers).search(queries, 5, np.array([-1]))
    assert (found.tolist(), scores.tolist()) == (exact.tolist(), best.tolist())


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_parts_of_the_papers_share_a_graph_and_rank_no_other_paper(share, caplog):
    papers, queries = clustered(6000, 1), clustered(300, 2)
    is_candidate = np.random.default_rng(3).random(6000) < share
    papers[::50] = 0
    every = ApproximateIndex(papers)
    part = every.within(is_candidate)
    with caplog.at_level(logging.INFO):
        rows, scores = part.search(queries, 10, np.array([-1]))
    exact, best = DenseIndex(papers).within(is_candidate).search(queries, 10, np.array([-1]))
    assert is_candidate[rows].all()
    assert (rows == exact).mean() > 0.95
    assert (scores <= best).all()
    assert ("in view" in caplog.text) == (share > 0.1)
    if share > 0.1:
        assert part._shared.graph is every._shared.graph


def test_inner_products_of_papers_of_any_length_are_found(caplog):
    rng = np.random.default_rng(5)
    papers = clustered(4000, 1) * rng.lognormal(size=(4000, 1)).astype(np.float32)
    queries = clustered(300, 2)
    with caplog.at_level(logging.INFO):
        rows, _ = ApproximateIndex(papers, "dot").search(queries, 10, np.array([-1]))
    exact, _ = DenseIndex(papers, "dot").search(queries, 10, np.array([-1]))
    assert (rows[:, :, None] == exact[:, None]).any(2).mean() > 0.95
    assert "searched exactly" not in caplog.text


def test_where_a_graph_finds_too_few_all_is_searched_exactly(caplog, monkeypatch):
    monkeypatch.setattr(approximate, "_VIEWS", (1, 1))
    rng = np.random.default_rng(6)
    papers, queries = rng.standard_normal((3000, 64)), rng.standard_normal((300, 64))
    with caplog.at_level(logging.INFO):
        rows, scores = ApproximateIndex(papers, recall=1.0).search(queries, 10, np.array([-1]))
    exact, best = DenseIndex(papers).search(queries, 10, np.array([-1]))
    assert "all queries are searched exactly" in caplog.text
    assert np.array_equal(rows, exact) and np.array_equal(scores, best)


def test_two_searches_are_equal_however_many_threads():
    papers, queries = clustered(4000, 1), clustered(400, 2)
    threads, found = faiss.omp_get_max_threads(), []
    try:
        for number in (1, 2):
            faiss.omp_set_num_threads(number)
            found.append(ApproximateIndex(papers).search(queries, 10, np.array([-1])))
            assert faiss.omp_get_max_threads() == number
    finally:
        faiss.omp_set_num_threads(threads)
    assert np.array_equal(found[0][0], found[1][0]) and np.array_equal(found[0][1], found[1][1])
