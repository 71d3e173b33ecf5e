"""Tables as words: what every format of the report prints, whatever its layout."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.evaluation.against_lexical import strongest_rows
from mpbert.evaluation.reliability import COVERAGES
from mpbert.evaluation.report import MeasuredRow, Report
from mpbert.evaluation.tables import Column, Table

_OVERALL = "P>=1"
_TESTED = "MAP@10"
_WITH_INTERVALS = ("Recall@10", "MAP@10")
_CUTOFFS = (10, 100)  # of self-citation
_TITLE_WORDS = 60  # characters of a title; what is longer is a sentence


@dataclass(frozen=True)
class SheetCell:
    """One entry.

    :param mark: ``*`` or ``~``, see the caption of the report, or nothing.
    :param interval: 95 % interval, for formats that have room for it.
    """

    text: str
    is_best: bool = False
    mark: str = ""
    interval: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table of words.

    :param groups: (words, number of columns) above the heads.
    :param heads: (words, width in characters) of each column.
    :param rows: (title, cells).
    :param title_width: of the titles, in characters; longer ones take several lines.
    """

    title: str
    groups: Sequence[tuple[str, int]]
    heads: Sequence[tuple[str, int]]
    rows: Sequence[tuple[str, Sequence[SheetCell]]]
    title_width: int = 40

    @property
    def has_sentences(self) -> bool:
        """Whether the titles are sentences, for which a printed page has too narrow a column."""
        return max((len(title) for title, _ in self.rows), default=0) > _TITLE_WORDS


def sheets_of(report: Report) -> list[Sheet]:
    """Return the tables of scores, seeds, intervals and tests, self-citation, the rest."""
    titles = [row.full_title for row in report.rows]
    tables = [table for table in report.tables if any(len(c.subset) for c in table.columns)]
    sheets = [_scores(table, report.rows) for table in tables]
    sheets.append(_of_runs(report))
    if report.seeds:
        sheets.append(_seeds(report))
    if any(row.published for row in report.rows):
        sheets.append(_published(report))
    sheets += [_intervals(report.tables[0], titles), _tests(report.tables[0], report.rows)]
    if report.against_lexical:
        sheets += _against_lexical(report.against_lexical, report.rows)
    if any(row.self_citation for row in report.rows):
        sheets.append(_self_citation(report.rows))
    if any(row.reliability for row in report.rows):
        sheets.append(_reliability(report.rows))
    if any(row.settings or row.tuned for row in report.rows):
        sheets.append(_settings(report.rows))
    if report.setting.budget or any(row.developed for row in report.rows):
        sheets.append(_tuning(report))
    return sheets


def percent(value: float, signed: bool = False) -> str:
    """Return a fraction in percent with two digits; ``-`` for NaN."""
    if math.isnan(value):
        return "-"
    rounded = round(100 * value, 2) + 0.0  # no -0.00
    return f"{rounded:+.2f}" if signed else f"{rounded:.2f}"


def interval_of(low: float, high: float, signed: bool = False) -> str:
    """Return the ends of an interval in percent; ``-`` for NaN."""
    if math.isnan(low):
        return "-"
    return f"[{percent(low, signed)}, {percent(high, signed)}]"


