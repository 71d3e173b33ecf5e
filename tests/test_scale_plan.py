"""The plan of docs/scale.md: its program runs as it stands there, with rates that were measured."""

import contextlib
import io
import re
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.links import Links, link_papers
from mpbert.corpus.repeats import KEY
from mpbert.corpus.spill import sort_papers
from mpbert.corpus.tables import _find_repeats
from mpbert.foundation.growing_arrays import Numbers

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


def memory_of_build():
    """Bytes of a paper, of a training context and of another one, as the plan has them."""
    found = re.search(r"a_paper, a_context, a_query = (\d+), (\d+), (\d+)", program())
    return tuple(map(int, found.groups()))


@contextlib.contextmanager
def counted() -> Iterator[pa.MemoryPool]:
    """Count what Python and numpy take, and Arrow, by a pool of its own."""
    usual = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        yield pool
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)


def paper_of(number: int) -> CleanPaper:
    return CleanPaper(
        **{"paper_id": f"{number:09d}", "title": "t", "year": 2001, "authors": [], "venue": ""},
        **{"num_abstract": 1, "headings": [], "cited": [], "references": (f"{number // 2:09d}",)},
        sentences=["One."],
        sections=np.zeros(1, np.int16),
        split=None,
    )


def peak_of_papers(number: int, folder: Path, pools: list[pa.MemoryPool]) -> int:
    with counted() as pool:
        pools.append(pool)  # what was allocated in it may live longer
        papers = sort_papers(map(paper_of, range(number)), folder)
        sorting = tracemalloc.get_traced_memory()[1] + pool.max_memory()
        tracemalloc.reset_peak()
        link_papers(papers, "drop", Counter())
        return max(sorting, tracemalloc.get_traced_memory()[1] + pool.bytes_allocated())


def test_a_paper_takes_as_much_memory_as_the_plan_says(tmp_path, monkeypatch):
    monkeypatch.setattr("mpbert.corpus.spill._IDS_OF_A_CHUNK", 100)
    pools: list[pa.MemoryPool] = []
    peak_of_papers(20, tmp_path, pools)  # what is imported and cached
    few, many = (peak_of_papers(number, tmp_path, pools) for number in (3000, 7000))
    letters = 9
    a_paper = (many - few) / 4000 - 2 * letters
    assert 0.8 * memory_of_build()[0] < a_paper <= memory_of_build()[0]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells it")
def test_pages_of_mapped_keys_do_not_stay_in_memory():
    keys = Numbers(KEY)
    keys.extend(np.frombuffer(np.random.default_rng(1).bytes(16 << 21), KEY))  # 32 MiB
    nothing = np.zeros(0, np.int32)
    links = Links(*[nothing] * 4, keys.array(), nothing)
    before = mapped_mib()
    _find_repeats(links, np.repeat(np.array([0, 2], np.int8), [(1 << 21) - 100, 100]))
    assert mapped_mib() < before + 8


def mapped_mib() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(r"RssFile:\s+(\d+)", status)[1]) / 1024


def peak_of_contexts(training: int, others: int) -> int:
    numbers = [Numbers(kind) for kind in (*[np.int32] * 4, KEY, np.int32)]
    numbers[4].extend(np.frombuffer(np.random.default_rng(1).bytes(16 * (training + others)), KEY))
    links = Links(*(each.array() for each in numbers))
    splits = np.repeat(np.array([0, 1], np.int8), [training, others])
    tracemalloc.start()
    _find_repeats(links, splits)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_a_context_takes_as_much_memory_as_the_plan_says():
    few = peak_of_contexts(100_000, 1000)
    a_context = (peak_of_contexts(300_000, 1000) - few) / 200_000
    a_query = (peak_of_contexts(1000, 60_000) - peak_of_contexts(1000, 10_000)) / 50_000
    for measured, planned in zip((a_context, a_query), memory_of_build()[1:], strict=True):
        codes = 3  # bytes of its split, of whether it repeats another, and of one of them as a mask
        assert 0.8 * planned < round(measured + codes, 1) <= planned
