"""Connections that send nothing, or too slowly, are closed; uvicorn alone would keep them for ever.

A client that opens many and is silent ("slowloris") would use up the files that a process may have
open, and nobody else could connect.
"""

import asyncio
from typing import ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol


class TimedConnection(H11Protocol):
    """A connection that is closed where no request comes in ``Config.timeout_keep_alive`` seconds.

    The time begins when it is made, and again after each answer; it is for the whole head.

    :cvar most_waiting: connections without a request at once, in one process; if there are more,
        the oldest is closed. A process may have 1,024 files open on many machines.
    :cvar waiting: the timers of those, the oldest first.
    """

    most_waiting: ClassVar[int] = 256
    waiting: ClassVar[dict["TimedConnection", asyncio.TimerHandle]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait on where the head of a request is not whole yet."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._end_waiting()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, unless it is there."""
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._end_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._end_waiting()
        if len(self.waiting) >= self.most_waiting:
            oldest = next(iter(self.waiting))
            oldest._end_waiting()
            oldest.transport.abort()
        self.waiting[self] = self.loop.call_later(self.timeout_keep_alive, self.transport.abort)

    def _end_waiting(self) -> None:
        if timer := self.waiting.pop(self, None):
            timer.cancel()
