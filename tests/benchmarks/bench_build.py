"""Reading and cleaning a raw corpus with all cores beside one, as a ratio; the papers are the same.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_build.py [raw corpus] [reader]``; the
default is the sample of RFCs. Peak memory is that of the process that collects the papers.
"""

import os
import sys
from collections import Counter
from pathlib import Path

from contest import contest, print_contest

from mpbert.data.build import CleanPaper, iter_clean_papers, sort_papers
from mpbert.data.readers import READERS


def build(path: Path, reader: str, processes: int) -> list[CleanPaper]:
    return sort_papers(iter_clean_papers(READERS[reader](), path, processes, Counter()))


def main(path: str = "datasets/rfc/rfc-593.tar.xz", reader: str = "rfc") -> None:
    cores = os.cpu_count() or 1
    costs = contest(
        {
            "all": lambda: build(Path(path), reader, cores),
            "one": lambda: build(Path(path), reader, 1),
        },
        rounds=3,
        warm_up=False,
    )
    ours, theirs = costs["all"].result, costs["one"].result
    assert [(p.paper_id, p.sentences, p.cited) for p in ours] == [
        (p.paper_id, p.sentences, p.cited) for p in theirs
    ]
    what = f"papers of {Path(path).name} on {cores} cores"
    print_contest(what, "one core", "all busy", costs["all"], costs["one"])


if __name__ == "__main__":
    main(*sys.argv[1:])
