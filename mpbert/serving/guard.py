"""What every request must pass and every answer carries: host name, token, headers."""

import secrets
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mpbert.serving.paths import OPEN

# The page is three kinds of files of ours and requests to ourselves; nothing else is loaded.
POLICY = "; ".join(
    [
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "img", "connect")),
        *(f"{what} 'none'" for what in ("base-uri", "form-action", "frame-ancestors")),
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_RAW = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
_NAMES = {name for name, _ in _RAW}
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})


@dataclass(frozen=True)
class Access:
    """Who may ask, and where.

    :param token: what clients send as ``Authorization: Bearer TOKEN``; empty: none is asked for.
        Pages that hold no paper are given without.
    :param hosts: names by which the server may be called; None: any. With names, a
        web page whose own name was made to point at 127.0.0.1 cannot read the server.
    :param origins: other origins whose web pages may read the answers; ``*``: all.
    :param base: path below which all addresses stand, without a ``/`` at its end.
    """

    token: str = ""
    hosts: frozenset[str] | None = None
    origins: tuple[str, ...] = ()
    base: str = ""


class Guard:
    """Middleware: refuses foreign host names and missing tokens, adds the headers to all answers.

    :param access: who may ask.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app = app
        self.token = access.token.encode()
        self.hosts = access.hosts
        self.open = (*OPEN, access.base)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on, and add the headers to the answer."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                others = [pair for pair in message.get("headers", ()) if pair[0] not in _NAMES]
                message["headers"] = [*others, *_RAW]
            await send(message)

        answer = self._refusal(scope) or self.app
        await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        if self.hosts is not None and _name(headers.get("host", "")) not in self.hosts:
            names = ", ".join(sorted(self.hosts))
            return JSONResponse({"error": f"wrong host name; expected one of {names}"}, 400)
        is_open = scope["path"] in self.open or scope["path"].startswith("/static/")
        if self.token and not is_open and not self._has_token(headers):
            message = "token missing or wrong; send the header Authorization: Bearer TOKEN"
            return JSONResponse({"error": message}, 401, {"WWW-Authenticate": "Bearer"})
        return None

    def _has_token(self, headers: Headers) -> bool:
        kind, _, found = headers.get("authorization", "").partition(" ")
        is_equal = secrets.compare_digest(found.strip().encode("latin-1"), self.token)
        return is_equal and kind.lower() == "bearer"


def _name(host: str) -> str:
    """Return the name in ``name:port``."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).lower()
