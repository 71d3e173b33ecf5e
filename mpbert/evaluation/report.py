"""The report as numbers and sentences: what was measured, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mpbert.corpus.repeats import Repeats
from mpbert.evaluation.claims import MeasuredClaim
from mpbert.evaluation.curves import Curve
from mpbert.evaluation.evaluate import Judged
from mpbert.evaluation.paper_tables import MeasuredPaperTable
from mpbert.evaluation.reliability import Reliability
from mpbert.evaluation.seeds import SeedScores, too_few_seeds
from mpbert.evaluation.self_citation import SelfCitation
from mpbert.evaluation.tables import Table
from mpbert.evaluation.tuned import Budget, SettingValue, TunedRow

DEPTH = {"local": 100, "global": 1000}  # task to ranks of the Recall@k curve
MAIN = ("Recall@10", "MAP@10")
MORE = ("MRR@10", "nDCG@10")
FAMILIES = ("chance", "lexical", "trained", "reranker", "fusion", "elsewhere")
CHANCE, LEXICAL_ROW, TRAINED, RERANKER, FUSION, ELSEWHERE = FAMILIES
OF_PAPERS = ("MRR", "Recall@10", "MAP@10", "Recall@100", "Recall@1000")  # of the global task


@dataclass(frozen=True)
class MeasuredQueries:
    """What is known of the queries without any run; arrays are (Q,).

    :param num_gold: number of papers each context cites.
    :param citing_ids: ids of the citing papers.
    :param years: years of the citing papers.
    :param frequency: mean training co-citation frequency of the pairs cited; NaN without a pair.
    :param candidates: number of papers that may be found.
    :param num_newer: number of cited papers that are newer than the citing one.
    """

    num_gold: np.ndarray
    citing_ids: Sequence[str]
    years: np.ndarray
    frequency: np.ndarray
    candidates: np.ndarray
    num_newer: np.ndarray


@dataclass(frozen=True)
class MeasuredRow:
    """A row of the tables; its numbers are means over the seeds of its training.

    :param title: without the words on its seeds, see :attr:`full_title`.
    :param family: one of ``FAMILIES``: what kind of method ranks last, or that another system does.
    :param is_trained: whether it, or what it takes of other rows, depends on a seed of training.
    :param judged: its rankings; None: it was not run.
    :param other_seeds: its rankings after trainings with other seeds.
    :param remarks: what a reader should know of its run.
    :param settings: all that are in force, but for the defaults of its method.
    :param tuned: how these were chosen; None: they were not.
    :param developed: CPU hours that the row's own settings had cost on validation; None: not
        counted.
    :param published: what its paper prints of its ``corpus``, by measure.
    :param self_citation: ranks of papers of the same authors; None: there are no authors.
    :param reliability: of the probabilities that it gave; None: it gave none.
    :param is_earlier: whether it was measured earlier, of at least one seed.
    """

    name: str
    title: str
    note: str = ""
    judged: Judged | None = None
    other_seeds: Sequence[Judged] = ()
    remarks: tuple[str, ...] = ()
    settings: Mapping[str, SettingValue] = field(default_factory=dict)
    tuned: TunedRow | None = None
    developed: float | None = None
    published: Mapping[str, float | str] = field(default_factory=dict)
    self_citation: SelfCitation | None = None
    reliability: Reliability | None = None
    is_earlier: bool = False
    family: str = TRAINED
    is_trained: bool = False

    @property
    def all_judged(self) -> list[Judged]:
        """Its rankings of all seeds, the first seed first; none where it was not run."""
        return [] if self.judged is None else [self.judged, *self.other_seeds]

    @property
    def full_title(self) -> str:
        """What all tables call it: a trained row of fewer than three seeds says so."""
        return ", ".join(filter(None, (self.title, self.too_few_seeds)))

    @property
    def too_few_seeds(self) -> str:
        """The words on its seeds, such as ``one seed``; nothing where these are enough."""
        return too_few_seeds(len(self.all_judged)) if self.is_trained else ""


@dataclass(frozen=True)
class Setting:
    """What was evaluated, and how.

    :param num_papers: papers of the corpus.
    :param task: ``local`` or ``global``.
    :param fingerprint: SHA-256 of the corpus manifest, or empty.
    :param cluster: ``paper`` or ``query``: what is resampled as a whole.
    :param budget: of tuning; None: nothing was tuned.
    :param pool: ``known``: papers of the citing paper's year or earlier are candidates, or ``all``.
    :param split_by: how papers were split, ``year``, ``random`` or ``given``; empty: not known.
    :param queries: ``distinct``, contexts that repeat another do not count, or ``all``.
    :param repeats: contexts of the split that repeat another; None: whole papers.
    """

    corpus: str
    split: str
    num_papers: int
    fingerprint: str = ""
    cluster: str = "paper"
    seed: int = 1
    budget: Budget | None = None
    task: str = "local"
    pool: str = "known"
    split_by: str = ""
    queries: str = "distinct"
    repeats: Repeats | None = None


@dataclass(frozen=True)
class Report:
    """Everything that is printed; tables and curves have the rows of ``rows``, in this order.

    :param of_runs: measures of whole runs, without tests: a value for each row.
    :param against_lexical: each row minus the strongest lexical row of each column, whose entries
        are compared with none; None: there is no lexical row.
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
    against_lexical: Table | None = None
    claims: Sequence[MeasuredClaim] = ()
    paper_tables: Sequence[MeasuredPaperTable] = ()
