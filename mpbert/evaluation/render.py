"""The report in its formats: txt, md, tex, html by Jinja templates, and json."""

import base64
import itertools
import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from mpbert.evaluation.html_report import aligned, anchors, pictures
from mpbert.evaluation.report import Report
from mpbert.evaluation.sheets import Sheet, SheetCell, sheets_of
from mpbert.evaluation.statement_sheets import (
    claims_as_dicts,
    paper_tables_as_dict,
    rounded,
    statement_sheets,
)
from mpbert.evaluation.tables import Table

WIDTH = 100  # columns of the txt report
_TEMPLATES = Path(__file__).parent / "templates"
_ASCII = str.maketrans({"±": "+-", "≥": ">=", "≤": "<=", "–": "-", "·": "."})
_TEX = {
    "\\": r"\textbackslash{}",
    **{c: "\\" + c for c in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "[": "{[}",  # after a line break it would begin an argument
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "–": "--",
}
_MD = {c: "\\" + c for c in "\\`*_|<>~[]#"}


def render_report(report: Report, plots: Mapping[str, bytes]) -> dict[str, str]:
    """Return the text of each format by its suffix.

    :param plots: SVG of each plot by its title, to be put into the HTML page.
    """
    sheets = [*sheets_of(report), *statement_sheets(report)]
    context = {"report": report, "sheets": sheets, "setting": report.setting}
    encoded = {title: base64.b64encode(svg).decode() for title, svg in plots.items()}
    sections = [*(sheet.title for sheet in sheets), *plots, "How to read this"]
    page = {**context, "pictures": pictures(report, encoded), "sections": sections}
    return {
        "txt": re.sub(
            " +\n",
            "\n",
            _environment(_to_text).get_template("report.txt.j2").render(context, width=WIDTH),
        ),
        "md": _environment(_escaper(_MD)).get_template("report.md.j2").render(context),
        "tex": _environment(_escaper(_TEX)).get_template("report.tex.j2").render(context),
        "html": _environment(None).get_template("report.html.j2").render(page),
        "json": json.dumps(as_dict(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
    }


def as_dict(report: Report) -> dict[str, Any]:
    """Return all numbers of a report, as fractions; None where there is none."""
    setting = report.setting
    return {
        "corpus": setting.corpus,
        "split": setting.split,
        "task": setting.task,
        "pool": setting.pool,
        "num_papers": setting.num_papers,
        "fingerprint": setting.fingerprint,
        "cluster": setting.cluster,
        "seed": setting.seed,
        "budget": vars(setting.budget) if setting.budget else None,
        "queries": setting.queries,
        "repeats": setting.repeats
        and {
            "contexts": setting.repeats.num_contexts,
            "repeats": setting.repeats.num_repeats,
            "largest": setting.repeats.largest,
            "in_training": setting.repeats.in_training,
        },
        "caption": list(report.caption),
        "rows": [
            {
                **{"name": r.name, "title": r.full_title, "note": r.note},
                **{"remarks": list(r.remarks), "family": r.family},
                **{"is_trained": r.is_trained, "num_seeds": len(r.all_judged)},
                "settings": dict(r.settings),
                "tuned": vars(r.tuned) if r.tuned else None,
                "developed": r.developed,
                "published": dict(r.published),
            }
            for r in report.rows
        ],
        "not_run": [{"name": r.name, "title": r.title} for r in report.not_run],
        "tables": {table.name: _table_as_dict(table, report) for table in report.tables},
        "against_lexical": (
            _table_as_dict(report.against_lexical, report) if report.against_lexical else None
        ),
        "of_runs": {
            measure: {row.name: rounded(v) for row, v in zip(report.rows, values, strict=True)}
            for measure, values in report.of_runs.items()
        },
        "seeds": _seeds_as_dict(report),
        "self_citation": {
            row.name: {key: list(map(rounded, v)) for key, v in vars(row.self_citation).items()}
            for row in report.rows
            if row.self_citation
        },
        "reliability": {
            row.name: {
                key: list(map(rounded, value)) if np.ndim(value) else rounded(value)
                for key, value in vars(row.reliability).items()
            }
            for row in report.rows
            if row.reliability
        },
        "curves": _curves_as_dict(report),
        "claims": claims_as_dicts(report),
        "paper_tables": paper_tables_as_dict(report),
    }


def _seeds_as_dict(report: Report) -> dict[str, Any]:
    columns = report.tables[0].columns
    return {
        name: {
            "num_seeds": found.num_seeds,
            **{
                column.name: {"mean": rounded(mean), "half_width": rounded(half)}
                for column, mean, half in zip(columns, found.means, found.half_widths, strict=True)
            },
        }
        for name, found in report.seeds.items()
    }


def _curves_as_dict(report: Report) -> dict[str, Any]:
    return {
        curve.name: {
            "title": curve.title,
            "x": list(curve.x),
            "queries": list(curve.sizes),
            "values": {
                row.name: [rounded(v) for v in values]
                for row, values in zip(report.rows, curve.values, strict=True)
            },
        }
        for curve in report.curves
    }


def _table_as_dict(table: Table, report: Report) -> dict[str, Any]:
    names = [row.name for row in report.rows]
    arrays = {
        "mean": table.means,
        "low": table.low,
        "high": table.high,
        "difference": table.differences,
        "difference_low": table.differences_low,
        "difference_high": table.differences_high,
        "p_randomization": table.p_randomization,
        "p_t_test": table.p_t_test,
    }

    def cell(r: int, j: int) -> dict[str, Any]:
        other = int(table.others[r, j])
        return {
            **{key: rounded(array[r, j]) for key, array in arrays.items()},
            "other": names[other] if other >= 0 else None,
        }

    return {
        "title": table.title,
        "queries": {c.subset.name: len(c.subset) for c in table.columns},
        "scores": {
            name: {column.name: cell(r, j) for j, column in enumerate(table.columns)}
            for r, name in enumerate(names)
        },
    }


def _environment(escape: Callable[[object], object] | None) -> jinja2.Environment:
    """Return an environment that escapes every expression: as HTML, or by the given function."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=escape is None,
        finalize=escape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        left=lambda value, width: _to_text(value).ljust(width),
        right=lambda value, width: _to_text(value).rjust(width),
        **{"wrapped": _wrapped, "broken": _broken, "aligned": aligned, "anchors": anchors},
    )
    return environment


def _escaper(table: dict[str, str]) -> Callable[[object], str]:
    translation = str.maketrans(table)
    return lambda value: str(value).translate(translation)


def _to_text(value: object) -> str:
    return str(value).translate(_ASCII)


def _wrapped(value: str, width: int) -> str:
    return textwrap.fill(_to_text(value), width, subsequent_indent="  ")


def _broken(sheet: Sheet) -> Iterator[tuple[str, list[SheetCell]]]:
    """Yield the lines of a sheet: what is too long for its column takes several."""
    for title, cells in sheet.rows:
        titles = textwrap.wrap(_to_text(title), sheet.title_width, subsequent_indent="  ")
        pieces = [
            textwrap.wrap(_to_text(cell.text), size - 2, break_on_hyphens=False)
            for cell, (_, size) in zip(cells, sheet.heads, strict=True)
        ]
        if max(map(len, pieces)) < 2:
            yield titles[0], list(cells)
            yield from ((line, [SheetCell("")] * len(cells)) for line in titles[1:])
            continue
        for line, *words in itertools.zip_longest(titles, *pieces, fillvalue=""):
            yield line, [SheetCell(text) for text in words]
