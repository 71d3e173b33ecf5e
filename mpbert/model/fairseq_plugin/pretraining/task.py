"""Pretraining as a fairseq task."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

import numpy as np
from fairseq.dataclass import FairseqDataclass
from fairseq.tasks import register_task
from omegaconf import II

from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.splits import SPLITS
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.manifest import check_inputs, fingerprint
from mpbert.model.fairseq_plugin.dataset import TokenTask
from mpbert.model.fairseq_plugin.pretraining.dataset import MaskedBlocks


@dataclass
class PretrainConfig(FairseqDataclass):
    """What is read and how."""

    data: str = field(default="", metadata={"help": "binary corpus made by mpbert binarize"})
    max_block_sentences: int = field(default=30, metadata={"help": "sentences of a document block"})
    max_valid_blocks: Optional[int] = field(
        default=500, metadata={"help": "most blocks of the validation split, evenly spaced"}
    )
    # fairseq would otherwise keep data workers of the first epoch, whose masks then never change
    reuse_dataloader: bool = field(default=False, metadata={"help": "leave this False"})
    seed: int = II("common.seed")


@register_task("mpbert_pretrain", dataclass=PretrainConfig)
class PretrainTask(TokenTask):
    """Predict masked sentences of the papers of the training split."""

    def __init__(self, cfg: PretrainConfig) -> None:
        super().__init__(cfg)
        if not 1 <= cfg.max_block_sentences <= 1024 or cfg.seed < 0:
            raise ConfigError(
                f"--max-block-sentences {cfg.max_block_sentences} --seed {cfg.seed}; expected "
                f"1 to 1024 sentences and a seed of 0 or more"
            )
        if cfg.max_valid_blocks is not None and cfg.max_valid_blocks < 1:
            raise ConfigError(f"--max-valid-blocks is {cfg.max_valid_blocks}; expected 1 or more")
        check_inputs([Path(cfg.data)])
        self.corpus = BinaryCorpus(Path(cfg.data))
        # into every checkpoint, so that export-encoder takes no other tokenizer
        self.state.merge_state_dict({"tokenizer": fingerprint(self.corpus.path / "tokenizer.json")})

    def load_dataset(self, split: str, **kwargs: Any) -> None:
        """Load the papers of ``train`` or ``valid``.

        :raises CorpusError: the split has no paper.
        """
        papers = np.flatnonzero(self.corpus.splits == SPLITS.index(split))
        if len(papers) == 0:
            raise CorpusError(f"{self.cfg.data}: split {split!r} has no paper; choose other years")
        training = split == "train"
        self.datasets[split] = MaskedBlocks(
            self.corpus,
            papers,
            self.cfg.max_block_sentences,
            self.cfg.seed,
            shuffle=training,
            max_blocks=None if training else self.cfg.max_valid_blocks,
        )
