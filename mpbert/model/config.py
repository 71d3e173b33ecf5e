"""Every knob of the model, declared once: its name, default, bounds and what it does.

Five sections make a configuration. A YAML file of ``pretrain/configs`` or ``finetune/configs`` has
the same sections; ``--settings name=value`` changes one field, whose name is unique over all
sections; the flags of fairseq are made from the fields; an encoder directory stores all of them.
Defaults are those of the paper (Zhang & Ma, WI-IAT 2021, Table 2 and Sec. 4.1) where it gives one.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

from mpbert.foundation.errors import ConfigError

PRETRAIN, FINETUNE = STAGES = ("pretrain", "finetune")
MOST_PLACES = 1024  # tokens of a sentence, and sentences of a paper, that have a place


def knob(
    default: object,
    help_text: str,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
    stages: tuple[str, ...] = STAGES,
) -> Any:
    """Return a field of a section.

    :param least: smallest number; ``most`` the largest; None: any.
    :param choices: what a text may be; empty: anything.
    :param stages: trainings that have this knob; none: the binary corpus gives the value.
    """
    bounds = {"help": help_text, "least": least, "most": most, "choices": choices}
    return dataclasses.field(default=default, metadata={**bounds, "stages": stages})


class Section:
    """A part of a configuration, whose values are checked when it is made."""

    def __post_init__(self) -> None:
        """Check every value against the bounds of its field.

        :raises ConfigError: one is outside.
        """
        for field in dataclasses.fields(self):
            if "help" in field.metadata:
                _check(field, getattr(self, field.name))


def _check(field: dataclasses.Field, value: object) -> None:
    least, most, choices = (field.metadata[key] for key in ("least", "most", "choices"))
    if choices and value not in choices:
        raise ConfigError(
            f"{field.name} is {value!r}; expected one of {', '.join(sorted(choices))}"
        )
    too_small = least is not None and not value >= least
    if too_small or (most is not None and not value <= most):
        bounds = [f"at least {least:g}"] if least is not None else []
        bounds += [f"at most {most:g}"] if most is not None else []
        raise ConfigError(f"{field.name} is {value}; expected {' and '.join(bounds)}")


@dataclass(frozen=True)
class BagConfig(Section):
    """Level 0, the bag of tokens. The paper has neither: plain means."""

    token_weights: bool = knob(False, "tokens have weights in the vector of their sentence")
    sums: bool = knob(False, "sentence vectors are sums of tokens, not means: long ones weigh more")


@dataclass(frozen=True)
class ModelConfig(Section):
    """Sizes of the model; a level of no blocks is absent."""

    vocab_size: int = knob(1, "V, tokens of the tokenizer", 1, stages=())
    dim: int = knob(768, "D, size of all states and vectors", 1)
    ffn_dim: int = knob(3072, "inner size of feed-forward networks", 1)
    num_heads: int = knob(12, "attention heads; dim is a multiple", 1)
    sentence_layers: int = knob(6, "blocks of the sentence level; 0: no such level", 0)
    document_layers: int = knob(6, "blocks of the document level; 0: no such level", 0)
    decoder_layers: int = knob(6, "blocks of the decoder of pretraining", 0, stages=(PRETRAIN,))
    dropout: float = knob(0.1, "of embeddings and residual branches; in a bag, of whole tokens", 0)
    attention_dropout: float = knob(0.1, "of attention weights; 0 lets fused kernels run", 0)
    activation_dropout: float = knob(0.1, "after ReLU", 0)
    sentence_roles: bool = knob(
        False, "title and abstract, body, citing sentence and neighbours are told apart"
    )
    shared_tokens: bool = knob(False, "both towers have one table of token embeddings")
    bag: BagConfig = BagConfig()

    def __post_init__(self) -> None:
        """Refuse sizes that no model has."""
        super().__post_init__()
        if self.dim % self.num_heads:
            raise ConfigError(
                f"dim {self.dim} is no multiple of {self.num_heads} heads; choose another dim or "
                f"num_heads"
            )


@dataclass(frozen=True)
class ReadingConfig(Section):
    """How much of a text is read."""

    manuscript_sentences: int = knob(
        30, "sentences of a manuscript around a citation, of which up to 3 are fundamental", 1
    )
    abstract_sentences: int = knob(10, "most sentences of a paper's title and abstract", 1)
    body_sentences: int = knob(30, "random sentences of a paper's body", 0)
    manuscript_abstract: int = knob(
        0, "sentences of the manuscript's title and abstract, read before all others", 0
    )
    citing_sentences: int = knob(0, "random training sentences that cite a paper", 0)
    dynamic: bool = knob(
        True, "sentences are drawn afresh at each visit; false: Table 3's ablation"
    )
    block_sentences: int = knob(
        30, "sentences of a block of pretraining", 1, MOST_PLACES, stages=(PRETRAIN,)
    )
    sentence_tokens: int = knob(50, "most tokens of a sentence", 1, MOST_PLACES - 1, stages=())

    def __post_init__(self) -> None:
        """Refuse what exceeds the places of the encoder."""
        super().__post_init__()
        manuscript = self.manuscript_sentences + self.manuscript_abstract
        paper = self.abstract_sentences + self.body_sentences + self.citing_sentences
        if max(manuscript, paper) > MOST_PLACES:
            raise ConfigError(
                f"{manuscript} sentences of a manuscript and {paper} of a paper are read; expected "
                f"at most {MOST_PLACES} of each"
            )


@dataclass(frozen=True)
class NoiseConfig(Section):
    """How positives and negatives are drawn: Zhang & Ma (WI-IAT 2021), Sec. 4.1.3-4.1.4."""

    positives: int = knob(3, "most co-citations per example", 0, stages=(FINETUNE,))
    negatives: int = knob(4, "papers not cited, per example", 1, stages=(FINETUNE,))
    positive_power: float = knob(0.75, "of co-citation counts, Eq. 1", stages=(FINETUNE,))
    negative_power: float = knob(0.75, "of citation counts, Eq. 2", stages=(FINETUNE,))
    positives_from: str = knob(
        "context",
        "Eq. 1 over the context's own citations, or over all papers ever cited with the target",
        choices=("context", "history"),
        stages=(FINETUNE,),
    )
    cocitation_unit: str = knob(
        "context",
        "co-citations are counted once per this",
        choices=("context", "paper"),
        stages=(FINETUNE,),
    )


@dataclass(frozen=True)
class ObjectiveConfig(Section):
    """The loss that training makes small, and its constants."""

    objective: str = knob(
        "mpt-src-tgt",
        "Zhang & Ma (2021), Eq. 3, 5, 4 and 6, or all papers of the batch",
        choices=("contrastive", "mpt-src", "mpt-src-tgt", "mpt-tgt", "triplet"),
        stages=(FINETUNE,),
    )
    temperature: float = knob(0.05, "of cosines, objective contrastive", stages=(FINETUNE,))
    count_correction: float = knob(
        0.5, "times ln(1 + citations), objective contrastive", stages=(FINETUNE,)
    )
    nested_dims: str = knob(
        "",
        "the first so many dimensions are trained as vectors of their own, such as 64,128,256; "
        "objective contrastive",
        stages=(FINETUNE,),
    )
    label_smoothing: float = knob(0.1, "of masked words, as in HIBERT", 0, stages=(PRETRAIN,))

    def __post_init__(self) -> None:
        """Refuse nested vectors where no objective trains them."""
        super().__post_init__()
        if self.dims and self.objective != "contrastive":
            raise ConfigError(
                f"nested_dims {self.nested_dims} with objective {self.objective}; expected "
                f"objective contrastive, or no nested_dims"
            )

    @property
    def dims(self) -> tuple[int, ...]:
        """Sizes of the nested vectors.

        :raises ConfigError: one is no number above 0.
        """
        text = self.nested_dims
        try:
            dims = tuple(int(part) for part in text.split(",")) if text else ()
        except ValueError:
            dims = (0,)
        if min(dims, default=1) < 1:
            raise ConfigError(f"nested_dims {text}; expected numbers above 0, such as 64,128,256")
        return dims


@dataclass(frozen=True)
class TrainingConfig(Section):
    """How long, in what batches and with what learning rate; fairseq does it."""

    batch_tokens: int = knob(65536, "most tokens of a batch", 1)
    update_freq: int = knob(1, "batches of an update", 1)
    lr: float = knob(1e-4, "learning rate after the rise", 0)
    lr_scheduler: str = knob(
        "inverse_sqrt",
        "linear falls to zero with the last epoch",
        choices=("inverse_sqrt", "linear", "fixed"),
    )
    warmup_updates: int = knob(1000, "updates of the rise", 0)
    warmup_init_lr: float = knob(1e-7, "learning rate at the start, inverse_sqrt", 0)
    adam_beta2: float = knob(0.999, "decay of Adam's second moments; of the first it is 0.9", 0, 1)
    weight_decay: float = knob(0.0, "of Adam", 0)
    clip_norm: float = knob(1.0, "longest gradient; 0: any", 0)
    max_epoch: int = knob(0, "last epoch; 0: no end", 0)
    max_update: int = knob(0, "last update; 0: no end", 0)
    save_interval_updates: int = knob(
        500, "updates between validations and checkpoints; 0: none", 0
    )
    max_valid: int = knob(500, "most blocks or examples of the validation split, evenly spaced", 1)
    autocast_bf16: bool = knob(False, "matrix products in bfloat16, weights in float32")
    seed: int = knob(1, "of every random choice", 0, 2**32 - 1)


@dataclass(frozen=True)
class Configuration:
    """All sections, as a YAML file of a training has them."""

    model: ModelConfig = ModelConfig()
    reading: ReadingConfig = ReadingConfig()
    noise: NoiseConfig = NoiseConfig()
    objective: ObjectiveConfig = ObjectiveConfig()
    training: TrainingConfig = TrainingConfig()
