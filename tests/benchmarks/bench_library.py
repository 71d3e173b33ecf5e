"""A large library: its index made, asked from a cold start, and 1,000 papers added to it.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_library.py [papers] [folder]``; 100,000
by default (some minutes). Papers are abstracts of 100 to 199 made words, a few of which are common,
as arXiv's metadata. They stay in the folder, if there is one. Each command runs as a user runs it,
in a process of its own; seconds are those of the processor, memory is that of the largest process.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from contest import ended_cpu_seconds, print_row, run_command

SYLLABLES = [
    c + v
    for c in "b c d f g h j k l m n p r s t v w z st tr ch".split()
    for v in "a e i o u ai ea".split()
]
WORDS, ADDED = 400_000, 1_000


def main(papers: str = "100000", folder: str | None = None) -> None:
    """Print a row for each command."""
    with tempfile.TemporaryDirectory() as made:
        place, number = Path(folder or made), int(papers)
        write_papers(place / "papers.json", number, 0)
        write_papers(place / "new.json", ADDED, number)
        (place / "draft.txt").write_text("Stareadi pepaiku kulekaiga tritretu dai rojaigai.")
        index = place / "index"
        _measure(f"index: {number:,} abstracts", "index", place / "papers.json", index)
        _measure("recommend from it, cold", "recommend", index, place / "draft.txt")
        _measure(f"add: {ADDED:,} abstracts to it", "add", index, place / "new.json")


def write_papers(path: Path, number: int, first: int) -> None:
    """Write so many papers; ids count from ``first`` on, and are in no order."""
    with path.open("w", encoding="utf-8") as file:
        for record in _records(number, first):
            file.write(json.dumps(record) + "\n")


def _records(number: int, first: int) -> Iterator[dict[str, object]]:
    words = np.random.default_rng(1)
    parts = words.integers(0, len(SYLLABLES), (WORDS, 4)).tolist()
    sizes = words.integers(1, 5, WORDS).tolist()
    lexicon = [
        "".join(SYLLABLES[p] for p in own[:size]) for own, size in zip(parts, sizes, strict=True)
    ]
    shares = np.cumsum(1 / (np.arange(1, WORDS + 1) + 2.7) ** 1.05)
    shares /= shares[-1]
    rng = np.random.default_rng([2, first])
    for paper in range(first, first + number):
        length = int(rng.integers(100, 200))
        drawn = np.searchsorted(shares, rng.random(length + 10)).tolist()
        text = [lexicon[word] for word in drawn]
        abstract = [" ".join(text[i : i + 20]).capitalize() + "." for i in range(10, len(text), 20)]
        place = paper * 2654435761 % (1 << 32)
        yield {
            "id": f"{place % 10000:04d}.{place // 10000:06d}",
            "title": " ".join(text[:10]).capitalize(),
            "authors_parsed": [[text[2].capitalize(), text[1].capitalize()]],
            "categories": "cs.CL",
            "abstract": " ".join(abstract),
            "update_date": f"{1990 + int(rng.integers(0, 35))}-01-01",
        }


def _measure(what: str, *command: object) -> None:
    before = ended_cpu_seconds()
    _, peak = run_command(*command)
    print_row(what, "-", "-", "-", f"{ended_cpu_seconds() - before:.2f} s", "-", f"{peak:,.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
