"""Files and finished outputs in an object store, named by URL in the place of a path.

A command works on a copy in a folder of this machine, since arrays are mapped from files. The copy
of an output counts while its manifest has the bytes of the one in the store. What a command writes
is stored file by file, the manifest last: an output whose manifest is there is complete. It has the
files that its manifest names; others, which a killed command left there, are not copied.
"""

import dataclasses
import hashlib
import json
import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from mpbert.foundation.checksums import MANIFEST, NOT_NAMED, unsealed
from mpbert.foundation.claims import one_at_a_time
from mpbert.foundation.errors import MpbertError, OutputError
from mpbert.foundation.object_claims import can_put_new, name_of_machine, put_new, stored_alone

logger = logging.getLogger(__name__)
C = TypeVar("C")
# commands that read whole inputs and write one new directory, or none
TAKES_URLS = frozenset(
    {
        *("build-corpus", "binarize", "embed", "embed-sentences", "fit", "retrieve", "answer"),
        *("build-index", "index", "recommend", "serve", "check", "evaluate", "export-vectors"),
    }
)
_URL = re.compile(r"([a-z][a-z0-9+.-]+):/(.*)", re.DOTALL)  # a path has lost a stroke of it
_OUTPUT = "output"  # name of the argument of what is written
_copied: dict[Path, str] = {}  # copy that this process reads -> its URL


def url_of(path: Path) -> str | None:
    """Return the URL that was given as a path; None: it is a path."""
    found = _URL.fullmatch(str(path))
    if found is None or path.exists():
        return None
    scheme, rest = found.groups()
    return f"{scheme}://{'/' * (scheme == 'file')}{rest}"


@contextmanager
def local_copies(config: C) -> Iterator[C]:
    """Give a configuration whose URLs are paths of copies; store what was written at the end.

    :raises MpbertError: an object cannot be read or written, or is not there.
    """
    written: list[_Remote] = []

    def local(value: Any, name: str) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(local(each, name) for each in value)
        if not isinstance(value, Path) or (url := url_of(value)) is None:
            return value
        remote = _Remote(url)
        if name == _OUTPUT:
            written.append(remote)
        return remote.copy(may_lack=name == _OUTPUT)

    values = {f.name: getattr(config, f.name) for f in dataclasses.fields(config)}  # type: ignore[arg-type]
    copies = {name: local(value, name) for name, value in values.items()}
    yield config if copies == values else dataclasses.replace(config, **copies)  # type: ignore[type-var]
    for remote in written:
        remote.store()


def shared_place(path: Path) -> str:
    """Return what other machines find an input by: the URL that it was copied from, or its path."""
    return _copied.get(path) or str(path.resolve())


def place_here(place: str, machine: str) -> Path:
    """Return where an input lies on this machine, which is copied here if it is a URL.

    :param place: of :func:`shared_place`, ``machine`` how messages name this one.
    :raises MpbertError: it is not there, or cannot be copied.
    """
    path = Path(place)
    if (url := url_of(path)) is not None:
        return _Remote(url).copy(may_lack=False)
    if not path.exists():
        raise MpbertError(
            f"{path}: found nothing on machine {machine}; expected a path that all machines of the "
            f"cluster share, or the URL of an object store"
        )
    return path


