"""Addresses: which are refused, and how processes share the connections that come to one."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx2
import pytest

from mpbert.foundation.errors import ConfigError
from mpbert.serving.listening import let_wait, listen

ROOT = Path(__file__).parents[2]
# each process answers with its number; worker processes import this file again
NUMBERS = """
import os
from pathlib import Path
from starlette.responses import PlainTextResponse
from mpbert.serving import server
from mpbert.serving.limits import Limits

server.open_app = lambda service: PlainTextResponse(str(os.getpid()))
server.Recommender = lambda *_: None
if __name__ == "__main__":
    server.serve(server.Service(Path("x"), Limits(seconds=60)), "127.0.0.1", 0, 2)
"""


@pytest.fixture
def two_processes(tmp_path):
    """Serve by two processes; give the address."""
    (tmp_path / "numbered.py").write_text(NUMBERS)
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "numbered.py")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    )
    try:
        yield re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())[0]
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def answered(address, connections):
    """Return how many of so many connections, opened at once, each process answered."""
    with ExitStack() as stack:
        clients = [
            stack.enter_context(httpx2.Client(timeout=300, trust_env=False))
            for _ in range(connections)
        ]
        with ThreadPoolExecutor(connections) as threads:
            found = threads.map(lambda client: client.get(address).text, clients)
            return Counter(map(int, found))


@pytest.mark.skipif(sys.platform != "linux", reason="connections are divided on Linux alone")
def test_processes_share_connections_and_one_that_ended_is_replaced(two_processes):
    first = answered(two_processes, 64)
    assert len(first) == 2 and min(first.values()) >= 8  # fewer: once in 10^9 times
    killed, left = first
    os.kill(killed, signal.SIGKILL)
    then = answered(two_processes, 64)
    assert killed not in then and len(then) == 2 and left in then
    assert sum(then.values()) == 64


@pytest.mark.parametrize("count", [1, 2])
def test_a_port_that_is_taken_is_named(count):
    with ExitStack() as stack:
        taken = [stack.enter_context(listener) for listener in listen("127.0.0.1", 0, count)]
        [port] = {listener.getsockname()[1] for listener in taken}
        for listener in taken:
            listener.listen()
        for others in (1, 2):
            with pytest.raises(ConfigError, match=rf"--port {port}: .*choose another --port"):
                listen("127.0.0.1", port, others)


@pytest.mark.parametrize("count", [1, 2])
def test_of_two_that_start_at_once_the_second_to_listen_is_refused(count):
    with ExitStack() as stack:
        first = [stack.enter_context(listener) for listener in listen("127.0.0.1", 0, count)]
        port = first[0].getsockname()[1]
        second = [stack.enter_context(listener) for listener in listen("127.0.0.1", port, count)]
        let_wait(first)
        with pytest.raises(ConfigError, match=rf"--port {port}: .*choose another --port"):
            let_wait(second)


def test_a_host_that_no_network_knows_by_name_is_refused():
    with pytest.raises(ConfigError, match=r"--host xxx.* --port 0: .*label"):
        listen("x" * 5000, 0)


@pytest.mark.parametrize("count", [1, 2])
def test_small_answers_are_sent_at_once(count):
    for listener in listen("127.0.0.1", 0, count):
        with listener:
            assert listener.proto == socket.IPPROTO_TCP
