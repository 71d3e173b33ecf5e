"""Output directories that are complete or absent, and say how they were made.

A directory is written under a temporary name and renamed when it is complete, so one that exists
is finished. Beside the data it holds ``config.yaml`` (the configuration as resolved),
``manifest.json`` (format, counts, inputs and a checksum of each file; no time, so that the same
work gives the same bytes; but a checkpoint among the inputs holds times of its own) and
``log.txt`` (seconds and peak memory). A command that reads it checks it first.
"""

import errno
import fcntl
import hashlib
import json
import os
import platform
import re
import resource
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

import mpbert
from mpbert.foundation.config import as_plain_dict
from mpbert.foundation.errors import DamagedError, MpbertError, OutputError

MANIFEST = "manifest.json"
# command -> format of its output; it is raised when older files can no longer be read as they are
FORMATS = {
    **{"build-corpus": 1, "binarize": 1, "export-encoder": 1, "embed": 1, "fit": 1},
    **{"add-papers": 1, "retrieve": 1, "rerank": 1, "build-index": 1, "report": 1},
}
_SEAL = "checksum"  # last entry of a manifest: SHA-256 of its text without this entry
_SEALED = re.compile(rb',\n "%s": "([0-9a-f]{64})"\n}\n\Z' % _SEAL.encode())
_PATH_KEYS = ("output", "outputs")
_LEFTOVERS = ("partial", "replaced", "lock")  # what a killed run leaves beside an output


