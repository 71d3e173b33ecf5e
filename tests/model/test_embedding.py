import numpy as np
import pytest
import torch

from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.model.config import ModelConfig
from mpbert.model.embedding import embed_sampled, mean_over_readings
from mpbert.model.encoder import PaperEncoder
from mpbert.model.sampling import SampledSentences
from mpbert.model.sentences import Sentences


@pytest.fixture(scope="module")
def tower():
    torch.manual_seed(1)
    return PaperEncoder(ModelConfig(50, 8, 16, 2, 1, 1, 0, 0.1, 0.0, 0.0)).eval()


@pytest.fixture(scope="module")
def source():
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 9, 60)
    tokens, offsets = rng.integers(4, 50, lengths.sum()), offsets_of(lengths)

    def read(sentences):
        return tokens[ranges(offsets[sentences], lengths[sentences])], lengths[sentences]

    return Sentences(read)


SAMPLED = SampledSentences(np.arange(60), np.array([7, 1, 20, 2, 30]), np.zeros(60, np.int64))


@pytest.mark.parametrize("batch_tokens", [1, 40, 10**6])
def test_the_budget_of_tokens_does_not_change_the_vectors(tower, source, batch_tokens):
    expected = tower(source.batch(SAMPLED)).detach().numpy()
    found = embed_sampled(tower, SAMPLED, source, batch_tokens)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(("in_bfloat16", "tolerance"), [(False, 1e-5), (True, 0.02)])
def test_64_papers_at_once_have_the_vectors_of_64_papers_alone(
    tower, source, in_bfloat16, tolerance
):
    rng = np.random.default_rng(2)
    per_item = rng.integers(1, 9, 64)
    sentences = rng.integers(0, 60, per_item.sum())
    sampled = SampledSentences(sentences, per_item, np.zeros_like(sentences))
    alone = embed_sampled(tower, sampled, source, 1, in_bfloat16)
    at_once = embed_sampled(tower, sampled, source, 10**6, in_bfloat16)
    np.testing.assert_allclose(at_once, alone, atol=tolerance)
    assert np.abs(alone).max() > 1


def test_no_item_gives_no_vector(tower, source):
    none = SampledSentences(*np.zeros((3, 0), np.int64))
    assert embed_sampled(tower, none, source, 100).shape == (0, 8)


def test_the_mean_over_readings_is_the_mean_of_the_vectors_of_draws_0_1_2():
    def read(number):
        return SampledSentences(np.array([number]), np.array([1]), np.array([0]))

    def embed(sampled):
        return np.full((1, 2), float(sampled.sentences[0] ** 2), dtype=np.float32)

    assert mean_over_readings(read, embed, 1).tolist() == [[0.0, 0.0]]
    assert mean_over_readings(read, embed, 3).tolist() == [[pytest.approx(5 / 3)] * 2]
