"""What the datasets, tasks, models and criteria of pretraining and fine-tuning share."""

import mpbert.model.fairseq_plugin.compat  # isort: skip  # noqa: F401  (fixes fairseq before it is imported)

import dataclasses
import math
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from fairseq import metrics
from fairseq.criterions import FairseqCriterion
from fairseq.data import FairseqDataset
from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from mpbert.corpus.binary import BinaryCorpus
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.manifest import check_inputs, fingerprint
from mpbert.foundation.ragged import budget_batches
from mpbert.foundation.seeding import named_rng
from mpbert.model.config import STACKED, ModelConfig, TrainingConfig, UpperConfig
from mpbert.model.sentences import check_states
from mpbert.pretrained.sentence_vectors import SentenceVectors


def evenly_spaced(num_items: int, most: int | None) -> np.ndarray:
    """Return the numbers of at most so many items, evenly spaced; None: of all."""
    if most is None or num_items <= most:
        return np.arange(num_items)
    return np.linspace(0, num_items - 1, most).astype(np.int64)


class BudgetDataset(FairseqDataset):
    """A dataset whose items are numbers and whose batches are made whole, in ``collater``.

    :param seed: of the order of items; each epoch has its own order.
    :param shuffle: False keeps the items in order (validation).
    """

    def __init__(self, seed: int, shuffle: bool) -> None:
        super().__init__()
        self.seed, self.shuffle, self.epoch = seed, shuffle, 1

    def costs(self) -> np.ndarray:
        """Return the tokens of each item; their sum is kept under ``--max-tokens`` per batch."""
        raise NotImplementedError

    def set_epoch(self, epoch: int) -> None:
        """Note the epoch: every random choice depends on it."""
        self.epoch = epoch

    def rng_of_masks(self, samples: list[int]) -> np.random.Generator:
        """Return what chooses the masks of a batch: new in each epoch of training."""
        return named_rng(self.seed, "masks", self.epoch if self.shuffle else 0, *samples)

    @property
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        """False: items are drawn afresh and ordered anew in each epoch."""
        return False

    def __getitem__(self, index: int) -> int:
        return int(index)

    def __len__(self) -> int:
        return len(self.costs())

    def num_tokens(self, index: int) -> int:
        """Return the cost of one item."""
        return int(self.costs()[index])

    def size(self, index: int) -> int:
        """Return the cost of one item."""
        return self.num_tokens(index)

    def ordered_indices(self) -> np.ndarray:
        """Return the items in this epoch's order."""
        if not self.shuffle:
            return np.arange(len(self))
        return named_rng(self.seed, "order of items", self.epoch).permutation(len(self))

    def batch_by_size(
        self,
        indices: np.ndarray,
        max_tokens: int | None = None,
        max_sentences: int | None = None,
        required_batch_size_multiple: int = 1,
    ) -> list[np.ndarray]:
        """Cut the ordered items into batches of at most ``max_tokens`` real tokens."""
        return budget_batches(self.costs()[indices], indices, max_tokens, max_sentences)

    @property
    def supports_fetch_outside_dataloader(self) -> bool:
        """True: an item is only its number."""
        return True


class TokenTask(FairseqTask):
    """A task on token ids: the tokenizer has done what fairseq's dictionaries are for."""

    source_dictionary = None
    target_dictionary = None

    def __init__(self, cfg: Any) -> None:
        super().__init__(cfg)
        TrainingConfig(seed=cfg.seed, max_valid=cfg.max_valid)  # refuses what is out of bounds
        check_inputs([Path(cfg.data)])
        self.corpus = BinaryCorpus(Path(cfg.data))
        # into every checkpoint, so that export-encoder takes no other tokenizer
        self.state.merge_state_dict({"tokenizer": fingerprint(self.corpus.path / "tokenizer.json")})

    @cached_property
    def vectors(self) -> SentenceVectors | None:
        """Stored sentence vectors, if levels beside the bag are to read them."""
        if not self.cfg.sentence_vectors:
            return None
        vectors = SentenceVectors(Path(self.cfg.sentence_vectors))
        vectors.check_corpus(self.corpus.path)
        return vectors

    def upper_of(self, config: ModelConfig) -> UpperConfig:
        """Return how levels join the bag, with what the stored vectors say.

        :raises ConfigError: there are vectors, and no levels beside the bag; or layers to tune,
            and no vectors.
        :raises EncoderError: there are layers to tune, and no states that enter them.
        """
        if self.vectors is None:
            if config.upper.tuned_layers:
                raise ConfigError(
                    f"tuned_layers {config.upper.tuned_layers}: found no sentence vectors; "
                    f"expected --sentence-vectors, made by mpbert embed-sentences with "
                    f"--tuned-layers {config.upper.tuned_layers}"
                )
            return config.upper
        check_states(self.vectors, config.upper)
        if config.upper.join == STACKED:
            raise ConfigError(
                f"--sentence-vectors {self.vectors.path}: stacked levels read tokens alone; "
                f"expected join=added or join=concatenated"
            )
        return dataclasses.replace(
            config.upper,
            pretrained_dim=self.vectors.dim,
            pretrained_sha256=self.vectors.model_sha256,
        )

    def note_model(self, config: ModelConfig) -> None:
        """Write the sizes of the model into every checkpoint; export needs no other file."""
        self.state.merge_state_dict({"model": dataclasses.asdict(config)})

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what a checkpoint noted.

        :raises ConfigError: it was written before there were levels, with other names of weights.
        """
        if "model" not in state_dict:
            raise ConfigError(
                "the training to go on with is of an older version; expected one of this version: "
                "move its directory away to train from the start"
            )
        super().load_state_dict(state_dict)

    def max_positions(self) -> None:
        """Return None: no item is filtered by length."""
        return


class WrappedModel(BaseFairseqModel):
    """Wraps a model of ours; adds autocast."""

    def __init__(self, model: nn.Module, autocast_bf16: bool) -> None:
        super().__init__()
        self.model, self.autocast_bf16 = model, autocast_bf16

    def autocast(self, device: torch.device) -> torch.autocast:
        """Return the context in which the model computes."""
        return torch.autocast(device.type, torch.bfloat16, enabled=self.autocast_bf16)

    def max_positions(self) -> None:
        """Return None: lengths are the corpus' and the task's business."""
        return


class SummedCriterion(FairseqCriterion):
    """A criterion that logs sums over batches and processes, divided by what they are of."""

    UNITS: ClassVar = {"loss": ("loss", math.log(2))}
    """What is summed -> its name in the log, and its unit."""
    DIGITS = 4

    def logged(
        self, loss: Tensor, size: int, **more: object
    ) -> tuple[Tensor, int, dict[str, object]]:
        """Return what fairseq expects of ``forward``.

        :param size: what the loss is a sum of, such as examples.
        :param more: further sums, and ``ntokens`` and ``nsentences`` of the batch.
        """
        return loss, size, {"loss": loss.detach(), "sample_size": size, **more}

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[dict[str, Any]]) -> None:
        """Log the means."""
        size = max(sum(int(log.get("sample_size", 0)) for log in logging_outputs), 1)
        for key, (name, unit) in cls.UNITS.items():
            total = sum(float(log.get(key, 0)) for log in logging_outputs)
            metrics.log_scalar(name, total / size / unit, size, round=cls.DIGITS)

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        """All logged values are sums."""
        return True
