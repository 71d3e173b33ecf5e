"""One machine at a time stores an output in an object store, and finishes it once.

pyarrow's file systems have no write that fails where an object is there already. So each machine
puts an object with a name of its own beside the output, then lists those of all, and writes while
it is the only one. Of two, the one that puts later lists both, where a listing shows all that was
put before: S3, GCS, HDFS and disks do. So two never write, unless someone deletes the claim of a
machine that is still at work; :func:`put_new` finds that out in S3, which has a
write that fails where an object is there (``If-None-Match: *``). pyarrow sends no condition with a
write, so boto3 does it where it is installed: the extra ``s3``.
"""

import importlib.util
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mpbert.foundation.errors import OutputError

_PATIENCE, _LOOK = 10.0, 0.5  # seconds that the first of several waits for others to give way
# S3 refuses: an object is there, or another one was being put or deleted at that moment
_REFUSED = {"PreconditionFailed", "ConditionalRequestConflict"}


def name_of_machine(folder: Path) -> str:
    """Return the name under which this machine claims, the same after it was killed.

    :param folder: where it is kept, which machines may share.
    """
    import socket
    import uuid

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


def can_put_new(store: Any) -> bool:
    """Return whether a write to a store of pyarrow.fs can fail where an object is there."""
    return store.type_name == "s3" and importlib.util.find_spec("boto3") is not None


def put_new(store: Any, path: str, url: str, content: bytes) -> bool:
    """Put an object unless one is there; of several that do so at once, one succeeds.

    Address and credentials come from the environment, as those of pyarrow do.

    :param store: for which :func:`can_put_new`; ``path`` of the object in it.
    :param url: of its output, which may hold credentials.
    :returns: whether it was put; False: another is there, or was on its way.
    :raises OSError: the store cannot be reached or used, or has no such write.
    """
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    given = urlsplit(url)
    bucket, _, key = path.partition("/")
    try:
        client = boto3.client(
            "s3",
            region_name=store.region,
            aws_access_key_id=given.username and unquote(given.username),
            aws_secret_access_key=given.password and unquote(given.password),
        )
        client.put_object(Bucket=bucket, Key=key, Body=content, IfNoneMatch="*")
    except ClientError as error:
        if error.response["Error"]["Code"] in _REFUSED:
            return False
        raise OSError(str(error)) from error
    except BotoCoreError as error:
        raise OSError(str(error)) from error
    return True
