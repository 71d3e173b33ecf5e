"""Parts of an output, made by processes of this machine."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.foundation import engines
from mpbert.foundation.engines import Job, OwnProcesses
from mpbert.foundation.errors import CorpusError, FullMemoryError, MpbertError
from mpbert.foundation.objects import place_here, shared_place
from mpbert.foundation.parts import parts_of


@dataclass(frozen=True)
class Squares(Job):
    """Squares of numbers; each time it works or is opened, it leaves a file in a folder."""

    folder: Path

    def open(self):
        self._note("opened")

        def make(number):
            self._note(str(number))
            if number < 0:
                raise CorpusError(f"{number} is negative")
            return {"square": np.array(number**2), "process": np.array(os.getpid())}

        return make

    def _note(self, what):
        (self.folder / f"{what}.{len(os.listdir(self.folder))}").touch()

    def times(self, what):
        return len(list(self.folder.glob(f"{what}.*")))


def squares(results):
    return [int(part["square"]) for part in results]


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    return Squares(folder)


@pytest.fixture
def parts(tmp_path):
    return parts_of(tmp_path / "output", "squares", "command", Squares(tmp_path), [])


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("are_kept", [True, False])
def test_results_come_in_the_order_of_the_items(work, parts, processes, are_kept, monkeypatch):
    monkeypatch.setattr(engines, "_has_threads", lambda: False)  # other tests may have left some
    engine = OwnProcesses(processes)
    found = list(engine.results(work, iter(range(40)), parts if are_kept else None))
    assert squares(found) == [n**2 for n in range(40)]
    assert ({int(part["process"]) for part in found} == {os.getpid()}) == (processes == 1)
    assert work.times("opened") == 1


def test_a_run_that_ended_goes_on_with_the_parts_that_are_there(work, parts, tmp_path):
    results = OwnProcesses().results(work, range(10), parts)
    assert squares(next(results) for _ in range(6)) == [0, 1, 4, 9, 16, 25]
    results.close()
    damaged = sorted(parts.folder.glob("*.npz"))[2]
    damaged.write_bytes(damaged.read_bytes()[:-9])
    again = parts_of(tmp_path / "output", "squares", "command", Squares(tmp_path), [])
    assert squares(OwnProcesses().results(work, range(10), again)) == [n**2 for n in range(10)]
    assert [work.times(number) for number in range(10)] == [1, 1, 2, 1, 1, 1, 1, 1, 1, 1]


def test_parts_of_another_input_are_thrown_away(work, parts, tmp_path):
    parts.save(0, {"square": np.array(99)})
    (tmp_path / "input").write_text("another")
    made_of = "squares", "command", Squares(tmp_path), [tmp_path / "input"]
    other = parts_of(tmp_path / "output", *made_of)
    assert squares(OwnProcesses().results(work, [3], other)) == [9]


def test_a_part_has_one_name_only_when_it_is_whole(parts, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    def save_on_a_full_disk():
        with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
            patch.setattr(np, "savez", full)
            parts.save(0, {"a": np.arange(3)})
        assert not parts.has(0)

    parts.save(1, {"a": np.arange(3)})
    save_on_a_full_disk()
    left = sorted(path.name for path in parts.folder.iterdir())
    assert left == ["of.txt", "squares.000001.npz"]
    (parts.folder / left[1]).unlink()
    save_on_a_full_disk()
    assert not parts.folder.exists()  # there is nothing to go on with


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_of_the_work_is_that_of_the_run(work, parts, processes):
    results = OwnProcesses(processes).results(work, [1, 2, -3, 4], parts)
    with pytest.raises(CorpusError, match="-3 is negative"):
        list(results)


@dataclass(frozen=True)
class Deadly(Job):
    """Kills the process that makes an item."""

    def open(self):
        return lambda number: os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_is_killed_ends_the_run_in_one_line(number, monkeypatch):
    monkeypatch.setattr(engines, "_has_threads", lambda: False)
    others = set(multiprocessing.active_children())
    with pytest.raises(FullMemoryError, match="a process of this command was killed"):
        list(OwnProcesses(2).results(Deadly(), [0, number, 0], None))
    assert set(multiprocessing.active_children()) <= others


class Slow(Squares):
    """Takes five seconds for each number but 0."""

    def open(self):
        make = super().open()

        def slowly(number):
            time.sleep(5 * (number > 0))
            return make(number)

        return slowly


_TOKENISE = """
from dataclasses import dataclass
import numpy as np
from mpbert.corpus.subwords import TextTokenizer, train_tokenizer
from mpbert.foundation.engines import Job, OwnProcesses

@dataclass(frozen=True)
class Tokenise(Job):
    def open(self):
        tokenizer = TextTokenizer(TOKENIZER, 9)
        return lambda texts: {"ids": tokenizer(texts)[0]}

texts = [f"word{i} é{i}" for i in range(999)]
TOKENIZER = train_tokenizer(lambda: texts, 300, len(texts))
here = Tokenise().open()(texts)["ids"]  # the library starts its threads
[there] = OwnProcesses(2).results(Tokenise(), [texts], None)
print((there["ids"] == here).all())
"""


def test_processes_tokenise_though_their_parent_did_with_threads():
    environment = {**os.environ, "RAYON_NUM_THREADS": "2"}
    words = [sys.executable, "-c", _TOKENISE]
    ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.stdout == "True\n"


def test_a_caller_who_needs_no_more_waits_for_no_process(work, monkeypatch):
    monkeypatch.setattr(engines, "_has_threads", lambda: False)
    others = set(multiprocessing.active_children())
    items = iter(range(99))
    results = OwnProcesses(2).results(Slow(work.folder), items, None)
    assert squares([next(results)]) == [0]
    assert next(items) < 10  # they are taken as they are needed
    results.close()
    assert set(multiprocessing.active_children()) <= others
    assert work.times("1") == 0


def test_the_same_work_on_other_items_is_not_opened_again(work):
    engine = OwnProcesses()
    list(engine.results(work, [1], None))
    list(engine.results(Squares(work.folder), [2], None))
    assert work.times("opened") == 1


def test_an_input_is_found_by_its_path_or_url(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "input").write_text("content")
    place = shared_place(tmp_path / "input")
    assert place_here(place, "here") == tmp_path / "input"
    copy = place_here(f"file:/{tmp_path}/input", "here")
    assert copy.read_text() == "content" and copy.is_relative_to(tmp_path / "cache")
    assert shared_place(copy) == f"file://{tmp_path}/input"
    with pytest.raises(MpbertError, match="absent: found nothing on machine there; expected a pa"):
        place_here(str(tmp_path / "absent"), "there")


@pytest.mark.parametrize("name", ["rya", "ray://", "ray://head", "http://a:1", ""])
def test_an_unknown_engine_is_refused_in_one_line(name, tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["binarize", str(tmp_path), str(tmp_path / "out"), f"--engine={name}"])
    assert stopped.value.code == 2
    assert "expected processes, ray or ray://HOST:PORT" in capsys.readouterr().err
