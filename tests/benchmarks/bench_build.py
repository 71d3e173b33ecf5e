"""Reading and cleaning a raw corpus with all cores beside one, as a ratio; the papers are the same.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_build.py [raw corpus] [reader]``; the
default is the sample of RFCs; all of ACL too, where RAW_ACL names its papers.jsonl.xz. Peak
memory is that of the process that collects the papers.
"""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from contest import contest, print_contest, print_row, raw_acl, run_command

from mpbert.corpus.build import iter_clean_papers
from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.formats.base import READERS
from mpbert.corpus.spill import sort_papers
from mpbert.foundation.engines import OwnProcesses


def build(path: Path, reader: str, processes: int) -> Sequence[CleanPaper]:
    with tempfile.TemporaryDirectory() as folder:
        papers = iter_clean_papers(READERS[reader](), path, OwnProcesses(processes), Counter())
        return sort_papers(papers, Path(folder))


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
    for one, other in zip(ours, theirs, strict=True):
        assert (one.paper_id, one.cited) == (other.paper_id, other.cited)
        assert one.sentences == other.sentences
    what = f"papers of {Path(path).name} on {cores} cores"
    print_contest(what, "one core", "all busy", costs["all"], costs["one"])
    if os.environ.get("RAW_ACL"):
        build_acl()


def build_acl() -> None:
    """Build the corpus store of ACL as a user does, once."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "corpus"
        seconds, peak = run_command("build-corpus", raw_acl(), output, "--reader=acl")
    print_row(
        "build-corpus, ACL", "-", "<= 100 s, 3 GiB", "-", f"{seconds:.0f} s", "-", f"{peak:,.0f}"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
