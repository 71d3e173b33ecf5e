"""Scores of one question without scipy: those of the search over all queries of a corpus."""

import numpy as np
import pytest
from scipy import sparse

from mpbert.recommending.matching import PapersByToken, cosines
from mpbert.retrieval.hybrid import HybridIndex
from mpbert.vectors.matches import TokenWeights
from mpbert.vectors.normal import normalized


def random_weights(rng, num_texts, vocab_size):
    dense = rng.random((num_texts, vocab_size), dtype=np.float32)
    return sparse.csr_array(np.where(dense < 0.8, 0, dense))


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_those_of_the_hybrid_search(seed):
    rng = np.random.default_rng(seed)
    vectors = normalized(rng.standard_normal((40, 8)))
    papers, asked = random_weights(rng, 40, 30), random_weights(rng, 1, 30)
    query = normalized(rng.standard_normal((1, 8)))
    rows, expected = HybridIndex(vectors, papers).search(query, asked, 40, np.array([-1]))
    found = PapersByToken.of(TokenWeights.of(papers)).scores(TokenWeights.of(asked))
    found = found + cosines(vectors, query[0])
    np.testing.assert_allclose(found[rows[0]], expected[0], atol=1e-6)
    alone = [cosines(vectors[row : row + 1], query[0])[0] for row in range(40)]
    assert cosines(vectors, query[0]).tolist() == alone


def test_a_question_or_a_paper_without_a_token_scores_nothing():
    papers = TokenWeights.of(sparse.csr_array(np.array([[0, 0.5, 0], [0, 0, 0]], np.float32)))
    index = PapersByToken.of(papers)
    nothing = TokenWeights.of(sparse.csr_array((1, 3), dtype=np.float32))
    assert index.scores(nothing).tolist() == [0, 0]
    one = TokenWeights.of(sparse.csr_array(np.array([[1, 2, 3]], np.float32)))
    assert index.scores(one).tolist() == [1, 0]


def test_token_after_token_holds_what_paper_after_paper_does():
    papers = random_weights(np.random.default_rng(3), 40, 30)
    index = PapersByToken.of(TokenWeights.of(papers))
    assert (len(index), index.vocab_size) == (40, 30)
    assert np.array_equal(index.by_paper().matrix().toarray(), papers.toarray())


def test_a_score_is_summed_up_word_after_word():
    rng = np.random.default_rng(4)
    papers = PapersByToken.of(TokenWeights.of(random_weights(rng, 40, 30)))
    dense, words = papers.by_paper().matrix().toarray().astype(np.float64), np.array([2, 7, 7, 29])
    for counts in (rng.random(4, dtype=np.float32), np.array([1, 3, 2, 1])):
        plain = np.zeros(40)
        for word, count in zip(words, counts, strict=True):
            plain = plain + float(count) * dense[:, word]
        assert np.array_equal(papers.postings.scores(words, counts, 40), plain)
