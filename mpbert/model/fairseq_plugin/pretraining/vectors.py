"""Pretraining of levels beside the bag, which guess sentence vectors: data, model, criterion."""

import mpbert.model.fairseq_plugin.compat  # isort: skip  # noqa: F401  (fixes fairseq before it is imported)

import dataclasses
import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from fairseq import metrics
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.models import BaseFairseqModel, register_model
from torch import Tensor, nn

from mpbert.corpus.binary import BinaryCorpus
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers
from mpbert.model.config import PRETRAIN, ModelConfig, ObjectiveConfig, TrainingConfig
from mpbert.model.configuration import knobs
from mpbert.model.fairseq_plugin.dataset import BudgetDataset, evenly_spaced
from mpbert.model.fairseq_plugin.flags import section_of
from mpbert.model.fairseq_plugin.options import fairseq_dataclass
from mpbert.model.fairseq_plugin.pretraining.dataset import MaskedBlocks, blocks_of
from mpbert.model.masked_sentences import MaskedVectorModel
from mpbert.model.masking import mask_vectors
from mpbert.model.objectives import masked_vector_logits
from mpbert.model.packing import pack
from mpbert.pretrained.sentence_vectors import SentenceVectors


class MaskedVectorBlocks(BudgetDataset):
    """Blocks of the sentences of some papers that have a vector; masks are new in each epoch."""

    def __init__(
        self,
        corpus: BinaryCorpus,
        vectors: SentenceVectors,
        papers: np.ndarray,
        max_sentences: int,
        seed: int,
        shuffle: bool,
        max_blocks: int | None = None,
    ) -> None:
        """Cut the papers into blocks.

        :param papers: rows of the papers to read.
        :param max_sentences: of a block.
        :param max_blocks: keep so many, evenly spaced (validation); None keeps all.
        """
        super().__init__(seed, shuffle)
        self.corpus, self.vectors = corpus, vectors
        offsets = corpus.sentence_offsets
        lengths = offsets[papers + 1] - offsets[papers]
        numbers = ranges(offsets[papers], lengths)
        has = vectors.has(numbers)
        self.numbers = numbers[has]
        counts = np.bincount(row_numbers(lengths)[has], minlength=len(papers))
        places, blocks = blocks_of(counts, max_sentences)
        self.first = offsets_of(counts)[places] + blocks * max_sentences
        self.sizes = np.minimum(max_sentences, offsets_of(counts)[places + 1] - self.first)
        kept = evenly_spaced(len(self.first), max_blocks)
        self.first, self.sizes = self.first[kept], self.sizes[kept]

    def costs(self) -> np.ndarray:
        """Return the sentences of each block, which count as tokens here: none is read."""
        return self.sizes

    def collater(self, samples: list[int]) -> dict[str, Any]:
        """Mask and pack a batch of blocks."""
        if len(samples) == 0:  # fairseq's filler where one process has a batch less than another
            return {}
        blocks = np.asarray(samples)
        per_paper = self.sizes[blocks]
        true = self.vectors.gather(self.numbers[ranges(self.first[blocks], per_paper)])
        one = np.ones(len(true), dtype=np.int64)  # no token is read
        papers = pack(one, one, per_paper, vectors=true)
        masks = mask_vectors(per_paper, self.rng_of_masks(samples))
        return {"papers": papers, **masks, "num_papers": len(blocks)}


class MaskedTokenVectorBlocks(MaskedBlocks):
    """Blocks of sentences whose vectors the model makes; masks are new in each epoch."""

    def collater(self, samples: list[int]) -> dict[str, Any]:
        """Mask and pack a batch of blocks."""
        if len(samples) == 0:  # as above
            return {}
        blocks = np.asarray(samples)
        per_paper = self.sizes_in_sentences[blocks]
        papers = pack(*self.corpus.gather(ranges(self.first[blocks], per_paper)), per_paper)
        masks = mask_vectors(per_paper, self.rng_of_masks(samples))
        return {"papers": papers, **masks, "num_papers": len(blocks)}


DocumentLevelOptions = fairseq_dataclass(
    "DocumentLevelOptions",
    [*knobs(ModelConfig, PRETRAIN), *knobs(TrainingConfig, PRETRAIN, "autocast_bf16")],
)


@register_model("mpbert_document_level", dataclass=DocumentLevelOptions)
class FairseqMaskedVectorModel(BaseFairseqModel):
    """Wraps :class:`MaskedVectorModel`; adds nothing but autocast."""

    def __init__(self, model: MaskedVectorModel, autocast_bf16: bool) -> None:
        super().__init__()
        self.model, self.autocast_bf16 = model, autocast_bf16

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "FairseqMaskedVectorModel":
        """Build for the vectors of the task, or for its tokens."""
        config = section_of(ModelConfig, cfg, PRETRAIN)
        config = dataclasses.replace(
            config, vocab_size=task.corpus.vocab_size, upper=task.upper_of(config)
        )
        task.note_model(config)
        model = MaskedVectorModel(config)
        if model.bag is not None and config.bag.token_weights:
            model.bag.start_from_counts(torch.from_numpy(task.corpus.token_counts()))
        return cls(model, cfg.autocast_bf16)

    def forward(self, sample: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Return (M, E) guesses, and (S, E) vectors of all sentences."""
        device = self.model.mask.device
        rows = (sample[name].to(device) for name in ("source", "hidden", "masked"))
        with torch.autocast(device.type, torch.bfloat16, enabled=self.autocast_bf16):
            return self.model(sample["papers"].to(device), *rows)

    def max_positions(self) -> None:
        """Return None: lengths are the corpus' and the task's business."""
        return


MaskedVectorOptions = fairseq_dataclass("MaskedVectorOptions", knobs(ObjectiveConfig, PRETRAIN))


@register_criterion("mpbert_masked_vectors", dataclass=MaskedVectorOptions)
class MaskedVectorCriterion(FairseqCriterion):
    """Loss per masked sentence; also the share of those that are guessed first."""

    def __init__(self, task: Any, temperature: float) -> None:
        super().__init__(task)
        self.temperature = temperature

    def forward(
        self, model: nn.Module, sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, int, dict[str, Any]]:
        """Return loss, number of masked sentences and what to log."""
        guesses, vectors = model(sample)
        targets = sample["masked"].to(guesses.device)
        blocks = sample["papers"].papers.row.to(guesses.device)
        logits = masked_vector_logits(guesses, vectors, targets, blocks, self.temperature)
        loss = F.cross_entropy(logits, targets, reduction="sum")
        return (
            loss,
            len(targets),
            {
                "loss": loss.detach(),
                "first": (logits.argmax(dim=1) == targets).sum().detach(),
                "ntokens": len(vectors),
                "nsentences": sample["num_papers"],
                "sample_size": len(targets),
            },
        )

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[dict[str, Any]]) -> None:
        """Log bits per masked sentence, and the share guessed first."""
        size = max(sum(int(log.get("sample_size", 0)) for log in logging_outputs), 1)
        for key, name, unit in (("loss", "loss", math.log(2)), ("first", "accuracy", 1.0)):
            total = sum(float(log.get(key, 0)) for log in logging_outputs)
            metrics.log_scalar(name, total / size / unit, size, round=4)

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        """All logged values are sums."""
        return True
