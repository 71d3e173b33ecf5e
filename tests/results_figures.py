"""Which figures of a page no results file holds.

Two rules say what a figure is. A page names the files that hold its figures in a comment,
``<!-- figures: FILE FILE -->``. Code, addresses and tables that are filled from files are left out.

* A **score** is a number with two digits behind the point, or two numbers with `` / `` between them
  (:func:`unheld_scores`).
* An **amount** is a number with a unit of time, memory (MiB) or rate behind it, a number with a
  comma for thousands, or a number that is all of a cell of a table, but in its first column
  (:func:`unheld_amounts`). Sizes of files and downloads are in MB, and are none.

So a limit or a setting stands in backticks, as code does, and an approximate cost in words: "about
ten minutes".
"""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mpbert.experiments.page_tables import without_tables

_MARKER = re.compile(r"<!-- figures: (.*?)-->", re.DOTALL)
# code, comments, addresses and versions hold no results
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_NO_PROSE = re.compile(r"```.*?```|<!--.*?-->|`[^`\n]*`|\]\([^)]*\)|Python \d+\.\d+", re.DOTALL)
_NUMBER = r"[+-]?\d*\.\d+"
_PAIR = re.compile(
    rf"(?<![\w.])({_NUMBER})(?: ± [\d.]+)? / ({_NUMBER})(?![\d.]*\d)(?: ± [\d.]+)?", re.ASCII
)
_FIGURE = re.compile(
    r"(?P<before>\[|p [=<] |± )?(?<![\w.])(?P<text>[+-]?\d*\.\d\d)(?!\.?\d)(?P<end>\])?"
)
_UNIT = r"(?:ms|s|min|h|[KMG]iB|(?:CPU )?(?:second|minute|hour)s?|days?|times|[A-Za-z]+/s)(?!\w)"
_AMOUNT = re.compile(
    rf"(?<![\w.,])(?P<number>\d+(?:,\d{{3}})*(?:\.\d+)?)(?![.,]*\d)"
    rf"(?:\s(?P<unit>{_UNIT}))?"
)


@dataclass
class Numbers:
    """Numbers of results files, scores in %; each as far as it was written.

    :param scores: means, and halves of intervals over seeds.
    :param gains: differences, and ends of intervals.
    :param pairs: Recall@10 and MAP@10 of one row on the same queries.
    :param amounts: numbers with the units behind them; of JSON whole numbers, without.
    """

    scores: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)
    p: list[float] = field(default_factory=list)
    pairs: list[tuple[float, float]] = field(default_factory=list)
    amounts: list[tuple[float, str]] = field(default_factory=list)

    def read(self, path: Path) -> None:
        """Add those of a file: of a report or of counts as JSON, or all that a text shows."""
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            report = json.loads(text)
            self._walk(report)
            runs = report.get("of_runs", {})
            of_runs = [value for rows in runs.values() for value in rows.values()]
            self.scores += [100 * value for value in of_runs if value is not None]
            return
        self.amounts += [
            (_value(found["number"]), _unit(found)) for found in _AMOUNT.finditer(text)
        ]
        for line in text.splitlines():
            found = [abs(float(number)) for number in re.findall(_NUMBER, line)]
            for pool in (self.scores, self.gains, self.p):
                pool += found
            self.pairs += itertools.pairwise(found)

    def _walk(self, content: Any, key: str = "") -> None:
        if isinstance(content, list):
            for each in content:
                self._walk(each, key)
        elif isinstance(content, dict):
            for name, each in content.items():
                self._walk(each, name)
            self._pairs_of(content)
        elif isinstance(content, int):
            self.amounts.append((content, ""))
        elif isinstance(content, float):
            if key in ("mean", "half_width", "printed"):
                self.scores.append(100 * content)
            elif key == "p" or key.startswith("p_"):
                self.p.append(content)
            elif key in ("low", "high") or key.startswith("difference"):
                self.gains.append(100 * content)

    def _pairs_of(self, columns: dict[str, Any]) -> None:
        for name, cell in columns.items():
            other = columns.get(name.replace("Recall@10 ", "MAP@10 "))
            if (
                name.startswith("Recall@10 ")
                and isinstance(other, dict)  # else the name of the best baseline
                and None not in (cell["mean"], other["mean"])
            ):
                self.pairs.append((100 * cell["mean"], 100 * other["mean"]))


def unheld_scores(page: Path) -> list[str]:
    """Return the scores of a page that none of the files holds which its comments name."""
    prose, numbers = _read(page)
    return list(_unheld_scores(prose, numbers))


def unheld_amounts(page: Path) -> list[str]:
    """Return the amounts of a page that none of the files holds which its comments name.

    A file holds an amount if it shows the number with the same unit. Where the amount has no unit,
    the number is enough.
    """
    prose, numbers = _read(page)
    return [
        " ".join(found[0].split())
        for found in _AMOUNT.finditer(prose)
        if (found["unit"] or "," in found["number"] or _is_cell(found))
        and not any(
            _unit(found) in ("", unit) and _is(found["number"].replace(",", ""), value)
            for value, unit in numbers.amounts
        )
    ]


def _read(page: Path) -> tuple[str, Numbers]:
    """Return the prose of a page, and the numbers of the files that it names."""
    text = page.read_text(encoding="utf-8")
    numbers = Numbers()
    for names in _MARKER.findall(_CODE.sub(" ", text)):
        for name in names.split():
            numbers.read(page.parent / name)
    return _NO_PROSE.sub(" ", without_tables(text)), numbers


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _unit(found: re.Match[str]) -> str:
    return " ".join((found["unit"] or "").split())


def _is_cell(found: re.Match[str]) -> bool:
    """Whether a number is all of a cell, and not in the first column."""
    line = found.string.rfind("\n", 0, found.start()) + 1
    before = found.string[line : found.start()]
    return bool(
        re.search(r".\| *\**$", before) and re.match(r"\** *\|", found.string[found.end() :])
    )


def _unheld_scores(prose: str, numbers: Numbers) -> Iterator[str]:
    for found in _PAIR.finditer(prose):
        if not any(_is(found[1], a) and _is(found[2], b) for a, b in numbers.pairs):
            yield found[0]
    for found in _FIGURE.finditer(_PAIR.sub(" ", prose)):
        before, figure = found["before"] or "", found["text"]
        pool = numbers.scores
        if before.startswith("p") or figure.startswith("."):
            pool = numbers.p
        elif before == "[" or found["end"] or figure[0] in "+-":
            pool = numbers.gains
        if not any(_is(figure, value) for value in pool):
            yield before + figure


def _is(figure: str, value: float) -> bool:
    """Whether a figure is a value, rounded to as many digits."""
    digits = len(figure.partition(".")[2])
    half = 0.5 * 10**-digits
    return abs(abs(float(figure)) - abs(value)) <= half + 1e-6
