import numpy as np
import torch

from mpbert.foundation.ragged import offsets_of
from mpbert.model.config import ModelConfig
from mpbert.model.masked_sentences import MaskedSentenceModel
from mpbert.model.packing import pack, pack_masked

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
