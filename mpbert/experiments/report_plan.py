"""What a report measures, and where its runs and results lie."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mpbert.corpus.queries import qrels_name
from mpbert.corpus.store import CorpusStore
from mpbert.evaluation.claims import Claim
from mpbert.evaluation.paper_tables import PaperTable
from mpbert.experiments.cost import RowCost
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.experiments.kept import KeptRuns
from mpbert.experiments.row_cost import cost_with_inputs
from mpbert.experiments.seeds import takes_seeds


@dataclass(frozen=True)
class ReportPlan:
    """What is measured, and how.

    :param split: whose queries are measured.
    :param task: ``local`` or ``global``.
    :param cluster: ``paper`` or ``query``: what is resampled as a whole.
    :param queries: ``distinct``, contexts that repeat another do not count, or ``all``.
    :param kept: results: those of runs that are here are written there, those of other runs are
        taken from there.
    :param claims: and ``paper_tables``, of papers, for the corpus.
    """

    experiment: Experiment
    split: str = "test"
    task: str = "local"
    cluster: str = "paper"
    seed: int = 1
    queries: str = "distinct"
    kept: KeptRuns | None = None
    claims: Sequence[Claim] = ()
    paper_tables: Sequence[PaperTable] = ()

    def qrels(self, store: CorpusStore, queries: str = "") -> Path:
        """Return the file of what queries cite.

        :param queries: ``distinct`` or ``all``; empty: those that count.
        """
        return store.path / qrels_name(self.task, self.split, queries or self.queries)

    def run_of(self, variant: Variant) -> Path:
        """Return the run of the split."""
        return self.experiment.run_of(variant, self.split)

    def is_kept(self, variant: Variant) -> bool:
        """Whether a kept result is taken in place of the run, which is not here."""
        is_there = self.kept is not None and variant.name in self.kept
        return is_there and not self.run_of(variant).exists()

    def is_known(self, variant: Variant) -> bool:
        """Whether the run is here, or its result was kept."""
        return self.run_of(variant).exists() or self.is_kept(variant)

    def cost(self, name: str) -> RowCost | None:
        """Return what a row took, with all rows that it needs; None where that is not known."""
        if self.kept and self.is_kept(self.experiment.variant(name)):
            return self.kept.cost(name)
        return cost_with_inputs(self.experiment, name)

    def variants(self) -> list[Variant]:
        """Return the rows of the task that are for the corpus, or were made there anyway.

        The run of another system is there whatever the corpus, so it has to be for it.
        """
        corpus = self.experiment.corpus.name
        chosen = [self.experiment.variant(name) for name in self.experiment.rows]
        return [
            variant
            for variant in chosen
            if variant.row.task == self.task
            and (variant.row.is_for(corpus) or (not variant.row.run and self.is_known(variant)))
        ]

    def other_seeds(self, variant: Variant) -> list[Variant]:
        """Return the row with the seeds from 2 on, up to the first that is not known."""
        found: list[Variant] = []
        while takes_seeds(self.experiment.rows, variant.row.name):
            other = dataclasses.replace(variant, seed=len(found) + 2)
            if not self.is_known(other):
                break
            found.append(other)
        return found
