import logging

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
def test_the_recall_asked_for_is_reached_and_scores_are_exact(recall, caplog, monkeypatch):
    monkeypatch.setattr(approximate, "_RECALL", recall)
    papers, queries = clustered(5000, 1), clustered(400, 2)
    nobody = np.array([-1])
    with caplog.at_level(logging.INFO):
        rows, scores = ApproximateIndex(papers).search(queries, 10, nobody)
    exact, best = DenseIndex(papers).search(queries, 10, nobody)
    assert (rows[:, :, None] == exact[:, None]).any(2).mean() >= recall - 0.05
    assert (scores <= best + 1e-12).all()
    unit = papers / np.linalg.norm(papers, axis=1, keepdims=True)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    assert np.allclose(scores, np.einsum("qd,qkd->qk", queries, unit[rows]), atol=1e-5)
    assert "papers found, by 256 queries" in caplog.text


def test_vectors_without_neighbourhoods_are_searched_exactly(caplog):
    rng = np.random.default_rng(3)
    papers, queries = rng.standard_normal((2000, 64)), rng.standard_normal((300, 64))
    with caplog.at_level(logging.INFO):
        rows, scores = ApproximateIndex(papers).search(queries, 10, np.array([-1]))
    exact, best = DenseIndex(papers).search(queries, 10, np.array([-1]))
    assert (rows.tolist(), scores.tolist()) == (exact.tolist(), best.tolist())
    assert "so many of 178 lists are needed" in caplog.text


def test_no_more_lists_are_read_than_the_recall_needs(caplog, monkeypatch):
    papers, queries = clustered(5000, 1), clustered(400, 2)
    read = []
    for recall in (0.5, 0.98):
        monkeypatch.setattr(approximate, "_RECALL", recall)
        with caplog.at_level(logging.INFO):
            ApproximateIndex(papers).search(queries, 10, np.array([-1]))
        read.append(int(caplog.messages[-1].split()[0]))
    assert read[0] < read[1] < 282 // 4


def test_the_excluded_paper_is_never_ranked():
    papers = clustered(3000, 1)
    rows, _ = ApproximateIndex(papers).search(papers[:300], 5, np.arange(300))
    assert not (rows == np.arange(300)[:, None]).any()


def test_lists_that_hold_too_few_papers_are_no_error():
    papers, queries = clustered(60, 1), clustered(300, 2)
    own = np.arange(300) % 60
    rows, scores = ApproximateIndex(papers).search(queries, 59, own)
    exact, best = DenseIndex(papers).search(queries, 59, own)
    assert rows.tolist() == exact.tolist()
    assert scores.tolist() == best.tolist()


@pytest.mark.parametrize("num_papers", [1, 12, 15, 16])
def test_few_papers_are_searched_exactly(num_papers):
    papers, queries = clustered(num_papers, 1), clustered(300, 2)
    found, scores = ApproximateIndex(papers).search(queries, 5, np.array([-1]))
    exact, best = DenseIndex(papers).search(queries, 5, np.array([-1]))
    assert (found.tolist(), scores.tolist()) == (exact.tolist(), best.tolist())
