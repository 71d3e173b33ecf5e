"""How much at once, and for how long: what is above is refused with 503 and one clear line."""

import asyncio
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(frozen=True)
class Limits:
    """What one process takes on.

    :param max_bytes: size of a request's body.
    :param seconds: time of one request: sending, waiting, computing and answering.
    :param max_requests: requests at once, those that wait among them.
    """

    max_bytes: int = 1 << 20
    seconds: float = 10.0
    max_requests: int = 32

    @property
    def too_large(self) -> str:
        """What the refusal of a larger body says."""
        return f"the body is larger than {self.max_bytes} bytes; send a part of the text"


class RequestLimits:
    """Middleware: at most so many requests at once, none for longer than so many seconds.

    A body whose announced size is too large is refused before it is read. FastAPI's own limit is
    there for bodies that announce none; of the others it would refuse in plain text, not JSON.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self.limits = limits
        self.running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on and stop it when its time is over."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        if self.running >= self.limits.max_requests:
            refusal = _busy(f"{self.running} requests are running, the most at once; try again")
            return await refusal(scope, receive, send)
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdecimal() and int(announced) > self.limits.max_bytes:
            refusal = JSONResponse({"error": self.limits.too_large}, 413)
            return await refusal(scope, receive, send)
        started = False

        async def send_and_note(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        self.running += 1
        try:
            async with asyncio.timeout(self.limits.seconds):
                await self.app(scope, receive, send_and_note)
        except TimeoutError:
            if not started:  # else the client reads too slowly, and the connection is closed
                refusal = _busy(f"not finished after {self.limits.seconds:g} s; try again")
                await refusal(scope, receive, send)
        finally:
            self.running -= 1


def _busy(message: str) -> JSONResponse:
    return JSONResponse({"error": message}, 503, {"Retry-After": "1"})