class OutputDirectory:
    """A directory that is being written: ``path`` to write into, ``counts`` to report."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.counts: dict[str, Any] = {}


def beside(output: Path, what: str) -> Path:
    """Return where a command keeps files of its own while it makes an output.

    The name is one that nobody gives to a file of theirs: what lies there is thrown away.
    """
    return output.with_name(f".{output.name}.mpbert-{what}")


def fingerprint(path: Path) -> str:
    """Return the SHA-256 of a file, or of a directory's manifest without its seal, in hexadecimal.

    Of a directory that is not ours it is that of all its files; of what is absent, it is empty.

    :raises MpbertError: it cannot be read.
    """
    try:
        return _fingerprint(path)
    except OSError as error:
        raise MpbertError(
            f"{error.filename or path}: unreadable ({error.strerror}); expected a file that may be "
            f"read: change its permissions or copy it again"
        ) from error


def _fingerprint(path: Path) -> str:
    digest = hashlib.sha256()
    if path.is_dir() and not (path / MANIFEST).is_file():
        for file in sorted(p for p in path.rglob("*") if p.is_file()):
            name = os.fsencode(file.relative_to(path))  # not all names are UTF-8
            digest.update(name + f" {_fingerprint(file)}\n".encode())
        return digest.hexdigest()
    if path.is_dir():
        return hashlib.sha256(_unsealed((path / MANIFEST).read_bytes())[0]).hexdigest()
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def is_finished(output: Path, command: str, config: object, inputs: list[Path]) -> bool:
    """Return whether ``output`` was already made by this command, configuration and inputs.

    :raises OutputError: it exists, but was made otherwise, so writing would destroy something.
    """
    if not output.exists():
        return False
    try:
        found = read_manifest(output)
    except MpbertError as error:
        raise OutputError(
            f"{output}: exists, but is no finished output of mpbert {command}; "
            f"move it away or choose another output"
        ) from error
    expected = _identity(command, config, inputs)
    for identity in (found, expected):
        identity["config"] = _with_names(identity.get("config"), config)
    different = [key for key in expected if found.get(key) != expected[key]]
    if different:
        raise OutputError(
            f"{output}: exists and was made with another {' and '.join(different)} "
            f"(see {output / 'config.yaml'}); move it away or choose another output"
        )
    _clear_leftovers(output)
    return True


def _clear_leftovers(output: Path) -> None:
    """Remove what a run left that was killed after its output was finished."""
    leftovers = [beside(output, what) for what in _LEFTOVERS]
    if any(path.exists() for path in leftovers):
        with suppress(OutputError), claimed(output):  # unless another process is at work there
            for path in leftovers:
                shutil.rmtree(path, ignore_errors=True)


@contextmanager
def output_directory(
    output: Path, command: str, config: object, inputs: list[Path], replace: bool = False
) -> Iterator[OutputDirectory]:
    """Write a directory under a temporary name; rename it when the block ends without an error.

    :param config: the command's configuration, a dataclass.
    :param inputs: paths that were read; the fingerprints of those that exist are noted.
    :param replace: an older directory of this name gives way once the new one is complete.
    :raises OutputError: the place cannot be written to, or another process is writing there.
    """
    if output.is_symlink():
        output = output.resolve()  # what gives way is what it leads to, not the link
    partial = beside(output, "partial")
    with claimed(output):
        shutil.rmtree(partial, ignore_errors=True)
        try:
            partial.mkdir()
        except OSError as error:
            raise _cannot_write(output, error) from error
        with _completed(partial, output, command, config, inputs, replace) as directory:
            yield directory


@contextmanager
def claimed(output: Path) -> Iterator[None]:
    """Let no other process claim the same output until the block or this process ends.

    :raises OutputError: another process has claimed it.
    """
    lock = beside(output, "lock")
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
    partial: Path, output: Path, command: str, config: object, inputs: list[Path], replace: bool
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
        _put_in_place(partial, output, replace)
    except Exception as error:
        if _is_of_output(error, output):
            raise _cannot_write(output, error) from error
        raise
    finally:  # after the rename there is none
        shutil.rmtree(partial, ignore_errors=True)


def _put_in_place(partial: Path, output: Path, replace: bool) -> None:
    replaced = beside(output, "replaced")
    if replace and output.exists():
        shutil.rmtree(replaced, ignore_errors=True)
        output.rename(replaced)
    partial.rename(output)
    shutil.rmtree(replaced, ignore_errors=True)


def _is_of_output(error: Exception, output: Path) -> bool:
    """Whether writing failed; libraries in Rust and C++ say so in words of their own."""
    if isinstance(error, OSError) and error.filename is not None:
        names = filter(None, (error.filename, error.filename2))  # two of a copy
        places = str(output), str(beside(output, ""))
        return any(os.fsdecode(name).startswith(places) for name in names)
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
        "format": FORMATS.get(command, 1),
        "mpbert": mpbert.__version__,
        **_identity(command, config, inputs),
        "counts": counts,
        "files": {str(p.relative_to(directory)): fingerprint(p) for p in files},
    }
    (directory / MANIFEST).write_bytes(_sealed(manifest))


def replace_manifest(directory: Path, counts: dict[str, Any], folders: list[str]) -> None:
    """Rewrite the manifest of a directory whose data has changed, in one step.

    :param folders: those of its folders whose files belong to it.
    """
    files = sorted(p for name in folders for p in (directory / name).rglob("*") if p.is_file())
    manifest = read_manifest(directory) | {
        "counts": counts,
        "files": {str(p.relative_to(directory)): fingerprint(p) for p in files},
    }
    unfinished = directory / f"{MANIFEST}.partial"
    unfinished.write_bytes(_sealed(manifest))
    unfinished.replace(directory / MANIFEST)


def _sealed(manifest: dict[str, Any]) -> bytes:
    """Return the text of a manifest whose last entry is the checksum of the text without it."""
    text = json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    seal = f',\n "{_SEAL}": "{hashlib.sha256(text).hexdigest()}"\n}}\n'
    return text.removesuffix(b"\n}\n") + seal.encode()


def _unsealed(text: bytes) -> tuple[bytes, str | None]:
    """Return the text of a manifest as it was before it was sealed, and the checksum."""
    seal = _SEALED.search(text)
    return (text[: seal.start()] + b"\n}\n", seal[1].decode()) if seal else (text, None)


def read_manifest(directory: Path) -> dict[str, Any]:
    """Return the manifest of a finished directory, without the checksum of itself.

    One without a checksum was written before there were any, and is taken as it is.

    :raises MpbertError: there is none, or it is no JSON object.
    :raises DamagedError: it is not as it was written.
    """
    try:
        text, checksum = _unsealed((directory / MANIFEST).read_bytes())
        manifest = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise MpbertError(
            f"{directory}: found no readable {MANIFEST}; expected a finished output of mpbert, "
            f"move it away and make it again"
        ) from error
    if not isinstance(manifest, dict):
        raise MpbertError(f"{directory / MANIFEST}: expected a JSON object; make it again")
    expected = checksum and hashlib.sha256(text).hexdigest()
    if checksum != expected or _SEAL in manifest:  # one that is not recognised is damaged itself
        raise DamagedError(
            f"{directory / MANIFEST}: found other bytes than were written; expected those of its "
            f"{_SEAL}: move {directory} away and make it again"
        )
    return manifest


def check_format(directory: Path) -> dict[str, Any]:
    """Check that this version reads the format of an output; return its manifest.

    A directory without a manifest, or whose manifest names neither command nor format, was not made
    here; its manifest is empty.

    :raises MpbertError: the manifest is damaged.
    :raises DamagedError: the output is of another format.
    """
    if not (directory / MANIFEST).is_file():
        return {}
    manifest = read_manifest(directory)
    if not {"command", "format"} & manifest.keys():
        return {}
    command, found = str(manifest.get("command")), manifest.get("format")
    expected = FORMATS.get(command, 1)
    if found != expected:
        raise DamagedError(
            f"{directory}: found format {found} of mpbert {command}, written by version "
            f"{manifest.get('mpbert')}; version {mpbert.__version__} reads format {expected}: "
            f"move it away and make it again with mpbert {command}"
        )
    return manifest


def check_inputs(inputs: Iterable[Path], most_bytes: int | None = None) -> None:
    """Check that files are as they were written: all of a directory, or one of its files.

    A file that no manifest lists is not checked. A gigabyte takes half a second.

    :param most_bytes: a larger file is mapped, not read, so it is only checked that it is there.
    :raises MpbertError: a manifest is damaged.
    :raises DamagedError: a file is missing or has other bytes, or is of another format.
    """
    for path in inputs:
        directory = path if path.is_dir() else path.parent
        manifest = check_format(directory)
        files = manifest.get("files") if manifest else {}
        if not isinstance(files, dict):
            raise _damaged(directory, manifest, MANIFEST, "no list of files")
        for name in files if path is directory else {path.name} & files.keys():
            if not (directory / name).is_file():
                raise _damaged(directory, manifest, name, "no such file")
            if most_bytes is not None and (directory / name).stat().st_size > most_bytes:
                continue
            if fingerprint(directory / name) != files[name]:
                raise _damaged(directory, manifest, name, "other bytes than were written")


def _damaged(directory: Path, manifest: dict[str, Any], name: str, found: str) -> DamagedError:
    return DamagedError(
        f"{directory / name}: found {found}; expected what {directory / MANIFEST} tells of: move "
        f"{directory} away and make it again with mpbert {manifest.get('command')}"
    )


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


def _with_names(settings: Any, config: object) -> Any:
    """Return noted settings with the names of listed paths; manifests keep the paths as given."""
    if not isinstance(settings, dict):
        return settings
    return {
        key: [Path(str(place)).name for place in value]
        if isinstance(value, list) and _are_paths(getattr(config, key, None))
        else value
        for key, value in settings.items()
    }


def _are_paths(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, Path) for each in value)


def _fingerprints(inputs: list[Path]) -> dict[str, str]:
    found: dict[str, str] = {}
    for place, path in enumerate(inputs, start=1):  # a corpus and its vectors may have one name
        name = path.name if path.name not in found else f"{path.name} ({place})"
        found[name] = fingerprint(path)
    return found
