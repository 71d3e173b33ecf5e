"""How much at once, and for how long: what is above is refused with 503 and one clear line."""

import asyncio
from collections import Counter
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mpbert.serving.paths import DOCUMENT, HEALTH

_MOST_PDF = 4  # files that are being received at once


@dataclass(frozen=True)
class Limits:
    """What one process takes on.

    :param max_bytes: size of a request's body.
    :param seconds: time of one request: sending, waiting, computing and answering.
    :param max_requests: requests at once, waiting ones included. A client that still sends its body
        does not count.
    :param max_bodies: bodies that are being received at once.
    :param max_pdf_bytes: size of a file to read, such as PDF; 0: none is. Four are received
        at once.
    """

    max_bytes: int = 1 << 20
    seconds: float = 10.0
    max_requests: int = 128
    max_bodies: int = 256
    max_pdf_bytes: int = 16 << 20

    @property
    def too_large(self) -> str:
        """What the refusal of a larger body says."""
        return f"the body is larger than {self.max_bytes} bytes; send a part of the text"

    @property
    def pdf_too_large(self) -> str:
        """The same of a file."""
        if not self.max_pdf_bytes:
            return "this server reads no files; send the text"
        return f"the file is larger than {self.max_pdf_bytes} bytes; send its text"


class RequestLimits:
    """Middleware: at most so many requests at once, none for longer than so many seconds.

    The body is received before a request takes its place, so that slow clients hold up no other.
    One whose announced size is too large is refused before it is received.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self.limits = limits
        self.running = 0
        self.receiving = Counter[bool]()  # files (True), and other bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on and stop it when its time is over."""
        if scope["type"] != "http" or scope["path"] == HEALTH:  # a busy server is healthy
            return await self.app(scope, receive, send)
        if self.running >= self.limits.max_requests:
            return await self._full()(scope, receive, send)
        is_pdf = scope["path"] == DOCUMENT
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdecimal() and int(announced) > self._most_bytes(is_pdf):
            return await self._too_large(is_pdf)(scope, receive, send)
        coming = self.receiving[is_pdf]
        if coming >= (_MOST_PDF if is_pdf else self.limits.max_bodies):
            refusal = _busy(f"{coming} bodies are coming, the most at once; try again")
            return await refusal(scope, receive, send)
        started = False

        async def send_and_note(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            async with asyncio.timeout(self.limits.seconds):
                await self._answer(scope, receive, send_and_note, is_pdf)
        except TimeoutError:
            if not started:  # else the client reads too slowly, and the connection is closed
                refusal = _busy(f"not finished after {self.limits.seconds:g} s; try again")
                await refusal(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, is_pdf: bool) -> None:
        self.receiving[is_pdf] += 1
        try:
            body = await self._body(receive, self._most_bytes(is_pdf))
        finally:
            self.receiving[is_pdf] -= 1
        if body is None:
            return  # the client is gone
        if len(body) > self._most_bytes(is_pdf):
            return await self._too_large(is_pdf)(scope, receive, send)
        if self.running >= self.limits.max_requests:
            return await self._full()(scope, receive, send)
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_again() -> Message:
            return waiting.pop() if waiting else await receive()

        self.running += 1
        try:
            await self.app(scope, receive_again, send)
        finally:
            self.running -= 1

    def _most_bytes(self, is_pdf: bool) -> int:
        return self.limits.max_pdf_bytes if is_pdf else self.limits.max_bytes

    def _too_large(self, is_pdf: bool) -> JSONResponse:
        line = self.limits.pdf_too_large if is_pdf else self.limits.too_large
        return JSONResponse({"error": line}, 413)

    async def _body(self, receive: Receive, most_bytes: int) -> bytes | None:
        """Return the body, or its beginning where it is too large; None where the client left."""
        body, more = bytearray(), True
        while more and len(body) <= most_bytes:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            more = message.get("more_body", False)
        return bytes(body)

    def _full(self) -> JSONResponse:
        return _busy(f"{self.running} requests are running, the most at once; try again")


def _busy(message: str) -> JSONResponse:
    return JSONResponse({"error": message}, 503, {"Retry-After": "1"})
