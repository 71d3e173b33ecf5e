"""Every knob of the model, declared once: its name, default, bounds and what it does.

Five sections make a configuration. A YAML file of ``pretrain/configs`` or ``finetune/configs`` has
the same sections; ``--settings name=value`` changes one field, whose name is unique over all
sections; the flags of fairseq are made from the fields; an encoder directory stores all of them.
Defaults are those of the paper (Zhang & Ma, WI-IAT 2021, Table 2 and Sec. 4.1) where it gives one.
"""

from dataclasses import dataclass

from mpbert.foundation.errors import ConfigError
from mpbert.model.knob import FINETUNE, PRETRAIN, Section, knob

# sizes of levels, which a start brings with it or, having none beside its bag, is given
LEVEL_SIZES = (
    *("ffn_dim", "num_heads", "sentence_layers", "document_layers"),
    *("attention_dropout", "activation_dropout"),
)
JOINS = STACKED, ADDED, CONCATENATED = ("stacked", "added", "concatenated")
ROLES = ("body", "abstract", "neighbour", "citing")  # what a sentence is read as
CONTRASTIVE = "contrastive"  # the objective that is ours
STEP = 5.0  # logarithms of weights are kept in this unit: Adam's steps are equal for all numbers
MOST_PLACES = 1024  # tokens of a sentence, and sentences of a paper, that have a place


@dataclass(frozen=True)
class BagConfig(Section):
    """Level 0, the bag of tokens. The paper has neither: plain means."""

    token_weights: bool = knob(False, "tokens have weights in the vector of their sentence")
    sums: bool = knob(False, "sentence vectors are sums of tokens, not means: long ones weigh more")


@dataclass(frozen=True)
class UpperConfig(Section):
    """How sentence and document level join the bag. In the paper they stand on its tokens."""

    join: str = knob(
        STACKED,
        "stacked: levels replace what is below them, as in the paper; added: to the bag's vector, "
        "from zero; concatenated: beside it, each of length one times a weight",
        choices=JOINS,
    )
    contextual_roles: str = knob(
        "abstract,neighbour,citing",
        "sentences that levels beside the bag read; abstract and citing always are",
    )
    pretrained_dim: int = knob(0, "E, of a pretrained encoder; 0: own tokens", 0, stages=())
    pretrained_sha256: str = knob("", "of the weights of that encoder", stages=())
    tuned_layers: int = knob(
        0, "last layers of that encoder that are trained too; 0: it stays", 0, stages=(FINETUNE,)
    )
    upper_dim: int = knob(384, "dimensions that the levels add to a concatenated vector", 1)
    gate: float = knob(0.5, "weight of the levels at the start, concatenated; the bag's is 1", 1e-6)
    losses_apart: bool = knob(
        False, "bag and levels, concatenated, learn by a loss each; gate stays", stages=(FINETUNE,)
    )

    def __post_init__(self) -> None:
        """Refuse roles that are unknown or missing, and what levels of this join lack."""
        super().__post_init__()
        roles = self.contextual_roles.split(",")
        if not {"abstract", "citing"} <= set(roles) <= set(ROLES):
            raise ConfigError(
                f"contextual_roles {self.contextual_roles}; expected abstract,citing and any of "
                f"{', '.join(ROLES)}"
            )
        if self.losses_apart and self.join != CONCATENATED:
            raise ConfigError(f"losses_apart with join {self.join}; expected join {CONCATENATED}")
        if self.tuned_layers and self.join == STACKED:
            raise ConfigError(
                f"tuned_layers {self.tuned_layers} with join {STACKED}; expected another join, "
                f"whose levels read a pretrained encoder, or tuned_layers 0"
            )

    @property
    def roles(self) -> tuple[int, ...]:
        """Places in ``ROLES`` of what levels beside the bag read; of stacked levels none."""
        if self.join == STACKED:
            return ()
        return tuple(ROLES.index(role) for role in self.contextual_roles.split(","))


