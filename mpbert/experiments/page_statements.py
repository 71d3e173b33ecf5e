"""Tables of pages that hold claims and tables of papers, from ``report.json``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mpbert.evaluation.seeds import too_few_seeds
from mpbert.evaluation.sheets import interval_of, p_text, percent
from mpbert.evaluation.tables import ALPHA

_ESCAPED = str.maketrans({each: "\\" + each for each in "\\`*_|<>~[]#"})
_SIGNS = {"P=1": "P = 1", "P>=1": "P ≥ 1", "P>=2": "P ≥ 2"}
_OURS = "this project"
Report = Mapping[str, Any]


def claims_table(reports: Mapping[str, Report]) -> list[str]:
    """Return the claims that were tested on some corpus, a line for each measure and subset.

    :param reports: head of a column to the report of a corpus.
    """
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for head, report in reports.items():
        for claim in report["claims"]:
            if claim["p"] is not None:
                where = claim["subset"] or f"{claim['more_in']} - {claim['less_in']}"
                measured = f"{claim['measure']}, {_SIGNS.get(where, where)}"
                lines.setdefault((_sentence(claim), measured), {})[head] = _verdict(claim)
    last, found = "", []
    for (sentence, measured), cells in lines.items():
        texts = [cells.get(head, "-") for head in reports]
        found.append(_line([sentence if sentence != last else "", measured, *texts]))
        last = sentence
    return [_line(["", "measured", *reports]), "|:--|:--|" + ":--|" * len(reports), *found]


def paper_table(report: Report, name: str) -> list[str]:
    """Return a table of a paper: a line of ours, and below it what the paper prints.

    :param name: of the table in the report.
    """
    table, queries = report["paper_tables"][name], report["tables"]["main"]["queries"]
    columns = list(table["best_baseline"])
    heads = []
    for measure, subset in (column.split(" ") for column in columns):
        heads.append(f"{measure}<br>{_SIGNS[subset]} ({queries[subset]:,})")
    lines = []
    for row in table["rows"]:
        means = [_score(table, row, column) for column in columns]
        printed = [row["scores"][column]["printed"] for column in columns]
        lines.append(_line([_title(row), *means]))
        if any(printed):
            lines.append(_line([f"{row['title']}, printed", *map(_percent, printed)]))
    return ["| | " + " | ".join(heads) + " |", "|:--|" + "--:|" * len(columns), *lines]


def paper_tests(report: Report, name: str) -> list[str]:
    """Return the tests of a paper's own rows against the best baseline of each column."""
    table = report["paper_tables"][name]
    lines = []
    for row, column, score in _tested(table):
        best = _best(table, column)
        measure, subset = column.split(" ")
        lines.append(
            _line(
                [
                    f"{_title(row)}, {measure} {_SIGNS[subset]}",
                    best["title"],
                    percent(score["mean"] - best["scores"][column]["mean"], signed=True),
                    p_text(score["p_t_test"]),
                    p_text(score["p_randomization"]),
                ]
            )
        )
    head = "| | best baseline | difference | p t-test | p exchange |"
    return [head, "|:--|" + "--:|" * 4, *lines]


def _tested(table: Report) -> Iterator[tuple[Report, str, Report]]:
    for row in table["rows"]:
        for column, score in row["scores"].items():
            if score["p_t_test"] is not None:
                yield row, column, score


def _score(table: Report, row: Report, column: str) -> str:
    """Return a score; a star where it is significantly above the best baseline."""
    score = row["scores"][column]
    tested = score["p_t_test"] is not None and score["p_t_test"] < ALPHA
    above = tested and score["mean"] > _best(table, column)["scores"][column]["mean"]
    return _percent(score["mean"]) + "*" * above


def _best(table: Report, column: str) -> Report:
    return next(row for row in table["rows"] if row["row"] == table["best_baseline"][column])


def _title(row: Report) -> str:
    words = too_few_seeds(row["seeds"]) if row["seeds"] else ""
    return ", ".join(filter(None, (row["title"], words)))


def _sentence(claim: Report) -> str:
    source = ", ".join(filter(None, (claim["paper"], claim["where"])))
    return claim["text"] if claim["paper"] == _OURS else f"{claim['text']} ({source})"


def _verdict(claim: Report) -> str:
    gain = percent(claim["difference"], signed=True)
    interval = interval_of(claim["low"], claim["high"], signed=True)
    return f"{gain} {interval}, p {p_text(claim['p'])}, {claim['verdict']}"


def _percent(value: float | None) -> str:
    return "-" if value is None else percent(value)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.translate(_ESCAPED) for cell in cells) + " |"
