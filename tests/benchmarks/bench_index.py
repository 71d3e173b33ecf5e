"""The index of made abstracts by each engine: one and the same, also where a machine is killed.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_index.py [papers] [shape...]``; 20,000
by default (some minutes), and each shape of ``bench_ray.py``; ``pip install 'mpbert[ray]'`` before.
Abstracts are those of ``bench_library.py``; of two machines one is killed when half of the blocks
are made. Seconds are those of the processor, of the command and its own processes; memory is that
of the largest of these. A line says both of the tasks of Ray.
"""

import os
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

_TICK = os.sysconf("SC_CLK_TCK")


def main(papers: str = "20000", *shapes: str) -> None:
    """Print a row for each engine."""
    with tempfile.TemporaryDirectory() as folder:
        place, what, half = Path(folder), f"index: {int(papers):,} abstracts", int(papers) // 2
        write_papers(place / "papers.json", int(papers), 0)
        _measure(f"{what}, processes", place, "processes")
        for shape in shapes or SHAPES:
            with machines(SHAPES[shape]) as made:
                tasks = _Tasks()
                if len(SHAPES[shape]) > 1:
                    about = made, place, half // _BLOCK
                    threading.Thread(target=_kill_one, args=about, daemon=True).start()
                _measure(f"{what}, Ray, {shape}", place, f"ray://{made.address}")
                print(f"{shape}: {tasks.told()}", flush=True)


class _Tasks(threading.Thread):
    """Looks each second at what processes of tasks, below machines that we started, have taken."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._seconds: dict[str, float] = {}
        self._mib: dict[str, int] = {}
        self.start()

    def run(self) -> None:
        while True:
            for folder in Path("/proc").glob("[0-9]*"):
                try:
                    if (folder / "cmdline").read_bytes().startswith((b"ray::_make", b"ray::IDLE")):
                        self._look(folder)
                except (OSError, IndexError):
                    continue  # it has ended
            time.sleep(1)

    def _look(self, folder: Path) -> None:
        stat = (folder / "stat").read_text().rpartition(")")[2].split()
        machine = Path(f"/proc/{stat[1]}/stat").read_text().rpartition(")")[2].split()
        if int(machine[1]) == os.getpid():
            self._seconds[folder.name] = sum(map(int, stat[11:13])) / _TICK
            held = (folder / "status").read_text().partition("VmHWM:")[2].split()
            self._mib[folder.name] = int(held[0]) // 1024

    def told(self) -> str:
        """Say what all have taken, and the most that one has held."""
        return f"tasks took {sum(self._seconds.values()):.2f} s, {max(self._mib.values()):,} MiB"


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
    print(f"{what}: the same bytes as by processes", flush=True)
    shutil.rmtree(index)


if __name__ == "__main__":
    main(*sys.argv[1:])
