"""Processes: what ``serve`` prints, how it stops, and what it refuses to start with."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from mpbert.cli import main
from mpbert.commands.serve import Config
from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
ENVIRONMENT["PYTHONPATH"] = str(ROOT)  # what is started is a file elsewhere
# serves an index that does not exist, by a recommender that says when it begins and takes a while;
# worker processes import this file again
SLOW = """
import sys, time
from pathlib import Path
import numpy as np
from mpbert.recommending.answers import Recommendations
from mpbert.serving import server
from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits

class Slow:
    paper_ids, titles, years, vectors = [], [], np.zeros(0), np.zeros((0, 2))
    def asked(self, **question):
        return question
    def together(self, asked):
        return asked
    def answer(self, question):
        print("begun", flush=True)
        time.sleep(1)
        return Recommendations([])

def open_app(service):
    return create_app(Slow(), service.limits)

server.open_app, server.Recommender = open_app, lambda *_: None
if __name__ == "__main__":
    service = server.Service(Path("x"), Limits(seconds=60))
    try:
        server.serve(service, "127.0.0.1", 0, int(sys.argv[1]))
    except KeyboardInterrupt as error:
        sys.exit(f"interrupted: {error}")
"""


@contextmanager
def running(*command):
    """Start a process that serves; give it, its address and the lines it prints after that."""
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    try:
        first = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.\d:\d+/", first)
        assert found, first + process.stderr.read()
        yield process, found[0]
    finally:
        with suppress(ProcessLookupError):  # its processes too, which hold the pipes
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def ask(address):
    return httpx2.post(f"{address}api/recommend", json={"text": "Pages."}, timeout=300)


def ask_in_vain(address):
    with suppress(httpx2.TransportError):
        ask(address)


def running_in_group(group):
    """Return the command lines of processes of a group that have not ended."""
    alive = []
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended while we looked
            state, _, of = (directory / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(of) == group and state not in "ZX":
                alive.append((directory / "cmdline").read_text())
    return alive


@pytest.fixture(scope="module")
def slow_server(tmp_path_factory):
    path = tmp_path_factory.mktemp("server") / "slow.py"
    path.write_text(SLOW)
    return str(path)


@pytest.mark.parametrize(
    ("number", "workers"),
    [(signal.SIGTERM, 1), (signal.SIGINT, 1), (signal.SIGTERM, 2), (signal.SIGINT, 2)],
)
def test_a_request_that_is_running_is_answered_before_the_server_stops(
    slow_server, number, workers
):
    with running(slow_server, str(workers)) as (process, address):
        assert "next: open that address in a browser" in process.stdout.readline()
        answers = []
        thread = threading.Thread(target=lambda: answers.append(ask(address)))
        thread.start()
        assert process.stdout.readline() == "begun\n"
        process.send_signal(number)
        thread.join(300)
        assert [answer.status_code for answer in answers] == [200]
        output, errors = process.communicate(timeout=300)
        expected = ("stopped\n", "", 0)
        if number == signal.SIGINT:
            expected = ("", "interrupted: stopped\n", 1)
        assert (output, errors, process.returncode) == expected
        with pytest.raises(httpx2.ConnectError):
            ask(address)


def test_processes_of_a_server_that_is_killed_end_with_it(slow_server):
    with running(slow_server, "2") as (process, address):
        threading.Thread(target=ask_in_vain, args=(address,), daemon=True).start()
        assert process.stdout.readline()  # of the address
        assert process.stdout.readline() == "begun\n"
        process.kill()
        end = time.monotonic() + 300
        while (alive := running_in_group(process.pid)) and time.monotonic() < end:
            time.sleep(0.05)
        assert alive == []
        with pytest.raises(httpx2.TransportError):
            ask(address)


@pytest.mark.exhaustive  # each process imports torch
def test_several_processes_serve_an_index_at_one_address(planted_index):
    flags = ("--port", "0", "--workers", "2", "--max-seconds", "60")
    with running("-m", "mpbert", "serve", str(planted_index), *flags) as (process, address):
        with httpx2.Client() as client:
            page = client.get(address, timeout=300)
            assert "<title>mpbert" in page.text
            assert page.headers["x-content-type-options"] == "nosniff"
        titles = [paper["title"] for paper in ask(address).json()["papers"]]
        assert "Layout of pages" in titles
        host, port = address.split("//")[1].rstrip("/").split(":")
        with socket.create_connection((host, int(port)), timeout=300) as raw:
            raw.sendall(b"GET / HTTP/1.1\r\nContent-Length: nonsense\r\n\r\n")
            assert raw.recv(100).startswith(b"HTTP/1.1 400")
        process.terminate()
        _, errors = process.communicate(timeout=300)
        assert (errors, process.returncode) == ("Invalid HTTP request received.\n", 0)


def found(client):
    answer = client.post("/api/recommend", json={"text": "Hosts relay mail"})
    return {paper["paper_id"] for paper in answer.json()["papers"]}


def test_a_server_sees_changes_by_commands(library_index, mail):
    flags = ("--port", "0", "--max-seconds", "60")
    with running("-m", "mpbert", "serve", str(library_index), *flags) as (process, address):
        with httpx2.Client(base_url=address, timeout=300) as client:
            before = found(client)
            assert main(["add", str(library_index), mail]) == 0
            assert (before, found(client)) == (set(), {"mail"})
            (library_index / "manifest.json").write_text("{}")
            assert found(client) == {"mail"}
        process.terminate()
        _, errors = process.communicate(timeout=300)
        changed, damaged = errors.splitlines()
        assert changed == f"{library_index}: changed, 3 papers"
        assert damaged.startswith(f"{library_index}: the changed index cannot be read, the old one")


def test_another_address_of_this_machine_may_be_called_by_its_name(planted_index):
    flags = ("--host", "127.0.0.2", "--port", "0")
    with running("-m", "mpbert", "serve", str(planted_index), *flags) as (process, address):
        assert httpx2.get(address, timeout=300).status_code == 200
        refused = httpx2.get(address, headers={"Host": "evil.example"}, timeout=300)
        assert refused.status_code == 400 and "127.0.0.2" in refused.json()["error"]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
        assert (errors, process.returncode) == ("mpbert serve: stopped\n", 130)


def test_a_real_server_refuses_ten_megabytes_and_goes_on(served, recommender):
    with served(create_app(recommender, Limits(max_bytes=1000, seconds=60))) as address:
        body, headers = b"x" * 10_000_000, {"Content-Type": "application/json"}
        for content in (body, iter([body[:5_000_000]] * 2)):
            refused = httpx2.post(f"{address}api/recommend", content=content, headers=headers)
            assert refused.status_code == 413
            assert refused.json()["error"].startswith("the body is larger than 1000 bytes")
        assert ask(address).status_code == 200


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (["--port", "65536"], "--port is 65536; expected 0 to 65535"),
        (["--workers", "0"], "--workers is 0; expected more than 0"),
        (["--max-kib", "-1"], "--max-kib is -1; expected more than 0"),
        (["--max-seconds", "nan"], "--max-seconds is nan; expected more than 0"),
        (["--max-seconds", "inf"], "--max-seconds is inf; expected a number of seconds"),
        (["--max-requests", "0"], "--max-requests is 0; expected more than 0"),
        (["--token", "a b"], "--token holds a character that no header may"),
        (["--token", "é"], "--token holds a character that no header may"),
        (["--cors", "example.org"], "--cors 'example.org': expected an origin such as https://ex"),
        (["--cors", "*", "http://a/"], "--cors 'http://a/': expected an origin"),
        (["--base-path", "papers"], "--base-path 'papers': expected a path such as /papers"),
        (["--base-path", "/a/../b"], "--base-path '/a/../b': expected a path"),
        (["--base-path", "/api/x"], "--base-path '/api/x': expected a path"),
        (["--port", "0"], "nothing: found no readable manifest.json; expected an index"),
        (["--host", "203.0.113.1"], "--host 203.0.113.1 --port 8000: Cannot assign requested"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(flags, line, capsys):
    assert main(["serve", "nothing", *flags]) == 2
    error = capsys.readouterr().err
    assert error.startswith("mpbert serve: ") and line in error
    assert error.count("\n") == 1


def test_it_listens_on_this_machine_alone_unless_told_otherwise():
    assert Config(Path("x")).host == "127.0.0.1"


def test_help_loads_neither_torch_nor_the_web_framework():
    code = (
        "import sys, mpbert.cli\n"
        "try: mpbert.cli.main(['serve', '--help'])\n"
        "except SystemExit: print(*sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    modules = set(found.stdout.split())
    assert "mpbert.commands.serve" in modules
    assert not modules & {"torch", "fastapi", "uvicorn", "mpbert.recommending.recommender"}
