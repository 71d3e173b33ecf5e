"""Which figures of a page no results file holds."""

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
_NO_PROSE = re.compile(r"```.*?```|<!--.*?-->|`[^`\n]*`|\]\([^)]*\)|Python \d+\.\d+", re.DOTALL)
_NUMBER = r"[+-]?\d*\.\d+"
_PAIR = re.compile(
    rf"(?<![\w.])({_NUMBER})(?: ± [\d.]+)? / ({_NUMBER})(?![\d.]*\d)(?: ± [\d.]+)?", re.ASCII
)
_FIGURE = re.compile(
    r"(?P<before>\[|p [=<] |± )?(?<![\w.])(?P<text>[+-]?\d*\.\d\d)(?!\.?\d)(?P<end>\])?"
)


@dataclass
class Numbers:
    """Numbers of results files, in % but for ``p``; each as far as it was written.

    :param scores: means, and halves of intervals over seeds.
    :param gains: differences, and ends of intervals.
    :param pairs: Recall@10 and MAP@10 of one row on the same queries.
    """

    scores: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)
    p: list[float] = field(default_factory=list)
    pairs: list[tuple[float, float]] = field(default_factory=list)

    def read(self, path: Path) -> None:
        """Add those of a file: of a report as JSON, or all that a page shows."""
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            report = json.loads(text)
            self._walk(report)
            of_runs = [value for rows in report["of_runs"].values() for value in rows.values()]
            self.scores += [100 * value for value in of_runs if value is not None]
            return
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


def unheld_figures(page: Path) -> list[str]:
    """Return the figures of a page that none of the files holds which its marker names.

    A figure is a number with two digits behind the point, or two numbers with `` / `` between them.
    Tables that are filled from results files are left out.
    """
    text = page.read_text(encoding="utf-8")
    numbers = Numbers()
    for names in _MARKER.findall(text):
        for name in names.split():
            numbers.read(page.parent / name)
    prose = _NO_PROSE.sub(" ", without_tables(text))
    return list(_unheld(prose, numbers))


def _unheld(prose: str, numbers: Numbers) -> Iterator[str]:
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
