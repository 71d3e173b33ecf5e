import dataclasses
import itertools
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from mpbert.foundation.errors import ConfigError
from mpbert.foundation.ragged import offsets_of
from mpbert.model.blocks import sinusoids
from mpbert.model.config import BagConfig, ModelConfig
from mpbert.model.encoder import LevelEncoder, PaperEncoder, TwoTower
from mpbert.model.packing import pack
from mpbert.model.sampling import ABSTRACT, BODY, CITING, NEIGHBOUR
from tests.model.sizes import SMALL


def nested(tokens, lengths, per_paper):
    sentences = np.split(tokens, offsets_of(lengths)[1:-1])
    ends = offsets_of(per_paper)
    return [sentences[a:b] for a, b in itertools.pairwise(ends)]


def padded_block(block, x, is_padding):
    """One encoder block on a padded (R, L, D) tensor with PyTorch's own attention and mask."""
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    attention.in_proj_weight, attention.in_proj_bias = (
        block.attention.qkv.weight,
        block.attention.qkv.bias,
    )
    attention.out_proj = block.attention.out
    y, _ = attention(x, x, x, key_padding_mask=is_padding)
    x = block.attention_norm(x + y)
    return block.feed_forward_norm(x + block.feed_forward(x))


def padded_vectors(model, documents):
    """Paper vectors as the papers say, on padded tensors with masks, paper by paper."""
    encoder, vectors = model.encoder, []
    for sentences in documents:
        longest = max(map(len, sentences)) + 3  # padding on purpose
        ids = torch.zeros(len(sentences), longest, dtype=torch.long)
        is_padding = torch.ones(len(sentences), longest, dtype=torch.bool)
        for row, sentence in enumerate(sentences):
            ids[row, : len(sentence)] = torch.tensor(sentence)
            is_padding[row, : len(sentence)] = False
        x = encoder.bag.embedding(ids) * math.sqrt(8) + sinusoids(longest, 8)
        for block in encoder.sentences.blocks:
            x = padded_block(block, x, is_padding)
        real = (~is_padding)[:, :, None].float()
        x = (x * real).sum(1) / real.sum(1)  # mean pooling without padding
        x = (x + sinusoids(len(sentences), 8))[None]
        for block in encoder.documents.blocks:
            x = padded_block(block, x, None)
        vectors.append(F.layer_norm(x[0].sum(0), (8,)))
    return torch.stack(vectors)


def test_packed_vectors_equal_a_padded_reference(papers):
    torch.manual_seed(1)
    model = PaperEncoder(SMALL).eval()
    assert torch.allclose(model(pack(*papers)), padded_vectors(model, nested(*papers)), atol=1e-5)


def test_a_paper_has_the_same_vector_alone_and_in_any_batch(papers):
    torch.manual_seed(2)
    model = PaperEncoder(SMALL).eval()
    together = model(pack(*papers))
    for row, sentences in enumerate(nested(*papers)):
        lengths = np.array([len(s) for s in sentences])
        alone = model(pack(np.concatenate(sentences), lengths, np.array([len(sentences)])))
        assert torch.allclose(alone[0], together[row], atol=1e-5)  # rounding of matrix products


def test_vectors_depend_on_the_order_of_sentences_and_of_words():
    torch.manual_seed(3)
    model, tokens = PaperEncoder(SMALL).eval(), np.array([10, 11, 2, 12, 13, 2])

    def vector(order):
        return model(pack(tokens[order], np.array([3, 3]), np.array([2])))[0]

    plain = vector([0, 1, 2, 3, 4, 5])
    assert not torch.allclose(plain, vector([1, 0, 2, 3, 4, 5]), atol=1e-3)
    assert not torch.allclose(plain, vector([3, 4, 5, 0, 1, 2]), atol=1e-3)


WEIGHTED = BagConfig(token_weights=True)
BAG_ALONE = dataclasses.replace(
    SMALL, sentence_layers=0, document_layers=0, sentence_roles=True, bag=WEIGHTED
)


