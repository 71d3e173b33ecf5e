"""Training steps of the sentence encoder: packed rows beside torch's padded TransformerEncoder.

    PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_packing.py [runs/binarized/rfc]

Same sizes, same real sentences, float32, dropout 0, forward and backward; the median of several
rounds in which the two take turns. Prints real tokens per second and the ratio.
"""

import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

from mpbert.data.binary import BinaryCorpus
from mpbert.modeling.hierarchical import HierarchicalConfig, HierarchicalEncoder
from mpbert.modeling.packing import pack

DIM, FFN_DIM, HEADS, LAYERS = 128, 512, 4, 2
PAPERS, SENTENCES, ROUNDS = 12, 30, 7


def main() -> None:
    """Measure and print."""
    corpus = BinaryCorpus(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/binarized/rfc"))
    rng = np.random.default_rng(1)
    rows = np.sort(rng.choice(len(corpus.token_offsets) - 1, PAPERS * SENTENCES, replace=False))
    tokens, lengths = corpus.gather(rows)
    config = HierarchicalConfig(corpus.vocab_size, DIM, FFN_DIM, HEADS, LAYERS, 0, 0, 0.0, 0.0, 0.0)
    ours = HierarchicalEncoder(config)
    batch = pack(tokens, lengths, np.full(PAPERS, SENTENCES))

    layer = nn.TransformerEncoderLayer(DIM, HEADS, FFN_DIM, dropout=0.0, batch_first=True)
    theirs = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
    is_real = torch.arange(int(lengths.max())) < torch.from_numpy(lengths)[:, None]  # (S, T)
    padded = torch.zeros(is_real.shape, dtype=torch.int64)
    padded[is_real] = torch.from_numpy(tokens.astype(np.int64))

    def step_ours() -> None:
        ours.encode_sentences(batch.tokens, batch.sentences).square().sum().backward()

    def step_theirs() -> None:
        x = theirs(ours.embedding(padded), src_key_padding_mask=~is_real)
        (x * is_real[:, :, None]).sum(dim=1).square().sum().backward()

    seconds = {step_ours: [], step_theirs: []}
    for _ in range(ROUNDS + 1):
        for step, times in seconds.items():
            start = time.perf_counter()
            step()
            times.append(time.perf_counter() - start)
    packed, filled = (statistics.median(times[1:]) for times in seconds.values())
    print(f"{len(tokens):,} tokens in {len(lengths):,} sentences, padded to {padded.numel():,}")
    print(f"packed  {len(tokens) / packed:>10,.0f} tokens/s")
    print(f"padded  {len(tokens) / filled:>10,.0f} tokens/s   ratio {filled / packed:.2f}")


if __name__ == "__main__":
    main()
