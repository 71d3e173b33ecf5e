"""The report as numbers and sentences: what was measured, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mpbert.evaluation.claims import MeasuredClaim
from mpbert.evaluation.curves import Curve
from mpbert.evaluation.evaluate import Judged
from mpbert.evaluation.paper_tables import MeasuredPaperTable
from mpbert.evaluation.seeds import SeedScores
from mpbert.evaluation.self_citation import SelfCitation
from mpbert.evaluation.tables import Table
from mpbert.evaluation.tuned import Budget, SettingValue, TunedRow

DEPTH = {"local": 100, "global": 1000}  # task to ranks of the Recall@k curve
MAIN = ("Recall@10", "MAP@10")
MORE = ("MRR@10", "nDCG@10")
OF_PAPERS = ("MRR", "Recall@10", "MAP@10", "Recall@100", "Recall@1000")  # of the global task


@dataclass(frozen=True)
class MeasuredQueries:
    """What is known of the queries without any run; arrays are (Q,).

    :param num_gold: number of papers each context cites.
    :param citing_ids: ids of the citing papers.
    :param years: years of the citing papers.
    :param frequency: mean training co-citation frequency of the pairs cited; NaN without a pair.
    """

    num_gold: np.ndarray
    citing_ids: Sequence[str]
    years: np.ndarray
    frequency: np.ndarray


@dataclass(frozen=True)
class MeasuredRow:
    """A row of the tables.

    :param judged: its rankings; None: it was not run.
    :param other_seeds: its rankings after trainings with other seeds.
    :param remarks: what a reader should know of its run.
    :param settings: all that are in force, but for the defaults of its method.
    :param tuned: how these were chosen; None: they were not.
    :param published: what its paper prints of its ``corpus``, by measure.
    :param self_citation: ranks of papers of the same authors; None: there are no authors.
    """

    name: str
    title: str
    note: str = ""
    judged: Judged | None = None
    other_seeds: Sequence[Judged] = ()
    remarks: tuple[str, ...] = ()
    settings: Mapping[str, SettingValue] = field(default_factory=dict)
    tuned: TunedRow | None = None
    published: Mapping[str, float | str] = field(default_factory=dict)
    self_citation: SelfCitation | None = None


@dataclass(frozen=True)
class Setting:
    """What was evaluated, and how.

    :param num_papers: papers of the corpus; all but the citing one are candidates.
    :param task: ``local`` or ``global``.
    :param fingerprint: SHA-256 of the corpus manifest, or empty.
    :param cluster: ``paper`` or ``query``: what is resampled as a whole.
    :param budget: of tuning; None: nothing was tuned.
    :param division: how the papers were split: ``year``, ``random`` or ``given``; empty: not known.
    """

    corpus: str
    split: str
    num_papers: int
    fingerprint: str = ""
    cluster: str = "paper"
    seed: int = 1
    budget: Budget | None = None
    task: str = "local"
    division: str = ""


@dataclass(frozen=True)
class Report:
    """Everything that is printed; tables and curves have the rows of ``rows``, in this order.

    :param of_runs: measures of whole runs, without tests: a value for each row.
    :param seeds: name of a row that was trained with several seeds, to its scores in the columns of
        the first table.
    :param claims: of papers, and what came of them.
    :param paper_tables: of papers, with our numbers.
    """

    setting: Setting
    rows: Sequence[MeasuredRow]
    not_run: Sequence[MeasuredRow]
    tables: Sequence[Table]
    of_runs: Mapping[str, Sequence[float]]
    seeds: Mapping[str, SeedScores]
    curves: Sequence[Curve]
    caption: Sequence[str]
    claims: Sequence[MeasuredClaim] = ()
    paper_tables: Sequence[MeasuredPaperTable] = ()
