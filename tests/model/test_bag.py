"""Level 0 by itself: what stands above it is not needed to say what it does."""

import math

import numpy as np
import pytest
import torch

from mpbert.model.bag import TokenBag, weights_of
from mpbert.model.blocks import sinusoids
from mpbert.model.config import STEP, BagConfig
from mpbert.model.packing import pack

# one paper of two sentences, [1 2 3] and [4 5], and one of the sentence [6]
TOKENS, LENGTHS, PER_PAPER = np.arange(1, 7), np.array([3, 2, 1]), np.array([2, 1])


def bag_of(config, dropout=0.0):
    """A bag of 8 tokens whose vector is 2 * (token, 1): its square root of dim is 1.41."""
    bag = TokenBag(config, 8, 2, dropout)
    numbers = torch.arange(8.0)
    bag.embedding.weight.data = torch.stack([numbers, torch.ones(8)], dim=1) * math.sqrt(2)
    return bag.eval()


@pytest.fixture
def batch():
    return pack(TOKENS, LENGTHS, PER_PAPER)


def test_sentences_are_means_of_their_tokens(batch):
    found = bag_of(BagConfig()).sum_sentences(batch.tokens, batch.sentences)
    expected = torch.tensor([[12.0, 2.0], [9.0, 2.0], [4.0, 2.0]])  # shortest first
    assert torch.allclose(found, expected)


def test_sentences_are_sums_of_their_tokens(batch):
    found = bag_of(BagConfig(sums=True)).sum_sentences(batch.tokens, batch.sentences)
    assert torch.allclose(found, torch.tensor([[12.0, 2.0], [18.0, 4.0], [12.0, 6.0]]))


def test_a_heavy_token_draws_the_mean_to_itself_and_adds_to_the_sum(batch):
    for sums, expected in ((False, [10.0 * 0.75 + 8.0 * 0.25, 2.0]), (True, [38.0, 8.0])):
        bag = bag_of(BagConfig(token_weights=True, sums=sums))
        bag.log_weights.weight.data[5] = math.log(3) / STEP  # weight 3
        found = bag.sum_sentences(batch.tokens, batch.sentences)
        assert torch.allclose(found[1], torch.tensor(expected))  # of the tokens 4 and 5


def test_papers_are_sums_of_their_weighted_sentences(batch):
    bag = bag_of(BagConfig())
    ones = bag.sum_papers(batch, None)  # papers ascending by length: [6] first
    assert torch.allclose(ones, torch.tensor([[12.0, 2.0], [13.0, 4.0]]))
    weighted = bag.sum_papers(batch, torch.tensor([1.0, 10.0, 1.0]))
    assert torch.allclose(weighted[1], torch.tensor([40.0 + 9.0, 22.0]))


def test_weights_are_powers_of_e_and_1_to_begin_with():
    bag = TokenBag(BagConfig(token_weights=True), 8, 2, 0.0)
    assert (weights_of(bag.log_weights, torch.arange(8)) == 1).all()
    bag.log_weights.weight.data[3] = -1 / STEP
    assert weights_of(bag.log_weights, torch.tensor([3])).item() == pytest.approx(math.exp(-1))


def test_a_bag_without_weights_has_none():
    assert {name for name, _ in TokenBag(BagConfig(), 8, 2, 0.0).named_parameters()} == {
        "embedding.weight"
    }


def test_the_start_of_sif_gives_rare_tokens_more_weight():
    """Arora, Liang and Ma (ICLR 2017): a / (a + p) with a = 0.001."""
    bag = TokenBag(BagConfig(token_weights=True), 2, 2, 0.0)
    bag.start_from_counts(torch.tensor([999, 1]))
    weights = weights_of(bag.log_weights, torch.tensor([0, 1]))[:, 0]
    assert weights[0].item() == pytest.approx(0.001 / (0.001 + 0.999), rel=1e-4)
    assert weights[1].item() == pytest.approx(0.5, rel=1e-4)


def test_token_states_are_scaled_embeddings_and_places(batch):
    bag = bag_of(BagConfig())
    states = bag.token_states(batch.tokens, batch.sentences)
    places = sinusoids(3, 2)[batch.sentences.place]
    expected = 2 * torch.stack([batch.tokens.float(), torch.ones(6)], dim=1) + places
    assert torch.allclose(states, expected)


def test_states_of_blocks_are_pooled_as_tokens_are(batch):
    states = torch.arange(12.0).view(6, 2)  # of the tokens 6, 4, 5, 1, 2, 3
    for config, last in ((BagConfig(), [8.0, 9.0]), (BagConfig(sums=True), [24.0, 27.0])):
        found = bag_of(config).pool(states, batch.tokens, batch.sentences)
        assert torch.allclose(found[2], torch.tensor(last))
    bag = bag_of(BagConfig(token_weights=True))
    bag.log_weights.weight.data[3] = 2.0  # a weight of e^10
    found = bag.pool(states, batch.tokens, batch.sentences)
    assert torch.allclose(found[2], torch.tensor([10.0, 11.0]), atol=1e-2)


def test_dropout_leaves_out_whole_tokens_in_training_alone():
    torch.manual_seed(1)
    bag = bag_of(BagConfig(sums=True), dropout=0.5)
    many = pack(np.tile([1], 1000), np.array([1000]), np.array([1]))
    whole = bag.sum_sentences(many.tokens, many.sentences)
    assert torch.allclose(whole, torch.tensor([[2000.0, 2000.0]]), rtol=1e-4)
    left = bag.train().sum_sentences(many.tokens, many.sentences)
    assert left[0, 0] == left[0, 1] and 850 < left[0, 0] < 1150  # no token is half there


def test_gradients_reach_embeddings_and_weights(batch):
    bag = bag_of(BagConfig(token_weights=True))
    bag.sum_papers(batch, None)[:, 0].sum().backward()
    assert bag.embedding.weight.grad[1:7].abs().sum(1).gt(0).all()
    assert (bag.log_weights.weight.grad[[1, 3]].sign() == torch.tensor([[-1.0], [1.0]])).all()
