"""Sockets that listen, and which process takes whose connections."""

import asyncio
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mpbert.foundation.errors import ConfigError

_SECONDS = 0.2  # between two looks at whether a socket lacks a process
_CAN_SHARE = sys.platform == "linux"  # elsewhere SO_REUSEPORT does not divide connections


def listen(host: str, port: int, count: int = 1) -> list[socket.socket]:
    """Return sockets bound to one address, among which the system divides connections.

    Processes that take them from one socket do not share them: of 64 that came together, the
    process that woke first took 60 to 64, and kept them.

    :param count: as many sockets; always one where the system cannot divide connections.
    :raises ConfigError: the address is taken, or none of this machine's.
    """
    with _told(host, port):
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        first = _bound(*found)
        if count == 1 or not _CAN_SHARE:
            return [first]
        # the first told that the address is free: sockets that share one do not tell it
        address = first.getsockname()
        first.close()
        return [_bound(*found[:4], address, is_shared=True) for _ in range(count)]


def let_wait(listeners: Sequence[socket.socket]) -> None:
    """Let clients wait at sockets of :func:`listen` from now on instead of being refused.

    :raises ConfigError: another process began to listen at the address since they were bound.
    """
    first = listeners[0]
    address = first.getsockname()
    with _told(*address[:2]):
        _bound(first.family, first.type, first.proto, "", address).close()  # as in listen
        for listener in listeners:
            listener.listen()


@contextmanager
def _told(host: str, port: int) -> Iterator[None]:
    try:
        yield
    except (OSError, UnicodeError) as error:  # UnicodeError: the name of a host is too long
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"--host {host[:60]} --port {port}: {reason}; choose another --port, or 0 for any "
            f"free one"
        ) from error


def _bound(
    family: int, kind: int, protocol: int, _: str, address: Any, *, is_shared: bool = False
) -> socket.socket:
    # asyncio switches off Nagle's waiting, 40 ms an answer, only where TCP is said by name
    listener = socket.socket(family, kind, protocol)
    if os.name == "posix":  # on Windows it would let two programs have one address
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if is_shared:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(address)
    return listener


class SharingLoop(asyncio.SelectorEventLoop):
    """The event loop of one process of several: it serves the first socket that no other serves.

    A process that ends gives its socket back, with the connections that wait there; the process
    that is started in its place takes it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._claim: socket.socket | None = None
        self._claiming: list[asyncio.Task[None]] = []

    async def create_server(
        self, *args: Any, sock: socket.socket, **options: Any
    ) -> asyncio.Server:
        """Serve a socket once it is this process's, see :meth:`asyncio.loop.create_server`."""
        server = await super().create_server(*args, sock=sock, start_serving=False, **options)
        self._claiming.append(self.create_task(self._serve_when_free(server, sock)))
        return server

    async def _serve_when_free(self, server: asyncio.Server, sock: socket.socket) -> None:
        name = f"\0mpbert-{os.fstat(sock.fileno()).st_ino}"  # no file: it ends with the process
        while self._claim is None:
            claim = socket.socket(socket.AF_UNIX)
            try:
                claim.bind(name)
            except OSError:  # another process has it
                claim.close()
                await asyncio.sleep(_SECONDS)
            else:
                self._claim = claim
                await server.start_serving()
