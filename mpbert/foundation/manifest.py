"""Output directories that are complete or absent, and say how they were made.

A directory is written under a temporary name and renamed when it is complete, so one that exists
is finished. Beside the data it holds ``config.yaml`` (the configuration as resolved),
``manifest.json`` (format, counts, inputs and a checksum of each file; no time, so that the same
work gives the same bytes; but a checkpoint among the inputs holds times of its own) and
``log.txt`` (seconds and peak memory). A command that reads it checks it first.
"""

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mpbert
from mpbert.foundation.checksums import (
    MANIFEST,
    SEAL,
    fast_fingerprint,
    fingerprint,
    fingerprints,
    is_fast,
    sealed,
    unsealed,
)
from mpbert.foundation.claims import (
    beside,
    cannot_write,
    claimed,
    clear_leftovers,
    is_of_output,
    put_in_place,
    replace_file,
)
from mpbert.foundation.config import as_plain_dict
from mpbert.foundation.errors import DamagedError, MpbertError, OutputError
from mpbert.foundation.identity import differences, identity_of

try:
    import resource
except ImportError:  # Windows
    resource = None

INDEXES = ("build-index", "index")  # commands that make an index
# command -> format of its output; it is raised when older files can no longer be read as they are
FORMATS = {
    **{"build-corpus": 3, "binarize": 2},
    **{"embed": 1, "embed-sentences": 1, "fit": 1, "add-papers": 1, "retrieve": 1},
    **{"rerank": 1, "answer": 1, "build-index": 7, "index": 3, "report": 1},
    **{"export-encoder": 2, "pretrain": 2, "finetune": 2, "distil": 2},  # encoders
}


