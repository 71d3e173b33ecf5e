"""Clients that connect and send nothing, a part, or very slowly."""

import socket
import time
from contextlib import ExitStack

import httpx2
import pytest

from mpbert.serving.app import create_app
from mpbert.serving.connections import TimedConnection
from mpbert.serving.limits import Limits

PARTS = {
    "nothing": b"",
    "half a head": b"POST /api/recommend HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
    "half a second head": b"GET /api/index HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /api/in",
}


def connect(address: str) -> socket.socket:
    host, port = address.split("//")[1].rstrip("/").split(":")
    return socket.create_connection((host, int(port)), timeout=300)


def read_to_end(connection: socket.socket) -> bytes:
    """Return all that comes until the server closes; the socket's own timeout is a failure."""
    found = b""
    try:
        while part := connection.recv(65536):
            found += part
    except ConnectionResetError:
        pass
    return found


@pytest.mark.parametrize("sent", PARTS.values(), ids=PARTS)
def test_a_connection_without_a_whole_request_is_closed(served, recommender, sent):
    app = create_app(recommender, Limits(seconds=60))
    with (
        served(app, http=TimedConnection, timeout_keep_alive=1) as address,
        connect(address) as connection,
    ):
        connection.sendall(sent)
        found = read_to_end(connection)
    assert found.count(b"HTTP/1.1 200") == (sent == PARTS["half a second head"])


def test_a_slow_head_is_closed_though_each_byte_comes_in_time(served, recommender):
    app = create_app(recommender, Limits(seconds=60))
    with (
        served(app, http=TimedConnection, timeout_keep_alive=1) as address,
        connect(address) as connection,
    ):
        connection.settimeout(0.05)
        for _ in range(400):
            try:
                connection.sendall(b"G")
                if not connection.recv(100):
                    break
            except TimeoutError:
                continue
            except (ConnectionResetError, BrokenPipeError):
                break
        else:
            pytest.fail("still open after 20 seconds")


def test_of_very_many_silent_connections_the_oldest_give_way(served, recommender, monkeypatch):
    monkeypatch.setattr(TimedConnection, "most_waiting", 20)
    app = create_app(recommender, Limits(seconds=60))
    settings = {"http": TimedConnection, "timeout_keep_alive": 600}
    with served(app, **settings) as address, ExitStack() as open_:
        silent = [open_.enter_context(connect(address)) for _ in range(60)]
        assert httpx2.get(f"{address}api/index", timeout=300).status_code == 200
        assert read_to_end(silent[0]) == b""


def test_an_answer_that_takes_longer_than_a_head_may_is_given(served, recommender):
    recommender.may_answer.clear()
    app = create_app(recommender, Limits(seconds=60))
    body = b'{"text": "t"}'
    head = b"POST /api/recommend HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    head += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    with (
        served(app, http=TimedConnection, timeout_keep_alive=0.2) as address,
        connect(address) as connection,
    ):
        connection.sendall(head + body)
        assert recommender.has_begun.wait(300)
        time.sleep(0.5)
        recommender.may_answer.set()
        assert read_to_end(connection).startswith(b"HTTP/1.1 200")


def test_slow_bodies_take_no_place_of_others(served, recommender):
    app = create_app(recommender, Limits(seconds=60, max_requests=1))
    head = b"POST /api/recommend HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"
    with served(app) as address, ExitStack() as open_:
        for _ in range(5):
            open_.enter_context(connect(address)).sendall(head)
        for _ in range(3):
            answer = httpx2.post(f"{address}api/recommend", json={"text": "t"}, timeout=300)
            assert answer.status_code == 200


def test_very_many_slow_bodies_are_refused(served, recommender):
    app = create_app(recommender, Limits(seconds=60, max_bodies=2))
    head = b"POST /api/recommend HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"
    with served(app) as address, ExitStack() as open_:
        silent = [open_.enter_context(connect(address)) for _ in range(3)]
        for connection in silent:
            connection.sendall(head)
        found = b""
        for connection in silent:  # whichever came last
            connection.settimeout(0.7)
            try:
                found += connection.recv(65536)
            except TimeoutError:
                continue
        assert b"HTTP/1.1 503" in found
        assert b"2 bodies are coming, the most at once" in found
