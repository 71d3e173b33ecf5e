"""Processes and a clean stop."""

import dataclasses
import ipaddress
import math
import os
import signal
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.supervisors import Multiprocess

from mpbert.foundation.processes import end_with_parent
from mpbert.recommending.recommender import Recommender
from mpbert.serving.app import create_app
from mpbert.serving.connections import TimedConnection
from mpbert.serving.guard import LOOPBACK, Access
from mpbert.serving.limits import Limits
from mpbert.serving.listening import let_wait, listen
from mpbert.serving.live import LiveIndex


@dataclasses.dataclass(frozen=True)
class Service:
    """What every process serves, within which limits, and to whom.

    :param store: URL of a store that proposes papers; empty: none.
    """

    index: Path
    limits: Limits
    access: Access = Access()
    store: str = ""


def open_app(service: Service) -> ASGIApp:
    """Open the index, answer one question so that later ones are fast, and return the application.

    :raises MpbertError: the index cannot be read.
    """
    return create_app(LiveIndex.open(service.index, service.store), service.limits, service.access)


def _open_in_worker(service: Service) -> ASGIApp:
    end_with_parent()
    return open_app(service)


def serve(service: Service, host: str, port: int, workers: int) -> None:
    """Serve until SIGTERM or SIGINT; requests that are running then are finished first.

    :param workers: processes; each maps the index into memory, whose pages they share.
    :raises MpbertError: the index cannot be read, or the address cannot be listened on.
    :raises KeyboardInterrupt: SIGINT came, and all is stopped.
    """
    listeners = listen(host, port, workers)
    address, port = listeners[0].getsockname()[:2]
    is_open_to_all = not ipaddress.ip_address(address).is_loopback
    name = f"[{address}]" if ":" in address else address
    hosts = None if is_open_to_all else LOOPBACK | {name, host.lower()}
    access = dataclasses.replace(service.access, hosts=hosts)
    service = dataclasses.replace(service, access=access)
    if workers > 1:  # the processes to come share the cores
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // workers)))
        # to refuse a wrong index before any process starts, and to bring a store up to date once
        Recommender(service.index, service.store)
    app = open_app(service) if workers == 1 else partial(_open_in_worker, service)
    config = _uvicorn_config(app, math.ceil(service.limits.seconds), workers, len(listeners))
    let_wait(listeners)
    _announce(name, port, service, is_open_to_all)
    if _run(config, listeners) == signal.SIGINT:
        raise KeyboardInterrupt("stopped")
    print("stopped", flush=True)


def _run(config: uvicorn.Config, listeners: list[socket.socket]) -> int:
    """Serve until a signal comes, and return its number."""
    came: list[int] = []
    if config.workers == 1:
        # uvicorn raises the signals again when it has stopped; by then there is nothing left to do
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _: came.append(number))
        uvicorn.Server(config).run(listeners)
        return came[0] if came else signal.SIGTERM
    supervisor = Multiprocess(config, listeners)
    if len(listeners) > 1:  # at this signal it would end a process, whose socket nobody would serve
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGINT):  # it took both, and does not tell which came
        take = signal.getsignal(number)
        signal.signal(
            number, lambda found, frame, take=take: (came.append(found), take(found, frame))
        )
    supervisor.run()
    return came[0] if came else signal.SIGTERM


def _uvicorn_config(
    app: Callable[..., Any], seconds: int, workers: int, sockets: int
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=workers > 1,
        workers=workers,
        lifespan="off",
        loop="mpbert.serving.listening:SharingLoop" if sockets > 1 else "auto",
        http=TimedConnection,
        timeout_keep_alive=seconds,
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=seconds + 1,
        timeout_worker_healthcheck=60,  # opening an index may keep a process busy for long
    )


def _announce(name: str, port: int, service: Service, is_open_to_all: bool) -> None:
    print(f"serving {service.index} at http://{name}:{port}{service.access.base}/", flush=True)
    print(
        f"next: open that address in a browser; API: {service.access.base}/docs; Ctrl+C stops",
        flush=True,
    )
    if service.access.token:
        print("the page asks for the token", flush=True)
    elif is_open_to_all:
        print("warning: all who reach this machine can ask; --token admits some", flush=True)
