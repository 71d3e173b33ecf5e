import dataclasses

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from mpbert.foundation.ragged import offsets_of
from mpbert.model.config import UpperConfig
from mpbert.model.masked_sentences import MaskedSentenceModel, MaskedVectorModel
from mpbert.model.masking import mask_vectors
from mpbert.model.objectives import masked_vector_logits
from mpbert.model.packing import pack, pack_masked
from tests.model.sizes import SMALL


def test_masked_sentence_logits_come_from_the_sentence_in_its_document(papers):
    torch.manual_seed(4)
    tokens, lengths, per_paper = papers
    model = MaskedSentenceModel(SMALL).eval()
    masked = np.array([0, 4, 12])
    together = model(pack(*papers), pack_masked(*papers, masked, 1))
    order = masked[np.argsort(lengths[masked], kind="stable")]
    parts = together.split(lengths[order].tolist())
    starts, token_starts = offsets_of(per_paper), offsets_of(lengths)
    for sentence, part in zip(order, parts, strict=True):
        paper = int(np.searchsorted(starts, sentence, side="right")) - 1
        first, last = starts[paper], starts[paper + 1]
        alone = (
            tokens[token_starts[first] : token_starts[last]],
            lengths[first:last],
            per_paper[paper : paper + 1],
        )
        found = model(pack(*alone), pack_masked(*alone, np.array([sentence - first]), 1))
        assert torch.allclose(found, part, atol=1e-4)


def test_output_weights_are_the_embeddings_and_learn():
    model = MaskedSentenceModel(SMALL)
    tokens = np.array([10, 11, 2, 12, 2])
    arguments = (tokens, np.array([3, 2]), np.array([2]))
    logits = model(pack(*arguments), pack_masked(*arguments, np.array([1]), 1))
    assert logits.shape == (2, 50)
    logits.sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    assert model.encoder.bag.embedding.weight.grad.abs().sum(1).gt(0).all()


VECTORS = dataclasses.replace(
    SMALL, sentence_layers=0, decoder_layers=0, upper=UpperConfig("added", pretrained_dim=8)
)


def masked_vectors(seed):
    """40 sentences of 6 papers: papers, then rows: source, hidden and masked."""
    rng = np.random.default_rng(seed)
    per_paper = np.array([9, 2, 8, 1, 12, 8])
    true = rng.normal(size=(40, 8)).astype(np.float32)
    one = np.ones(40, np.int64)
    return pack(one, one, per_paper, vectors=true), *mask_vectors(per_paper, rng).values()


def masked_tokens(seed):
    """40 sentences of 6 papers, as tokens; those of a paper share half of theirs."""
    rng = np.random.default_rng(seed)
    per_paper = np.array([9, 2, 8, 1, 12, 8])
    owner = np.repeat(np.arange(6), per_paper)
    tokens = np.stack([4 + owner, 10 + rng.integers(0, 40, 40)], axis=1).ravel()
    return pack(tokens, np.full(40, 2), per_paper), *mask_vectors(per_paper, rng).values()


def test_a_sentence_that_stayed_is_guessed_as_itself_and_a_hidden_one_as_the_mean_of_the_seen():
    torch.manual_seed(5)
    model = MaskedVectorModel(VECTORS).eval()
    nn.init.zeros_(model.mask)
    kinds = set()
    for seed in range(20):
        papers, source, hidden, masked = masked_vectors(seed)
        guesses, vectors = model(papers, source, hidden, masked)  # blocks begin as the identity
        assert torch.equal(vectors, papers.vectors)
        is_hidden = torch.zeros(40, dtype=torch.bool)
        is_hidden[hidden] = True
        for row, guess in zip(masked.tolist(), guesses, strict=True):
            seen = (papers.papers.row == papers.papers.row[row]) & ~is_hidden
            expected = vectors[source[seen]].sum(0) / max(int(seen.sum()), 1)
            if not is_hidden[row]:
                expected = vectors[source[row]]
            assert torch.allclose(guess, expected, atol=1e-5)
            kinds.add((bool(is_hidden[row]), bool(source[row] != row)))
    assert kinds == {(True, False), (False, False), (False, True)}


@pytest.mark.parametrize("kind", ["vectors", "tokens"])
def test_hidden_sentences_are_learnt_from_those_around_them(kind):
    torch.manual_seed(6)
    own = dataclasses.replace(SMALL, upper=UpperConfig("added"))
    model = MaskedVectorModel(VECTORS if kind == "vectors" else own).train()
    papers, *rows = (masked_vectors if kind == "vectors" else masked_tokens)(1)
    masked, losses = rows[-1], []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(150):
        guesses, vectors = model(papers, *rows)
        logits = masked_vector_logits(guesses, vectors, masked, papers.papers.row, 0.1)
        losses.append(F.cross_entropy(logits, masked))
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < 0.3 < losses[0]
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_logits_of_guesses_are_cosines_over_the_temperature_with_sentences_that_are_not_seen():
    guesses = torch.tensor([[2.0, 0.0]])
    vectors = torch.tensor([[1.0, 0.0], [0.0, 3.0], [1.0, 1.0], [1.0, 1.0]])
    papers, masked = torch.tensor([0, 1, 1, 0]), torch.tensor([0])
    found = masked_vector_logits(guesses, vectors, masked, papers, 0.5)
    assert torch.allclose(found, torch.tensor([[2.0, 0.0, 2**0.5, -torch.inf]]))
