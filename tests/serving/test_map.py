"""The flat map of vectors."""

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.methods.lexical.postings import Postings
from mpbert.recommending.recommender import Recommender
from mpbert.serving import map as paper_map
from mpbert.serving import word_vectors as word_vectors_module
from mpbert.serving.map import map_rows, positions_of, principal_directions, project
from mpbert.serving.word_vectors import word_vectors
from mpbert.vectors.normal import normalized


def test_directions_are_those_of_a_singular_value_decomposition(monkeypatch):
    monkeypatch.setattr(paper_map, "_BLOCK", 7)
    vectors = np.random.default_rng(1).standard_normal((50, 6)).astype(np.float32) * np.arange(1, 7)
    mean, directions = principal_directions(vectors)
    unit = normalized(vectors).astype(np.float64)
    expected = np.linalg.svd(unit - unit.mean(axis=0), full_matrices=False)[2][:2].T
    np.testing.assert_allclose(mean, unit.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(np.abs(directions.T @ expected), np.eye(2), atol=1e-9)
    assert (directions[np.abs(directions).argmax(axis=0), [0, 1]] > 0).all()


def test_points_on_a_line_stay_on_one_and_the_farthest_is_at_1():
    angles = np.array([0.0, 0.1, 0.3])
    vectors = np.stack([np.cos(angles), np.sin(angles), np.zeros(3)], axis=1)
    places = project(vectors * [[1], [5], [9]], np.arange(3))  # lengths do not matter
    x, y = places.T
    assert np.abs(places).max() == pytest.approx(1)
    assert np.ptp(y) < 0.1 * np.ptp(x)
    assert min(x[0], x[2]) < x[1] < max(x[0], x[2])


@pytest.mark.parametrize("vectors", [np.ones((1, 4)), np.ones((3, 4)), np.zeros((2, 1))])
def test_papers_that_are_alike_lie_in_the_middle(vectors):
    np.testing.assert_array_equal(project(vectors, np.arange(len(vectors))), 0)


def test_vectors_of_one_number_lie_on_a_line():
    places = project(np.array([[2.0], [-3.0]]), np.arange(2))
    np.testing.assert_allclose(places, [[1, 0], [-1, 0]])


def test_of_very_many_papers_a_fixed_part_is_shown(monkeypatch):
    monkeypatch.setattr(paper_map, "MAX_POINTS", 5)
    vectors = np.random.default_rng(1).standard_normal((100, 3))
    rows = map_rows(vectors)
    assert len(rows) == len(set(rows)) == 5
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(rows, map_rows(vectors))
    np.testing.assert_array_equal(map_rows(vectors[:5]), np.arange(5))
    shown, everywhere = project(vectors, rows), project(vectors, np.arange(100))
    np.testing.assert_allclose(shown / shown[0], everywhere[rows] / everywhere[rows[0]])


def test_papers_without_a_vector_are_not_drawn_and_move_no_other():
    vectors = np.random.default_rng(1).standard_normal((6, 3))
    with_gaps = np.insert(vectors, [0, 4], 0, axis=0)
    rows = map_rows(with_gaps)
    assert rows.tolist() == [1, 2, 3, 4, 6, 7]
    expected = project(vectors, np.arange(6))
    np.testing.assert_allclose(project(with_gaps, rows), expected, atol=1e-12)


def test_an_index_without_any_vector_has_an_empty_map():
    vectors = np.zeros((3, 4))
    assert project(vectors, map_rows(vectors)).shape == (0, 2)


def test_vectors_of_words_are_those_of_a_singular_value_decomposition():
    random = np.random.default_rng(1)
    held = random.random((40, 60)) < 0.05
    held[:15, :20] |= random.random((15, 20)) < 0.6  # two subjects
    held[15:40, 20:50] |= random.random((25, 30)) < 0.4
    held[7] = False
    table = np.where(held, random.random((40, 60)) + 0.5, 0.0)
    found = word_vectors(_postings(table), 40)
    counted = table * (held.sum(axis=0) >= 2) * (held.sum(axis=0) <= 20)
    lengths = np.linalg.norm(counted, axis=1, keepdims=True)
    left, values, _ = np.linalg.svd(counted / np.where(lengths, lengths, 1), full_matrices=False)
    expected = (left * values)[:, :2]
    first = found[:, :2] * np.sign((found[:, :2] * expected).sum(axis=0))
    np.testing.assert_allclose(first, expected, atol=0.05)
    assert not found[7].any() and found.shape == (40, 8)


def test_of_very_many_words_a_fixed_part_counts(monkeypatch):
    table = (np.random.default_rng(1).random((40, 60)) < 0.2).astype(np.float64)
    monkeypatch.setattr(word_vectors_module, "_MOST_ENTRIES", 100)
    postings = _postings(table)
    entries, lengths = word_vectors_module._entries(postings, 40)
    assert 50 < len(entries) == lengths.sum() <= 100
    np.testing.assert_array_equal(word_vectors(postings, 40), word_vectors(postings, 40))


def test_an_index_of_words_has_a_map_of_words(tmp_path):
    (tmp_path / "library").mkdir()
    said = {"a": "Routers forward packets of hosts", "b": "Zebrafish have genes and proteins"}
    rows = [f"{name}{i},Paper {name}{i},{text}." for name, text in said.items() for i in "1234"]
    table = "\n".join(["paper_id,title,abstract", *rows])
    (tmp_path / "library" / "papers.csv").write_text(table)
    assert main(["index", str(tmp_path / "library"), str(tmp_path / "index")]) == 0
    positions = positions_of(Recommender(tmp_path / "index"))
    assert positions.num_papers == len(positions.paper_ids) == len(positions.x) == 8
    places = np.stack([positions.x, positions.y], axis=1)
    names = np.array([paper_id[0] for paper_id in positions.paper_ids])
    means = [places[names == name].mean(axis=0) for name in "ab"]
    apart = np.linalg.norm(means[0] - means[1])
    for name, mean in zip("ab", means, strict=True):
        assert np.linalg.norm(places[names == name] - mean, axis=1).max() < apart / 2


@pytest.mark.parametrize("table", [np.zeros((3, 2)), np.eye(3), np.ones((3, 2))])
def test_papers_that_share_no_telling_word_have_no_place(table):
    assert not word_vectors(_postings(table), 3).any()


def _postings(table):
    words, papers = np.nonzero(table.T)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(words, minlength=table.shape[1]))])
    return Postings(offsets, papers, table.T[words, papers].astype(np.float32))
