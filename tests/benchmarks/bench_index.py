"""The index of made abstracts by each engine: one and the same, also where a machine is killed.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_index.py [papers]``; 20,000 by default
(some minutes). It needs ``pip install 'mpbert[ray]'``. Abstracts are those of ``bench_library.py``,
clusters those of ``bench_ray.py``; of two machines one is killed when half of the blocks are made.
Seconds are those of the processor, of the command and its own processes: tasks of Ray are not among
them. Memory is that of the largest of these.
"""

import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench_library import write_papers
from bench_ray import SHAPES, machines
from contest import ended_cpu_seconds, print_row, run_command

from mpbert.recommending.library_tables import _BLOCK

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster


def main(papers: str = "20000") -> None:
    """Print a row for each engine."""
    with tempfile.TemporaryDirectory() as folder:
        place, what, half = Path(folder), f"index: {int(papers):,} abstracts", int(papers) // 2
        write_papers(place / "papers.json", int(papers), 0)
        _measure(f"{what}, processes", place, "processes")
        for shape, cores in SHAPES.items():
            with machines(cores) as made:
                if len(cores) > 1:
                    about = made, place, half // _BLOCK
                    threading.Thread(target=_kill_one, args=about, daemon=True).start()
                _measure(f"{what}, Ray, {shape}", place, f"ray://{made.address}")


def _kill_one(made: "Cluster", place: Path, number: int) -> None:
    """Kill a machine when so many blocks are made."""
    while (there := len(list(place.glob(".index.mpbert-parts/blocks.*.npz")))) < number:
        time.sleep(0.2)
    made.remove_node(next(iter(made.worker_nodes)))
    print(f"a machine was killed when {there} blocks were made", flush=True)


def _measure(what: str, place: Path, engine: str) -> None:
    """Print the row of an index; check that it is the first one, if there is one."""
    before, index, first = ended_cpu_seconds(), place / "index", place / "first"
    _, peak = run_command("index", place / "papers.json", index, f"--engine={engine}")
    print_row(what, "-", "-", "-", f"{ended_cpu_seconds() - before:.2f} s", "-", f"{peak:,.0f}")
    if not first.exists():
        index.rename(first)
        return
    for made in sorted((first / "data.1").iterdir()):
        if made.read_bytes() != (index / "data.1" / made.name).read_bytes():
            raise SystemExit(f"{what}: {made.name} is another one than by processes")
    shutil.rmtree(index)


if __name__ == "__main__":
    main(*sys.argv[1:])