def store_of(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, as pyarrow has it, and the path in it.

    Of S3 it takes the address and the region from the environment, as programs of AWS do; without
    a region it would ask for that of the bucket, and not at this address.

    :raises OSError: there is no such kind, or it cannot be reached.
    """
    from pyarrow import fs

    words = {}
    if url.startswith("s3://"):
        if region := os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"):
            words["region"] = region
        named = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        if named:
            address = urlsplit(named)
            words |= {"scheme": address.scheme, "endpoint_override": address.netloc}
    return fs.FileSystem.from_uri(f"{url}?{urlencode(words)}" if words else url)


class _Remote:
    """A file or a finished output in a store, and its copy.

    :param url: such as ``s3://bucket/runs/corpus/rfc``.
    :raises MpbertError: no such kind of store.
    """

    def __init__(self, url: str) -> None:
        from pyarrow import fs  # takes a moment

        self._url = url.rstrip("/")
        with self._told("read"):
            self._store, self._path = store_of(self._url)
        self._files = fs.FileType.File
        self._selector = fs.FileSelector(self._path, recursive=True)
        name = hashlib.sha256(self._url.encode()).hexdigest()[:16]
        self._place = _cache() / name / self._path.rsplit("/", 1)[-1]

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        import pyarrow as pa

        try:
            yield
        except (OSError, pa.ArrowException) as error:
            reason = " ".join(str(error).split())[:300]
            raise MpbertError(
                f"{self._url}: cannot be {what} ({reason}); expected an address of a store, and "
                f"leave to use it in the environment, such as AWS_ACCESS_KEY_ID"
            ) from error

    def _manifest(self) -> bytes | None:
        path = f"{self._path}/{MANIFEST}"
        if self._store.get_file_info(path).type != self._files:
            return None
        with self._store.open_input_stream(path) as stream:
            return bytes(stream.read())

    def copy(self, may_lack: bool) -> Path:
        """Return where the copy lies; it is made unless it is there.

        :param may_lack: nothing needs to be there: it is to be written.
        :raises MpbertError: there is neither a file nor a finished output.
        """
        with one_at_a_time(self._place.parent):  # processes of a machine share the copies
            place = self._copy(may_lack)
        _copied[place] = self._url
        return place

    def _copy(self, may_lack: bool) -> Path:
        with self._told("read"):
            manifest, info = self._manifest(), self._store.get_file_info(self._path)
            if manifest is None and info.type == self._files and not may_lack:
                state = hashlib.sha256(f"{info.size} {info.mtime_ns}".encode()).hexdigest()[:16]
                place = self._place.parent / state / self._place.name
                if not place.exists():
                    self._copy_files([self._path], self._path, place)
                return place
            if manifest is None and not may_lack:
                raise MpbertError(
                    f"{self._url}: found no file and no finished output; expected one: name it as "
                    f"the command that wrote it did, or copy a folder of files here first"
                )
            copied = self._place / MANIFEST
            if manifest is not None and not (copied.exists() and copied.read_bytes() == manifest):
                self._copy_files(self._files_of(manifest), self._path, self._place)
        self._place.parent.mkdir(parents=True, exist_ok=True)
        return self._place

    def _files_of(self, manifest: bytes) -> list[str]:
        """Return the files of an output in the store: others were left by an unfinished one."""
        found = [x.path for x in self._store.get_file_info(self._selector) if x.type == self._files]
        try:
            named = {*json.loads(unsealed(manifest)[0])["files"], *NOT_NAMED}
        except (ValueError, KeyError, TypeError, RecursionError):
            return found  # the command says what is wrong with it
        return [path for path in found if path[len(self._path) + 1 :] in named]

    def _copy_files(self, paths: list[str], base: str, place: Path) -> None:
        """Copy files of the store to a place, which is complete or absent at any time."""
        partial = place.with_name(f"{place.name}.{os.getpid()}.partial")
        for path in paths:
            target = partial / path[len(base) :].lstrip("/") if path != base else partial
            target.parent.mkdir(parents=True, exist_ok=True)
            with self._store.open_input_stream(path) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file, 1 << 20)
        if place.is_dir():
            shutil.rmtree(place)
        partial.replace(place)
        logger.info("%s: copied to %s", self._url, place)

    def store(self) -> None:
        """Store what was written into the copy, unless the same is there; the manifest last.

        :raises OutputError: another machine stores this output, or has stored another one.
        """
        own = self._place / MANIFEST
        if not own.exists() or self._is_stored(own.read_bytes()):
            return
        folder = self._place.parent
        with one_at_a_time(folder), self._told("written"):
            alone = stored_alone(self._store, self._path, name_of_machine(folder), self._url)
            with alone:
                if not self._is_stored(own.read_bytes()):
                    self._put_files()
        logger.info("%s: stored", self._url)

    def _is_stored(self, manifest: bytes) -> bool:
        """Return whether the output with this manifest is there.

        :raises OutputError: there is another one.
        """
        with self._told("read"):
            found = self._manifest()
        if found is not None and found != manifest:
            raise OutputError(
                f"{self._url}: another machine has stored another output there; "
                f"expected none, or the same one: choose another URL"
            )
        return found is not None

    def _put_files(self) -> None:
        """Put each file, the manifest last.

        :raises OutputError: another machine has put a manifest of its own meanwhile.
        """
        manifest = self._place / MANIFEST
        for path in sorted(self._place.rglob("*")):
            if path.is_file() and path != manifest:
                self._put(path)
        if not can_put_new(self._store):
            self._put(manifest)
            return
        content, target = manifest.read_bytes(), f"{self._path}/{MANIFEST}"
        while not put_new(self._store, target, self._url, content):
            if self._is_stored(content):
                return

    def _put(self, path: Path) -> None:
        """Put a file of the copy, in the place of one that is there."""
        target = f"{self._path}/{path.relative_to(self._place).as_posix()}"
        if self._store.type_name == "local":  # an object store has no folders
            self._store.create_dir(target.rsplit("/", 1)[0], recursive=True)
        with path.open("rb") as file, self._store.open_output_stream(target) as stream:
            shutil.copyfileobj(file, stream, 1 << 20)


def _cache() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "mpbert" / "objects"
