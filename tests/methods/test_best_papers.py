"""The best papers by words: rows of 8 bits change neither a rank nor a digit of a score."""

import numpy as np
import pytest

from mpbert.foundation.errors import IndexFormatError
from mpbert.foundation.ragged import offsets_of
from mpbert.methods.lexical import best_papers as module
from mpbert.methods.lexical.best_papers import BestPapers
from mpbert.methods.lexical.postings import Postings

PAPERS, WORDS = 3000, 60


@pytest.fixture(scope="module")
def postings():
    """The first words are held by nearly all papers, the last by a few; many papers are alike."""
    rng = np.random.default_rng(1)
    held = rng.random((WORDS, PAPERS)) < np.geomspace(1, 0.002, WORDS)[:, None]
    weights = np.where(held, rng.random((WORDS, PAPERS)) * np.arange(1, WORDS + 1)[:, None], 0)
    weights[:, 1::2] = weights[:, ::2]
    words, papers = np.nonzero(weights.astype(np.float32))
    offsets = offsets_of(np.bincount(words, minlength=WORDS))
    weights = weights[words, papers].astype(np.float32)
    return Postings(offsets, papers.astype(np.int32), weights)


@pytest.fixture(params=[0, PAPERS], autouse=True)
def few(request, monkeypatch):
    """Whether sums are nearly right first, or exact at once."""
    monkeypatch.setattr(module, "_FEW", request.param)
    return request.param


@pytest.mark.parametrize("most_bytes", [0, 3 * PAPERS, 1 << 20])  # no row, three, all
@pytest.mark.parametrize("times", [1, 300])  # sums of 16 and of 32 bits
def test_the_best_are_those_of_all_scores(postings, most_bytes, times, few, monkeypatch):
    monkeypatch.setattr(module, "_MOST_BYTES", most_bytes)
    best, rng = BestPapers(postings, PAPERS), np.random.default_rng(2)
    for turn in range(60):
        asked = np.sort(rng.choice(WORDS, 12, replace=False))
        counts = times * rng.integers(1, 4, 12)
        allowed = rng.random(PAPERS) < (1 if turn % 2 else 0.5)
        scores = postings.scores(asked, counts, PAPERS)
        may_rank = np.flatnonzero(allowed & (scores > 0))
        expected = may_rank[np.argsort(-scores[may_rank], kind="stable")][: (k := 10 + turn)]
        rows, found = best.of(asked, counts, allowed, k)
        assert rows.tolist() == [expected.tolist()]
        assert found.tolist() == [scores[expected].tolist()]
    assert bool(best._rows[1]) == (most_bytes > 0 and not few)


@pytest.mark.parametrize("word", [0, WORDS - 1])  # of nearly all papers, of a few
def test_a_paper_without_a_word_is_not_ranked(postings, word):
    best, allowed = BestPapers(postings, PAPERS), np.ones(PAPERS, bool)
    start, end = postings.offsets[word : word + 2]
    for _ in range(4):
        rows, _ = best.of(np.array([word]), np.array([1]), allowed, PAPERS)
        assert sorted(rows[0]) == postings.papers[start:end].tolist()
        assert not best.of(np.array([word]), np.array([1]), ~allowed, 10)[0].size
    assert not best.of(np.array([], np.int64), np.array([], np.int64), allowed, 10)[0].size


def test_a_damaged_row_is_told_in_one_line():
    papers = np.arange(PAPERS, dtype=np.int32)
    papers[7] ^= 1 << 20
    best = BestPapers(Postings(np.array([0, PAPERS]), papers, np.ones(PAPERS, np.float32)), PAPERS)
    for _ in range(4):
        with pytest.raises(IndexFormatError, match="none of the 3,000; mpbert check"):
            best.of(np.array([0]), np.array([1]), np.ones(PAPERS, bool), 10)
