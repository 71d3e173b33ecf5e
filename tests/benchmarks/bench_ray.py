"""The same work by tasks of Ray and by processes of our own: papers of 593 RFCs, in processor time.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_ray.py [rounds]`` (about 5 minutes). It
needs ``pip install 'mpbert[ray]'``. Clusters are of one machine with two cores, and of a head and
two machines with one core each, all of them processes here. What starting a cluster costs is
printed apart. Processor time is that of this process and all that it started, Ray's own among them.
Where RAW_ACL names it, the ACL Anthology is read, too, once each way (about 6 minutes more).

Then commands on two machines: what of their time is that of the process of the command itself,
which no further machine makes shorter.
"""

import importlib.util
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from contest import print_row, raw_acl

from mpbert.cli import main as main_of_mpbert
from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.build import iter_clean_papers
from mpbert.corpus.formats.base import READERS
from mpbert.foundation.engines import Engine, OwnProcesses
from mpbert.foundation.parts import PartFiles
from mpbert.foundation.ray_engine import RayEngine
from mpbert.model.config import Configuration, ModelConfig
from mpbert.model.description import EncoderDescription
from mpbert.model.directory import save_encoder
from mpbert.model.encoder import TwoTower

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

RFC = Path("datasets/rfc/rfc-593.tar.xz")
CORES = 2
SHAPES = {"one machine": (CORES,), "two machines": (0, 1, 1)}  # cores of the head and the others
_TICK = os.sysconf("SC_CLK_TCK")


def main(rounds: str = "3") -> None:
    if importlib.util.find_spec("ray") is None:
        raise SystemExit("ray is not installed: pip install 'mpbert[ray]'")
    for shape, cores in SHAPES.items():
        before = cpu_seconds()
        with cluster(cores) as engine:
            read(engine)  # starts the processes of Ray
            print(f"{shape}: {cpu_seconds() - before:.1f} s to start and to read once")
            compare(shape, engine, RFC, "rfc", int(rounds))
            if os.environ.get("RAW_ACL") and shape == "one machine":
                compare(shape, engine, raw_acl(), "acl", rounds=1)
    with cluster(SHAPES["two machines"]):
        commands()


def compare(shape: str, engine: RayEngine, source: Path, reader: str, rounds: int) -> None:
    """Print the row of a corpus, read by Ray and by our own processes in turn."""
    times: dict[str, list[float]] = {"ray": [], "own": []}
    for _ in range(rounds):
        for name, each in (("own", OwnProcesses(CORES)), ("ray", engine)):
            before = cpu_seconds()
            read(each, source, reader)
            times[name].append(cpu_seconds() - before)
    ours, theirs = (sorted(times[name])[len(times[name]) // 2] for name in ("ray", "own"))
    what = f"papers of {source.name} by Ray, {shape}, processor time"
    shown = f"{ours:.3g} s", f"{theirs:.3g} s"
    print_row(what, f"{CORES} own processes", ">= 0.87", theirs / ours, *shown, "-")


def commands() -> None:
    """Run commands one after another, each on what the one before has written."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        words = {
            "build-corpus": (RFC, place / "corpus", "--reader=rfc"),
            "binarize": (place / "corpus", place / "binary", "--vocab-size=8000"),
            "embed": (place / "binary", place / "encoder", place / "vectors", "--device=cpu"),
            "retrieve": (place / "corpus", place / "runs", f"--vectors={place / 'vectors'}"),
        }
        for command, arguments in words.items():
            if command == "embed":
                write_encoder(place / "binary", place / "encoder")
            before, own = cpu_seconds(), time.process_time()
            if main_of_mpbert([command, *map(str, arguments), "--engine=ray"]):
                raise SystemExit(f"{command} failed")
            own, whole = time.process_time() - own, cpu_seconds() - before
            shown = f"{own:.3g} s", f"{whole:.3g} s"
            what = f"{command}, {RFC.name}, by Ray: processor time of the command itself"
            print_row(what, "all of it", "-", f"{own / whole:.0%}", *shown, "-")


def write_encoder(binary: Path, output: Path) -> None:
    """Write an encoder of configuration ``tiny`` with random weights: speed is the same."""
    torch.manual_seed(1)
    config = ModelConfig(BinaryCorpus(binary).vocab_size, 128, 512, 4, 2, 1, 0, 0.0, 0.0, 0.0)
    output.mkdir()
    description = EncoderDescription("two-tower", Configuration(config))
    save_encoder(output, description, TwoTower(config).state_dict(), binary / "tokenizer.json")


def read(engine: Engine, source: Path = RFC, reader: str = "rfc") -> int:
    """Clean all papers, keeping parts as a command does."""
    with tempfile.TemporaryDirectory() as folder:
        parts = PartFiles(Path(folder), "papers")
        papers = iter_clean_papers(READERS[reader](), source, engine, Counter(), parts=parts)
        return sum(1 for _ in papers)


@contextmanager
def cluster(cores: tuple[int, ...]) -> Iterator[RayEngine]:
    """Start machines, and connect this process to them."""
    with machines(cores) as made, RayEngine(made.address) as engine:
        yield engine


@contextmanager
def machines(cores: tuple[int, ...]) -> "Iterator[Cluster]":
    """Start a head and other machines of so many cores; end them after the block."""
    from ray.cluster_utils import Cluster

    os.environ.setdefault("RAY_worker_niceness", "0")  # as our own processes
    node = {"object_store_memory": 80 << 20}
    head = {**node, "num_cpus": cores[0], "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    try:
        for number in cores[1:]:
            made.add_node(num_cpus=number, **node)
        made.wait_for_nodes()
        yield made
    finally:
        made.shutdown()


def cpu_seconds() -> float:
    """Return the processor time of this process and of all that it started, ended ones too."""
    children: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue
        if fields and folder.name.isdigit():
            children.setdefault(int(fields[1]), []).append(int(folder.name))
            spent[int(folder.name)] = sum(map(int, fields[11:15])) / _TICK
    total, waiting = 0.0, [os.getpid()]
    while waiting:
        number = waiting.pop()
        total += spent.get(number, 0.0)
        waiting += children.get(number, [])
    return total


if __name__ == "__main__":
    main(*sys.argv[1:])
