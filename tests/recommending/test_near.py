"""Rankings from the papers that a store proposes, beside those from all papers."""

from types import SimpleNamespace

import numpy as np
import pytest

from mpbert.methods.lexical.best_papers import BestPapers
from mpbert.methods.lexical.postings import Postings
from mpbert.recommending.best import beside, best_of, nearest, nearest_beside
from mpbert.recommending.matching import cosines
from mpbert.recommending.near import NearPapers

PAPERS, WORDS, DEPTH = 4000, 30, 10


def made(seed):
    """Return words, vectors of which some are zeros, years, and papers proposed by all cosines."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((PAPERS, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[::50] = 0
    vectors[1::50] = vectors[2::50]  # ties
    years = rng.integers(1990, 2010, PAPERS)
    held = [np.flatnonzero(rng.random(PAPERS) < 1 / (2 + word)) for word in range(WORDS)]
    papers = np.concatenate(held).astype(np.int32)
    offsets = np.cumsum([0, *map(len, held)])
    words = Postings(offsets, papers, rng.random(len(papers)).astype(np.float32))
    rows = np.flatnonzero(vectors.any(axis=1))

    def propose(queries, depth, year):
        may = rows if year is None else rows[years[rows] <= year]
        order = np.argsort(-cosines(vectors[may], queries[0]), kind="stable")
        return may[order[None, :depth]]

    stored = SimpleNamespace(propose=propose)
    return words, vectors, years, NearPapers(stored, vectors, rows, years), rng


def asked_of(rng):
    vector = rng.standard_normal(8).astype(np.float32)
    words = np.sort(rng.choice(WORDS, 8, replace=False))
    return vector / np.linalg.norm(vector), (words, rng.integers(1, 4, 8))


@pytest.mark.parametrize("year", [None, 2000])
def test_few_proposed_papers_rank_as_all_do_to_the_last_digit(year, monkeypatch):
    monkeypatch.setattr("mpbert.recommending.near.NEAREST", 300)
    words, vectors, years, papers, rng = made(1)
    best, told = BestPapers(words, PAPERS), 0
    for _ in range(100):
        vector, asked = asked_of(rng)
        allowed = (rng.random(PAPERS) < 0.9) & (years <= (year or 3000))
        near, values = papers.of(vector, year), cosines(vectors, vector)
        by_words = words.scores(*asked, PAPERS)
        scores = beside(by_words, lambda values=values: values, [], allowed)()
        has_vector = allowed & vectors.any(axis=1)
        for found, expected in (
            (nearest(near, allowed, DEPTH), best_of(values, has_vector, DEPTH)),
            (nearest_beside(best, asked, near, allowed, DEPTH), best_of(scores, allowed, DEPTH)),
        ):
            if found is not None:
                told += 1
                assert found.rows.tolist() == expected.rows.tolist()
                assert found.scores.tolist() == expected.scores.tolist()
    assert told > 150


def test_where_too_few_papers_are_proposed_it_says_so(monkeypatch):
    monkeypatch.setattr("mpbert.recommending.near.NEAREST", 5)
    _, _, _, papers, rng = made(2)
    near, everything = papers.of(asked_of(rng)[0], None), np.ones(PAPERS, dtype=bool)
    assert nearest(near, everything, 6) is None
    assert nearest(near, everything, 3) is not None
    without = everything.copy()
    without[near.rows] = False
    assert nearest(near, without, 1) is None
