"""``watch`` and ``serve --watch`` as processes, whose library changes, breaks, goes and comes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from mpbert.cli import main
from mpbert.foundation.seeding import named_rng
from mpbert.recommending.directory import read_index

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
SECONDS = 120  # a machine that runs tests may be busy


def entry(key, title):
    return f"@article{{{key},\n  title = {{{title}}},\n  author = {{Doe, Jo}},\n}}\n"


MAIL = entry("mail", "Mail is sorted by zebras")
NAMES = entry("names", "Names of hosts are resolved")


class Process:
    """A command in a process of its own, whose lines can be waited for."""

    def __init__(self, folder, *words):
        self.log = folder / f"log-{time.monotonic_ns()}.txt"
        with self.log.open("w") as log:
            command = [sys.executable, "-m", "mpbert", *map(str, words)]
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env=ENVIRONMENT, start_new_session=True
            )

    @property
    def said(self):
        return self.log.read_text()

    def until(self, words, times=1):
        end = time.monotonic() + SECONDS
        while len(found := re.findall(words, self.said)) < times:
            assert time.monotonic() < end, f"{words} does not come: {self.said}"
            assert self.process.poll() is None, self.said
            time.sleep(0.02)
        return found

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


@pytest.fixture
def start(tmp_path):
    """Function of a command line: its process, which ends with the test."""
    started = []

    def begin(*words):
        started.append(Process(tmp_path, *words))
        return started[-1]

    yield begin
    for each in started:
        if each.process.poll() is None:
            os.killpg(each.process.pid, signal.SIGKILL)
        each.process.wait(SECONDS)


@pytest.fixture
def bib(tmp_path):
    (tmp_path / "library").mkdir()
    path = tmp_path / "library" / "library.bib"
    path.write_text(MAIL + NAMES)
    return path


def keys(index):
    return set(read_index(index).tables.papers["paper_id"].tolist())


def test_the_index_is_made_and_follows_its_library(start, bib, tmp_path):
    index = tmp_path / "index"
    watch = start("watch", bib, index)
    watch.until("following .*library.bib for .*index; Ctrl\\+C stops")
    bib.write_text(MAIL + NAMES + entry("posts", "Posts are roads"))
    watch.until("index: 3 papers; 1 new, 0 changed, 0 gone")
    other = bib.with_name("unfinished")  # as editors do
    other.write_text(MAIL.replace("zebras", "horses") + entry("posts", "Posts are roads"))
    other.replace(bib)
    watch.until("index: 2 papers; 0 new, 1 changed, 1 gone")
    assert keys(index) == {"mail", "posts"}
    assert watch.end() == 130
    assert watch.said.endswith("mpbert watch: stopped\n")
    assert "Traceback" not in watch.said


def test_a_library_that_breaks_or_goes_is_one_line_and_the_index_stays(start, bib, tmp_path):
    index = tmp_path / "index"
    watch = start("watch", bib, index)
    watch.until("following")
    before = keys(index)
    bib.write_text(MAIL + NAMES[:30])
    watch.until("1 broken records, so that nothing was removed")
    bib.unlink()
    watch.until("index stays as it is: .*library.bib: no such file")
    bib.parent.rmdir()
    time.sleep(1)
    assert keys(index) == before
    bib.parent.mkdir()
    bib.write_text(entry("posts", "Posts are roads") + NAMES)
    watch.until("index: 2 papers; 1 new, 0 changed, 1 gone")
    assert len(re.findall("left out: .*broken entry", watch.said)) == 1
    assert len(re.findall("no such file", watch.said)) == 1
    assert watch.end(signal.SIGTERM) == 0
    assert watch.said.endswith("\nstopped\n")


def test_a_second_one_is_refused_in_one_line(start, bib, tmp_path, capsys):
    watch = start("watch", bib, tmp_path / "index")
    watch.until("following")
    second = start("watch", bib, tmp_path / "index")
    assert second.process.wait(SECONDS) == 2
    assert second.said.splitlines()[1:] == [
        f"mpbert watch: {tmp_path / 'index'}: another process is following a library for it; wait "
        f"until it ends, or end it"
    ]
    # others may change the index meanwhile
    (tmp_path / "more.bib").write_text(entry("posts", "Posts are roads"))
    assert main(["add", str(tmp_path / "index"), str(tmp_path / "more.bib")]) == 0
    bib.write_text(MAIL)
    watch.until("index: 2 papers; 0 new, 0 changed, 1 gone")
    assert keys(tmp_path / "index") == {"mail", "posts"}


def asked(address, text):
    body = json.dumps({"text": text}).encode()
    request = urllib.request.Request(
        f"{address}api/recommend", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        return [paper["paper_id"] for paper in json.load(answer)["papers"]]


def test_a_server_answers_from_the_library_as_it_is(start, bib, tmp_path):
    index = tmp_path / "index"
    serve = start("serve", index, "--watch", bib, "--port", 0)
    [address] = serve.until("http://127.0.0.1:\\d+/")
    assert asked(address, "roads, posts") == []
    bib.write_text(MAIL + entry("posts", "Posts are roads"))
    serve.until("index: 2 papers; 1 new, 0 changed, 1 gone")
    assert asked(address, "roads, posts") == ["posts"]
    assert asked(address, "hosts, names") == []
    assert serve.end() == 130
    begun = time.monotonic()
    while time.monotonic() < begun + SECONDS and _group_is_there(serve.process.pid):
        time.sleep(0.05)
    assert not _group_is_there(serve.process.pid), "what follows the library goes on"
    assert "Traceback" not in serve.said


def _group_is_there(number):
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    return True


# what makes an index for ever, and tells its number
SLOW = """
import sys
from pathlib import Path
from mpbert.recommending.following.beside import make_index
from mpbert.recommending.following.updating import Followed

