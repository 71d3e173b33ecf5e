"""Fine-tuning steps: packed, bfloat16, each distinct paper once, beside two other ways.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_finetuning.py [runs/binarized/acl]``.
Forward and backward passes of configuration ``small``, on the same examples: padded to 30 x 50 in
float32; and packed, with each target, positive and negative encoded apart. What sharing papers can
gain is the tokens that it spares, manuscripts included: this limit is the goal. It grows with the
batch and falls with the corpus: of ACL few papers of a batch are wanted twice.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from contest import contest, print_contest, print_rates
from padded import PaddedEncoder, cut, pad

from mpbert.corpus.binary import BinaryCorpus
from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.model.config import ModelConfig, NoiseConfig, ReadingConfig
from mpbert.model.encoder import TwoTower
from mpbert.model.fairseq_plugin.finetuning.dataset import CitationExamples
from mpbert.model.noise import Noise
from mpbert.model.objectives import mpt_src_tgt
from mpbert.model.packing import pack
from mpbert.model.reading import Reading
from mpbert.model.sampling import CitingSentences
from mpbert.model.sentences import Sentences

BATCH_TOKENS, ROUNDS = 65536, 5  # as in finetune/configs/small.yaml
PADDED_TOKENS = 12288  # padded, the whole batch would need some 25 GiB
Text = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Tokens, tokens of each sentence, sentences of each paper or manuscript."""


def main() -> None:
    torch.manual_seed(1)
    corpus = BinaryCorpus(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/binarized/acl"))
    config = ModelConfig(corpus.vocab_size, 256, 1024, 4, 4, 2, 0, 0.1, 0.0, 0.0)
    train = corpus.contexts("train")
    noise = Noise(train, corpus.num_papers, NoiseConfig())
    reading, citing = (
        Reading(ReadingConfig(16, 10, 10), 1),
        CitingSentences.of(train, corpus.num_papers),
    )
    source = Sentences(corpus.gather)
    examples = CitationExamples(
        corpus, train, noise, reading, citing, source, None, None, shuffle=True
    )
    _beside_padded(config, _Batch(examples, PADDED_TOKENS))
    _beside_apart(config, _Batch(examples, BATCH_TOKENS))


class _Batch:
    """The first examples of the training split: texts, and which paper is what to whom."""

    def __init__(self, examples: CitationExamples, batch_tokens: int) -> None:
        items = examples.batch_by_size(examples.ordered_indices(), batch_tokens)[0]
        targets = examples.targets[items, None]
        wanted = np.concatenate([targets, examples.positives[items], examples.negatives[items]], 1)
        self.is_real = wanted >= 0
        distinct, places = np.unique(np.where(self.is_real, wanted, targets), return_inverse=True)
        self.places = places.reshape(wanted.shape)
        self.manuscripts = _read_manuscripts(examples, items)
        self.papers = _read_papers(examples, distinct)
        self.num_tokens = len(self.manuscripts[0]) + len(self.papers[0])

    def loss(self, vectors: torch.Tensor, papers: torch.Tensor, places: np.ndarray) -> torch.Tensor:
        taken = papers.float()[torch.from_numpy(places)]
        last = self.places.shape[1] - NoiseConfig.negatives
        is_positive = torch.from_numpy(self.is_real[:, 1:last])
        target, positives, negatives = taken[:, 0], taken[:, 1:last], taken[:, last:]
        return mpt_src_tgt(vectors.float(), target, positives, is_positive, negatives).sum()

    def packed_step(self, model: TwoTower, papers: Text, places: np.ndarray) -> Callable[[], None]:
        packed = pack(*self.manuscripts), pack(*papers)

        def step() -> None:
            with torch.autocast("cpu", torch.bfloat16):
                vectors, cited = model.manuscript(packed[0]), model.citation(packed[1])
            self.loss(vectors, cited, places).backward()

        return step


def _beside_padded(config: ModelConfig, batch: _Batch) -> None:
    towers = PaddedEncoder(config), PaddedEncoder(config)
    padded = [pad(*cut(*text)) for text in (batch.manuscripts, batch.papers)]

    def step() -> None:
        vectors, papers = (
            (tower(*text) * text[1].any(2)[:, :, None]).sum(1)
            for tower, text in zip(towers, padded, strict=True)
        )
        batch.loss(vectors, papers, batch.places).backward()

    ours = batch.packed_step(TwoTower(config), batch.papers, batch.places)
    costs = contest({"ours": ours, "padded": step}, ROUNDS)
    what, peer = "fine-tuning, `small`", "padded to 30 x 50, float32"
    print_rates(what, peer, ">= 5", costs["ours"], costs["padded"], batch.num_tokens, "tokens/s")


def _beside_apart(config: ModelConfig, batch: _Batch) -> None:
    model = TwoTower(config)
    used = batch.places[batch.is_real]
    places = np.zeros_like(batch.places)
    places[batch.is_real] = np.arange(len(used))
    repeated = _repeat(batch.papers, used)
    costs = contest(
        {
            "ours": batch.packed_step(model, batch.papers, batch.places),
            "apart": batch.packed_step(model, repeated, places),
        },
        ROUNDS,
    )
    limit = (len(batch.manuscripts[0]) + len(repeated[0])) / batch.num_tokens
    what, goal = f"fine-tuning step, {len(batch.papers[2])} distinct papers", f"limit {limit:.2f}"
    print_contest(what, f"{len(used)} papers apart", goal, costs["ours"], costs["apart"])


def _read_manuscripts(examples: CitationExamples, items: np.ndarray) -> Text:
    corpus, contexts = examples.corpus, examples.contexts
    read = examples.reading.contexts_of(corpus, contexts, examples.context_of[items], 1, items)
    return *corpus.gather(read.sentences), read.per_item


def _read_papers(examples: CitationExamples, rows: np.ndarray) -> Text:
    read = examples.reading.papers_of(examples.corpus, rows, 1, examples.citing)
    return *examples.corpus.gather(read.sentences), read.per_item


def _repeat(text: Text, papers: np.ndarray) -> Text:
    """Return the text of these papers, each as often as it is named."""
    tokens, lengths, per_paper = text
    sentences = ranges(offsets_of(per_paper)[papers], per_paper[papers])
    chosen = ranges(offsets_of(lengths)[sentences], lengths[sentences])
    return tokens[chosen], lengths[sentences], per_paper[papers]


if __name__ == "__main__":
    main()
