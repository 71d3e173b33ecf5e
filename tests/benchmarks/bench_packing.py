"""Training steps of the sentence encoder: packed rows beside torch's padded TransformerEncoder.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_packing.py [runs/binarized/rfc]``. Same
sizes, same real sentences, float32, dropout 0, forward and backward: what packing alone gains.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from contest import contest, print_contest
from torch import nn

from mpbert.corpus.binary import BinaryCorpus
from mpbert.model.config import ModelConfig
from mpbert.model.encoder import LevelEncoder
from mpbert.model.packing import pack

DIM, FFN_DIM, HEADS, LAYERS = 128, 512, 4, 2
PAPERS, SENTENCES, ROUNDS = 12, 30, 7


def main() -> None:
    """Measure and print."""
    corpus = BinaryCorpus(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/binarized/rfc"))
    rng = np.random.default_rng(1)
    rows = np.sort(rng.choice(len(corpus.token_offsets) - 1, PAPERS * SENTENCES, replace=False))
    tokens, lengths = corpus.gather(rows)
    config = ModelConfig(corpus.vocab_size, DIM, FFN_DIM, HEADS, LAYERS, 0, 0, 0.0, 0.0, 0.0)
    ours = LevelEncoder(config)
    batch = pack(tokens, lengths, np.full(PAPERS, SENTENCES))

    layer = nn.TransformerEncoderLayer(DIM, HEADS, FFN_DIM, dropout=0.0, batch_first=True)
    theirs = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
    is_real = torch.arange(int(lengths.max())) < torch.from_numpy(lengths)[:, None]  # (S, T)
    padded = torch.zeros(is_real.shape, dtype=torch.int64)
    padded[is_real] = torch.from_numpy(tokens.astype(np.int64))

    def step_ours() -> None:
        ours.sentences(ours.bag, batch).square().sum().backward()

    def step_theirs() -> None:
        x = theirs(ours.bag.embedding(padded), src_key_padding_mask=~is_real)
        (x * is_real[:, :, None]).sum(dim=1).square().sum().backward()

    costs = contest({"ours": step_ours, "theirs": step_theirs}, ROUNDS)
    what = f"sentence encoder, {len(tokens):,} tokens, padded to {padded.numel():,}, both float32"
    print_contest(what, "torch's, padded", "-", costs["ours"], costs["theirs"])


if __name__ == "__main__":
    main()
