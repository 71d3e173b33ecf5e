"""Rows on one corpus: under which settings each is made, and where its outputs lie."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mpbert.evaluation.tuned import Settings
from mpbert.experiments.layout import Layout
from mpbert.experiments.rows import MODEL, Row, effective_settings
from mpbert.experiments.seeds import takes_seeds
from mpbert.experiments.tuning import Tuned


@dataclass(frozen=True)
class Variant:
    """A row under settings and a seed: one thing that is made.

    :param settings: all that are in force, but for the defaults of the method.
    """

    row: Row
    settings: Settings
    seed: int = 1

    @property
    def name(self) -> str:
        """The name of the row, and what is not the row's own: seeds, settings of our model.

        Each choice of settings of our model has directories of its own, so that a training is
        never done twice; those of another method lie where the row lies.
        """
        others = []
        if self.row.method == MODEL:
            own = self.row.settings
            others = [f"{k}-{v}" for k, v in self.settings.items() if own.get(k) != v]
        if self.seed > 1:
            others.append(f"seed-{self.seed}")
        return self.row.name + "".join("-" + re.sub(r"[^\w.-]+", "_", text) for text in others)

    @property
    def kind_of_sentences(self) -> str:
        """What names of its stored sentences end with; empty where they are what most rows read."""
        parts = str(self.settings.get("contextual_roles", "")).split(",")
        return "-bodies" if self.row.sentences and "body" in parts else ""

    @property
    def pretraining(self) -> str:
        """The name of the pretraining that all seeds start from; empty: none."""
        name = "-".join(filter(None, [self.row.pretrained, self.row.tunes_sentences]))
        return self.row.pretrained and name + self.kind_of_sentences


RECIPES = Path(__file__).parent / "recipes"  # configurations that the package brings


@dataclass(frozen=True)
class Experiment:
    """Rows on one corpus, below one root.

    :param rows: by name, in the order of the report, with their settings on the corpus.
    :param corpus: its store.
    :param tuned: what tuning chose there.
    :param configs: folder with ``pretrain/configs`` and ``finetune/configs``.
    :param pool: candidates of a query, one of :data:`mpbert.retrieval.options.POOLS`.
    """

    rows: Mapping[str, Row]
    corpus: Path
    layout: Layout
    tuned: Tuned = field(default_factory=Tuned)
    configs: Path = field(default_factory=Path)
    pool: str = "known"

    @staticmethod
    def of(
        rows: Sequence[Row],
        corpus: Path,
        layout: Layout,
        tuned: Tuned,
        configs: Path,
        pool: str = "known",
    ) -> "Experiment":
        """Return the experiment of rows that may have settings of other corpora, too."""
        on = {row.name: row.on(corpus.name) for row in rows}
        return Experiment(on, corpus, layout, tuned, configs, pool)

    def variant(self, name: str, seed: int = 1) -> Variant:
        """Return a row under the settings that tuning chose."""
        row = self.rows[name]
        return Variant(row, effective_settings(row, self.tuned.settings(name)), seed)

    def needed(self, name: str, seed: int) -> Variant:
        """Return what a row of a seed takes of another row: its seed, if that row takes seeds."""
        return self.variant(name, seed if takes_seeds(self.rows, name) else 1)

    def needs(self, variant: Variant) -> list[Variant]:
        """Return what it takes something of; all seeds read sentences by one fine-tuned encoder."""
        shared = variant.row.tunes_sentences
        return [self.needed(x, 1 if x == shared else variant.seed) for x in variant.row.needs]

    def runs(self, variant: Variant) -> Path:
        """Return where ``SPLIT.run`` lies."""
        return self.layout.runs(self.corpus.name, variant.name)

    def run_of(self, variant: Variant, split: str) -> Path:
        """Return the run of a split, ours or that of another system."""
        return variant.row.given_run(split) or self.runs(variant) / f"{split}.run"

    def vectors(self, variant: Variant) -> Path:
        """Return the vectors that a row ranks by: its own, or those of another row."""
        if variant.row.vectors:
            variant = self.needed(variant.row.vectors, variant.seed)
        return self.layout.vectors(self.corpus.name, variant.name)

    def inputs(self, variant: Variant) -> list[Path]:
        """Return the runs that a reranker takes, of its own seed where they take seeds."""
        return [self.runs(self.needed(name, variant.seed)) for name in variant.row.inputs]

    def cost(self, variant: Variant) -> Path:
        """Return the file of what its steps took."""
        return self.layout.cost(self.corpus.name, variant.name)

    def training_lists(self, variant: Variant) -> Path:
        """Return where the lists lie that a reranker learns from: equal ones are shared."""
        row = variant.row
        words = [f"{key}-{value}" for key, value in sorted(row.training.items())]
        source = str(row.training.get("vectors", row.training.get("row", "")))
        if source and (seed := self.needed(source, variant.seed).seed) > 1:
            words.append(f"seed-{seed}")
        name = "-".join(["training", row.task, *words])
        return self.layout.runs(self.corpus.name, name)

    def without_part(self, number: int, of: int) -> "Experiment":
        """Return the same rows on the corpus without a part of the training papers."""
        layout = self.layout.part(number, of)
        return replace(self, corpus=layout.corpus(self.corpus.name), layout=layout)

    def config_file(self, stage: str, name: str) -> Path:
        """Return the configuration of a stage of training, ``pretrain`` or ``finetune``.

        Where the folder of configurations has none, it is that of the package, if that has one.
        """
        own, packaged = (
            folder / stage / "configs" / f"{name}.yaml" for folder in (self.configs, RECIPES)
        )
        return packaged if packaged.is_file() and not own.is_file() else own
