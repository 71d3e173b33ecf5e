"""Scores by the words of a question: rows of common words change no digit of a score."""

import numpy as np
import pytest

from mpbert.foundation.errors import IndexFormatError
from mpbert.foundation.ragged import offsets_of
from mpbert.methods.lexical import postings as module
from mpbert.methods.lexical.postings import Postings

PAPERS, WORDS = 40, 30


@pytest.fixture
def weights():
    """(V, N), 0 where a paper lacks a word: nearly all hold the first words, which weigh less."""
    rng = np.random.default_rng(1)
    held = rng.random((WORDS, PAPERS)) < np.linspace(1, 0.05, WORDS)[:, None]
    rarity = np.geomspace(0.01, 10, WORDS)[:, None]
    return np.where(held, rarity * rng.random((WORDS, PAPERS)), 0).astype(np.float32)


@pytest.mark.parametrize("most_bytes", [0, 3 * PAPERS * 8, 1 << 20])  # no row, three, all
def test_a_score_is_the_sum_over_words_in_their_order(weights, most_bytes, monkeypatch):
    monkeypatch.setattr(module, "_MOST_BYTES", most_bytes)
    words, papers = np.nonzero(weights)
    offsets = offsets_of(np.bincount(words, minlength=WORDS))
    postings = Postings(offsets, papers.astype(np.int32), weights[words, papers])
    rng = np.random.default_rng(2)
    for turn in range(20):
        asked = np.sort(rng.choice(WORDS, 8, replace=False))
        counts = rng.integers(1, 4, 8) * (1 + turn % 3)
        expected = np.zeros(PAPERS)
        for word, count in zip(asked.tolist(), counts.tolist(), strict=True):
            expected += weights[word].astype(np.float64) * count
        assert postings.scores(asked, counts, PAPERS).tolist() == expected.tolist()
    most_frequent = np.argsort(-np.diff(offsets), kind="stable")[: most_bytes // (8 * PAPERS)]
    assert set(postings._rows) <= set(most_frequent.tolist())
    assert bool(postings._rows) == bool(most_bytes)


@pytest.mark.parametrize("most_bytes", [0, 1 << 20])
def test_a_damaged_row_is_told_in_one_line(most_bytes, monkeypatch):
    monkeypatch.setattr(module, "_MOST_BYTES", most_bytes)
    papers = np.arange(PAPERS, dtype=np.int32)
    papers[7] ^= 1 << 20
    postings = Postings(np.array([0, PAPERS]), papers, np.ones(PAPERS, np.float32))
    with pytest.raises(IndexFormatError, match="none of the 40; mpbert check names the file"):
        postings.scores(np.array([0]), np.array([1]), PAPERS)
