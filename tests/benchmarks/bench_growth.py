"""Time and peak memory of build-corpus at 1, 4 and 16 times a corpus: papers again under new ids.

Run: ``RAW_ACL=papers.jsonl.xz PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_growth.py``, or
with a raw corpus and its reader, such as ``datasets/rfc/rfc-593.tar.xz rfc``, whose papers are
repeated as JSON Lines. Each size is built by a process of its own, as a user does it; memory is
that of its largest process, and the rate is of processor seconds. What a size needs on disk is
removed before the next: 16 times ACL is estimated to take 30 GB in ``TMPDIR``.
"""

import json
import sys
import tempfile
from pathlib import Path

from contest import ended_cpu_seconds, print_row, raw_acl, run_command
from repeated import acl_records, repeat_acl, repeat_papers

TIMES = (1, 4, 16)


def main(raw: str = "", reader: str = "acl") -> None:
    source = Path(raw) if raw else raw_acl()
    costs = {}
    for times in TIMES:
        with tempfile.TemporaryDirectory() as folder:
            costs[times], papers = build(source, reader, times, Path(folder))
        seconds, computed, peak = costs[times]
        shown = f"{seconds:,.0f} s, {computed:,.0f} s of CPU, {peak:,.0f} MiB"
        print(f"{times} times: {papers:,} papers, {shown}", flush=True)
    last, sizes = TIMES[-1], " / ".join(map(str, TIMES))
    wall, computed, peaks = (
        " / ".join(f"{each:,.0f}" for each in column)
        for column in zip(*costs.values(), strict=True)
    )
    print_row(
        f"build-corpus, {source.name}, {sizes} times: rate at {last} beside 1",
        "itself, once",
        "1, 3 GiB",
        last * costs[1][1] / costs[last][1],
        f"{computed} s of CPU; {wall} s",
        "-",
        peaks,
    )


def build(
    source: Path, reader: str, times: int, place: Path
) -> tuple[tuple[float, float, float], int]:
    """Return what a build costs and how many papers it has.

    :returns: seconds, those of all processors, and the peak in MiB; then the papers.
    """
    papers, corpus = place / "papers.jsonl", place / "corpus"
    if reader == "acl":
        repeat_acl(acl_records(source), times, papers)
    else:
        repeat_papers(source, reader, times, papers)
    read_by = reader if reader == "acl" else "jsonl"
    before = ended_cpu_seconds()
    seconds, peak = run_command(
        "build-corpus", papers, corpus, f"--reader={read_by}", "--split=random"
    )
    computed = ended_cpu_seconds() - before
    manifest = json.loads((corpus / "manifest.json").read_text(encoding="utf-8"))
    return (seconds, computed, peak), manifest["counts"]["papers"]


if __name__ == "__main__":
    main(*sys.argv[1:])
