"""Reader of a ZIP archive: what it holds is read as a folder with it would be.

The files lie in a temporary folder as long as the reader.
"""

import os
import shutil
import tempfile
import weakref
import zipfile
from pathlib import Path

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.mixed import MixedReader
from mpbert.corpus.raw.files import FileSet, Source, open_file, walk
from mpbert.foundation.errors import CorpusError

_MOST_BYTES = 1 << 32  # that archives may hold
_MOST_FILES = 100_000


@READERS.register
class ArchiveReader(MixedReader):
    """Reads ``.zip`` archives of files in any format, or a folder of them."""

    name = "zip"

    def prepare(self, path: Source) -> None:
        """Unpack the archives, and let all readers learn which papers there are.

        :raises CorpusError: an archive is broken, encrypted or too large, or no reader is known
            for any file.
        """
        folder = Path(tempfile.mkdtemp(prefix="mpbert-"))
        weakref.finalize(self, _remove, folder, os.getpid())
        archives = walk(path, (".zip",))
        for archive in archives:
            _unpack(archive, folder / archive.name if archives[1:] else folder)
        try:
            super().prepare(folder)
        except CorpusError as error:
            named = path.folder if isinstance(path, FileSet) else path
            raise CorpusError(str(error).replace(str(folder), str(named))) from error


def _unpack(path: Path, folder: Path) -> None:
    copy = tempfile.TemporaryFile()  # an archive is read from its end
    with open_file(path) as packed:
        shutil.copyfileobj(packed, copy)
    try:
        with copy, zipfile.ZipFile(copy) as archive:
            files = archive.infolist()
            size = sum(file.file_size for file in files)
            if size > _MOST_BYTES or len(files) > _MOST_FILES:
                raise CorpusError(
                    f"{path}: holds {len(files):,} files of {size:,} bytes; expected at most "
                    f"{_MOST_FILES:,} of {_MOST_BYTES:,}: unpack it, and give its folder"
                )
            archive.extractall(folder)  # names are made safe, links are files
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError) as error:
        reason = " ".join(str(error).split())
        raise CorpusError(
            f"{path}: cannot be unpacked ({reason}); expected a ZIP archive without a password: "
            f"unpack it, and give its folder"
        ) from error


def _remove(folder: Path, process: int) -> None:
    """Remove a folder, in the process that made it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
