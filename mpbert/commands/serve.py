"""``serve``: index directory -> a page and an HTTP API of recommendations."""

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from mpbert.foundation.config import check_least, option, positional
from mpbert.foundation.errors import ConfigError
from mpbert.retrieval.stores.urls import store_option

_ORIGIN = re.compile(r"https?://[A-Za-z0-9.\[\]:-]+")


@dataclass(frozen=True)
class Config:
    """Serve a page to write in, with papers to cite at the cursor, and an HTTP API (see /docs).

    It needs no network. Only this machine reaches it unless --host says otherwise.
    """

    index: Path = positional("index", "index made by mpbert index or build-index")
    watch: Optional[Path] = option(
        None, "library to follow meanwhile, as mpbert watch does; its index is made if need be",
        type=Path,
    )  # fmt: skip
    host: str = option("127.0.0.1", "address to listen on; 0.0.0.0: all, then give a --token too")
    port: int = option(8000, "port to listen on; 0: any free one")
    workers: int = option(1, "processes; they share the index's files in memory")
    token: str = option(
        "", "what clients must send as 'Authorization: Bearer TOKEN'; or set MPBERT_TOKEN, which "
        "other users of this machine cannot list"
    )  # fmt: skip
    cors: tuple[str, ...] = option(
        (), "other origins whose web pages may read the answers, such as https://example.org; "
        "*: all", nargs="+", type=str
    )  # fmt: skip
    base_path: str = option(
        "", "path below which all addresses stand, such as /papers; a proxy in front may cut it off"
    )
    store: str = store_option()
    max_kib: int = option(1024, "largest body of a request, in KiB")
    max_pdf_kib: int = option(16384, "largest PDF or other file to read, in KiB; 0: none")
    max_seconds: float = option(10.0, "longest time of a request, in seconds")
    max_requests: int = option(128, "most requests at once, per process")

    def __post_init__(self) -> None:
        """Check what argparse cannot."""
        for name in ("workers", "max_kib", "max_seconds", "max_requests"):
            if not getattr(self, name) > 0:
                flag = "--" + name.replace("_", "-")
                raise ConfigError(f"{flag} is {getattr(self, name)}; expected more than 0")
        check_least(self, max_pdf_kib=0)
        if math.isinf(self.max_seconds):
            raise ConfigError("--max-seconds is inf; expected a number of seconds, such as 3600")
        if not 0 <= self.port <= 65535:
            raise ConfigError(f"--port is {self.port}; expected 0 to 65535")

        for origin in self.cors:
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise ConfigError(
                    f"--cors {origin[:60]!a}: expected an origin such as https://example.org, "
                    f"without a path, or *"
                )


def run(config: Config) -> None:
    """Serve until SIGTERM or Ctrl+C; requests that are running then are finished first.

    :raises ConfigError: the address cannot be listened on, or no header may hold the token.
    :raises SystemExit: the index of a library cannot be made.
    """
    from mpbert.serving.guard import Access
    from mpbert.serving.limits import Limits
    from mpbert.serving.paths import checked_base
    from mpbert.serving.server import Service, serve

    token = config.token or os.environ.get("MPBERT_TOKEN", "")
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise ConfigError("--token holds a character that no header may; use letters and digits")
    service = Service(
        index=config.index,
        store=config.store,
        limits=Limits(
            *(config.max_kib * 1024, config.max_seconds, config.max_requests),
            max_pdf_bytes=config.max_pdf_kib * 1024,
        ),
        access=Access(token, origins=tuple(config.cors), base=checked_base(config.base_path)),
    )
    if config.watch is None:
        return serve(service, config.host, config.port, config.workers)
    from mpbert.recommending.following.beside import followed_beside, make_index
    from mpbert.recommending.following.updating import Followed

    followed = Followed(config.watch, config.index, store=config.store)
    make_index(followed)
    with followed_beside(followed):
        serve(service, config.host, config.port, config.workers)
