"""Waiting until a library changes, and comes to rest: events of the system, and looks."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

from mpbert.recommending.following.looks import Look, look_at_library

_QUIET = 0.5  # seconds without a change after which a library is at rest: editors write in steps
_LONGEST = 10.0  # seconds after which one that is never at rest is read
# between two looks, since a network drive and a folder that comes back give no events; a look takes
# no more than a hundredth of the time
_LOOK, _SHARE = 10.0, 100
_CHANGES = (
    *(FileCreatedEvent, FileModifiedEvent, FileMovedEvent, FileDeletedEvent),
    *(DirCreatedEvent, DirMovedEvent, DirDeletedEvent),
)


class _Waking(FileSystemEventHandler):
    def __init__(self, changed: Event) -> None:
        self._changed = changed

    def on_any_event(self, event: FileSystemEvent) -> None:
        self._changed.set()


def wait_for_change(library: Path, before: dict[str, Look], seconds: float | None = None) -> None:
    """Return when the files of a library are others than they were, and at rest.

    :param before: what :func:`look_at_library` gave before it was read.
    :param seconds: after which to return anyway; None: never.
    """
    end = None if seconds is None else time.monotonic() + seconds
    changed = Event()
    with _observed(library, changed):
        wait = 0.0
        while end is None or time.monotonic() < end:
            changed.wait(wait)
            changed.clear()
            begun = time.monotonic()
            if look_at_library(library) != before:
                return _wait_for_rest(changed)
            wait = max(_LOOK, _SHARE * (time.monotonic() - begun))
            if end is not None:
                wait = min(wait, max(0.0, end - time.monotonic()))


def _wait_for_rest(changed: Event) -> None:
    end = time.monotonic() + _LONGEST
    while changed.wait(_QUIET) and time.monotonic() < end:
        changed.clear()


@contextmanager
def _observed(library: Path, changed: Event) -> Iterator[None]:
    """Set an event at each change near a library, where the system tells of it."""
    is_tree = library.is_dir() and not (library / "zotero.sqlite").is_file()
    folder = library if library.is_dir() else library.parent
    observer = Observer()
    try:
        observer.schedule(
            _Waking(changed), str(folder.resolve()), recursive=is_tree, event_filter=[*_CHANGES]
        )
        observer.start()
    except OSError:  # no such folder, or too many are watched: looks must do
        yield
        return
    try:
        yield
    finally:
        observer.stop()
        observer.join()
