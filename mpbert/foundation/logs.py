"""What commands write on standard error: lines to read, or one JSON object a line.

The style is the environment variable ``MPBERT_LOG``, which ``--log`` sets, so that the steps and
workers that a command starts write in the same one.
"""

import json
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from mpbert.foundation.errors import ConfigError

logger = logging.getLogger(__name__)

VARIABLE = "MPBERT_LOG"
STYLES = ("json", "text")
_CHATTY = ("faiss", "gensim")


def is_json() -> bool:
    """Return whether standard error is for programs: then there are no progress bars either."""
    return os.environ.get(VARIABLE) == "json"


class JsonFormatter(logging.Formatter):
    """Time in UTC, level, command, logger, message, and what ``extra={"fields": {...}}`` holds.

    :param command: which command it is that writes.
    """

    def __init__(self, command: str) -> None:
        super().__init__()
        self.command = command

    def format(self, record: logging.LogRecord) -> str:
        """Return the object in one line."""
        found = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "command": self.command,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            found["traceback"] = self.formatException(record.exc_info)
        return json.dumps(found, ensure_ascii=False, default=str)


def take_style(argv: Sequence[str]) -> tuple[str, list[str]]:
    """Return the style and the words without ``--log``, which may stand anywhere among them.

    :raises ConfigError: there is no such style, in the words or in the environment.
    """
    rest: list[str] = []
    style, source = os.environ.get(VARIABLE) or "text", VARIABLE
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if name != "--log":
            rest.append(word)
            continue
        style, source = (value if equals else next(words, "")), "--log"
    if style not in STYLES:
        raise ConfigError(f"{source}: found {style!r}; expected one of {', '.join(STYLES)}")
    return style, rest


@contextmanager
def written(style: str, command: str) -> Iterator[None]:
    """Write all log records on standard error in a style, in this block and what it starts."""
    chosen = {VARIABLE: style}
    if style == "json":
        chosen["TQDM_DISABLE"] = "1"  # bars of libraries
    before = {name: os.environ.get(name) for name in chosen}
    os.environ.update(chosen)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonFormatter(command) if style == "json" else logging.Formatter("%(message)s")
    )
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(style == "json")
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)
        root.setLevel(level)
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def relay(line: str, label: str = "") -> None:
    """Write a line of another process on standard error, in our style.

    :param label: of the process, where lines of several come one between the other: it stands
        before a line, and is ``label`` of an object.
    """
    found = _object_in(line)
    line = line.removesuffix("\n") + "\n"  # the last one of a process that was killed has no end
    if not is_json():
        sys.stderr.write(f"{label}: {line}" if label else line)
    elif found is not None:
        named = json.dumps({**found, "label": label}, ensure_ascii=False) + "\n"
        sys.stderr.write(named if label else line)
    elif line.strip():
        logger.info("%s", line.strip(), extra={"fields": {"label": label} if label else {}})


def message_of(line: str) -> str:
    """Return what a line of a log says: the message of a JSON object, else the line."""
    found = _object_in(line)
    return line if found is None else str(found["message"])


def _object_in(line: str) -> dict[str, object] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "message" in found else None
