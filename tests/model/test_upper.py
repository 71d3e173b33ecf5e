"""Levels beside the bag, against plain loops over papers."""

import dataclasses
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from mpbert.foundation.errors import ConfigError
from mpbert.foundation.ragged import offsets_of
from mpbert.model import upper
from mpbert.model.blocks import BlockConfig, RowAttention, ZeroedBlock, sinusoids
from mpbert.model.config import BagConfig, UpperConfig
from mpbert.model.encoder import PaperEncoder, TwoTower, concatenated
from mpbert.model.packing import Rows
from mpbert.model.sampling import ABSTRACT, BODY, CITING, NEIGHBOUR, SampledSentences
from mpbert.model.sentences import Sentences
from tests.model.sizes import SMALL

E = 6  # dimension of sentence vectors
BAG = dataclasses.replace(
    SMALL,
    **{"sentence_layers": 0, "document_layers": 0, "decoder_layers": 0, "sentence_roles": True},
    bag=BagConfig(token_weights=True, sums=True),
)
ROLES = np.array([ABSTRACT, BODY, CITING, NEIGHBOUR, ABSTRACT, BODY, BODY, CITING])


def config_of(join, layers=0, pretrained=0, **changes):
    upper = UpperConfig(join, pretrained_dim=pretrained, upper_dim=4)
    sizes = {"sentence_layers": layers, "document_layers": layers, **changes}
    return dataclasses.replace(BAG, upper=upper, **sizes)


@pytest.fixture
def source(papers):
    """Sentences by number, and their vectors; 21 of them in 7 papers."""
    tokens, lengths, _ = papers
    starts = offsets_of(lengths)
    vectors = np.random.default_rng(3).normal(size=(len(lengths), E)).astype(np.float32)

    def gather(numbers):
        parts = [tokens[starts[n] : starts[n + 1]] for n in numbers]
        return np.concatenate([tokens[:0], *parts]), lengths[numbers]

    return Sentences(gather, UpperConfig("added").roles, lambda numbers: vectors[numbers])


@pytest.fixture
def sampled(papers):
    per_item = papers[2]
    roles = np.resize(ROLES, per_item.sum())
    roles[offsets_of(per_item)[:-1]] = ABSTRACT  # each has a title
    return SampledSentences(np.arange(per_item.sum()), per_item, roles)


def shaken(model):
    """Give every weight a value of its own: what starts at zero would hide mistakes."""
    generator = torch.Generator().manual_seed(5)
    for parameter in model.parameters():
        parameter.data += 0.3 * torch.randn(parameter.shape, generator=generator)
    return model.eval()


def reference(model, source, sampled, paper):
    """Return the vector of one paper beside the bag, before it is concatenated or added."""
    first = offsets_of(sampled.per_item)[paper]
    numbers = np.arange(first, first + sampled.per_item[paper])
    numbers = [n for n in numbers if sampled.roles[n] != BODY]
    bag, upper = model.encoder.bag, model.upper
    vectors = []
    for number in numbers:
        tokens = torch.from_numpy(source.gather(np.array([number]))[0])
        weights = (5 * bag.log_weights(tokens)).exp()
        states = math.sqrt(8) * bag.embedding(tokens)
        whole = (weights * states).sum(0)
        if upper.sentences is not None:
            no_role = torch.zeros(len(tokens), dtype=torch.long)
            moved = plain_level(upper.sentences, states, no_role)
            branch = (weights * moved).sum(0)
            vectors.append((whole + branch, whole + branch if upper.whole else branch))
        elif upper.pretrained:
            vectors.append((torch.from_numpy(source.vectors(np.array([number])))[0],) * 2)
        else:
            vectors.append((whole, whole if upper.whole else 0 * whole))
    x = torch.stack([vector for vector, _ in vectors])
    counted = torch.stack([part for _, part in vectors])
    roles = torch.from_numpy(sampled.roles[numbers])
    if upper.documents is not None:
        counted = counted + plain_level(upper.documents, x, roles)
    total = ((5 * upper.log_role_weights(roles)).exp() * counted).sum(0)
    return total if upper.map is None else upper.map(total)


