"""Faults of a large library: kills, a full disk, two at once, readers meanwhile, damaged files.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_faults.py [papers] [kills] [seconds]
[FAULT...]``; 100,000 papers, 20 kills of each command and 60 seconds of readers by default, all
faults unless some are named. The papers are those of ``bench_library.py``. A small disk is a tmpfs,
which needs root. Moments of kills are even shares of the processor time of the undisturbed command.
Three starts in four go on from what a kill left and are killed, too; the fourth goes on to its end.
A row says how often what held; the first thing that does not hold ends the run.
"""

import hashlib
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
import numpy as np
import psutil
from bench_library import ADDED, write_papers
from contest import print_row

from mpbert.foundation.checksums import LARGE
from mpbert.foundation.errors import MpbertError
from mpbert.recommending.recommender import Recommender

QUESTION = "Stareadi pepaiku kulekaiga tritretu dai rojaigai."
READERS, PORT = 8, 8799
OTHERS = "log.txt", "config.yaml"
Process = subprocess.Popen[str]


def begun(*words: object) -> Process:
    """Start ``mpbert`` in a session of its own."""
    command = [sys.executable, "-m", "mpbert", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(command, text=True, start_new_session=True, **pipes)


def ended(
    process: Process,
    after: float = np.inf,
    number: int = signal.SIGKILL,
    is_done: Callable[[], bool] = lambda: False,
) -> tuple[int, str, float]:
    """Return exit code, what was printed, and seconds of the processor.

    :param after: seconds of the processor after which all processes get a signal, ``number``.
    :param is_done: whether a process that goes on for ever has done its work; SIGTERM ends it.
    """
    spent, known = 0.0, psutil.Process(process.pid)
    while process.poll() is None:
        try:
            each = [known, *known.children(recursive=True)]
            spent = sum(sum(one.cpu_times()[:4]) for one in each)  # and of children that ended
        except psutil.NoSuchProcess:
            continue
        if spent >= after:
            os.killpg(process.pid, number)
            break
        if is_done():
            process.terminate()
            break
        time.sleep(0.005)
    said = process.communicate()[0]
    return process.returncode, said, spent


def done(*words: object) -> float:
    """Run ``mpbert`` to its end; return its seconds of the processor."""
    code, said, spent = ended(begun(*words))
    assert code == 0, said
    return spent


def line_of(code: int, said: str, expected: int) -> str:
    """Return the one line with which a command ended with this code."""
    lines = [line for line in said.splitlines() if line.startswith("mpbert ")]
    assert code == expected and len(lines) == 1 and "Traceback" not in said, (code, said)
    return lines[0]


def answer(index: Path) -> bytes:
    """Return what an index answers, to the digit."""
    return repr(list(Recommender(index).recommend(QUESTION))).encode()


def contents(folder: Path) -> dict[str, str]:
    """Return the checksums of all files of an index but its log, and the name that it was given."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in OTHERS]
    sums = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    return {path.relative_to(folder).as_posix(): found for path, found in sums.items()}


def linked(source: Path, target: Path) -> Path:
    """Return a copy of an index whose files are links: commands write new ones."""
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(source, target, copy_function=os.link))


class Faults:
    """Papers, an index of them, ``before``, and one with more papers, ``after``."""

    def __init__(self, place: Path, papers: int, kills: int, seconds: float) -> None:
        self.papers, self.kills, self.seconds = papers, kills, seconds
        self.library, self.more, self.all = (place / f"{n}.json" for n in ("one", "more", "all"))
        write_papers(self.library, papers, 0)
        write_papers(self.more, min(ADDED, papers // 10), papers)
        self.before, self.after, self.index = (place / n for n in ("before", "after", "an index"))
        self.index_seconds = done("index", self.library, self.before)
        linked(self.before, self.after)
        self.add_seconds = done("add", self.after, self.more)
        self.was, self.is_now = contents(self.before), contents(self.after)
        self.answers = answer(self.before), answer(self.after)
        assert self.answers[0] != self.answers[1]

    def row(self, what: str, held: str, found: str) -> None:
        """Print a row of the table."""
        print_row(f"{what}, {self.papers:,} papers", "-", held, "-", found, "-", "-")

    def check(self, expected: dict[str, str], index: Path | None = None) -> None:
        """Check that an index has these bytes, and that nothing is left beside it."""
        index = index or self.index
        found = contents(index)
        assert found == expected, found.items() ^ expected.items()
        assert not list(index.parent.glob(f".{index.name}.mpbert-*"))

    def answers_as_before_or_after(self) -> None:
        """Check the answer of an index in whose midst a change was stopped."""
        assert answer(self.index) in self.answers

    def killed(
        self,
        what: str,
        words: list[object],
        seconds: float,
        expected: dict[str, str],
        prepare: Callable[[], object],
        between: Callable[[], object],
        number: int = signal.SIGKILL,
        is_done: Callable[[], bool] = lambda: False,
    ) -> None:
        """Stop a command again and again, and let each fourth start go on to its end."""
        prepare()
        stopped = ends = 0
        for turn in range(self.kills):
            moment = (turn + 0.5) / self.kills * seconds
            code, said, _ = ended(begun(*words), moment, number, is_done)
            has_ended = code == 0 or is_done()  # SIGTERM may come before it is heard
            assert has_ended or code in (-number, 143), (code, said)
            if number == signal.SIGTERM and code > 0:
                line_of(code, said, 143)
                assert len(list(self.index.glob("data.*"))) == 1
            stopped += not has_ended
            between()
            if has_ended or turn % 4 == 3:
                code, said, _ = ended(begun(*words), is_done=is_done)
                assert code == 0 or is_done(), said
                self.check(expected)
                ends += 1
                prepare()
        held = "answers as before or after; then the bytes of an undisturbed run, nothing left"
        self.row(what, held, f"{stopped} times stopped, {ends} times run to its end")

    def kill_index(self) -> None:
        """Kill ``index``."""

        def absent_or_whole() -> None:
            assert not self.index.exists() or contents(self.index) == self.was

        words = ["index", self.library, self.index]
        self.killed(
            *("kill -9 of index", words, self.index_seconds, self.was),
            *(lambda: shutil.rmtree(self.index, ignore_errors=True), absent_or_whole),
        )

    def kill_add(self, what: str = "kill -9 of add", number: int = signal.SIGKILL) -> None:
        """Kill ``add``."""
        self.killed(
            *(what, ["add", self.index, self.more], self.add_seconds, self.is_now),
            *(lambda: linked(self.before, self.index), self.answers_as_before_or_after, number),
        )

    def terminate_add(self) -> None:
        """End ``add`` by SIGTERM."""
        self.kill_add("SIGTERM to add", signal.SIGTERM)

    def _followed(self) -> tuple[list[object], Callable[[], object]]:
        """Return a command that follows the library, which has grown, and what prepares it."""
        noted, words = self.before.with_name("noted"), ["watch", self.all, self.index]
        linked(self.before, self.index)
        shutil.copy(self.library, self.all)
        code, said, _ = ended(begun(*words), is_done=(self.index / "followed.json").exists)
        assert code == 0, said
        linked(self.index, noted)
        with self.all.open("ab") as file:
            file.write(self.more.read_bytes())
        return words, lambda: linked(noted, self.index)

    def _is_noted(self) -> bool:
        text = self.before.with_name("noted") / "followed.json"
        return (self.index / "followed.json").read_bytes() != text.read_bytes()

    def kill_watch(self) -> None:
        """Kill ``watch`` while it brings what is new in its library into the index."""
        words, prepare = self._followed()
        prepare()
        _, said, seconds = ended(begun(*words), is_done=self._is_noted)
        assert "stopped" in said, said
        assert answer(self.index) == self.answers[1]
        self.killed(
            *("kill -9 of watch", words, seconds, contents(self.index)),
            *(prepare, self.answers_as_before_or_after),
            is_done=self._is_noted,
        )

    def kill_serve(self) -> None:
        """Kill ``serve`` while it is asked, and start it again at the same port."""
        linked(self.before, self.index)
        address, found, lost = f"http://127.0.0.1:{PORT}/api/recommend", [], []
        words, stopped = ["serve", self.index, "--port", PORT], threading.Event()

        def ask() -> None:
            while not stopped.is_set():
                try:
                    reply = httpx2.post(address, json={"text": QUESTION}, timeout=60)
                    reply.raise_for_status()
                    found.append(str(reply.json()["papers"]))
                except (httpx2.ConnectError, httpx2.RemoteProtocolError, httpx2.ReadError) as error:
                    lost.append(type(error).__name__)
                    time.sleep(0.01)

        asker = threading.Thread(target=ask)
        asker.start()
        _, _, seconds = ended(begun(*words), is_done=lambda: len(found) > 20)
        for turn in range(self.kills):
            code, said, _ = ended(begun(*words), (turn + 0.5) / self.kills * seconds)
            assert code == -signal.SIGKILL, said
        many = len(found) + 20
        code, said, _ = ended(begun(*words), is_done=lambda: len(found) > many)
        stopped.set()
        asker.join()
        assert code == 0 and len(set(found)) == 1, (said, len(set(found)))
        self.check(self.was)
        held = "starts again at its port; each answer is whole and the same"
        self.row("kill -9 of serve", held, f"{self.kills} times killed, {len(found):,} answers")

    def full_disk(self) -> None:
        """Let ``index`` and ``add`` run on a disk that is too small, until it grows."""
        kept = sum(path.stat().st_size for path in self.before.rglob("*") if path.is_file())
        disk = self.before.with_name("disk")
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], check=True)
        try:
            index, lines = disk / "index", []

            def resize(share: float) -> None:
                size = f"remount,size={int(share * kept)}"
                subprocess.run(["mount", "-o", size, disk], check=True)

            for share in (0.1, 0.6, 0.95):
                resize(share)
                code, said, _ = ended(begun("index", self.library, index))
                lines.append(line_of(code, said, 2))
                assert not index.exists()
            resize(4)
            done("index", self.library, index)
            self.check(self.was, index)
            for share in (1.1, 1.3, 1.5):  # long texts stay where they lie
                resize(share)
                code, said, _ = ended(begun("add", index, self.more))
                lines.append(line_of(code, said, 2))
                self.check(self.was, index)
            resize(4)
            done("add", index, self.more)
            self.check(self.is_now, index)
        finally:
            subprocess.run(["umount", "-l", disk], check=True)
        assert all("No space left" in line and "MB are free" in line for line in lines)
        held = "one line, exit 2, an index as it was; with space, the bytes of an undisturbed run"
        self.row("full disk under index and add", held, f"{len(lines)} of {len(lines)}")

    def two_adds(self) -> None:
        """Let two ``add`` begin at once, each with half of the papers."""
        lines = self.more.read_text().splitlines(keepends=True)
        halves = [self.more.with_name(f"half-{n}.json") for n in range(2)]
        for n, half in enumerate(halves):
            half.write_text("".join(lines[n::2]))
        waited, turns = 0, max(self.kills // 4, 1)
        for _ in range(turns):
            linked(self.before, self.index)
            both = [begun("add", self.index, half) for half in halves]
            printed = [process.communicate()[0] for process in both]
            for process, half, said in zip(both, halves, printed, strict=True):
                if process.returncode:
                    assert "another process is writing it" in line_of(process.returncode, said, 2)
                    done("add", self.index, half)
                    waited += 1
            assert answer(self.index) == self.answers[1]
            (data,) = self.index.glob("data.*")
            assert contents(data) == contents(self.after / "data.2")
        held = "both are added, or one is refused in a line and added then; the bytes of one add"
        self.row("two add at once", held, f"{turns} of {turns}, {waited} refused")

    def readers(self) -> None:
        """Let processes open and ask an index while it is changed, and while a link is set."""
        paper_ids = set(Recommender(self.after).paper_ids) - set(Recommender(self.before).paper_ids)
        link = self.index.with_name("link")

        def change() -> None:
            done("add", self.index, self.more)
            done("remove", self.index, *sorted(paper_ids))

        def swap() -> None:
            for target in (self.after, self.before):
                new = link.with_name("new link")
                new.symlink_to(target)
                new.replace(link)
                time.sleep(0.05)

        linked(self.before, self.index)
        link.symlink_to(self.before)
        context = multiprocessing.get_context("fork")
        for what, index, act in (
            ("while add and remove change it", self.index, change),
            ("by a link that is set to another", link, swap),
        ):
            stop, counts = context.Event(), context.Array("q", [0, 0])
            each = [
                context.Process(target=_read, args=(index, self.answers, stop, counts))
                for _ in range(READERS)
            ]
            for reader in each:
                reader.start()
            end, times = time.monotonic() + self.seconds, 0
            while time.monotonic() < end:
                act()
                times += 1
            stop.set()
            for reader in each:
                reader.join()
            assert [reader.exitcode for reader in each] == [0] * READERS
            found = f"{counts[0]:,} answers as before, {counts[1]:,} as after; {2 * times} changes"
            held = "each opens it and answers as before or after"
            self.row(f"{READERS} processes read {what}, {self.seconds:.0f} s", held, found)

    def damage(self) -> None:
        """Cut each file of an index short, and flip a bit in it."""
        refused = checked = 0
        rng = np.random.default_rng(1)
        linked(self.after, self.index)
        for path in sorted(path for path in self.index.rglob("*") if path.is_file()):
            whole = path.read_bytes()
            if path.name in OTHERS:
                continue
            flipped = bytearray(whole)
            flipped[int(rng.integers(len(whole)))] ^= 1 << int(rng.integers(8))
            for damaged in (whole[: len(whole) // 2], whole[:-1], bytes(flipped)):
                path.unlink()
                path.write_bytes(damaged)
                try:
                    answer(self.index)
                    assert len(whole) > LARGE and len(damaged) == len(whole), path
                    code, said, _ = ended(begun("check", self.index))
                    assert path.name in line_of(code, said, 2)
                    checked += 1
                except MpbertError as error:
                    assert "\n" not in str(error)
                    refused += 1
            path.unlink()
            path.write_bytes(whole)
        assert answer(self.index) == self.answers[1]
        found = f"{refused} refused; {checked} in larger files, found by check"
        held = "each is refused in one line, a flipped bit beyond 64 MiB by check alone"
        self.row("each file cut in half, short of a byte, with a flipped bit", held, found)


def _read(index: Path, answers: tuple[bytes, bytes], stop, counts) -> None:
    while not stop.is_set():
        place = answers.index(answer(index))
        with counts.get_lock():
            counts[place] += 1


def main(papers: str = "100000", kills: str = "20", seconds: str = "60", *names: str) -> None:
    """Try all faults, or some by their names."""
    every = ("damage", "two_adds", "readers", "kill_serve", "kill_add", "terminate_add")
    with tempfile.TemporaryDirectory(prefix="mpbert-") as place:
        faults = Faults(Path(place), int(papers), int(kills), float(seconds))
        for name in names or (*every, "full_disk", "kill_watch", "kill_index"):
            getattr(faults, name)()


if __name__ == "__main__":
    main(*sys.argv[1:])
