"""One process at a time writes an output: its lock, its temporary places, and why it failed."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from mpbert.foundation.errors import OutputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_LEFTOVERS = ("partial", "replaced", "parts", "lock")  # what a killed run leaves beside an output


def beside(output: Path, what: str) -> Path:
    """Return where a command keeps files of its own while it makes an output.

    The name is one that nobody gives to a file of theirs: what lies there is thrown away. Of a link
    it is beside what that leads to.
    """
    output = output.resolve() if output.is_symlink() else output
    return output.with_name(f".{output.name}.mpbert-{what}")


def parts_directory(output: Path, identity: str) -> Path:
    """Return where finished parts of an output wait for the others, also after a kill.

    :param identity: of all that the parts depend on; parts of anything else are thrown away.
    """
    parts = beside(output, "parts")
    note = parts / "of.txt"
    if parts.exists() and not (note.exists() and note.read_text(encoding="utf-8") == identity):
        shutil.rmtree(parts)
    parts.mkdir(parents=True, exist_ok=True)
    note.write_text(identity, encoding="utf-8")
    return parts


@contextmanager
def claimed(output: Path, name: str = "lock", does: str = "writing it") -> Iterator[None]:
    """Let no other process claim the same output until the block or this process ends.

    :param name: of the lock, ``does`` what its holder does, for the message.
    :raises OutputError: another process has claimed it.
    """
    lock = beside(output, name)
    try:
        if not lock.parent.exists():
            lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("w")
    except OSError as error:
        raise cannot_write(output, error) from error
    with file:
        try:
            _lock(file)
            is_current = os.path.samestat(os.fstat(file.fileno()), lock.stat())
        except OSError:
            is_current = False  # it is locked, or was, and is gone
        if not is_current:
            raise OutputError(f"{output}: another process is {does}; wait until it ends, or end it")
        try:
            yield
        finally:
            with suppress(PermissionError):  # of Windows, while the file is open
                lock.unlink(missing_ok=True)


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait until no other process is inside such a block of the same folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _lock(file: IO[str]) -> None:
    """Lock a file until it is closed.

    :raises OSError: another process has locked it.
    """
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)


def clear_leftovers(output: Path) -> None:
    """Remove what a run left that was killed after its output was finished."""
    leftovers = [beside(output, what) for what in _LEFTOVERS]
    if any(path.exists() for path in leftovers):
        with suppress(OutputError), claimed(output):  # unless another process is at work there
            for path in leftovers:
                shutil.rmtree(path, ignore_errors=True)


def put_in_place(partial: Path, output: Path, replace: bool) -> None:
    """Rename a complete directory to its place; an older one there gives way if it may.

    Its parts are thrown away.
    """
    replaced = beside(output, "replaced")
    if replace and output.exists():
        shutil.rmtree(replaced, ignore_errors=True)
        output.rename(replaced)
    partial.rename(output)
    for what in ("replaced", "parts"):
        shutil.rmtree(beside(output, what), ignore_errors=True)


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file in one step.

    :raises OSError: the disk refuses it; the file is as it was.
    """
    unfinished = path.with_name(f"{path.name}.partial")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def is_of_output(error: Exception, output: Path) -> bool:
    """Return whether writing failed; libraries in Rust and C++ say so in words of their own."""
    if isinstance(error, OSError) and error.filename is not None:
        names = filter(None, (error.filename, error.filename2))  # two of a copy
        places = str(output), str(beside(output, ""))
        return any(os.fsdecode(name).startswith(places) for name in names)
    return isinstance(error, OSError) or os.strerror(errno.ENOSPC) in str(error)


def cannot_write(output: Path, error: Exception) -> OutputError:
    """Return the error that says why an output cannot be written, and what a full disk holds."""
    reason = " ".join((getattr(error, "strerror", None) or str(error)).split())
    parts = beside(output, "parts")
    needed = f"more than the {told_size(beside(output, 'partial'), parts)} so far is needed"
    others = f" and remove {parts}" if parts.exists() else ""
    return OutputError(
        f"{output}: cannot be written ({reason}{told_room(error, output, needed)}); free space, or "
        f"choose another output{others}"
    )


def told_room(error: Exception, output: Path, needed: str) -> str:
    """Return what is needed and what is free, where an error says that a disk is full."""
    if os.strerror(errno.ENOSPC) not in str(error):
        return ""
    return f": {needed}, {shutil.disk_usage(output.parent).free / 1e6:,.1f} MB are free"


def told_size(*folders: Path) -> str:
    """Return what all files of folders take together."""
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return f"{sum(path.stat().st_size for path in files) / 1e6:,.1f} MB"
