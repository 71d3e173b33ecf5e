import numpy as np
import pytest

from mpbert.retrieval.ranking import at_most_kth, top_k

NOBODY = np.array([-1])


def by_sorting(scores, k):
    order = np.lexsort([np.arange(len(scores)), -scores])[:k]
    return order.tolist(), scores[order].tolist()


@pytest.mark.parametrize("num_papers", [1, 31, 32, 33, 640, 5000])
@pytest.mark.parametrize("levels", [1, 3, 50, 10**9])  # few: many ties
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_best_are_those_of_sorting(num_papers, levels, dtype):
    rng = np.random.default_rng(num_papers)
    scores = rng.integers(0, levels, (3, num_papers)).astype(dtype)
    scores[2, rng.random(num_papers) < 0.5] = -np.inf
    for k in {1, min(7, num_papers), num_papers}:
        rows, best = top_k(scores.copy(), k, NOBODY)
        assert best.dtype == dtype
        for query in range(3):
            assert (rows[query].tolist(), best[query].tolist()) == by_sorting(scores[query], k)


def test_an_excluded_paper_is_left_out_of_many():
    scores = np.arange(2000.0)[None]
    assert top_k(scores, 3, np.array([1999]))[0].tolist() == [[1998, 1997, 1996]]


def test_few_scores_reach_the_bound():
    scores = np.random.default_rng(1).random(50_000)
    for k in (1, 100, 780):
        assert k <= np.count_nonzero(scores >= at_most_kth(scores, k)) <= 2 * k