@pytest.mark.parametrize("sums", [False, True], ids=["means", "sums"])
def test_without_blocks_vectors_are_of_weighted_tokens_in_sentences_weighted_by_role(papers, sums):
    torch.manual_seed(5)
    model = PaperEncoder(dataclasses.replace(BAG_ALONE, bag=BagConfig(True, sums))).eval()
    nn.init.normal_(model.encoder.bag.log_weights.weight, std=0.1)
    roles = np.random.default_rng(2).integers(0, 4, len(papers[1]))
    found = model(pack(*papers, roles))
    place = 0
    for row, sentences in enumerate(nested(*papers)):
        total = torch.zeros(8)
        for sentence in sentences:
            tokens = torch.tensor(sentence)
            weights = (5 * model.encoder.bag.log_weights(tokens)[:, 0]).exp()
            vector = (weights[:, None] * model.encoder.bag.embedding(tokens)).sum(0)
            vector = vector if sums else vector / weights.sum()
            total += vector * (5 * model.log_role_weights.weight[roles[place], 0]).exp()
            place += 1
        expected = F.layer_norm(total * math.sqrt(8), (8,))
        assert torch.allclose(found[row], expected, atol=1e-4)


def test_sums_of_a_transformer_are_means_times_lengths():
    torch.manual_seed(6)
    config = dataclasses.replace(SMALL, document_layers=0)
    means = LevelEncoder(config).eval()
    sums = LevelEncoder(dataclasses.replace(config, bag=BagConfig(sums=True))).eval()
    sums.load_state_dict(means.state_dict())
    batch = pack(np.arange(10, 19), np.array([2, 3, 4]), np.array([3]))
    lengths = batch.sentences.offsets.diff()[:, None]
    found = sums.sentences(sums.bag, batch)
    expected = means.sentences(means.bag, batch) * lengths
    assert torch.allclose(found, expected, atol=1e-4)


def test_dropout_without_blocks_leaves_out_whole_tokens():
    torch.manual_seed(8)
    model = PaperEncoder(dataclasses.replace(BAG_ALONE, dropout=0.5)).train()
    batch = pack(np.tile([10, 11], 400), np.full(400, 2), np.ones(400, np.int64))
    table = math.sqrt(8) * model.encoder.bag.embedding.weight.detach()
    expected = torch.stack([table[10], table[11], (table[10] + table[11]) / 2, torch.zeros(8)])
    expected = F.layer_norm(
        expected * (5 * model.log_role_weights.weight[0, 0]).exp().detach(), (8,)
    )
    distances = torch.cdist(model(batch).detach(), expected)
    assert distances.min(1).values.max() < 1e-2  # cdist multiplies matrices
    assert (distances.argmin(1).bincount(minlength=4) > 60).all()  # of 400, each one in four
    model.eval()
    assert torch.allclose(model(batch), expected[2], atol=1e-4)


def test_token_weights_weigh_the_states_of_a_transformer_too(papers):
    torch.manual_seed(6)
    config = dataclasses.replace(SMALL, bag=WEIGHTED)
    plain, weighted = PaperEncoder(SMALL).eval(), PaperEncoder(config).eval()
    weighted.load_state_dict({**weighted.state_dict(), **plain.state_dict()})
    batch = pack(*papers)
    assert torch.allclose(plain(batch), weighted(batch), atol=1e-5)  # equal weights: the mean
    weighted.encoder.bag.log_weights.weight.data[10:30] = 1.0
    assert not torch.allclose(plain(batch), weighted(batch), atol=1e-2)


def test_roles_move_the_vector_of_a_paper(papers):
    torch.manual_seed(7)
    config = dataclasses.replace(SMALL, sentence_roles=True)
    model = PaperEncoder(config).eval()
    nn.init.normal_(model.encoder.documents.roles.weight)
    roles = np.zeros(len(papers[1]), dtype=np.int64)
    assert not torch.allclose(model(pack(*papers, roles)), model(pack(*papers, roles + 1)))


