"""Pretraining as a fairseq task."""

from typing import Any

import numpy as np
from fairseq.tasks import register_task

from mpbert.corpus.splits import SPLITS
from mpbert.foundation.errors import CorpusError
from mpbert.model.config import PRETRAIN, STACKED, ModelConfig, ReadingConfig
from mpbert.model.fairseq_plugin.bases import TokenTask
from mpbert.model.fairseq_plugin.flags import section_of
from mpbert.model.fairseq_plugin.options import task_options
from mpbert.model.fairseq_plugin.pretraining.dataset import (
    MaskedBlocks,
    MaskedTokenVectorBlocks,
    MaskedVectorBlocks,
)

PretrainOptions = task_options("PretrainOptions", PRETRAIN, ReadingConfig)


@register_task("mpbert_pretrain", dataclass=PretrainOptions)
class PretrainTask(TokenTask):
    """Predict masked sentences of the papers of the training split."""

    def __init__(self, cfg: Any) -> None:
        self.reading = section_of(ReadingConfig, cfg, PRETRAIN)
        super().__init__(cfg)
        self.join = STACKED

    def note_model(self, config: ModelConfig) -> None:
        """Note its sizes, and how its levels join the bag."""
        super().note_model(config)
        self.join = config.upper.join

    def load_dataset(self, split: str, **kwargs: Any) -> None:
        """Load the papers of ``train`` or ``valid``.

        :raises CorpusError: the split has no paper.
        """
        papers = np.flatnonzero(self.corpus.splits == SPLITS.index(split))
        if len(papers) == 0:
            raise CorpusError(f"{self.cfg.data}: split {split!r} has no paper; choose other years")
        training = split == "train"
        how = {"shuffle": training, "max_blocks": None if training else self.cfg.max_valid}
        which = self.corpus, papers, self.reading.block_sentences, self.cfg.seed
        if self.vectors is not None:
            blocks = MaskedVectorBlocks(self.vectors, *which, **how)
        else:
            kind = MaskedBlocks if self.join == STACKED else MaskedTokenVectorBlocks
            blocks = kind(*which, **how)
        self.datasets[split] = blocks
