"""Chosen papers go into a manuscript and its bibliography: two files, of which no byte is lost."""

import difflib
import os
import re
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.errors import ManuscriptError, OutputError
from mpbert.recommending.entries import NewEntries
from mpbert.recommending.manuscripts.marks import Mention
from mpbert.recommending.manuscripts.sentences import Manuscript
from mpbert.recommending.manuscripts.sites import Site
from mpbert.recommending.manuscripts.source_text import UTF8, decoded
from mpbert.recommending.papers import IndexedPapers

_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class FileChange:
    """A file before and after.

    :param before: its bytes; None where there is no such file yet.
    :param after: its bytes; None where there is none then.
    :param encoding: of both, to show them.
    :param shown: what is shown instead of a difference of bytes that are no text.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    encoding: str = UTF8
    shown: str = ""

    def diff(self) -> str:
        """Return the unified diff, as text of lines that end in a line feed."""
        if self.shown:
            return self.shown
        old, new = (
            data.decode(self.encoding, "replace").removeprefix("\ufeff")
            for data in (self.before or b"", self.after or b"")
        )
        names = (
            "/dev/null" if data is None else str(self.path) for data in (self.before, self.after)
        )
        lines = difflib.unified_diff(_lines(old), _lines(new), *names)
        ended = (line if line.endswith("\n") else f"{line}\n{_NO_END}\n" for line in lines)
        return "".join(ended).replace("\r\n", "\n")

    def write(self) -> None:
        """Replace the file in one step.

        :raises ManuscriptError: it is no longer as it was read.
        :raises OutputError: the disk refuses it.
        """
        path = Path(os.path.realpath(self.path))  # not the link, but what it names
        try:
            if (path.read_bytes() if path.exists() else None) != self.before:
                raise ManuscriptError(
                    f"{self.path}: has changed since it was read; nothing more was written, try "
                    f"again"
                )
            if self.after is None:
                path.unlink(missing_ok=True)
                return
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
                partial = Path(file.name)
                try:
                    file.write(self.after)
                    file.flush()
                    os.fsync(file.fileno())
                    mode = path.stat().st_mode & 0o7777 if path.exists() else _new_mode()
                    os.chmod(partial, mode)
                    partial.replace(path)
                except OSError:
                    partial.unlink(missing_ok=True)
                    raise
        except OSError as error:
            raise OutputError(
                f"{self.path}: cannot be written ({error.strerror}); it is as it was"
            ) from error


_NO_END = "\\ No newline at end of file"


def mention_at(manuscript: Manuscript, place: str | None, name: str) -> tuple[int, Mention]:
    """Return the number of a place, from 0, and what stands there.

    :param place: its number, as ``recommend`` prints it; None: the only one, or the only open one.
    :param name: of the manuscript, for messages.
    :raises ManuscriptError: there is no such place, or it must be said which is meant.
    """
    places = manuscript.mentions
    if place is None:
        open_ones = [number for number, mention in enumerate(places, 1) if not mention.keys]
        meant = [1] if len(places) == 1 else open_ones
        if len(meant) != 1:
            raise ManuscriptError(
                f"{name}: found {len(places)} places, {len(open_ones)} of them open; expected "
                f"--place with one of them, as recommend prints them"
            )
        place = str(meant[0])
    if not _NUMBER.fullmatch(place) or not 1 <= int(place) <= len(places):
        raise ManuscriptError(
            f"{name}: found no place {place}; expected one of 1 to {len(places)}, as recommend "
            f"prints them"
        )
    return int(place) - 1, places[int(place) - 1]


def site_of(mention: Mention, name: str) -> Site:
    """Return where keys are written for a citation.

    :raises ManuscriptError: nowhere, with the reason and what to do.
    """
    mark = "put [CITATION] where the new citation belongs"
    if mention.site is None:
        raise ManuscriptError(
            f"{name}: the place is in no text of a file (but in JSON, a YAML block, or made by a "
            f"command that the manuscript defines); {mark}"
        )
    if mention.site.hindrance:
        raise ManuscriptError(
            f"{mention.site.source.path}:{mention.site.line}: {mention.site.hindrance}; {mark}"
        )
    return mention.site


def text_change(site: Site, keys: Sequence[str]) -> FileChange:
    """Return the change of a manuscript's file; nothing outside of the site changes.

    :raises ManuscriptError: the file has changed since it was read, or cannot hold the keys.
    """
    source = site.source
    try:
        data = source.path.read_bytes()
        if source.member:
            return _member_change(site, keys, data)
        written = site.written(keys).encode(source.encoding)
    except OSError as error:
        raise ManuscriptError(f"{source.path}: {error.strerror}; expected a manuscript") from error
    except UnicodeEncodeError as error:
        raise ManuscriptError(
            f"{source.path}: its encoding {source.encoding} lacks {error.object!r}; save it as "
            f"UTF-8, or name the papers' keys in ASCII"
        ) from error
    if decoded(source.path, data, source.encoding).text != source.text:
        raise ManuscriptError(f"{source.path}: has changed since it was read; try again")
    start, end = source.byte_at(site.start), source.byte_at(site.end)
    after = data[:start] + written + data[end:]
    return FileChange(source.path, data, after, source.encoding)


def _member_change(site: Site, keys: Sequence[str], data: bytes) -> FileChange:
    """Return the change of a document of a word processor, an archive."""
    from mpbert.recommending.manuscripts.office import members, rewritten

    source = site.source
    if members(source.path, [source.member])[source.member].text != source.text:
        raise ManuscriptError(f"{source.path}: has changed since it was read; try again")
    text = source.text[: site.start] + site.written(keys) + source.text[site.end :]
    after = rewritten(data, source.member, text.encode(source.encoding))
    shown = f"{source.path}: {site.written(keys)}\n"
    return FileChange(source.path, data, after, shown=shown)


class EntryWriter:
    """Writes entries of papers behind those of a ``.bib``.

    :param path: of the file, which need not be there yet.
    :param others: as of :class:`NewEntries`.
    :raises ManuscriptError: it cannot be read.
    """

    def __init__(
        self, path: Path, recommender: IndexedPapers, others: Collection[str] = ()
    ) -> None:
        self._path = path
        try:
            self._before = path.read_bytes() if path.exists() else None
        except OSError as error:
            raise ManuscriptError(f"{path}: {error.strerror}; expected a .bib") from error
        data = self._before or b""
        self._encoding = UTF8
        try:
            text = data.decode(UTF8)
        except UnicodeDecodeError:
            self._encoding = "latin-1"
            text = data.decode(self._encoding)
        self._entries = NewEntries(text, recommender, others)

    def add(self, paper_id: str) -> str:
        """Add the entry of a paper that has none; return its key, which no other entry has."""
        return self._entries.add(paper_id)

    def change(self) -> FileChange | None:
        """Return the change of the file: its bytes, and the entries behind; None without any.

        :raises ManuscriptError: its encoding lacks a letter of an entry.
        """
        if not self._entries.added:
            return None
        try:
            added = self._entries.added.encode(self._encoding)
        except UnicodeEncodeError as error:
            raise ManuscriptError(
                f"{self._path}: is neither UTF-8 nor can it hold {error.object[error.start]!r}; "
                f"save it as UTF-8"
            ) from error
        return FileChange(self._path, self._before, (self._before or b"") + added, self._encoding)


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _new_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
