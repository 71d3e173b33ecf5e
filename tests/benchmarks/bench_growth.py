"""Time and peak memory of build-corpus at 1, 4 and 16 times a corpus: papers again under new ids.

Run: ``RAW_ACL=papers.jsonl.xz PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_growth.py``, or
with a raw corpus and its reader, such as ``datasets/rfc/rfc-593.tar.xz rfc``, whose papers are
repeated as JSON Lines. Each size is built by a process of its own, as a user does it; memory is
that of its largest process. What a size needs on disk is removed before the next: 16 times ACL
is estimated to take 30 GB in ``TMPDIR``.
"""

import json
import sys
import tempfile
from pathlib import Path

from contest import print_row, raw_acl, run_command
from repeated import acl_records, repeat_acl, repeat_papers

TIMES = (1, 4, 16)


def main(raw: str = "", reader: str = "acl") -> None:
    source = Path(raw) if raw else raw_acl()
    costs = {}
    for times in TIMES:
        with tempfile.TemporaryDirectory() as folder:
            seconds, peak, papers = build(source, reader, times, Path(folder))
        costs[times] = seconds, peak
        print(f"{times} times: {papers:,} papers, {seconds:.3g} s, {peak:,.0f} MiB", flush=True)
    last, sizes = TIMES[-1], " / ".join(map(str, TIMES))
    print_row(
        f"build-corpus, {source.name}, {sizes} times: rate at {last} beside 1",
        "itself, once",
        "1, 3 GiB",
        last * costs[1][0] / costs[last][0],
        " / ".join(f"{seconds:.3g}" for seconds, _ in costs.values()) + " s",
        "-",
        " / ".join(f"{peak:,.0f}" for _, peak in costs.values()),
    )


def build(source: Path, reader: str, times: int, place: Path) -> tuple[float, float, int]:
    """Return the seconds, the peak MiB and the number of papers of a build."""
    papers, corpus = place / "papers.jsonl", place / "corpus"
    if reader == "acl":
        repeat_acl(acl_records(source), times, papers)
    else:
        repeat_papers(source, reader, times, papers)
    read_by = reader if reader == "acl" else "jsonl"
    cost = run_command("build-corpus", papers, corpus, f"--reader={read_by}", "--split=random")
    manifest = json.loads((corpus / "manifest.json").read_text(encoding="utf-8"))
    return *cost, manifest["counts"]["papers"]


if __name__ == "__main__":
    main(*sys.argv[1:])