def test_a_manuscript_starts_from_its_citing_sentence_and_a_paper_from_its_abstract():
    model = TwoTower(BAG_ALONE)
    manuscript, citation = model.manuscript.log_role_weights, model.citation.log_role_weights
    assert manuscript.weight[:, 0].argsort().tolist() == [BODY, ABSTRACT, NEIGHBOUR, CITING]
    assert citation.weight[BODY] < citation.weight[ABSTRACT] == citation.weight[CITING]


def test_rare_tokens_start_with_more_weight():
    model = TwoTower(BAG_ALONE)
    counts = torch.full((50,), 1000)
    counts[7] = 1
    model.weigh_tokens(counts)
    share = 1000 / (49 * 1000 + 1)
    weights = (5 * model.citation.encoder.bag.log_weights.weight[:, 0]).exp()
    assert weights[3].item() == pytest.approx(1e-3 / (1e-3 + share), rel=1e-4)
    assert weights[7].item() == pytest.approx(1e-3 / (1e-3 + share / 1000), rel=1e-4)


def test_two_towers_may_share_their_table_of_tokens_and_nothing_else():
    model = TwoTower(dataclasses.replace(SMALL, shared_tokens=True))
    towers = model.manuscript.state_dict(), model.citation.state_dict()
    shared = [k for k in towers[0] if towers[0][k].data_ptr() == towers[1][k].data_ptr()]
    assert shared == ["encoder.bag.embedding.weight"]


@pytest.mark.parametrize(("sentences", "documents"), [(0, 0), (0, 2), (2, 0), (2, 2)])
def test_a_level_is_there_or_is_none_and_each_paper_still_has_one_vector(
    papers, sentences, documents
):
    torch.manual_seed(9)
    config = dataclasses.replace(SMALL, sentence_layers=sentences, document_layers=documents)
    model = PaperEncoder(config).eval()
    assert (model.encoder.sentences is None) == (not sentences)
    assert (model.encoder.documents is None) == (not documents)
    vectors = model(pack(*papers))
    assert vectors.shape == (7, 8) and vectors.isfinite().all()
    alone = nested(*papers)[2]
    lengths, count = np.array([len(s) for s in alone]), np.array([len(alone)])
    again = model(pack(np.concatenate(alone), lengths, count))
    assert torch.allclose(again[0], vectors[2], atol=1e-5)


@pytest.mark.parametrize(
    ("sentences", "documents", "words_matter", "order_matters"),
    [(0, 0, False, False), (1, 0, True, False), (0, 1, False, True), (1, 1, True, True)],
)
def test_each_level_brings_the_order_that_it_knows(
    sentences, documents, words_matter, order_matters
):
    """The sentence level knows the order of words, the document level that of sentences."""
    torch.manual_seed(10)
    config = dataclasses.replace(SMALL, sentence_layers=sentences, document_layers=documents)
    model, tokens = PaperEncoder(config).eval(), np.array([10, 11, 2, 12, 13, 2])

    def moves(order):
        batches = (pack(tokens[o], np.array([3, 3]), np.array([2])) for o in (range(6), order))
        plain, other = (model(batch)[0] for batch in batches)
        return not torch.allclose(plain, other, atol=1e-4)

    assert moves([1, 0, 2, 3, 4, 5]) == words_matter
    assert moves([3, 4, 5, 0, 1, 2]) == order_matters


def test_the_sum_of_a_bag_without_levels_is_the_sum_of_its_sentence_vectors(papers):
    torch.manual_seed(11)
    encoder = LevelEncoder(BAG_ALONE).eval()
    batch, weights = pack(*papers), torch.rand(21)
    vectors = encoder(batch) * weights[:, None]
    expected = torch.zeros(7, 8).index_add(0, batch.papers.row, vectors)
    assert torch.allclose(encoder.sum_papers(batch, weights), expected, atol=1e-5)


def test_two_towers_share_no_weight():
    model = TwoTower(SMALL)
    assert not {id(p) for p in model.manuscript.parameters()} & {
        id(p) for p in model.citation.parameters()
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_heads": 3}, "dim 8 is no multiple of 3 heads"),
        ({"dim": 0}, "dim is 0; expected at least 1"),
    ],
)
def test_sizes_that_no_model_has_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        ModelConfig(**{**vars(SMALL), **changes})
