"""Commands on a cluster of Ray: a head and two machines, which are processes of this one."""

import logging
import os
import shutil
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="ray is not installed, see tests/servers.txt")

from mpbert.cli import main  # noqa: E402
from mpbert.foundation.engines import Job, OwnProcesses  # noqa: E402
from mpbert.foundation.errors import MpbertError  # noqa: E402
from mpbert.foundation.parts import PartFiles  # noqa: E402
from mpbert.foundation.ray_engine import RayEngine  # noqa: E402

pytestmark = pytest.mark.slow
FORMATS = Path(__file__).parents[1] / "fixtures" / "formats"
NODE = {"num_cpus": 1, "object_store_memory": 80 << 20}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A head without work, and two machines of one core each."""
    from ray.cluster_utils import Cluster

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    patch.setenv("RAY_worker_niceness", "0")  # 15 is for machines that nobody else uses
    patch.setenv("RAY_memory_monitor_refresh_ms", "0")  # it would end tasks for what others hold
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    cluster = Cluster()
    try:
        try:  # each of them waits for a minute at most
            cluster.add_node(**{**NODE, "num_cpus": 0, "include_dashboard": False})
            cluster.nodes = [cluster.add_node(**NODE) for _ in range(2)]
            cluster.wait_for_nodes()
        except Exception as error:
            pytest.skip(f"no cluster of Ray starts here ({error})")
        with RayEngine(cluster.address):  # all tests are one job, which shares its processes
            yield cluster
    finally:
        cluster.shutdown()
        for number, handler in handlers.items():  # Ray has taken them
            signal.signal(number, handler)
        patch.undo()


@pytest.fixture(scope="module")
def engine(cluster):
    return "--engine=ray"


@pytest.fixture
def small_parts(monkeypatch):
    """Let a small corpus have many parts."""
    monkeypatch.setattr("mpbert.corpus.build._CHUNK", 4)
    monkeypatch.setattr("mpbert.recommending.library_tables._BLOCK", 5)
    monkeypatch.setattr("mpbert.commands.binarize.CHUNK", 40)
    monkeypatch.setattr("mpbert.commands.embed.BLOCK", 8)
    monkeypatch.setattr("mpbert.commands.retrieve.BLOCK", 3)


def contents(output):
    files = (path for path in output.rglob("*") if path.is_file() and path.name != "log.txt")
    return {path.relative_to(output): path.read_bytes() for path in files}


COMMANDS = {
    "build-corpus": ("build-corpus", "papers.jsonl", "--valid-year=2011", "--test-year=2013"),
    "binarize": ("binarize", "corpus", "--vocab-size=300", "--sentence-tokens=12"),
    "embed": ("embed", "binary", "encoder", "--device=cpu"),
    "embed, exact matches": ("embed", "binary", "index_2/encoder", "--device=cpu"),
    "retrieve, words": ("retrieve", "corpus", "--lexical=bm25", "--top=10"),
    "retrieve, vectors": ("retrieve", "corpus", "--vectors=vectors", "--top=10"),
    "index": ("index", "papers.jsonl"),
    "index, exact matches": ("index", "papers.jsonl", "--encoder=index_2/encoder"),
}


@pytest.mark.parametrize("what", COMMANDS)
def test_a_cluster_writes_the_bytes_of_one_machine(what, engine, small_parts, tmp_path, caplog):
    command, *words = COMMANDS[what]
    paths = [word if word.startswith("-") else str(FORMATS / word) for word in words]
    inputs = [path for path in paths if not path.startswith("-")]
    flags = [path for path in paths if path.startswith("-")]
    for name in ("vectors", "index_2/encoder"):
        flags = [f.replace(f"={name}", f"={FORMATS / name}") for f in flags]
    output, here = tmp_path / "out", tmp_path / "here"
    assert main([command, *inputs, str(output), *flags]) == 0
    output.rename(here)
    assert main([command, *inputs, str(output), *flags, engine]) == 0
    assert contents(output) == contents(here)
    assert {path.name for path in tmp_path.iterdir()} == {"here", "out"}
    assert any("ray: 3 machines, 2 cores" in text for text in caplog.messages)


def test_inputs_by_url_are_copied_by_each_machine(engine, small_parts, tmp_path, monkeypatch):
    at_machines = Path(os.environ["XDG_CACHE_HOME"])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    flags = ["--vocab-size=300", "--sentence-tokens=12"]
    shutil.copytree(FORMATS / "corpus", tmp_path / "store" / "corpus")
    urls = [f"file://{tmp_path}/store/{name}" for name in ("corpus", "binary")]
    assert main(["binarize", *urls, *flags, engine]) == 0
    assert main(["binarize", str(FORMATS / "corpus"), str(tmp_path / "binary"), *flags]) == 0
    found, expected = (contents(tmp_path / name) for name in ("store/binary", "binary"))
    assert {k: v for k, v in found.items() if k.suffix == ".npy"} == {
        k: v for k, v in expected.items() if k.suffix == ".npy"
    }
    assert list(at_machines.rglob("sentences.parquet"))


def test_what_is_wrong_with_a_record_is_said_as_on_one_machine(engine, tmp_path, capsys):
    lines = (FORMATS / "papers.jsonl").read_text().splitlines()
    papers = tmp_path / "papers.jsonl"
    papers.write_text("\n".join([*lines[:20], lines[20][:-9]]) + "\n")
    words = ["build-corpus", str(papers), str(tmp_path / "out"), "--split=random"]
    said = []
    for more in ([], [engine]):
        assert main([*words, *more]) == 2
        said.append(capsys.readouterr().err.splitlines()[-1])
    assert said[0] == said[1] and "papers.jsonl:21" in said[0]
    assert [path.name for path in tmp_path.iterdir()] == ["papers.jsonl"]


def test_an_address_without_a_cluster_is_refused_in_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    words = ["binarize", str(FORMATS / "corpus"), str(tmp_path / "out"), "--vocab-size=300"]
    assert main([*words, "--engine=ray://127.0.0.1:9"]) == 2
    said = capsys.readouterr().err
    assert "--engine ray://127.0.0.1:9: found no cluster (" in said.splitlines()[-1]


@dataclass(frozen=True)
class Squares(Job):
    """Squares of numbers; each notes in a folder that it began, and where.

    :param slow: seconds of each.
    :param killer: the number whose process dies, the first time.
    """

    folder: Path
    slow: float = 0.0
    killer: int = -1

    def open(self):
        def make(number):
            node = ray.get_runtime_context().get_node_id()
            (self.folder / f"{number}.{node}.{time.monotonic_ns()}").touch()
            if number == self.killer and self.times(number) == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(self.slow)
            return {"square": np.array(number**2)}

        return make

    def times(self, number):
        return len(list(self.folder.glob(f"{number}.*")))


def squares(results):
    return [int(part["square"]) for part in results]


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def test_a_killed_process_costs_the_task_that_it_ran(cluster, notes):
    work = Squares(notes, killer=5)
    with RayEngine(cluster.address) as engine:
        assert squares(engine.results(work, range(20), None)) == [n**2 for n in range(20)]
    assert [work.times(number) for number in range(20)] == [1 + (n == 5) for n in range(20)]


def test_a_run_on_a_cluster_is_ended_by_processes_of_this_machine(cluster, notes, tmp_path):
    parts = PartFiles(tmp_path, "squares")
    with RayEngine(cluster.address) as engine:
        results = engine.results(Squares(notes), range(30), parts)
        assert squares(next(results) for _ in range(4)) == [0, 1, 4, 9]
        results.close()

    @dataclass(frozen=True)
    class Here(Job):
        def open(self):
            return lambda number: made.append(number) or {"square": np.array(number**2)}

    made, there = [], {place for place in range(30) if parts.has(place)}
    assert squares(OwnProcesses().results(Here(), range(30), parts)) == [n**2 for n in range(30)]
    assert made == [place for place in range(30) if place not in there]
    assert 4 <= len(there) < 30


def test_no_more_waits_than_a_few_tasks_a_core(cluster, notes):
    taken = []
    items = (taken.append(number) or number for number in range(1000))
    with RayEngine(cluster.address) as engine:
        results = engine.results(Squares(notes, slow=0.05), items, None)
        next(results)
        assert len(taken) < 20
        results.close()


def test_an_input_that_a_machine_lacks_is_named_in_one_line(cluster, tmp_path):
    with (
        RayEngine(cluster.address) as engine,
        pytest.raises(MpbertError, match=r"lacking: found nothing on machine \S+; expected a path"),
    ):
        list(engine.results(Squares(tmp_path / "lacking"), range(3), None))


def test_a_lost_machine_costs_the_tasks_that_it_ran(cluster, notes, caplog):
    """The last test: a machine is gone for good."""
    caplog.set_level(logging.INFO)
    work, found, lost_at = Squares(notes, slow=0.2), [], []

    def numbers():
        """All, until fifty were made after the loss."""
        number = 0
        while not lost_at or number < lost_at[0] + 50:
            assert number < 1000, "one machine never worked"
            yield number
            number += 1

    with RayEngine(cluster.address) as engine:
        for part in engine.results(work, numbers(), None):
            found.append(int(part["square"]))
            machines = {path.name.split(".")[1] for path in notes.iterdir()}
            if len(machines) == 2 and not lost_at:
                cluster.remove_node(cluster.nodes[0])
                lost_at.append(len(found))
    assert found == [n**2 for n in range(len(found))] and len(found) >= lost_at[0] + 50
    begun = [work.times(number) for number in range(len(found))]
    assert min(begun) == 1 and sum(begun) - len(found) <= 2
    assert any("ray: 2 machines, 1 cores" in text for text in caplog.messages)