class OutputDirectory:
    """A directory that is being written: ``path`` to write into, ``counts`` to report.

    :ivar checksums: of files in it that are known already.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.counts: dict[str, Any] = {}
        self.checksums: dict[Path, str] = {}


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
    if different := differences(found, command, config, inputs):
        raise OutputError(
            f"{output}: exists and was made with another {' and '.join(different)} "
            f"(see {output / 'config.yaml'}); move it away or choose another output"
        )
    clear_leftovers(output)
    return True


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
            raise cannot_write(output, error) from error
        with _completed(partial, output, command, config, inputs, replace) as directory:
            yield directory


@contextmanager
def _completed(
    partial: Path, output: Path, command: str, config: object, inputs: list[Path], replace: bool
) -> Iterator[OutputDirectory]:
    import platform

    start = time.monotonic()
    directory = OutputDirectory(partial)
    try:
        yield directory
        write_manifest(directory, command, config, inputs)
        (partial / "log.txt").write_text(
            f"command: {command}\nseconds: {time.monotonic() - start:.1f}\n{_peak()}"
            f"machine: {platform.machine()}, {os.cpu_count()} cores, "
            f"Python {platform.python_version()}\n",
            encoding="utf-8",
        )
        put_in_place(partial, output, replace)
    except Exception as error:
        if is_of_output(error, output):
            raise cannot_write(output, error) from error
        raise
    finally:  # after the rename there is none
        shutil.rmtree(partial, ignore_errors=True)


def _peak() -> str:
    """Return the line of the most memory that this process took; none where nothing tells it."""
    if resource is None:
        return ""
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return f"peak_mib: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit:.0f}\n"


def write_manifest(
    directory: OutputDirectory, command: str, config: object, inputs: list[Path]
) -> None:
    """Write ``config.yaml`` and ``manifest.json`` into a directory whose data is complete."""
    import yaml

    path = directory.path
    (path / "config.yaml").write_text(
        yaml.safe_dump(as_plain_dict(config), sort_keys=False), encoding="utf-8"
    )
    files = sorted(p for p in path.rglob("*") if p.is_file() and p.name != "config.yaml")
    manifest = {
        "format": FORMATS.get(command, 1),
        "mpbert": mpbert.__version__,
        **identity_of(command, config, inputs),
        "counts": directory.counts,
        "files": fingerprints(path, files, command in INDEXES, directory.checksums),
    }
    (path / MANIFEST).write_bytes(sealed(manifest))


def replace_manifest(
    directory: Path, counts: dict[str, Any], folders: list[str], known: Mapping[Path, str]
) -> None:
    """Rewrite the manifest of a directory whose data has changed, in one step.

    :param folders: those of its folders whose files belong to it.
    :param known: checksums of some of these files.
    """
    files = sorted(p for name in folders for p in (directory / name).rglob("*") if p.is_file())
    manifest = read_manifest(directory)
    found = fingerprints(directory, files, manifest["command"] in INDEXES, known)
    replace_file(directory / MANIFEST, sealed(manifest | {"counts": counts, "files": found}))


def read_manifest(directory: Path) -> dict[str, Any]:
    """Return the manifest of a finished directory, without the checksum of itself, if it has one.

    :raises MpbertError: there is none, or it is no JSON object.
    :raises DamagedError: it is not as it was written.
    """
    try:
        text, checksum = unsealed((directory / MANIFEST).read_bytes())
        manifest = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise MpbertError(
            f"{directory}: found no readable {MANIFEST}; expected a finished output of mpbert: "
            f"name the output itself, or move it away and make it again"
        ) from error
    if not isinstance(manifest, dict):
        raise MpbertError(f"{directory / MANIFEST}: expected a JSON object; make it again")
    expected = checksum and hashlib.sha256(text).hexdigest()
    if checksum != expected or SEAL in manifest:  # one that is not recognised is damaged itself
        raise DamagedError(
            f"{directory / MANIFEST}: found other bytes than were written; expected those of its "
            f"{SEAL}: move {directory} away and make it again"
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


def is_reused(output: Path, command: str, config: object, inputs: list[Path]) -> bool:
    """Return whether an output is finished, which a line says; else check the inputs.

    :raises OutputError: as :func:`is_finished`; DamagedError as :func:`check_inputs`.
    """
    if is_finished(output, command, config, inputs):
        print(f"{output} exists, reused")
        return True
    check_inputs(inputs)
    return False


def check_inputs(inputs: Iterable[Path], most_bytes: int | None = None) -> None:
    """Check that files are as they were written: all of a directory, or one of its files.

    A file that no manifest lists is not checked. A gigabyte takes half a second.

    :param most_bytes: a larger file is mapped, not read, so it is only checked that it is there.
    :raises MpbertError: a manifest is damaged.
    :raises DamagedError: a file is missing or has other bytes, or is of another format.
    """
    for path in inputs:
        directory = path if path.is_dir() else path.parent
        is_checked = False
        while not is_checked:
            manifest = check_format(directory)
            try:
                _check_files(directory, manifest, path, most_bytes)
                is_checked = True
            except (MpbertError, OSError):
                if check_format(directory) in (manifest, {}):
                    raise
                # otherwise an index was changed meanwhile, whose files went


def _check_files(
    directory: Path, manifest: dict[str, Any], path: Path, most_bytes: int | None
) -> None:
    files = manifest.get("files") if manifest else {}
    if not isinstance(files, dict):
        raise _damaged(directory, manifest, MANIFEST, "no list of files")
    for name in files if path is directory else {path.name} & files.keys():
        if not (directory / name).is_file():
            raise _damaged(directory, manifest, name, "no such file")
        if most_bytes is not None and (directory / name).stat().st_size > most_bytes:
            continue
        checksum = fast_fingerprint if is_fast(files[name]) else fingerprint
        if checksum(directory / name) != files[name]:
            raise _damaged(directory, manifest, name, "other bytes than were written")


def _damaged(directory: Path, manifest: dict[str, Any], name: str, found: str) -> DamagedError:
    return DamagedError(
        f"{directory / name}: found {found}; expected what {directory / MANIFEST} tells of: move "
        f"{directory} away and make it again with mpbert {manifest.get('command')}"
    )
