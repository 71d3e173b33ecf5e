"""Pretraining steps beside the padded way of others, and beside what the machine can do.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_pretraining.py [runs/binarized/acl]``.
Forward and backward passes of the configurations ``small`` (width 256) and ``paper`` (width 768),
on the same real tokens: at most 50 of each of at most 30 sentences of a paper. The operations
counted are those of the matrix products that the model needs, three times the forward pass; the
bound is the rate of a plain bfloat16 product of rows of this width, measured in the same run.
One row sets the step beside one that reads values without attention, which no attention can beat.
"""

import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch
from contest import contest, print_processor_rates, print_rates, print_row
from padded import SENTENCES, PaddedMaskedSentences, cut, pad
from torch.nn import functional

from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.special_tokens import END, SENTENCE_MASK
from mpbert.foundation.ragged import ranges, row_numbers
from mpbert.foundation.seeding import named_rng
from mpbert.model.config import ModelConfig
from mpbert.model.fairseq_plugin.pretraining.dataset import MaskedBlocks
from mpbert.model.masked_sentences import MaskedSentenceModel
from mpbert.model.masking import choose_masks, mask_sentences
from mpbert.model.objectives import masked_sentence_loss
from mpbert.model.packing import MaskedSentences, PackedPapers, Rows, pack, pack_masked

SIZES = {  # as in pretrain/configs: D, inner size, heads, layers; tokens of a batch, rounds
    "small": (256, 1024, 4, 4, 2, 2, 16384, 5),
    "paper": (768, 3072, 12, 6, 6, 6, 8192, 3),
}
PRODUCTS = 4


def main() -> None:
    corpus = BinaryCorpus(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/binarized/acl"))
    for name, (*sizes, batch_tokens, rounds) in SIZES.items():
        config = ModelConfig(corpus.vocab_size, *sizes, 0.1, 0.0, 0.0)
        _measure(name, config, corpus, batch_tokens, rounds)


def _measure(
    name: str, config: ModelConfig, corpus: BinaryCorpus, batch_tokens: int, rounds: int
) -> None:
    torch.manual_seed(1)
    papers = np.flatnonzero(corpus.splits == 0)
    blocks = MaskedBlocks(corpus, papers, SENTENCES, seed=1, shuffle=True)
    chosen = blocks.batch_by_size(blocks.ordered_indices(), batch_tokens)[0]
    read = corpus.gather(ranges(blocks.first[chosen], blocks.sizes_in_sentences[chosen]))
    tokens, lengths, per_paper = cut(*read, blocks.sizes_in_sentences[chosen])
    masks = choose_masks(per_paper, named_rng(1, "masks"))
    seen = mask_sentences(tokens, lengths, masks, SENTENCE_MASK)
    packed = pack(*seen, per_paper)
    masked = pack_masked(tokens, lengths, per_paper, masks.masked, END)
    ours, theirs = MaskedSentenceModel(config), PaddedMaskedSentences(config)

    padded, is_real = pad(*seen, per_paper)
    targets, is_target = pad(tokens, lengths, per_paper)
    first = np.cumsum(per_paper) - per_paper
    paper = row_numbers(per_paper)[masks.masked]
    rows = torch.from_numpy(paper * SENTENCES + masks.masked - first[paper])
    targets, is_target = targets.flatten(0, 1)[rows], is_target.flatten(0, 1)[rows]
    inputs = functional.pad(targets, (1, 0), value=END)[:, :-1]

    def step_ours() -> None:
        with torch.autocast("cpu", torch.bfloat16):
            logits = ours(packed, masked)
        masked_sentence_loss(logits, masked.targets, 0.1).backward()

    def step_without_attention() -> None:
        with patch("mpbert.model.blocks.attend", lambda qkv, *_: qkv[:, 2].flatten(1)):
            step_ours()

    def step_theirs() -> None:
        logits = theirs(padded, is_real, rows, inputs, is_target)
        masked_sentence_loss(logits[is_target], targets[is_target], 0.1).backward()

    width = config.dim
    halves = torch.randn(8192, width).bfloat16(), torch.randn(width, 4 * width).bfloat16()

    def bound() -> None:
        for _ in range(PRODUCTS):
            halves[0] @ halves[1]

    contestants = {
        "ours": step_ours,
        "theirs": step_theirs,
        "none": step_without_attention,
        "bound": bound,
    }
    costs = contest(contestants, rounds)
    what, peer = f"pretraining, `{name}`", "padded to 30 x 50, float32"
    print_rates(what, peer, ">= 5", costs["ours"], costs["theirs"], len(tokens), "tokens/s")
    pair = costs["ours"], costs["none"]
    print_processor_rates(what, "no attention at all", "-", *pair, len(tokens), "tokens/s")
    rate = operations(config, packed, masked) / costs["ours"].seconds
    fastest = PRODUCTS * 2 * 8192 * width * 4 * width / costs["bound"].seconds
    print_row(
        f"pretraining, `{name}`, operations",
        f"bfloat16 product, width {width}",
        ">= 60 %" if width == 768 else ">= 45 %",
        f"{rate / fastest:.0%}",
        f"{rate / 1e9:,.0f} GFLOP/s",
        f"{fastest / 1e9:,.0f} GFLOP/s",
        "-",
    )


def operations(config: ModelConfig, papers: PackedPapers, masked: MaskedSentences) -> float:
    """Return the floating-point operations of matrix products, forward and backward."""

    def blocks(rows: Rows, layers: int) -> float:
        length = np.diff(rows.offsets.numpy()).astype(float)
        linear = 2 * config.dim * (4 * config.dim + 2 * config.ffn_dim) * length.sum()
        return layers * (linear + 4 * config.dim * (length**2).sum())

    forward = (
        blocks(papers.sentences, config.sentence_layers)
        + blocks(papers.papers, config.document_layers)
        + blocks(masked.sentences, config.decoder_layers)
        + 2 * len(masked.targets) * config.dim * config.vocab_size
    )
    return 3 * forward


if __name__ == "__main__":
    main()
