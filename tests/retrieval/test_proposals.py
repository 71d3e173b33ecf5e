import faiss
import numpy as np
import pytest

from mpbert.retrieval import proposals
from mpbert.retrieval.approximate import ApproximateIndex
from mpbert.retrieval.dense import DenseIndex
from mpbert.retrieval.proposals import Proposals, Rounded
from mpbert.vectors.normal import normalized

torch = pytest.importorskip("torch", reason="rounded products are torch's")
NOBODY = np.array([-1])


@pytest.fixture
def rounding(monkeypatch):
    """Let products be rounded however few, on a processor that need not be fast at it."""
    monkeypatch.setattr(proposals, "_PAYS", 0)
    monkeypatch.setattr(proposals, "_PAYS_LOADED", 0)
    monkeypatch.setattr(proposals, "_multiplies_bfloat16", lambda: True)
    monkeypatch.setattr(proposals, "_QUERIES", 48)
    monkeypatch.setattr(proposals, "_PAPERS", 512)
    monkeypatch.setattr(proposals, "_MOST", 0.3)


@pytest.fixture
def by_faiss(monkeypatch):
    """Return the numbers of papers that FAISS compared, search by search."""
    asked, knn = [], faiss.knn
    monkeypatch.setattr(faiss, "knn", lambda q, p, *rest: asked.append(len(p)) or knn(q, p, *rest))
    return asked


def clustered(rng, size, dim=64, spread=0.3):
    """Return vectors with near neighbours."""
    centers = rng.standard_normal((40, dim))
    noise = spread * rng.standard_normal((size, dim))
    return (centers[rng.integers(0, 40, size)] + noise).astype(np.float32)


def _rounding_only(most):
    """Return the making of rounded vectors, which fails where there are more."""
    make = Rounded.__init__

    def made(self, vectors):
        assert len(vectors) <= most, "papers are rounded again"
        make(self, vectors)

    return made


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("spread", [0.3, 3.0])
def test_rounding_changes_no_bit(similarity, spread, rounding, by_faiss, monkeypatch):
    rng = np.random.default_rng(1)
    papers, queries = clustered(rng, 5000, spread=spread), clustered(rng, 100, spread=spread)
    rows, scores = DenseIndex(papers, similarity).search(queries, 10, NOBODY)
    assert sum(by_faiss) < 5000  # three blocks of queries; each need only begin with FAISS
    monkeypatch.setattr(proposals, "_multiplies_bfloat16", lambda: False)
    again_rows, again_scores = DenseIndex(papers, similarity).search(queries, 10, NOBODY)
    assert np.array_equal(rows, again_rows)
    assert np.array_equal(scores, again_scores)


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_papers_that_were_rounded_before_change_no_bit(similarity, rounding, monkeypatch):
    rng = np.random.default_rng(5)
    papers, queries = 3 * clustered(rng, 5000), clustered(rng, 100)
    kept, fresh = ApproximateIndex(papers, similarity), DenseIndex(papers, similarity)
    asked = np.concatenate([queries, papers[::20]])
    kept.search(asked, 10, NOBODY)  # learns
    expected = fresh.search(queries, 10, NOBODY)
    monkeypatch.setattr(Rounded, "__init__", _rounding_only(len(queries)))
    found = kept.search(queries, 10, NOBODY)
    assert np.array_equal(found[0], expected[0])
    assert np.array_equal(found[1], expected[1])


def test_no_pair_above_the_least_score_is_sorted_out():
    rng = np.random.default_rng(2)
    queries, papers = normalized(clustered(rng, 200)), normalized(clustered(rng, 3000))
    products = queries.astype(np.float64) @ papers.T.astype(np.float64)
    least = np.sort(products, axis=1)[:, -10]
    every = slice(0, None)
    pairs = Rounded(queries).at_least(least, slice(0, 200), Rounded(papers), every)
    left = np.zeros(products.shape, dtype=bool)
    left[pairs] = True
    assert left[products >= least[:, None]].all()
    assert left.mean() < 0.01
    asked, _ = pairs
    assert (np.diff(asked) >= 0).all()


def test_many_equal_papers_are_ranked_by_row(rounding, by_faiss):
    rng = np.random.default_rng(3)
    papers = normalized(clustered(rng, 3000))
    papers[500:1500] = papers[77]
    rows, scores = DenseIndex(papers).search(papers[[77, 2000]], 10, NOBODY)
    assert rows[0].tolist() == [77, *range(500, 509)]
    assert len(set(scores[0])) == 1
    assert by_faiss.count(512) > 2  # too many stay: FAISS is asked again


def test_queries_of_zeros_and_of_no_near_paper(rounding):
    rng = np.random.default_rng(4)
    papers = normalized(np.abs(clustered(rng, 2000)))
    rows, _ = DenseIndex(papers).search(np.stack([np.zeros(64), -papers[0]]), 5, NOBODY)
    assert rows[0].tolist() == [0, 1, 2, 3, 4]
    assert rows[1].tolist() == np.argsort(papers.astype(np.float64) @ papers[0])[:5].tolist()


def test_few_products_need_no_torch(monkeypatch):
    monkeypatch.setattr(proposals, "_multiplies_bfloat16", lambda: pytest.fail("asked"))
    found = Proposals(np.ones((3, 2), np.float32), 2, 10)
    found.add(np.eye(2, dtype=np.float32), np.array([7, 8]))
    assert set(found.rows[0]) == {7, 8}
