"""Texts of files as an editor has them: of its buffers, saved or not, else of the disk."""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.source_text import SourceText, decoded

_MOST_BYTES = 1 << 26
_MOST_KEPT = 2000  # files of the disk


@dataclass(frozen=True)
class Buffer:
    """A text that is open in the editor.

    :param uri: as the editor writes it.
    :param path: without links, so that it is known by whatever name it is opened.
    :param form: as of :mod:`mpbert.recommending.manuscripts.forms`; empty for other texts.
    """

    uri: str
    path: Path
    text: str
    version: int | None = None
    form: str = ""

    @property
    def source(self) -> SourceText:
        """The text, as readers of manuscripts take it."""
        return SourceText(self.path, self.text)


class DiskTexts:
    """Texts of files of the disk, each read again when it has changed; threads may share it."""

    def __init__(self) -> None:
        self._read: dict[Path, tuple[tuple[int, int, int], str]] = {}
        self._lock = threading.Lock()

    def text(self, path: Path) -> str | None:
        """Return the text of a file; None where there is none that can be read."""
        try:
            found = path.stat()
            mark = (found.st_ino, found.st_mtime_ns, found.st_size)
            known = self._read.get(path)
            if known is not None and known[0] == mark:
                return known[1]
            if not path.is_file() or found.st_size > _MOST_BYTES:
                return None
            data = path.read_bytes()
        except (OSError, ValueError):  # ValueError: a name with a null character
            return None
        try:
            text = decoded(path, data).text
        except ManuscriptError:
            text = data.decode("latin-1")
        with self._lock:
            if len(self._read) >= _MOST_KEPT:
                self._read.clear()
            self._read[path] = mark, text
        return text


@dataclass(frozen=True)
class EditorTexts:
    """All texts at one moment.

    :param buffers: by their paths.
    """

    buffers: Mapping[Path, Buffer]
    disk: DiskTexts
    _found: dict[Path, str | None] = field(default_factory=dict)

    def text(self, path: Path) -> str | None:
        """Return the text of a file; None where there is none."""
        if path not in self._found:
            buffer = self.buffers.get(real(path))
            self._found[path] = self.disk.text(path) if buffer is None else buffer.text
        return self._found[path]

    def uri(self, path: Path) -> str:
        """Return the address of a file, as the editor writes it where the file is open."""
        buffer = self.buffers.get(real(path))
        return Path(os.path.abspath(path)).as_uri() if buffer is None else buffer.uri


@lru_cache(maxsize=1 << 14)  # one completion asks for hundreds
def real(path: Path) -> Path:
    """Return a path without links, as they are when it is first asked for."""
    return Path(os.path.realpath(path))