@dataclass(frozen=True)
class LexicalConfig(Section):
    """Exact token matches in the score, with learnt weights. The paper has none."""

    exact_matches: bool = knob(
        False, "exact token matches count in the score beside the cosine", stages=(FINETUNE,)
    )
    match_weight: float = knob(
        4.0, "of exact matches in the score; the cosine's is 1", 0, stages=(FINETUNE,)
    )
    match_abstract: float = knob(
        1.0, "times weights of a manuscript's title and abstract in them", 0, stages=(FINETUNE,)
    )


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
    dropout: float = knob(
        0.1, "of embeddings and residual branches; in a bag, of whole tokens", 0, 1
    )
    attention_dropout: float = knob(0.1, "of attention weights; 0 lets fused kernels run", 0, 1)
    activation_dropout: float = knob(0.1, "after ReLU", 0, 1)
    sentence_roles: bool = knob(
        False, "title and abstract, body, citing sentence and neighbours are told apart"
    )
    shared_tokens: bool = knob(False, "both towers have one table of token embeddings")
    bag: BagConfig = BagConfig()
    upper: UpperConfig = UpperConfig()
    lexical: LexicalConfig = LexicalConfig()

    def lacks_levels_of(self, other: "ModelConfig") -> bool:
        """Whether the other has levels beside the bag, and this one, a start, does not."""
        return self.upper.join == STACKED != other.upper.join

    def lacks_matches_of(self, other: "ModelConfig") -> bool:
        """Whether the other counts exact matches, and this one, a start, does not."""
        return other.lexical.exact_matches and not self.lexical.exact_matches

    @property
    def vector_dim(self) -> int:
        """Dimensions of a vector of a paper or manuscript."""
        return self.dim + self.upper.upper_dim * (self.upper.join == CONCATENATED)

    def __post_init__(self) -> None:
        """Refuse sizes that no model has."""
        super().__post_init__()
        for dim in (self.dim, self.upper.pretrained_dim * bool(self.document_layers)):
            if dim % self.num_heads:
                raise ConfigError(
                    f"dim {dim} is no multiple of {self.num_heads} heads; change dim or num_heads"
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
        0, "first sentences of a manuscript, read before others: title, abstract, then body", 0
    )
    citing_sentences: int = knob(0, "random training sentences that cite a paper", 0)
    dynamic: bool = knob(True, "other sentences at each visit; false: Table 3's ablation")
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
        "Zhang & Ma (2021): triplet (Eq. 3), mpt-tgt (4), mpt-src (5), mpt-src-tgt (6); "
        "contrastive: the cited among all papers of the batch",
        choices=(CONTRASTIVE, "mpt-src", "mpt-src-tgt", "mpt-tgt", "triplet"),
        stages=(FINETUNE,),
    )
    temperature: float = knob(
        0.05, "of cosines, objective contrastive; of guesses at sentence vectors", 1e-6
    )
    count_correction: float = knob(
        0.5, "times ln(1 + citations), objective contrastive", stages=(FINETUNE,)
    )
    nested_dims: str = knob(
        "",
        "first dimensions that are vectors of their own, such as 64,128; objective contrastive",
        stages=(FINETUNE,),
    )
    mpt_weight: float = knob(
        0.0, "times mpt-src-tgt, added to objective contrastive", 0, stages=(FINETUNE,)
    )
    label_smoothing: float = knob(0.1, "of masked words, as in HIBERT", 0, 1, stages=(PRETRAIN,))

    def __post_init__(self) -> None:
        """Refuse nested vectors where no objective trains them."""
        super().__post_init__()
        for name in ("nested_dims", "mpt_weight"):
            if getattr(self, name) and self.objective != CONTRASTIVE:
                raise ConfigError(
                    f"{name} {getattr(self, name)} with objective {self.objective}; expected "
                    f"objective {CONTRASTIVE}, or no {name}"
                )
        _ = self.dims  # refuses what is no list of numbers

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
    bag_lr: float = knob(1.0, "times lr, for a bag with levels beside it", 0, stages=(FINETUNE,))
    tuned_lr: float = knob(0.1, "times lr, for tuned layers", 0, stages=(FINETUNE,))
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

    def __post_init__(self) -> None:
        """Refuse, where distances are trained, what only a contrastive loss trains."""
        parts = {"exact_matches": self.model.lexical, "losses_apart": self.model.upper}
        for name, section in parts.items():
            if getattr(section, name) and self.objective.objective != CONTRASTIVE:
                raise ConfigError(
                    f"{name} with objective {self.objective.objective}; expected {CONTRASTIVE}"
                )
