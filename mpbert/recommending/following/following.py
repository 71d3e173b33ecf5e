"""A library is followed until this process is stopped."""

import logging
import shlex
import time
from collections.abc import Callable
from pathlib import Path

from mpbert.foundation.claims import claimed
from mpbert.foundation.errors import ConfigError, CorpusError, MpbertError, listed
from mpbert.recommending.following.looks import look_at_library
from mpbert.recommending.following.updating import Followed, Update, update
from mpbert.recommending.following.waiting import wait_for_change

logger = logging.getLogger(__name__)
_AGAIN = 5.0  # seconds after which what failed for another reason than the library is tried again


def follow(followed: Followed, tell: Callable[[str], object]) -> None:
    """Bring an index up to date with its library, and again after each change of that, for ever.

    What is wrong is one line of the log, and the index stays as it is.

    :param tell: receives a line for each change.
    :raises OutputError: another process follows a library for this index.
    """
    once = _Once()
    with claimed(followed.index.resolve(), "follower", "following a library for it"), once:
        while True:
            once.turn()
            before = look_at_library(followed.library)
            wait_for_change(followed.library, before, _updated(followed, tell))


class _Once(logging.Filter):
    """Lets no warning through that came in the turn before, too."""

    def __init__(self) -> None:
        super().__init__()
        self._before: set[str] = set()
        self._now: set[str] = set()
        self._handlers = list(logging.getLogger().handlers)

    def __enter__(self) -> None:
        for handler in self._handlers:
            handler.addFilter(self)

    def __exit__(self, *error: object) -> None:
        for handler in self._handlers:
            handler.removeFilter(self)

    def turn(self) -> None:
        """Begin another turn."""
        self._before, self._now = self._now, set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is to be written."""
        message = record.getMessage()
        self._now.add(message)
        return record.levelno < logging.WARNING or message not in self._before


def _updated(followed: Followed, tell: Callable[[str], object]) -> float | None:
    """Update an index, and tell of it; return the seconds after which to try again, or None."""
    begun = time.monotonic()
    try:
        done = update(followed)
    except (CorpusError, ConfigError) as error:  # until the library changes, it stays so
        logger.warning("%s stays as it is: %s", followed.index, error)
        return None
    except (MpbertError, OSError) as error:
        logger.warning("%s stays as it is, and is tried again: %s", followed.index, error)
        return _AGAIN
    if done is None:
        return None
    if done.added or done.replaced or done.removed:
        tell(_told(followed.index, done, time.monotonic() - begun))
    if done.broken:
        logger.warning(
            "%s: %d broken records, so that nothing was removed; mend them",
            *(followed.library, done.broken),
        )
    if done.others:
        logger.warning(
            "%s: %d papers are not in %s, and stay: %s; this removes them: %s",
            *(followed.index, len(done.others), followed.library, listed(done.others)),
            shlex.join(
                ["mpbert", "add", str(followed.index), str(followed.library), "--update", "--prune"]
            ),
        )
    return None


def _told(index: Path, done: Update, seconds: float) -> str:
    return (
        f"{index}: {done.papers:,} papers; {done.added:,} new, {done.replaced:,} changed, "
        f"{done.removed:,} gone, in {seconds:.1f} s"
    )
