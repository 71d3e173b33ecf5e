"""From a trained tower to vectors: batches by a budget of tokens, the mean over readings."""

from collections.abc import Callable

import numpy as np
import torch
from scipy import sparse

from mpbert.foundation.ragged import budget_batches, offsets_of
from mpbert.model.encoder import PaperEncoder
from mpbert.model.packing import TokenCounts
from mpbert.model.sampling import SampledSentences
from mpbert.model.sentences import Sentences


@torch.inference_mode()
def embed_sampled(
    tower: PaperEncoder,
    sampled: SampledSentences,
    source: Sentences,
    batch_tokens: int,
    autocast_bf16: bool = False,
) -> np.ndarray:
    """Return (B, D) float32 vectors of papers or manuscripts that were read as sampled.

    :param tower: in evaluation mode.
    :param source: of the sentences.
    :param batch_tokens: most tokens of a batch; bounds memory, does not change the vectors beyond
        the rounding of matrix products.
    """
    device = next(tower.parameters()).device
    lengths = source.gather(sampled.sentences)[1]
    per_sentence = offsets_of(lengths)
    sentences = offsets_of(sampled.per_item)
    costs = per_sentence[sentences[1:]] - per_sentence[sentences[:-1]]
    vectors = np.empty((len(costs), tower.vector_dim), dtype=np.float32)
    for items in budget_batches(costs, np.arange(len(costs)), batch_tokens, None):
        first, last = items[0], items[-1] + 1
        part = slice(sentences[first], sentences[last])
        read = SampledSentences(
            sampled.sentences[part], sampled.per_item[first:last], sampled.roles[part]
        )
        batch = source.batch(read)
        with torch.autocast(device.type, torch.bfloat16, enabled=autocast_bf16):
            vectors[first:last] = tower(batch.to(device)).float().cpu().numpy()
    return vectors


@torch.inference_mode()
def weigh_counts(
    weigh: Callable[[TokenCounts], torch.Tensor], counts: TokenCounts, vocab_size: int
) -> sparse.csr_array:
    """Return (B, V) weights of the tokens of papers or manuscripts, for exact matches.

    :param weigh: counts -> their weights, of a lexical level on the CPU.
    :param counts: how often each text holds tokens, see ``model.token_counts``.
    """
    places = counts.texts.numpy(), counts.tokens.numpy()
    return sparse.csr_array((weigh(counts).numpy(), places), (counts.num_texts, vocab_size))


def mean_over_readings(
    read: Callable[[int], SampledSentences],
    embed: Callable[[SampledSentences], np.ndarray],
    num_readings: int,
) -> np.ndarray:
    """Return the mean vector of R random readings of each item (R = 1: one reading).

    :param read: number of a reading -> the sentences that are read.
    """
    total = embed(read(0)).astype(np.float64)
    for number in range(1, num_readings):
        total += embed(read(number))
    return (total / num_readings).astype(np.float32)
