"""The plan of docs/scale.md: its program runs as it stands there, with rates that were measured."""

import contextlib
import io
import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "scale.md").read_text(encoding="utf-8").partition("## Plan: ")[2]
BENCHMARKS = (DOCS / "results" / "reports" / "benchmarks.md").read_text(encoding="utf-8")


def program():
    (found,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    return found


def test_the_program_prints_what_the_page_says():
    (expected,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(program(), {})
    assert printed.getvalue() == expected


def test_its_rates_are_half_of_those_of_two_cores():
    rates = dict(re.findall(r'"([a-z-]+)": \(\s*([\d_]+),', program()))
    assert set(rates) == {"build-corpus", "binarize", "embed"}
    for stage, rate in rates.items():
        row = next(line for line in BENCHMARKS.splitlines() if line.startswith(f"| {stage}, 1 / 2"))
        of_two = int(re.search(r"([\d,]+) tokens/s", row)[1].replace(",", ""))
        assert int(rate.replace("_", "")) == of_two // 2
    search = next(line for line in BENCHMARKS.splitlines() if line.startswith("| top 10 of 10,000"))
    assert f"2 * {re.findall(r'([0-9.]+) s ', search)[0]} / (10_000 * 1_000_000)" in program()