def p_text(p: float) -> str:
    """Return a p-value with four digits; ``-`` for NaN."""
    if math.isnan(p):
        return "-"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def groups_of(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """Return the subset of neighbouring columns and its size, in words, and how many these are."""
    labels = (f"{column.subset.title} ({len(column.subset):,})" for column in columns)
    return [(label, len(list(same))) for label, same in itertools.groupby(labels)]


def _scores(table: Table, rows: Sequence[MeasuredRow]) -> Sheet:
    is_best, is_level = table.is_best, table.is_level
    is_better = table.is_better & [[not row.too_few_seeds] for row in rows]

    def cell(r: int, j: int) -> SheetCell:
        mark = "*" if is_better[r, j] else "~" if is_level[r, j] else ""
        interval = interval_of(table.low[r, j], table.high[r, j])
        return SheetCell(percent(table.means[r, j]), bool(is_best[r, j]), mark, interval)

    cells = range(len(table.columns))
    lines = [(row.full_title, [cell(r, j) for j in cells]) for r, row in enumerate(rows)]
    heads = [(column.measure, 10) for column in table.columns]
    return Sheet(table.title, groups_of(table.columns), heads, lines)


def _overall(table: Table) -> list[int]:
    return [j for j, column in enumerate(table.columns) if column.subset.name == _OVERALL]


def _of_runs(report: Report) -> Sheet:
    measures = report.of_runs
    rows = [
        (
            row.full_title,
            [SheetCell(percent(v[r]), is_best=v[r] == max(v)) for v in measures.values()],
        )
        for r, row in enumerate(report.rows)
    ]
    heads = [(name, 10) for name in measures]
    return Sheet("MRR, and F1 of averaged precision and recall, P ≥ 1", [], heads, rows)


def _seeds(report: Report) -> Sheet:
    columns = report.tables[0].columns
    of_interest = [j for j, c in enumerate(columns) if c.measure in _WITH_INTERVALS]
    shown = [j for j in of_interest if columns[j].subset.name != "P=1"]
    lines = []
    for row in report.rows:
        if found := report.seeds.get(row.name):
            pairs = [(found.means[j], found.half_widths[j]) for j in shown]
            cells = [
                "-" if math.isnan(mean) else f"{percent(mean)}±{percent(half)}"
                for mean, half in pairs
            ]
            lines.append(
                (row.full_title, [SheetCell(text) for text in (str(found.num_seeds), *cells)])
            )
    heads = [("n", 4), *((columns[j].measure, 14) for j in shown)]
    subsets = dict.fromkeys(columns[j].subset.title for j in shown)
    groups = [("", 1), *((title, len(_WITH_INTERVALS)) for title in subsets)]
    return Sheet("Over n seeds of training: mean, half of the interval", groups, heads, lines)


def _published(report: Report) -> Sheet:
    """Return what papers print of their own corpora, beside the same measures here."""
    known = [(r, row) for r, row in enumerate(report.rows) if row.published]
    measures = [m for m in report.of_runs if any(m in row.published for _, row in known)]
    heads = [(head, 9) for m in measures for head in (m, "paper")] + [("its corpus", 12)]
    lines = []
    for r, row in known:
        numbers = [
            value
            for m in measures
            for value in (report.of_runs[m][r], float(row.published.get(m, math.nan)))
        ]
        cells = [*map(percent, numbers), str(row.published.get("corpus", "-"))]
        lines.append((row.full_title, [SheetCell(text) for text in cells]))
    return Sheet("Beside the numbers that papers print of other corpora", [], heads, lines)


def _self_citation(rows: Sequence[MeasuredRow]) -> Sheet:
    known = [(row.full_title, row.self_citation) for row in rows if row.self_citation]
    shown = [c for c, k in enumerate(known[0][1].cutoffs) if k in _CUTOFFS]
    lines = []
    for title, found in known:
        cells = [
            SheetCell(text)
            for c in shown
            for text in (
                percent(found.share[c]),
                f"{found.mean_rank[c]:.1f}",
                f"{found.best_rank[c]:.1f}",
            )
        ]
        lines.append((title, cells))
    heads = [("share", 9), ("mean", 9), ("best", 9)] * len(shown)
    groups = [(f"first {known[0][1].cutoffs[c]}", 3) for c in shown]
    return Sheet("Self-citation: papers that share an author", groups, heads, lines)


def _reliability(rows: Sequence[MeasuredRow]) -> Sheet:
    lines = []
    for row, found in [(row, row.reliability) for row in rows if row.reliability]:
        told = [f"{value:.3f}" for value in (found.auroc, found.error, found.of_library)]
        texts = [*told, *(f"{100 * found.risk_at(coverage):.1f}" for coverage in COVERAGES)]
        lines.append((row.full_title, list(map(SheetCell, texts))))
    heads = [("AUROC", 7), ("ECE", 7), ("library", 8), *((f"{c:.0%}", 7) for c in COVERAGES)]
    groups = [("first paper", 2), ("AUROC", 1), ("wrong of the surest", len(COVERAGES))]
    return Sheet("How sure answers are", groups, heads, lines)


def _intervals(table: Table, titles: Sequence[str]) -> Sheet:
    columns = [j for j in _overall(table) if table.columns[j].measure in _WITH_INTERVALS]
    rows = [
        (
            title,
            [
                SheetCell(
                    f"{percent(table.means[r, j])} {interval_of(table.low[r, j], table.high[r, j])}"
                )
                for j in columns
            ],
        )
        for r, title in enumerate(titles)
    ]
    heads = [(table.columns[j].measure, 26) for j in columns]
    size = len(table.columns[columns[0]].subset)
    return Sheet("95 % intervals", [(f"P ≥ 1 ({size:,})", len(heads))], heads, rows)


def _tests(table: Table, rows: Sequence[MeasuredRow]) -> Sheet:
    j = next(j for j in _overall(table) if table.columns[j].measure == _TESTED)
    best = int(np.argmax(table.means[:, j]))
    second = int(table.others[best, j])
    against = f"minus {rows[best].full_title}" if len(rows) > 1 else "no other row"
    label = f"{against} (that row: minus {rows[second].full_title})" if len(rows) > 1 else against
    return _differences(f"{_TESTED}, P ≥ 1: each row {label}", table, j, rows)


def _against_lexical(table: Table, rows: Sequence[MeasuredRow]) -> list[Sheet]:
    """Return a sheet for each column: measure and subset."""
    return [
        _differences(
            f"{column.measure}, {column.subset.title}: each row minus the strongest lexical row, "
            f"{rows[strongest].full_title}",
            table,
            j,
            rows,
        )
        for j, (column, strongest) in enumerate(
            zip(table.columns, strongest_rows(table), strict=True)
        )
    ]


def _differences(title: str, table: Table, j: int, rows: Sequence[MeasuredRow]) -> Sheet:
    """Return the differences of a column of a table, with intervals and tests."""

    def cells(r: int) -> list[SheetCell]:
        return [
            SheetCell(percent(table.differences[r, j], signed=True)),
            SheetCell(interval_of(table.differences_low[r, j], table.differences_high[r, j], True)),
            SheetCell(p_text(table.p_randomization[r, j])),
            SheetCell(p_text(table.p_t_test[r, j])),
        ]

    return Sheet(
        title,
        [],
        [("difference", 12), ("95 % interval", 18), ("p exchange", 12), ("p t-test", 10)],
        [(row.full_title, cells(r)) for r, row in enumerate(rows)],
    )


def _settings(rows: Sequence[MeasuredRow]) -> Sheet:
    words = [" ".join(f"{k}={value}" for k, value in row.settings.items()) for row in rows]
    each = zip(rows, words, strict=True)
    lines = [(row.full_title, [SheetCell(text or "defaults")]) for row, text in each]
    return Sheet("Settings", [], [("settings", 60)], lines)


def _tuning(report: Report) -> Sheet:
    """Return what the choice of settings cost, and what it brought."""
    budget = report.setting.budget

    def cells(row: MeasuredRow) -> list[SheetCell]:
        developed = "-" if row.developed is None else f"{row.developed:.2f}"
        if row.tuned is None:
            return [SheetCell(text) for text in ("none", "-", developed, "-", "-")]
        default = math.nan if row.tuned.default is None else row.tuned.default
        failed = f" -{row.tuned.failed}" if row.tuned.failed else ""
        trials = f"{row.tuned.trials}/{row.tuned.space_size}{failed}"
        numbers = f"{row.tuned.cpu_hours:.3f}", developed, percent(default)
        return [SheetCell(text) for text in (trials, *numbers, percent(row.tuned.score))]

    return Sheet(
        "Tuning on validation, the same budget for every row",
        [("", 1), ("CPU hours", 2), (budget.measure if budget else "score", 2)],
        [("trials", 14), ("tuning", 12), ("developed", 12), ("own", 11), ("chosen", 11)],
        [(row.full_title, cells(row)) for row in report.rows],
    )
