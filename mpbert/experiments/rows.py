"""Rows of the report: how each is made.

A row is an entry of YAML, see :mod:`mpbert.experiments.row_files`. One of another method::

    title: BM25, title + abstract         # at most 40 characters
    method: bm25                          # an embedder, a lexical method or a reranker
    settings: {fields: abstract, k1: 2}   # optional: of that method
    settings_on: {rfc: {k1: 1}}           # optional: other values on some corpora
    similarity: dot                       # optional, of embedders: cosine (default) or dot
    space: {k1: [1.2, 2, 3]}              # optional: values of settings that tuning may try
    developed: {rfc: 0.9}                 # optional: CPU hours of validation before any tuning
    note: stems                           # optional
    order: 20                             # optional: place in the table
    corpora: [rfc]                        # optional: made by itself on these alone
    optional: true                        # optional: it may fail, for lack of a download
    gpu: true                             # optional: left out without a GPU, unless it is named

Further keys, all optional::

    base: bm25_abstract                   # takes over another row
    published: {corpus: AAN, MRR: 0.35}   # what its paper prints, of its own corpus
    task: global                          # ranks for whole papers; its tables are its own
    top: 1000                             # papers ranked per query
    vectors: nnselect                     # ranks with the vectors of another row
    dim: 64                               # ranks by the first dimensions of its vectors alone
    start: hatten                         # of linear_maps: row whose vectors are mapped
    inputs: [bm25_text, bm25_citing]      # of a reranker: rows whose runs it takes
    training: {lexical: bm25, top: 10}    # of one that learns from lists: how those are made, or
    training: {vectors: hatten, top: 20}  # with the vectors of which row, or
    training: {row: nnselect, parts: 3}   # by which row, made anew without each third of training,
                                          # with all rows that it needs

A row whose ``model`` was trained elsewhere, one that is not ``random:...``, says what it has read,
and by corpus whether that may hold the citations of the test papers: ``yes``, ``maybe``, ``no``::

    pretrained_on: {texts: Wikipedia, holds_test: {acl: no, rfc: maybe}}

A row of our own model::

    method: mp_bert4cr
    config: token_bag                     # finetune/configs/token_bag.yaml
    pretrained: tiny                      # optional: starts from pretrain/configs/tiny.yaml
    start: token_bag                      # or from the encoder of another row, of the same seed
    sentences: sentence-transformers/...  # optional: encoder whose sentence vectors it reads, or
    sentences: minilm_finetuned           # the row that fine-tunes it, of the same seed
    settings: {objective: mpt-tgt}        # optional: go over those of the configuration
    readings: 5                           # optional: its vectors are means of so many readings
    vocab_size_on: {rfc: 8000}            # optional: tokens of the tokenizer on some corpora

A row that ranks as the index of another row's encoder answers, by the code of ``recommend``::

    method: index
    vectors: token_bag_matches            # the row whose encoder and vectors the index is of

A row of another system, whose run is a file in TREC form; a path beside the file of the row::

    run: ../theirs/{split}.run            # or one file, that of the test split

A row stands after those whose vectors or runs it takes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mpbert.evaluation.tuned import Settings, SettingValue
from mpbert.foundation.errors import ConfigError, closest

MODEL = "mp_bert4cr"  # the method of rows of our own model
MAPS = "linear_maps"  # that of rows which map the vectors of another row
PAIRS = "cross_encoder"  # that of rows which may start from the transformer of another row
INDEX = "index"  # that of rows which rank as an index answers
RUN = "run"  # that of rows whose run another system has made
SPLIT = "{split}"  # in the path of such a run: valid or test
PARTS, TOP = 3, 10  # of lists that a reranker learns from, where ``training`` does not say


@dataclass(frozen=True)
class PretrainedOn:
    """What a ready-made model has read.

    :param texts: as words of a sentence, after "has read".
    :param holds_test: corpus to ``yes``, ``maybe`` or ``no``: whether these texts may hold the
        citations of its test papers.
    """

    texts: str
    holds_test: Mapping[str, str]


@dataclass(frozen=True)
class Row:
    """A row of the report.

    :param title: what the tables call it.
    :param method: what makes it.
    :param settings: of the method.
    :param settings_on: corpus to settings that replace or join these there.
    :param similarity: what dense vectors are compared by.
    :param task: ``local`` or ``global``.
    :param top: papers ranked per query; 0: as many as the command does.
    :param vectors: row with whose vectors it ranks; empty: its own.
    :param dim: first dimensions of the vectors that it ranks by; 0: all.
    :param inputs: rows that a reranker takes the runs of.
    :param training: ``lexical`` method, ``top`` and settings of the lists a reranker learns from,
        or ``vectors``, the row whose vectors make them, or ``row``, which is made anew without
        each of ``parts`` parts of the training papers, and ranks for this part.
    :param config: of our model: name of the configuration of fine-tuning.
    :param pretrained: of our model: name of that of pretraining; empty: it starts from nothing.
    :param start: of our model: row from whose encoder it starts; of linear maps: row whose vectors
        are mapped; empty: none.
    :param sentences: of our model: encoder whose vectors of sentences it reads: a name or a folder,
        with a slash, or a row that fine-tunes one; empty: none.
    :param readings: of our model: random readings of each text whose vectors are averaged.
    :param vocab_size_on: of our model: corpus to tokens of the tokenizer there.
    :param space: what tuning may try: name of a setting to its values.
    :param developed: corpus to the CPU hours that its own settings had cost on validation there.
    :param corpora: those on which it is made without being named; empty: all.
    :param run: that another system has made: a path, perhaps with ``{split}``; empty: we make it.
    :param published: what its paper prints: its ``corpus``, and measure to value.
    :param pretrained_on: what its ready-made model has read; None: it has no such model.
    :param optional: whether it may fail.
    :param gpu: whether it is left out where there is no GPU.
    :param appendix: whether it is made only where it is named or needed.
    """

    name: str
    title: str
    method: str
    settings: Settings = field(default_factory=dict)
    settings_on: Mapping[str, Settings] = field(default_factory=dict)
    similarity: str = "cosine"
    task: str = "local"
    top: int = 0
    vectors: str = ""
    dim: int = 0
    inputs: tuple[str, ...] = ()
    training: Settings = field(default_factory=dict)
    config: str = ""
    pretrained: str = ""
    start: str = ""
    sentences: str = ""
    readings: int = 1
    vocab_size_on: Mapping[str, int] = field(default_factory=dict)
    space: Mapping[str, tuple[SettingValue, ...]] = field(default_factory=dict)
    developed: Mapping[str, float] = field(default_factory=dict)
    corpora: tuple[str, ...] = ()
    run: str = ""
    pretrained_on: PretrainedOn | None = None
    optional: bool = False
    gpu: bool = False
    appendix: bool = False
    note: str = ""
    order: int = 1000
    published: Settings = field(default_factory=dict)

    def is_for(self, corpus: str) -> bool:
        """Whether the row is made on a corpus without being named."""
        return not self.appendix and (not self.corpora or corpus in self.corpora)

    def on(self, corpus: str) -> "Row":
        """Return the row with its settings on a corpus."""
        there = self.settings_on.get(corpus, {})
        return replace(self, settings={**self.settings, **there}, settings_on={})

    def given_run(self, split: str) -> Path | None:
        """Return the run of another system for a split; None: the row names none."""
        is_of_split = SPLIT in self.run or (self.run and split == "test")
        return Path(self.run.replace(SPLIT, split)) if is_of_split else None

    @property
    def tunes_sentences(self) -> str:
        """The row that fine-tunes the encoder of its sentences; empty: none does."""
        return "" if "/" in self.sentences else self.sentences

    @property
    def needs(self) -> list[str]:
        """Names of the rows that it takes runs, vectors or encoders of."""
        learnt_from = [str(self.training.get(key, "")) for key in ("vectors", "row")]
        taken = [*self.inputs, self.vectors, *learnt_from, self.start, self.tunes_sentences]
        return list(dict.fromkeys(filter(None, taken)))


@dataclass(frozen=True)
class Choice:
    """The rows that are made, in the order of the report.

    :param needed: names of those that were not asked for: others need them.
    :param named: names of those that are made because ``--only`` says so, or needs them.
    :param others: number of rows that are for other corpora alone, and were not asked for.
    """

    rows: list[Row]
    needed: list[str]
    named: frozenset[str] = frozenset()
    others: int = 0


def effective_settings(row: Row, tuned: Settings) -> dict[str, SettingValue]:
    """Return the settings of a row under those that tuning chose, sorted by name."""
    return dict(sorted({**row.settings, **tuned}.items()))


def choose_rows(rows: Sequence[Row], corpus: str, only: Sequence[str]) -> Choice:
    """Return what is made on a corpus: the rows asked for, and those that they need.

    :param rows: in the order of the report, so that a row stands after those that it needs.
    :param only: names of those asked for, whatever the corpus; empty: all that are for it.
    :raises ConfigError: there is none of a name.
    """
    names = [row.name for row in rows]
    for name in only:
        if name not in names:
            raise ConfigError(
                f"--only {name}: there is no such row; expected one of {', '.join(names)}"
                f"{closest(name, names)}"
            )
    asked = set(only) or {row.name for row in rows if row.is_for(corpus)}
    wanted = with_needs(rows, asked)
    chosen = [row.on(corpus) for row in rows if row.name in wanted]
    needed = [row.name for row in chosen if row.name not in asked]
    if only:
        return Choice(chosen, needed, frozenset(wanted))
    return Choice(chosen, needed, others=len(rows) - len(chosen))


def with_needs(rows: Sequence[Row], names: set[str]) -> set[str]:
    """Return the names of rows and of all that these need, directly or through others.

    :param rows: in the order of the report.
    """
    found = set(names)
    for row in reversed(rows):
        if row.name in found:
            found.update(row.needs)
    return found
