"""The URL of a store of vectors, and the option that takes it."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from mpbert.foundation.config import option
from mpbert.foundation.errors import ConfigError

if TYPE_CHECKING:  # numpy, which options need not wait for
    from mpbert.retrieval.stores.base import Store
    from mpbert.retrieval.stores.lists import ListsStore

KINDS = {
    "milvus": "milvus://HOST:PORT[/COLLECTION]",
    "postgresql": "postgresql://HOST:PORT/DATABASE",
    "lists": "lists:FOLDER",
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")


def store_option() -> Any:
    """Return the field of ``--store``, the same in every command that has it."""
    kinds = " or ".join(KINDS.values())
    text = f"search vectors in a store, {kinds}; without it, all vectors are compared"
    return option("", text, type=_checked)


def changed_store_option() -> Any:
    """Return the field of ``--store`` of commands that change an index."""
    kinds = " or ".join(KINDS.values())
    text = f"also change the papers that are held in a store, {kinds}"
    return option("", text, type=_checked)


def _checked(url: str) -> str:
    if url:
        checked_url(url)
    return url


def checked_url(url: str) -> SplitResult:
    """Return the parts of the URL of a store.

    :raises ConfigError: it names none that we know, or holds a password.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    name = parts.path.strip("/")
    is_milvus, is_folder = parts.scheme == "milvus", parts.scheme == "lists"
    if (
        parts.scheme not in KINDS
        or (is_milvus and not (parts.hostname and port))
        or (is_folder and (parts.netloc or not name))
    ):
        raise ConfigError(f"--store {url[:80]!a}: expected {' or '.join(KINDS.values())}")
    if parts.password or "password" in parse_qs(parts.query):
        raise ConfigError(
            f"--store {parts.scheme}://...: holds a password, which manifests and lists of "
            f"processes would show; set MILVUS_TOKEN=USER:PASSWORD, or PGPASSWORD, in its place"
        )
    if is_milvus and name and not _NAME.fullmatch(name):
        raise ConfigError(
            f"--store {url[:80]!a}: the collection is {name[:40]!a}; expected a letter or _, then "
            f"letters, digits and _"
        )
    return parts


def open_store(url: str, owner: str) -> "Store | ListsStore":
    """Return the collection of a URL; without a name in it, one is made of the owner's.

    :raises ConfigError: the URL names no store.
    :raises ModuleNotFoundError: the package that speaks to it is not installed.
    """
    parts, name = checked_url(url), f"mpbert_{owner[:16]}"
    if parts.scheme == "lists":
        from mpbert.retrieval.stores.lists import ListsStore

        return ListsStore(Path(url.partition(":")[2]).expanduser() / name)
    if parts.scheme == "milvus":
        from mpbert.retrieval.stores.milvus import MilvusStore

        return MilvusStore(str(parts.hostname), int(parts.port or 0), parts.path.strip("/") or name)
    from mpbert.retrieval.stores.pgvector import PgvectorStore

    return PgvectorStore(url, name)
