"""What addresses mean: HEAD is GET without a body, and all addresses may stand below a path."""

import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mpbert.foundation.errors import ConfigError

HEALTH = "/health"
DOCUMENT = "/api/document"
OPEN = ("/", "/docs", HEALTH)  # they hold no paper, and are given without the token
_OURS = ("api", "docs", "health", "openapi.json", "static")
_BASE = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*")


def checked_base(path: str) -> str:
    """Return the path below which all addresses stand, without a ``/`` at its end.

    :raises ConfigError: it is no path, or one of our own.
    """
    base = path.rstrip("/")
    if not _BASE.fullmatch(base) or base.split("/")[1:2] in [[name] for name in _OURS]:
        raise ConfigError(
            f"--base-path {path[:60]!a}: expected a path such as /papers, of letters, digits and "
            f"._~-, which does not begin with {', '.join(_OURS)}"
        )
    return base


class Paths:
    """Middleware: answers HEAD as GET without the body, and cuts the base path off.

    A proxy in front may pass the base path on or cut it off itself; both are understood.

    :param base: as :func:`checked_base` returns it.
    """

    def __init__(self, app: ASGIApp, base: str) -> None:
        self.app, self.base = app, base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on under its own path."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        if self.base and scope["path"].startswith(f"{self.base}/"):
            scope = {**scope, "path": scope["path"].removeprefix(self.base)}
        if scope["method"] != "HEAD":
            return await self.app(scope, receive, send)

        async def send_head(message: Message) -> None:
            is_body = message["type"] == "http.response.body"
            await send({**message, "body": b""} if is_body else message)

        await self.app({**scope, "method": "GET"}, receive, send_head)
