"""What papers state, claims and tables, beside the rows of a report."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mpbert.evaluation.claims import Claim, ClaimRows, MeasuredClaim, measure_claims, num_exchanges
from mpbert.evaluation.paper_tables import MeasuredPaperTable, PaperTable, measure_paper_table
from mpbert.evaluation.report import LEXICAL_ROW, MeasuredQueries, MeasuredRow, Setting
from mpbert.evaluation.subsets import all_subsets
from mpbert.evaluation.tables import ALPHA, Column, Resampling
from mpbert.foundation.seeding import named_rng


@dataclass(frozen=True)
class Statements:
    """What is measured beside the tables of a report.

    :param claims: of the corpus and the task of the report.
    :param tables: of papers, for the corpus of the report.
    """

    claims: Sequence[Claim] = ()
    tables: Sequence[PaperTable] = ()


NO_STATEMENTS = Statements()


def measure_statements(
    statements: Statements,
    setting: Setting,
    queries: MeasuredQueries,
    rows: Sequence[MeasuredRow],
    resampling: Resampling,
) -> tuple[list[MeasuredClaim], list[MeasuredPaperTable]]:
    """Measure the claims and tables of papers that have rows in a report."""
    hits = {
        row.name: [judged.hits for judged in row.all_judged]
        for row in rows
        if row.judged is not None
    }
    lexical = frozenset(row.name for row in rows if row.family == LEXICAL_ROW)
    trained = frozenset(row.name for row in rows if row.is_trained)
    subsets = all_subsets(queries.num_gold, queries.frequency)
    claims = measure_claims(
        statements.claims,
        ClaimRows(hits, lexical, trained),
        subsets,
        queries.num_gold,
        resampling,
        named_rng(setting.seed, "report claims"),
    )
    by_name = {subset.name: subset for subset in subsets}
    tables = [
        measure_paper_table(
            table,
            [Column(measure, by_name[subset]) for measure, subset in table.columns],
            hits,
            trained,
            queries.num_gold,
            resampling,
            named_rng(setting.seed, f"report {table.name}"),
        )
        for table in statements.tables
        if any(row.row in hits for row in table.rows)
    ]
    return claims, tables


def captions_of(
    claims: Sequence[MeasuredClaim], tables: Sequence[MeasuredPaperTable], resampling: Resampling
) -> list[str]:
    """Return how to read claims and tables of papers, and what is wrong with what these print."""
    lines = []
    if claims:
        tested = sum(not math.isnan(each.p) for each in claims)
        lines.append(
            f"Claims: confirmed where the 95 % interval of the difference is above 0 and p < "
            f"{ALPHA:g}; refuted where it is below 0 and p < {ALPHA:g}; else open. The value of a "
            f"query is its mean over the seeds of a row. Intervals draw citing papers, and seeds "
            f"too. p: randomization test, {num_exchanges(resampling):,} exchanges of whole papers, "
            f"Holm-corrected over all claims that could be tested ({tested}). Where the difference "
            f"is below 0, p is first multiplied by the number of rows whose best was taken. A gain "
            f"in round brackets is not tested, as a trained row has fewer than three seeds. rare: "
            f"queries whose cited papers were cited together in training at most as often as the "
            f"median; other: more often. rare - other: difference of the gains. Claims on rows "
            f"that were not run are left out."
        )
    for measured in tables:
        table = measured.table
        lines.append(
            f"{table.paper}, {table.title}: our numbers stand above those printed, which are of "
            f"the paper's corpus and queries. Best baseline: the best of those that were run. "
            f"p t-test: paired, over queries, not corrected, as in the paper. *: better than the "
            f"best baseline by this test. p exchange: randomization test that exchanges whole "
            f"citing papers, Holm-corrected over the table."
        )
        noted = [row for row in table.rows if row.note]
        lines += [f"({i}) {row.title}: {row.note}" for i, row in enumerate(noted, start=1)]
        lines += table.notes
    return lines
