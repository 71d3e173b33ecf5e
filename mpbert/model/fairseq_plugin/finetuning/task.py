"""Fine-tuning as a fairseq task."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.tasks import register_task
from omegaconf import II

from mpbert.corpus.binary import BinaryCorpus
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.manifest import check_inputs, fingerprint
from mpbert.model.fairseq_plugin.dataset import TokenTask
from mpbert.model.fairseq_plugin.finetuning.dataset import Examples, Noise, NoiseConfig
from mpbert.model.fairseq_plugin.finetuning.schedule import LinearToZero
from mpbert.model.noise import POSITIVES
from mpbert.model.sampling import SamplingConfig


@dataclass
class FinetuneConfig(FairseqDataclass):
    """Sampling of contexts, positives and negatives; defaults are the paper's."""

    data: str = field(default="", metadata={"help": "binary corpus made by mpbert binarize"})
    manuscript_sentences: int = field(default=30, metadata={"help": "3 fundamental + the rest"})
    abstract_sentences: int = field(default=10, metadata={"help": "title and abstract of a paper"})
    body_sentences: int = field(default=30, metadata={"help": "random sentences of a paper's body"})
    manuscript_abstract: int = field(
        default=0,
        metadata={"help": "sentences of the manuscript's title and abstract, always read"},
    )
    citing_sentences: int = field(
        default=0, metadata={"help": "random training sentences that cite a paper"}
    )
    no_dynamic_sampling: bool = field(
        default=False, metadata={"help": "read the same sentences at each visit (ablation)"}
    )
    positives: int = field(default=3, metadata={"help": "most co-citations per example"})
    negatives: int = field(default=4, metadata={"help": "negatives per example"})
    positive_power: float = field(default=0.75, metadata={"help": "of co-citation counts, Eq. 1"})
    negative_power: float = field(default=0.75, metadata={"help": "of citation counts, Eq. 2"})
    positives_from: ChoiceEnum(sorted(POSITIVES)) = field(
        default="context",
        metadata={"help": "Eq. 1 over the context's own citations, or over all history"},
    )
    cocitation_unit: ChoiceEnum(["context", "paper"]) = field(
        default="context", metadata={"help": "co-citations are counted once per this"}
    )
    max_valid_examples: Optional[int] = field(
        default=500, metadata={"help": "most examples of the validation split, evenly spaced"}
    )
    # fairseq would otherwise keep data workers of the first epoch, whose draws then never change
    reuse_dataloader: bool = field(default=False, metadata={"help": "leave this False"})
    seed: int = II("common.seed")


def sampling_config(cfg: Any) -> SamplingConfig:
    """Return how sentences are sampled, without fairseq."""
    return SamplingConfig(
        cfg.manuscript_sentences,
        cfg.abstract_sentences,
        cfg.body_sentences,
        not cfg.no_dynamic_sampling,
        cfg.manuscript_abstract,
        cfg.citing_sentences,
    )


@register_task("mpbert_finetune", dataclass=FinetuneConfig)
class FinetuneTask(TokenTask):
    """Bring manuscripts near the papers they cite."""

    def __init__(self, cfg: FinetuneConfig) -> None:
        super().__init__(cfg)
        if cfg.negatives < 1 or cfg.positives < 0:
            raise ConfigError(
                f"--negatives {cfg.negatives} --positives {cfg.positives}; "
                f"expected at least 1 negative and 0 positives"
            )
        if cfg.seed < 0 or (cfg.max_valid_examples is not None and cfg.max_valid_examples < 1):
            raise ConfigError(
                f"--seed {cfg.seed} --max-valid-examples {cfg.max_valid_examples}; expected a seed "
                f"of 0 or more and at least 1 example"
            )
        self.sampling = sampling_config(cfg)
        check_inputs([Path(cfg.data)])
        self.corpus = BinaryCorpus(Path(cfg.data))
        # into every checkpoint, so that export-encoder takes no other tokenizer
        self.state.merge_state_dict({"tokenizer": fingerprint(self.corpus.path / "tokenizer.json")})
        noise = NoiseConfig(
            cfg.positives,
            cfg.negatives,
            cfg.positive_power,
            cfg.negative_power,
            str(cfg.positives_from),
            str(cfg.cocitation_unit),
        )
        self.noise = Noise(self.corpus.training_contexts(), self.corpus.num_papers, noise)

    def get_batch_iterator(self, dataset: Any, **kwargs: Any) -> Any:
        """Return fairseq's iterator; the learning rate is told how many batches an epoch has."""
        iterator = super().get_batch_iterator(dataset, **kwargs)
        if dataset is self.datasets.get("train"):
            LinearToZero.batches_per_epoch = len(iterator)
        return iterator

    def load_dataset(self, split: str, **kwargs: Any) -> None:
        """Load the contexts of ``train`` or ``valid``.

        :raises CorpusError: the split has no context.
        """
        training = split == "train"
        contexts = self.corpus.training_contexts() if training else self.corpus.contexts(split)
        if len(contexts) == 0:
            raise CorpusError(f"{self.cfg.data}: no context in split {split!r}; choose other years")
        self.datasets[split] = Examples(
            self.corpus,
            contexts,
            self.noise,
            self.sampling,
            self.cfg.seed,
            shuffle=training,
            max_items=None if training else self.cfg.max_valid_examples,
        )
