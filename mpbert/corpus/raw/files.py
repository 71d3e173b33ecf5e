"""Files of raw corpora: plain or packed as ``.gz``, ``.xz`` or ``.zst``, alone or in folders.

All is read as a stream: a file is never unpacked as a whole, in memory or on disk.
"""

import gzip
import lzma
import os
import re
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from mpbert.foundation.errors import CorpusError

# bytes of one line, or of a file that is one paper: packed zeros are endless, and JSON takes up to
# 27 times its bytes in memory
LARGEST = 1 << 25
PACKED = (".gz", ".xz", ".zst")


@dataclass(frozen=True)
class FileSet:
    """Some of the files of a folder, for readers that read file by file.

    :param files: in the folder or elsewhere, in the order of reading.
    :param texts: what is read in place of what a file holds, such as a part of it.
    """

    folder: Path
    files: tuple[Path, ...]
    texts: Mapping[Path, str] = field(default_factory=dict, hash=False)


Source = Path | FileSet
"""What a reader reads: a file, a folder, or some of its files."""


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file in a ``with`` statement, as bytes, unpacked by its suffix.

    :raises CorpusError: it cannot be opened, or reading it finds it broken or cut off.
    """
    try:
        with _opened(path) as file:
            yield file
    except unreadable() as error:
        raise _unreadable(path, error) from error


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line with its end) of a file.

    :raises CorpusError: the file cannot be read, or its packed data is broken or cut off.
    """
    line_number = 0
    try:
        with _opened(path) as file:
            while line := file.readline(LARGEST + 1):
                line_number += 1
                if len(line) > LARGEST:
                    raise too_large(f"{path}:{line_number}", "line", LARGEST)
                yield line_number, line
    except unreadable() as error:
        raise _unreadable(f"{path}:{line_number + 1}", error) from error


def read_records(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (place as ``path:line``, line) of the lines of a file that are not blank."""
    for number, line in read_lines(path):
        if line.strip():
            yield f"{path}:{number}", line


def read_whole(path: Path, most: int | None = None) -> bytes:
    """Return what a file holds, unpacked.

    :param most: bytes that it may hold; None: those of one paper.
    :raises CorpusError: as :func:`open_file`, or it is larger than one paper can be.
    """
    most = LARGEST if most is None else most
    with open_file(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise too_large(path, "file", most)
    return data


def walk(path: Source, suffixes: Sequence[str]) -> list[Path]:
    """Return all files of a folder and of those in it, by name, or the file that ``path`` is.

    Of a set of files it returns all, whatever their names.

    Hidden files and folders are left out: they are leftovers of archives and editors.

    :param suffixes: how names must end, such as ``(".jsonl",)``, apart from a suffix of packing.
        A file that ``path`` names itself may have any.
    :raises CorpusError: there is no such path, no such file in the folder, or a folder in it may
        not be read.
    """
    if isinstance(path, FileSet):
        return list(path.files)
    if not path.is_dir():
        if not path.exists():
            raise CorpusError(f"{path}: no such file; expected a file or a folder of a raw corpus")
        return [path]
    wanted = tuple(suffix + packed for suffix in suffixes for packed in ("", *PACKED))
    found = []
    for folder, below, names in os.walk(path, onerror=_refuse_folder):
        below[:] = [name for name in below if not name.startswith(".")]
        wanted_here = [n for n in names if n.endswith(wanted) and not n.startswith(".")]
        found += [file for file in (Path(folder, n) for n in wanted_here) if file.is_file()]
    if not found:
        raise CorpusError(
            f"{path}: found no file {' or '.join(f'*{suffix}' for suffix in suffixes)} in this "
            f"folder; expected some, plain or packed as {', '.join(PACKED)}, or another --reader"
        )
    return sorted(found)


def _refuse_folder(error: OSError) -> None:
    raise CorpusError(
        f"{error.filename}: unreadable ({error.strerror}); expected a folder that may be read: "
        f"change its permissions or copy it again"
    ) from error


def find_file(folder: Path, name: str, is_needed: bool = True) -> Path | None:
    """Return the file of a name in a folder, plain or packed; None if absent and not needed.

    :raises CorpusError: it is needed and absent.
    """
    for packed in ("", *PACKED):
        if (folder / f"{name}{packed}").is_file():
            return folder / f"{name}{packed}"
    if not is_needed:
        return None
    raise CorpusError(
        f"{folder}: found no {name} in it; expected a folder with that file, plain or packed as "
        f"{', '.join(PACKED)}"
    )


def without_packing(path: Path) -> Path:
    """Return the path of the file that a packed one holds: ``a.json.gz`` gives ``a.json``."""
    return path.with_suffix("") if path.suffix in PACKED else path


def id_of_file(file: Path, source: Source, suffixes: Sequence[str]) -> str:
    """Return the id of the paper that a file is: its name in the folder, without white space.

    :param suffixes: the longest first; they are no part of ids.
    """
    folder = source.folder if isinstance(source, FileSet) else source
    is_inside = file != folder and file.is_relative_to(folder)
    name = str(
        without_packing(Path(file.relative_to(folder).as_posix() if is_inside else file.name))
    )
    for suffix in suffixes:
        if name.endswith(suffix):
            name = name.removesuffix(suffix)
            break
    return re.sub(r"\s", "_", name)


def unreadable() -> tuple[type[Exception], ...]:
    """Return the errors of a file that is not packed as it says."""
    found = (OSError, EOFError, lzma.LZMAError, zlib.error)
    if "pyarrow" not in sys.modules:  # nothing was unpacked by it
        return found
    import pyarrow as pa

    return *found, pa.ArrowException


def _opened(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    if path.suffix == ".xz":
        return lzma.open(path, "rb")
    if path.suffix == ".zst":
        import pyarrow as pa

        return BufferedReader(pa.CompressedInputStream(pa.OSFile(str(path)), "zstd"))
    return path.open("rb")


def too_large(place: Path | str, what: str, most: int, unit: str = "bytes") -> CorpusError:
    """Return the error that a line, file or value is larger than that of one paper can be."""
    return CorpusError(
        f"{place}: found a {what} of more than {most:,} {unit}; expected one paper in it: get a "
        f"fresh copy of the file"
    )


def _unreadable(place: Path | str, error: Exception) -> CorpusError:
    reason = " ".join(str(error).split())
    return CorpusError(
        f"{place}: unreadable ({reason}); expected a file that is plain or packed as "
        f"{', '.join(PACKED)}; copy the file again"
    )
