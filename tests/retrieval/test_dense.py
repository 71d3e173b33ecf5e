import faiss
import numpy as np
import pytest

from mpbert.retrieval import dense, proposals
from mpbert.retrieval.dense import DenseIndex
from mpbert.retrieval.options import SIMILARITIES

NONE = np.array([-1])


def by_definition(papers, queries, k, excluded, similarity="cosine"):
    """Similarities one by one, sorted by (-score, row)."""
    ranking = []
    for query, own in zip(queries, excluded, strict=True):
        scores = []
        for row, paper in enumerate(papers):
            lengths = np.linalg.norm(query) * np.linalg.norm(paper)
            lengths = lengths if similarity == "cosine" else 1.0
            if row != own:
                scores.append((-(float(query @ paper / lengths) if lengths else 0.0), row))
        ranking.append([row for _, row in sorted(scores)[:k]])
    return ranking


def test_ranking_of_three_papers_by_pencil():
    papers = np.array([[1.0, 0.0], [0.0, 9.0], [1.0, 1.0]])
    rows, scores = DenseIndex(papers).search(np.array([[2.0, 0.0]]), 3, NONE)
    assert rows.tolist() == [[0, 2, 1]]
    assert np.allclose(scores, [[1, 0.5**0.5, 0]])


def test_inner_products_by_pencil():
    papers = np.array([[1.0, 0.0], [0.0, 9.0], [3.0, 1.0], [0.0, 0.0]])
    queries = np.array([[2.0, 0.0], [0.0, -1.0]])
    rows, scores = DenseIndex(papers, "dot").search(queries, 4, np.array([-1, -1]))
    assert rows.tolist() == [[2, 0, 1, 3], [0, 2, 1, 3]]
    assert np.allclose(scores, [[6, 2, 0, -18], [0, -1, -9, -9]], atol=1e-4)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e15])
def test_inner_products_equal_the_slow_loop_however_long_the_vectors(scale):
    rng = np.random.default_rng(3)
    papers = rng.standard_normal((300, 7)) * rng.uniform(0.01, 100, (300, 1)) * scale
    papers = papers.astype(np.float32)
    queries = (rng.standard_normal((9, 7)) * scale).astype(np.float32)
    excluded = np.arange(9)
    rows, scores = DenseIndex(papers, "dot").search(queries, 10, excluded)
    exact = papers.astype(np.float64), queries.astype(np.float64)
    assert rows.tolist() == by_definition(*exact, 10, excluded, "dot")
    assert np.allclose(scores, np.take_along_axis(exact[1] @ exact[0].T, rows, 1), atol=0)


@pytest.mark.parametrize(("num_papers", "k"), [(300, 10), (20, 10), (8, 100), (300, 290)])
def test_search_equals_the_slow_loop(num_papers, k):
    rng = np.random.default_rng(1)
    papers, queries = rng.standard_normal((num_papers, 7)), rng.standard_normal((9, 7))
    excluded = np.array([0, 1, 2, 3, 4, 5, 6, 7, -1])
    rows, scores = DenseIndex(papers).search(queries, k, excluded)
    assert rows.tolist() == by_definition(papers, queries, min(k, num_papers - 1), excluded)
    assert (np.diff(scores, axis=1) <= 0).all()


def test_equal_vectors_are_ranked_by_row_however_many_they_are():
    rng = np.random.default_rng(2)
    papers = np.repeat(rng.standard_normal((2, 33)), 100, axis=0)  # two papers, 100 times each
    rows, scores = DenseIndex(papers).search(papers[[150]], 10, np.array([103]))
    assert rows.tolist() == [[100, 101, 102, 104, 105, 106, 107, 108, 109, 110]]
    assert len(set(scores[0])) == 1


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_papers_without_a_vector_come_last_and_zero_queries_rank_by_row(similarity):
    papers = np.array([[-0.9, 0.1], [0.0, 0.0], [1.0, 0.0]])
    rows, scores = DenseIndex(papers, similarity).search(
        np.array([[1.0, 0.0], [0.0, 0.0]]), 3, NONE
    )
    assert rows.tolist() == [[2, 0, 1], [0, 2, 1]]
    assert scores[0, 2] < -1 < scores[0, 1]
    assert scores[1, :2].tolist() == [0, 0] and scores[1, 2] < 0


