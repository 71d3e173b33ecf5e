import dataclasses

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from mpbert.foundation.ragged import offsets_of
from mpbert.model.config import ModelConfig, UpperConfig
from mpbert.model.masked_sentences import MaskedSentenceModel, MaskedVectorModel
from mpbert.model.masking import choose_masks
from mpbert.model.objectives import masked_vector_logits
from mpbert.model.packing import document_rows, pack, pack_masked

CONFIG = ModelConfig(
    vocab_size=50,
    dim=8,
    ffn_dim=16,
    num_heads=2,
    sentence_layers=2,
    document_layers=2,
    decoder_layers=1,
    dropout=0.1,
    attention_dropout=0.1,
    activation_dropout=0.1,
)


def test_masked_sentence_logits_come_from_the_sentence_in_its_document(papers):
    torch.manual_seed(4)
    tokens, lengths, per_paper = papers
    model = MaskedSentenceModel(CONFIG).eval()
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
    model = MaskedSentenceModel(CONFIG)
    tokens = np.array([10, 11, 2, 12, 2])
    arguments = (tokens, np.array([3, 2]), np.array([2]))
    logits = model(pack(*arguments), pack_masked(*arguments, np.array([1]), 1))
    assert logits.shape == (2, 50)
    logits.sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    assert model.encoder.bag.embedding.weight.grad.abs().sum(1).gt(0).all()


VECTORS = dataclasses.replace(
    CONFIG, sentence_layers=0, decoder_layers=0, upper=UpperConfig("added", pretrained_dim=8)
)


def masked_vectors(seed):
    """40 sentences of 6 papers: papers as they are seen, rows that are hidden, masked, truth."""
    rng = np.random.default_rng(seed)
    per_paper = np.array([9, 2, 8, 1, 12, 8])
    true = rng.normal(size=(40, 8)).astype(np.float32)
    masks, one = choose_masks(per_paper, rng), np.ones(40, np.int64)
    rows = torch.from_numpy(document_rows(per_paper))
    packed = pack(one, one, per_paper, vectors=true[masks.source])
    return packed, rows[masks.hidden], rows[masks.masked], torch.from_numpy(true), masks


def test_a_sentence_vector_that_stayed_is_guessed_as_itself_and_a_hidden_one_is_not_seen():
    torch.manual_seed(5)
    model = MaskedVectorModel(VECTORS).eval()
    nn.init.eye_(model.guess.weight)
    nn.init.zeros_(model.guess.bias)
    kinds = set()
    for seed in range(20):
        packed, hidden, masked, true, masks = masked_vectors(seed)
        first = masked_vector_logits(model(packed, hidden, masked), true, 1.0).argmax(1).numpy()
        for sentence, guess in zip(masks.masked, first, strict=True):
            is_hidden = sentence in masks.hidden
            assert is_hidden or guess == masks.source[sentence]  # blocks begin as the identity
            kinds.add((is_hidden, bool(masks.source[sentence] != sentence)))
    assert kinds == {(True, False), (False, False), (False, True)}


def test_hidden_vectors_are_learnt_from_those_around_them():
    torch.manual_seed(6)
    model = MaskedVectorModel(VECTORS).train()
    packed, hidden, masked, true, masks = masked_vectors(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(150):
        logits = masked_vector_logits(model(packed, hidden, masked), true, 0.1)
        loss = F.cross_entropy(logits, torch.from_numpy(masks.masked))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.3
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_logits_of_guesses_are_cosines_over_the_temperature():
    guesses, vectors = (
        torch.tensor([[2.0, 0.0]]),
        torch.tensor([[1.0, 0.0], [0.0, 3.0], [1.0, 1.0]]),
    )
    found = masked_vector_logits(guesses, vectors, 0.5)
    assert torch.allclose(found, torch.tensor([[2.0, 0.0, 2**0.5]]))