def plain_level(level, x, roles):
    """What a level adds to one row (T, D), with attention spelt out."""
    y, dim = x, x.shape[1]
    places = sinusoids(len(x), dim) + level.roles(roles)
    for block in level.blocks:
        seen, attention = block.attention_norm(y), block.attention
        weight, bias = attention.qkv.weight, attention.qkv.bias
        q, k = ((seen + places) @ weight[i * dim : (i + 1) * dim].T for i in (0, 1))
        q, k = q + bias[:dim], k + bias[dim : 2 * dim]
        v = seen @ weight[2 * dim :].T + bias[2 * dim :]  # values know no places
        heads = []
        for h in range(attention.num_heads):
            part = slice(h * dim // attention.num_heads, (h + 1) * dim // attention.num_heads)
            shares = (q[:, part] @ k[:, part].T / math.sqrt(dim // attention.num_heads)).softmax(1)
            heads.append(shares @ v[:, part])
        y = y + attention.out(torch.cat(heads, 1))
        y = y + block.feed_forward(block.feed_forward_norm(y))
    return y - x


@pytest.mark.parametrize("join", ["added", "concatenated"])
@pytest.mark.parametrize(("layers", "pretrained"), [(0, 0), (2, 0), (0, E), (2, E)])
def test_packed_levels_equal_plain_loops(source, sampled, join, layers, pretrained):
    torch.manual_seed(1)
    model = shaken(PaperEncoder(config_of(join, layers, pretrained)))
    batch = source.batch(sampled)
    beside = model.upper(model.encoder.bag, batch.upper)
    for paper in range(7):
        expected = reference(model, source, sampled, paper)
        assert torch.allclose(beside[paper], expected, atol=1e-4)
    weights = (5 * model.log_role_weights(batch.roles)).exp()[:, 0]
    sums = model.encoder.sum_papers(batch, weights)[batch.paper_order]
    if join == "added":
        expected = model.norm(sums + beside)
    else:
        gate = (5 * model.log_gate).exp()
        expected = concatenated(model.norm(sums), beside, gate)
    assert torch.allclose(model(batch), expected, atol=1e-5)
    assert model(batch).shape == (7, model.vector_dim) == (7, 8 + 4 * (join == "concatenated"))


@pytest.mark.parametrize(("layers", "pretrained"), [(2, 0), (0, E), (2, E)])
def test_a_bag_that_gains_levels_keeps_every_byte_of_its_vectors(
    source, sampled, layers, pretrained
):
    torch.manual_seed(2)
    bag = shaken(PaperEncoder(BAG))
    grown = PaperEncoder(config_of("added", layers, pretrained)).eval()
    assert not grown.load_state_dict(bag.state_dict(), strict=False).unexpected_keys
    batch = source.batch(sampled)
    assert bag(batch).detach().numpy().tobytes() == grown(batch).detach().numpy().tobytes()
    shaken(grown.upper)
    assert not torch.allclose(bag(batch), grown(batch), atol=1e-2)


@pytest.mark.parametrize("join", ["added", "concatenated"])
def test_a_text_has_the_same_vector_alone_and_in_any_batch(source, sampled, join):
    torch.manual_seed(3)
    model = shaken(PaperEncoder(config_of(join, 2, E)))
    together, ends = model(source.batch(sampled)), offsets_of(sampled.per_item)
    for paper in range(7):
        part = slice(ends[paper], ends[paper + 1])
        alone = SampledSentences(
            sampled.sentences[part], sampled.per_item[paper : paper + 1], sampled.roles[part]
        )
        assert torch.allclose(model(source.batch(alone))[0], together[paper], atol=1e-4)


def test_levels_read_the_sentences_of_their_roles_alone(source, sampled):
    batch = source.batch(sampled)
    kept = np.sort(sampled.sentences[sampled.roles != BODY])
    assert len(batch.upper.tokens) == len(source.gather(kept)[0]) < len(batch.tokens)
    assert BODY not in batch.upper.roles


def test_the_cosine_of_concatenated_vectors_is_a_weighted_mean_of_cosines():
    generator = torch.Generator().manual_seed(6)
    a, b = torch.randn(2, 5, 8, generator=generator)
    c, d = torch.randn(2, 5, 3, generator=generator)
    gate = torch.tensor(0.7)
    left, right = concatenated(a, c, gate), concatenated(b, d, gate)
    cosines = F.cosine_similarity(a, b) + 0.49 * F.cosine_similarity(c, d)
    assert torch.allclose(F.cosine_similarity(left, right), cosines / 1.49, atol=1e-6)
    assert torch.allclose(left.norm(dim=1), torch.tensor(math.sqrt(11)))


def test_a_zeroed_block_changes_nothing_and_still_learns():
    torch.manual_seed(7)
    block = ZeroedBlock(BlockConfig(8, 16, 2, 0.0, 0.0, 0.0))
    rows, x = Rows.of(np.array([1, 2, 4])), torch.randn(7, 8)
    found = block(x, rows, sinusoids(4, 8), rows.place)
    assert torch.equal(found, x)
    (found * torch.randn(7, 8)).sum().backward()
    assert block.attention.out.weight.grad.abs().max() > 0
    assert block.feed_forward.outer.weight.grad.abs().max() > 0


def test_places_move_what_is_attended_to_and_not_what_is_taken_from_it():
    torch.manual_seed(8)
    attention = RowAttention(BlockConfig(8, 16, 2, 0.0, 0.0, 0.0)).eval()
    rows = Rows.of(np.array([3]))
    x, places = torch.randn(3, 8), sinusoids(3, 8)
    assert not torch.allclose(attention(x, rows), attention(x, rows, places, rows.place))
    same = torch.randn(1, 8).expand(3, 8)  # whatever is attended to, the values are equal
    assert torch.allclose(
        attention(same, rows), attention(same, rows, places, rows.place), atol=1e-6
    )


def test_both_towers_start_from_the_same_levels_and_weigh_roles_their_own_way():
    torch.manual_seed(9)
    model = TwoTower(config_of("concatenated", 2, E))
    manuscript, citation = model.manuscript.upper, model.citation.upper
    for name, value in manuscript.state_dict().items():
        assert torch.equal(value, citation.state_dict()[name]) == ("log_role" not in name)
    ours = {id(p) for p in manuscript.parameters()}
    assert not ours & {id(p) for p in citation.parameters()}


def test_sentence_vectors_of_the_dimension_of_the_levels_start_unmapped():
    config = dataclasses.replace(
        BAG, upper=UpperConfig("concatenated", pretrained_dim=4, upper_dim=4)
    )
    assert torch.equal(PaperEncoder(config).upper.map.weight, torch.eye(4))


@pytest.mark.parametrize("roles", ["abstract", "citing", "abstract,citing,title", ""])
def test_roles_that_levels_cannot_read_are_refused(roles):
    with pytest.raises(ConfigError, match=f"contextual_roles {roles}; expected abstract,citing"):
        UpperConfig("added", contextual_roles=roles)


def test_the_weight_of_the_levels_is_the_gate(source, sampled):
    torch.manual_seed(10)
    config = config_of("concatenated", 0, E)
    config = dataclasses.replace(config, upper=dataclasses.replace(config.upper, gate=0.25))
    model = PaperEncoder(config).eval()
    nn.init.normal_(model.upper.map.weight)
    bag, beside = model(source.batch(sampled)).split([8, 4], dim=1)
    assert torch.allclose(beside.norm(dim=1) / bag.norm(dim=1), torch.tensor(0.25), atol=1e-5)


def test_sentences_in_parts_have_the_vectors_and_gradients_of_all_at_once(
    source, sampled, monkeypatch
):
    model = shaken(PaperEncoder(config_of("added", layers=1))).eval()
    found = []
    for most in (1000, 7):
        monkeypatch.setattr(upper, "_AT_ONCE", most)
        model.zero_grad()
        vectors = model(source.batch(sampled))
        vectors.square().sum().backward()
        found.append([vectors, *(p.grad for p in model.parameters() if p.grad is not None)])
    assert len(found[0]) > 20
    for whole, parts in zip(*found, strict=True):
        assert torch.allclose(whole, parts, atol=1e-5)


@pytest.mark.parametrize("join", ["added", "concatenated"])
@pytest.mark.parametrize("pretrained", [0, E])
def test_a_paper_of_a_body_alone_has_the_same_vector_alone_and_beside_others(
    source, join, pretrained
):
    """Levels beside the bag read none of its sentences."""
    config = config_of(join, 1, pretrained)
    if not pretrained:
        source = dataclasses.replace(source, vectors=None)
    model = shaken(PaperEncoder(config))
    body = SampledSentences(np.array([4, 6]), np.array([2]), np.array([BODY, BODY]))
    both = SampledSentences(np.array([4, 6, 8]), np.array([2, 1]), np.array([BODY, BODY, ABSTRACT]))
    with torch.no_grad():
        alone, beside = model(source.batch(body)), model(source.batch(both))
    assert alone.shape == (1, config.vector_dim)
    assert torch.allclose(alone[0], beside[0], atol=1e-6)
    assert not torch.allclose(beside[0], beside[1])