@pytest.mark.parametrize("k", [3, 40, 60, 100])
def test_any_share_of_papers_without_a_vector_comes_last(k):
    rng = np.random.default_rng(5)
    papers, queries = rng.standard_normal((90, 7)), rng.standard_normal((9, 7))
    papers[rng.permutation(90)[:40]] = 0
    excluded = np.array([*np.flatnonzero(papers.any(axis=1))[:4], *range(4), -1])
    rows, _ = DenseIndex(papers).search(queries, k, excluded)
    for query, own, found in zip(queries, excluded, rows, strict=True):
        unit = papers / np.maximum(np.linalg.norm(papers, axis=1, keepdims=True), 1e-9)
        scores = np.where(papers.any(axis=1), unit @ query, -np.inf)
        order = [row for row in np.argsort(-scores, kind="stable") if row != own]
        assert found.tolist() == order[: min(k, 89)]


def test_without_any_vector_papers_are_ranked_by_row():
    rows, _ = DenseIndex(np.zeros((4, 2))).search(np.ones((1, 2)), 2, np.array([0]))
    assert rows.tolist() == [[1, 2]]


def test_the_citing_paper_is_never_ranked():
    papers = np.eye(4)
    rows, _ = DenseIndex(papers).search(papers, 10, np.arange(4))
    assert rows.shape == (4, 3)
    assert not (rows == np.arange(4)[:, None]).any()


def test_scores_rise_as_a_paper_comes_closer():
    query = np.array([[1.0, 0.0]])
    near, far = np.array([[1.0, 0.1]]), np.array([[1.0, 2.0]])
    assert DenseIndex(near).search(query, 1, NONE)[1] > DenseIndex(far).search(query, 1, NONE)[1]


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_threads_and_blocks_do_not_change_a_bit(similarity, monkeypatch):
    rng = np.random.default_rng(4)
    papers = rng.standard_normal((500, 65)) * 1e-3 + 1  # cosines near 1, many near ties
    queries = rng.standard_normal((70, 65)) * 1e-3 + 1
    excluded = np.arange(70)
    rows, scores = DenseIndex(papers, similarity).search(queries, 20, excluded)
    threads = faiss.omp_get_max_threads()
    try:
        faiss.omp_set_num_threads(2)
        monkeypatch.setattr(proposals, "_BLOCK", 13)
        for name, size in (("PAPERS", 90), ("_CONVERTED", 11), ("RESCORED", 7)):
            monkeypatch.setattr(dense, name, size)
        again_rows, again_scores = DenseIndex(papers, similarity).search(queries, 20, excluded)
    finally:
        faiss.omp_set_num_threads(threads)
    assert np.array_equal(rows, again_rows) and np.array_equal(scores, again_scores)


def test_a_mapped_matrix_is_searched_block_by_block_and_never_read_whole(tmp_path, monkeypatch):
    rng = np.random.default_rng(7)
    papers, queries = rng.standard_normal((400, 16)), rng.standard_normal((6, 16))
    papers[50:60] = 0
    np.save(tmp_path / "papers.npy", papers.astype(np.float32))
    expected = DenseIndex(papers.astype(np.float32)).search(queries, 9, NONE)
    read = []

    class Mapped(np.memmap):
        def __getitem__(self, key):
            found = np.asarray(super().__getitem__(key))
            read.append(len(found))
            return found

    monkeypatch.setattr(dense, "PAPERS", 100)
    monkeypatch.setattr(dense, "_CONVERTED", 32)
    mapped = np.load(tmp_path / "papers.npy", mmap_mode="r").view(Mapped)
    found = DenseIndex(mapped).search(queries, 9, NONE)
    assert np.array_equal(found[0], expected[0]) and np.array_equal(found[1], expected[1])
    assert max(read) <= max(32, 6 * (9 + 1 + 5))


def test_more_near_ties_than_are_proposed_are_resolved_by_proposing_more(monkeypatch):
    rng = np.random.default_rng(8)
    papers = (rng.standard_normal((600, 8)) * 0.1).astype(np.float32)
    papers[100:140] = 1 + rng.uniform(0, 1e-6, (40, 8))  # scores that float32 cannot tell apart
    query = np.ones((1, 8))
    monkeypatch.delattr(DenseIndex, "_search_all")
    rows, _ = DenseIndex(papers, "dot").search(query, 5, NONE)
    assert rows.tolist() == by_definition(papers.astype(np.float64), query, 5, NONE, "dot")


def test_no_query_has_no_ranking():
    rows, scores = DenseIndex(np.eye(3)).search(np.zeros((0, 3)), 2, np.zeros(0, dtype=int))
    assert rows.shape == scores.shape == (0, 2)
