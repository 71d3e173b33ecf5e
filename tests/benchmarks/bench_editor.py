"""What a language server costs: seconds of a completion, and memory.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_editor.py INDEX MANUSCRIPT``, a file in
LaTeX. It types into a citation in the middle of the file, letter by letter, and asks after each.
"""

import asyncio
import os
import statistics
import sys
import time
from pathlib import Path

from mpbert.recommending.recommender import Recommender
from tests.serving.editing import Editor

SENTENCE = "\n\nWe translate with statistical phrase models \\cite{"
TYPED = ("koehn 2003", "parsing", "zhang", "2010", "translation models")


async def main(index: Path, file: Path) -> None:
    editor = await Editor().start(index)
    papers = len(Recommender(index))
    text = file.read_text(encoding="utf-8")
    uri = editor.open(file)
    place = text.index("\n\n", len(text) // 2)
    seconds, used = [], [_processor_seconds(editor.client._server.pid)]
    for word in ("", *TYPED):
        for length in range(len(word) + 1):
            before = text[:place] + SENTENCE + word[:length]
            editor.write(uri, before + "}" + text[place:])
            start = time.perf_counter()
            found = await editor.complete(uri, len(before))
            seconds.append(time.perf_counter() - start)
            used.append(_processor_seconds(editor.client._server.pid))
    print(f"index of {papers:,} papers, manuscript of {len(text):,} characters")
    first, *later = (1000 * each for each in seconds)
    print(f"first completion: {first:.0f} ms, of {len(found)} papers")
    print(f"{len(later)} later ones: median {statistics.median(later):.0f} ms, ", end="")
    print(f"95 of 100 within {statistics.quantiles(later, n=20)[-1]:.0f} ms")
    processor = 1000 * (used[-1] - used[1]) / len(later)
    print(f"of a core the server took {processor:.0f} ms for each")
    pid = editor.client._server.pid
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    size = {
        name: int(rest.split()[0]) // 1024 for name, rest in (e.split(":", 1) for e in lines[1:])
    }
    print(f"memory: {size['Pss_Anon']} MB of its own, {size['Rss']} MB with the mapped index")
    await editor.stop()


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()))
