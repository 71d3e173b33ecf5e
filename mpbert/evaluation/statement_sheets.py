"""Claims and tables of papers as words, and as numbers for ``report.json``."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mpbert.evaluation.claims import Claim, MeasuredClaim
from mpbert.evaluation.paper_tables import MeasuredPaperTable
from mpbert.evaluation.report import Report
from mpbert.evaluation.sheets import Sheet, SheetCell, groups_of, interval_of, p_text, percent
from mpbert.evaluation.tables import ALPHA

_DIVISIONS = {"year": "split by year", "random": "random 80/20 split", "given": "split as given"}


def statement_sheets(report: Report) -> list[Sheet]:
    """Return the tables of papers, each with its tests, then the claims."""
    sheets = []
    for measured in report.paper_tables:
        sheets.append(_paper_table(measured, report))
        if not np.isnan(measured.p_t_test).all():
            sheets.append(_paper_tests(measured))
    return [*sheets, _claims(report)] if report.claims else sheets


def claims_as_dicts(report: Report) -> list[dict[str, Any]]:
    """Return all that is known of each claim; numbers are whole, so that pages round them once."""
    return [
        {
            **{key: list(v) if isinstance(v, tuple) else v for key, v in vars(each.claim).items()},
            **{"verdict": each.verdict, "reason": each.reason},
            "compared_with": each.than,
            **{key: float(getattr(each, key)) for key in ("difference", "low", "high")},
            "p": None if math.isnan(each.p) else float(each.p),
        }
        for each in report.claims
    ]


def paper_tables_as_dict(report: Report) -> dict[str, Any]:
    """Return our numbers and the printed ones (both as fractions) of each table by its name."""
    return {each.table.name: _as_dict(each, report) for each in report.paper_tables}


def _as_dict(measured: MeasuredPaperTable, report: Report) -> dict[str, Any]:
    table, columns = measured.table, list(enumerate(measured.columns))
    baselines = [table.rows[b].row if b >= 0 else None for b in measured.baselines]
    return {
        "title": _title(measured, report),
        "best_baseline": {column.name: baselines[j] for j, column in columns},
        "rows": [
            {
                **{"title": row.title, "row": row.row, "seeds": int(measured.seeds[r])},
                "scores": {
                    column.name: {
                        "mean": rounded(measured.means[r, j]),
                        "printed": rounded(row.printed[j] / 100),
                        "p_t_test": rounded(measured.p_t_test[r, j]),
                        "p_randomization": rounded(measured.p_randomization[r, j]),
                    }
                    for j, column in columns
                },
            }
            for r, row in enumerate(table.rows)
        ],
    }


def rounded(value: float) -> float | None:
    """Return a number as ``report.json`` has it; None for NaN."""
    return None if math.isnan(value) else round(float(value), 6)


def _claims(report: Report) -> Sheet:
    titles = {row.name: row.title for row in report.rows}
    heads = [("measured", 26), ("gain", 10), ("95 % interval", 18), ("p", 9), ("verdict", 11)]
    rows = [(_sentence(each.claim), _claim_cells(each, titles)) for each in report.claims]
    return Sheet("Claims of the papers and of this project", [], heads, rows, title_width=26)


def _sentence(claim: Claim) -> str:
    return ", ".join(filter(None, (claim.paper, claim.where))) + ": " + claim.text


def _claim_cells(each: MeasuredClaim, titles: Mapping[str, str]) -> list[SheetCell]:
    claim = each.claim
    where = _subset_title(claim.subset) or f"{claim.more_in} - {claim.less_in}"
    gain = percent(each.difference, signed=True)
    return [
        SheetCell(f"{claim.measure}, {where}: {titles[claim.better]} over {titles[each.than]}"),
        SheetCell(f"({gain})" if each.reason else gain),
        SheetCell(interval_of(each.low, each.high, signed=True)),
        SheetCell(p_text(each.p)),
        SheetCell(": ".join(filter(None, (each.verdict, each.reason)))),
    ]


def _subset_title(name: str) -> str:
    """Return ``P ≥ 2`` for ``P>=2``; the other names are words."""
    signs = {"P=1": "P = 1", "P>=1": "P ≥ 1", "P>=2": "P ≥ 2"}
    return signs.get(name, name)


def _title(measured: MeasuredPaperTable, report: Report) -> str:
    table, setting = measured.table, report.setting
    where = ", ".join(filter(None, (setting.corpus, _DIVISIONS.get(setting.split_by, ""))))
    return f"{table.paper}, {table.title}, beside ours ({where})"


def _row_title(measured: MeasuredPaperTable, r: int) -> str:
    return ", ".join(filter(None, (measured.table.rows[r].title, measured.few_seeds[r])))


def _paper_table(measured: MeasuredPaperTable, report: Report) -> Sheet:
    lines, notes = [], 0
    for r, row in enumerate(measured.table.rows):
        better = measured.p_t_test[r] < ALPHA
        above = [
            b >= 0 and mean > measured.means[b, j]
            for j, (b, mean) in enumerate(zip(measured.baselines, measured.means[r], strict=True))
        ]
        cells = [
            SheetCell(percent(mean), mark="*" if better[j] and above[j] else "")
            for j, mean in enumerate(measured.means[r])
        ]
        lines.append((_row_title(measured, r), cells))
        notes += bool(row.note)
        printed = [percent(value / 100) for value in row.printed]
        if set(printed) != {"-"}:
            title = f"{row.title}, printed" + f" ({notes})" * bool(row.note)
            lines.append((title, [SheetCell(text) for text in printed]))
    heads = [(column.measure, 12) for column in measured.columns]
    groups = groups_of(measured.columns)
    return Sheet(_title(measured, report), groups, heads, lines, title_width=28)


def _paper_tests(measured: MeasuredPaperTable) -> Sheet:
    """Return a line for each of the paper's own rows and each column."""
    rows = measured.table.rows
    lines = []
    for r, row in enumerate(rows):
        for j, column in enumerate(measured.columns):
            if row.is_baseline or not measured.seeds[r] or measured.baselines[j] < 0:
                continue
            other = measured.baselines[j]
            texts = (
                rows[other].title,
                percent(measured.means[r, j] - measured.means[other, j], signed=True),
                p_text(measured.p_t_test[r, j]),
                p_text(measured.p_randomization[r, j]),
            )
            title = f"{_row_title(measured, r)}, {column.measure} {column.subset.title}"
            lines.append((title, [SheetCell(text) for text in texts]))
    heads = [("best baseline", 20), ("difference", 14), ("p t-test", 13), ("p exchange", 13)]
    return Sheet(f"Tests of {measured.table.title}", [], heads, lines)
