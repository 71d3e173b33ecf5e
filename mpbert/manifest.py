"""Output directories that are complete or absent, and say how they were made.

A directory is written under a temporary name and renamed when it is complete, so one that exists
is finished. Beside the data it holds ``config.yaml`` (the configuration as resolved),
``manifest.json`` (format, counts, inputs and a checksum of each file; no time, so that the same
work gives the same bytes; but a checkpoint among the inputs holds times of its own) and
``log.txt`` (seconds and peak memory).
"""

import errno
import fcntl
import hashlib
import json
import os
import platform
import resource
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

import mpbert
from mpbert.config import as_plain_dict
from mpbert.errors import MpbertError, OutputError

MANIFEST = "manifest.json"
_PATH_KEYS = ("output", "outputs")


class OutputDirectory:
    """A directory that is being written: ``path`` to write into, ``counts`` to report."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.counts: dict[str, Any] = {}


def fingerprint(path: Path) -> str:
    """Return the SHA-256 of a file, or of a directory's manifest, in hexadecimal.

    Of a directory that is not ours it is that of all its files; of what is absent, it is empty.
    """
    digest = hashlib.sha256()
    if path.is_dir() and not (path / MANIFEST).is_file():
        for file in sorted(p for p in path.rglob("*") if p.is_file()):
            digest.update(f"{file.relative_to(path)} {fingerprint(file)}\n".encode())
        return digest.hexdigest()
    target = path / MANIFEST if path.is_dir() else path
    if not target.is_file():
        return ""
    with target.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def is_finished(output: Path, command: str, config: object, inputs: list[Path]) -> bool:
    """Return whether ``output`` was already made by this command, configuration and inputs.

    :raises OutputError: it exists, but was made otherwise, so writing would destroy something.
    """
    if not output.exists():
        return False
    expected = _identity(command, config, inputs)
    try:
        found = read_manifest(output)
    except MpbertError as error:
        raise OutputError(
            f"{output}: exists, but is no finished output of mpbert {command}; "
            f"move it away or choose another output"
        ) from error
    different = [key for key in expected if found.get(key) != expected[key]]
    if different:
        raise OutputError(
            f"{output}: exists and was made with another {' and '.join(different)} "
            f"(see {output / 'config.yaml'}); move it away or choose another output"
        )
    return True


@contextmanager
def output_directory(
    output: Path, command: str, config: object, inputs: list[Path]
) -> Iterator[OutputDirectory]:
    """Write a directory under a temporary name; rename it when the block ends without an error.

    :param config: the command's configuration, a dataclass.
    :param inputs: paths that were read; the fingerprints of those that exist are noted.
    :raises OutputError: the place cannot be written to, or another process is writing there.
    """
    partial = output.with_name(output.name + ".partial")
    with claimed(output):
        shutil.rmtree(partial, ignore_errors=True)
        try:
            partial.mkdir()
        except OSError as error:
            raise _cannot_write(output, error) from error
        with _completed(partial, output, command, config, inputs) as directory:
            yield directory


@contextmanager
def claimed(output: Path) -> Iterator[None]:
    """Let no other process claim the same output until the block or this process ends.

    :raises OutputError: another process has claimed it.
    """
    lock = output.with_name(output.name + ".lock")
    try:
        if not lock.parent.exists():
            lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("w")
    except OSError as error:
        raise _cannot_write(output, error) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_current = os.path.samestat(os.fstat(file.fileno()), lock.stat())
        except OSError:
            is_current = False  # it is locked, or was, and is gone
        if not is_current:
            raise OutputError(
                f"{output}: another process is writing it; wait until it ends, or end it"
            )
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


@contextmanager
def _completed(
    partial: Path, output: Path, command: str, config: object, inputs: list[Path]
) -> Iterator[OutputDirectory]:
    start = time.monotonic()
    directory = OutputDirectory(partial)
    try:
        yield directory
        write_manifest(partial, command, config, inputs, directory.counts)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        (partial / "log.txt").write_text(
            f"command: {command}\nseconds: {time.monotonic() - start:.1f}\npeak_mib: {peak:.0f}\n"
            f"machine: {platform.machine()}, {os.cpu_count()} cores, "
            f"Python {platform.python_version()}\n",
            encoding="utf-8",
        )
        partial.rename(output)
    except Exception as error:
        if _is_of_output(error, output):
            raise _cannot_write(output, error) from error
        raise
    finally:  # after the rename there is none
        shutil.rmtree(partial, ignore_errors=True)


def _is_of_output(error: Exception, output: Path) -> bool:
    """Whether writing failed; libraries in Rust and C++ say so in words of their own."""
    if isinstance(error, OSError) and error.filename is not None:
        return os.fsdecode(error.filename).startswith(str(output))
    return isinstance(error, OSError) or os.strerror(errno.ENOSPC) in str(error)


def _cannot_write(output: Path, error: Exception) -> OutputError:
    reason = " ".join((getattr(error, "strerror", None) or str(error)).split())
    return OutputError(
        f"{output}: cannot be written ({reason}); free space, or choose another output"
    )


def write_manifest(
    directory: Path, command: str, config: object, inputs: list[Path], counts: dict[str, Any]
) -> None:
    """Write ``config.yaml`` and ``manifest.json`` into a directory whose data is complete."""
    (directory / "config.yaml").write_text(
        yaml.safe_dump(as_plain_dict(config), sort_keys=False), encoding="utf-8"
    )
    files = sorted(p for p in directory.rglob("*") if p.is_file() and p.name != "config.yaml")
    manifest = {
        "format": 1,
        "mpbert": mpbert.__version__,
        **_identity(command, config, inputs),
        "counts": counts,
        "files": {str(p.relative_to(directory)): fingerprint(p) for p in files},
    }
    text = json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False)
    (directory / MANIFEST).write_text(text + "\n", encoding="utf-8")


def replace_manifest(directory: Path, counts: dict[str, Any], folders: list[str]) -> None:
    """Rewrite the manifest of a directory whose data has changed, in one step.

    :param folders: those of its folders whose files belong to it.
    """
    files = sorted(p for name in folders for p in (directory / name).rglob("*") if p.is_file())
    manifest = read_manifest(directory) | {
        "counts": counts,
        "files": {str(p.relative_to(directory)): fingerprint(p) for p in files},
    }
    text = json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False)
    unfinished = directory / f"{MANIFEST}.partial"
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(directory / MANIFEST)


def read_manifest(directory: Path) -> dict[str, Any]:
    """Return the manifest of a finished directory.

    :raises MpbertError: there is none, or it is no JSON object.
    """
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MpbertError(
            f"{directory}: found no readable {MANIFEST}; expected a finished output of mpbert"
        ) from error
    if not isinstance(manifest, dict):
        raise MpbertError(f"{directory / MANIFEST}: expected a JSON object; make it again")
    return manifest


def _identity(command: str, config: object, inputs: list[Path]) -> dict[str, Any]:
    settings = {k: v for k, v in as_plain_dict(config).items() if k not in _PATH_KEYS}
    for key, value in settings.items():  # paths are known by what they hold, not where they lie
        if isinstance(getattr(config, key), Path):
            settings[key] = Path(value).name
    return {
        "command": command,
        "config": settings,
        "inputs": _fingerprints(inputs),
    }


def _fingerprints(inputs: list[Path]) -> dict[str, str]:
    found: dict[str, str] = {}
    for place, path in enumerate(inputs, start=1):  # a corpus and its vectors may have one name
        name = path.name if path.name not in found else f"{path.name} ({place})"
        found[name] = fingerprint(path)
    return found
