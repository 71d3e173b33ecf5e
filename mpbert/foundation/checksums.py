"""Checksums: of a file, of a finished directory, of a manifest itself, and those in archives."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from mpbert.foundation.errors import MpbertError

MANIFEST = "manifest.json"
NOT_NAMED = (MANIFEST, "config.yaml", "log.txt")  # files of an output that its manifest leaves out
LARGE = 1 << 26  # bytes; larger files of an index are mapped
QUICK = 1 << 20  # bytes; larger files of an index are known by a fast checksum
_FAST = "xxh3:"  # before such a checksum
SEAL = "checksum"  # last entry of a manifest: SHA-256 of its text without this entry
_SEALED = re.compile(rb',\n "%s": "([0-9a-f]{64})"\n}\n\Z' % SEAL.encode())


def fingerprint(path: Path) -> str:
    """Return the SHA-256 of a file or a directory, in hexadecimal; empty if there is none.

    A directory that has a manifest is known by its manifest without its seal. Any other directory
    is known by the names and the checksums of all its files.

    :raises MpbertError: it cannot be read.
    """
    with _readable(path):
        return _fingerprint(path)


def fast_fingerprint(path: Path) -> str:
    """Return the XXH3 of a file, of 128 bits, in a quarter of the time of SHA-256.

    It finds damage as well. It hinders no forger, but neither does a manifest.

    :raises MpbertError: the file cannot be read.
    """
    with _readable(path), path.open("rb") as file:
        return f"{_FAST}{hashlib.file_digest(file, _xxh3).hexdigest()}"


def fingerprints(
    directory: Path, files: Iterable[Path], is_index: bool, known: Mapping[Path, str]
) -> dict[str, str]:
    """Return the checksums of files by their names; as many are read at once as there are cores.

    :param known: checksums of some of them.
    """

    def checksum(path: Path) -> str:
        if path in known:
            return known[path]
        is_quick = is_index and path.stat().st_size > QUICK
        return fast_fingerprint(path) if is_quick else fingerprint(path)

    from concurrent.futures import ThreadPoolExecutor  # what reads an output needs none

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = zip(files, pool.map(checksum, files), strict=True)
        return {path.relative_to(directory).as_posix(): own for path, own in found}


class SummedFile:
    """A file of an index that is written, and the checksum of what was written so far.

    :param size: bytes that it will have, nearly.
    """

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self._is_fast = file, size > QUICK
        self._digest = _xxh3() if self._is_fast else hashlib.sha256()

    def write(self, data: bytes | memoryview) -> int:
        """Write some bytes."""
        self._digest.update(data)
        return self._file.write(data)

    @property
    def checksum(self) -> str:
        """As a manifest has it."""
        return f"{_FAST * self._is_fast}{self._digest.hexdigest()}"


def _xxh3() -> Any:
    import xxhash  # for large files alone

    return xxhash.xxh3_128()


def is_fast(checksum: object) -> bool:
    """Return whether a checksum of a manifest is an XXH3."""
    return isinstance(checksum, str) and checksum.startswith(_FAST)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MpbertError(
            f"{error.filename or path}: unreadable ({error.strerror}); expected a file that may be "
            f"read: change its permissions or copy it again"
        ) from error


def _fingerprint(path: Path) -> str:
    digest = hashlib.sha256()
    if path.is_dir() and not (path / MANIFEST).is_file():
        for file in sorted(p for p in path.rglob("*") if p.is_file()):
            name = os.fsencode(file.relative_to(path).as_posix())  # not all names are UTF-8
            digest.update(name + f" {_fingerprint(file)}\n".encode())
        return digest.hexdigest()
    if path.is_dir():
        return hashlib.sha256(unsealed((path / MANIFEST).read_bytes())[0]).hexdigest()
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sealed(manifest: dict[str, Any]) -> bytes:
    """Return the text of a manifest whose last entry is the checksum of the text without it."""
    text = json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    seal = f',\n "{SEAL}": "{hashlib.sha256(text).hexdigest()}"\n}}\n'
    return text.removesuffix(b"\n}\n") + seal.encode()


def unsealed(text: bytes) -> tuple[bytes, str | None]:
    """Return the text of a manifest as it was before it was sealed, and the checksum."""
    seal = _SEALED.search(text)
    return (text[: seal.start()] + b"\n}\n", seal[1].decode()) if seal else (text, None)


def archive_is_whole(path: Path) -> bool:
    """Return whether a file is a zip archive, as checkpoints are, whose checksums all agree."""
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (OSError, ValueError, zipfile.BadZipFile, zlib.error):
        return False
