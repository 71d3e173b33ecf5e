"""One machine at a time stores an output in an object store.

pyarrow's file systems have no write that fails where an object is there already. So each machine
puts an object with a name of its own beside the output, then lists those of all, and writes while
it is the only one. Of two, the one that puts later lists both, where a listing shows all that was
put before: S3, GCS, HDFS and disks do. So two never write, unless someone deletes the claim of a
machine that is still at work; :mod:`mpbert.foundation.object_commits` finds that out in S3.
"""

import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mpbert.foundation.errors import OutputError

_PATIENCE, _LOOK = 10.0, 0.5  # seconds that the first of several waits for others to give way


def name_of_machine(folder: Path) -> str:
    """Return the name under which this machine claims, the same after it was killed.

    :param folder: where it is kept, which machines may share.
    """
    machine = socket.gethostname()
    note = folder / f".{machine}.claim"
    if not note.exists():
        note.write_text(f"{machine}-{uuid.uuid4().hex[:12]}", encoding="utf-8")
    return note.read_text(encoding="utf-8")


@contextmanager
def stored_alone(store: Any, path: str, name: str, url: str) -> Iterator[None]:
    """Let no other machine store an output until the block ends.

    :param store: of pyarrow.fs; ``path`` of the output in it; ``url``: how messages name it.
    :param name: of :func:`name_of_machine`; what it left when it was killed does not hinder it.
    :raises OutputError: another machine is at it, or was killed meanwhile.
    """
    folder, _, output = path.rpartition("/")
    claim = f"{folder}/.{output}.mpbert-claim."
    if store.type_name == "local":  # an object store has no folders
        store.create_dir(folder, recursive=True)
    with store.open_output_stream(f"{claim}{name}") as stream:
        stream.write(b"claimed\n")
    try:
        end = time.monotonic() + _PATIENCE
        while others := sorted(set(_claims(store, claim)) - {name}):
            if others[0] < name or time.monotonic() > end:  # of those that began at once one stays
                raise OutputError(
                    f"{url}: machine {others[0].rpartition('-')[0]} is storing it; wait until it "
                    f"ends; if it was killed, start it there again, or delete {claim}{others[0]}"
                )
            time.sleep(_LOOK)
        yield
    finally:
        with suppress(OSError):
            store.delete_file(f"{claim}{name}")


def _claims(store: Any, claim: str) -> Iterator[str]:
    """Yield the names under which machines claim an output now."""
    from pyarrow.fs import FileSelector

    for found in store.get_file_info(FileSelector(claim.rpartition("/")[0])):
        if found.path.startswith(claim):
            yield found.path[len(claim) :]