*paths, sys.executable = sys.argv[1:]
make_index(Followed(*map(Path, paths)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing ends with its parent")
def test_what_makes_the_index_ends_with_a_killed_watch(bib, tmp_path):
    slow, number = tmp_path / "slow", tmp_path / "number"
    slow.write_text(f"#!/bin/sh\necho $$ > {number}.new; mv {number}.new {number}; exec sleep 99\n")
    slow.chmod(0o755)
    words = [sys.executable, "-c", SLOW, bib, tmp_path / "index", slow]
    process = subprocess.Popen(list(map(str, words)), env=ENVIRONMENT)
    end = time.monotonic() + SECONDS
    while not number.exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    process.kill()
    process.wait()
    while _is_there(int(number.read_text())):
        assert time.monotonic() < end
        time.sleep(0.02)


def _is_there(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{number}/status").read_text()  # none waits for it


def test_killed_at_any_moment_it_leaves_the_index_whole_and_goes_on(start, bib, tmp_path, request):
    kills = 20 if request.config.getoption("--all") else 4
    rng = named_rng(1, "kill watch")
    index = tmp_path / "index"
    present = {"mail": MAIL, "names": NAMES}
    main(["index", str(bib), str(index)])
    for turn in range(kills):
        watch = start("watch", bib, index)
        watch.until("following")
        present.pop(f"key{turn - 1}", None)
        present[f"key{turn}"] = entry(f"key{turn}", f"Number {turn} of many zebras")
        bib.write_text("".join(present.values()))
        time.sleep(0.4 + 0.6 * rng.random())
        watch.end(signal.SIGKILL)
        assert main(["check", str(index)]) == 0
        assert (
            {"mail", "names"}
            <= keys(index)
            <= {"mail", "names", "key" + str(turn), f"key{turn - 1}"}
        )
    watch = start("watch", bib, index)
    end = time.monotonic() + SECONDS
    while keys(index) != set(present) and time.monotonic() < end:
        time.sleep(0.05)
    assert keys(index) == set(present)
