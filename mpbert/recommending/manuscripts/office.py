"""What word processors write: text in the XML of an archive, and citations of reference managers.

A new citation is written as text, by authors and year: any word processor shows it, and one may
turn it into a field of a reference manager. Fields that are there already are left alone.
"""

import io
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.sax.saxutils import escape

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.marks import (
    Found,
    Marks,
    find_places,
    mark_found,
    without_marks,
)
from mpbert.recommending.manuscripts.placeholders import open_places
from mpbert.recommending.manuscripts.reference_fields import ENTITY, of_entity
from mpbert.recommending.manuscripts.sites import Site, Style, site_in_text
from mpbert.recommending.manuscripts.source_text import UTF8, SourceText

_MOST_BYTES = 1 << 28  # of a member
_TAG = re.compile(r"<[^<>]*>")
_HELD = "\x1b"  # stands where a field of a reference manager cites
BY_NAME = Style("(", "; ", ")", escape, is_by_name=True)


def members(path: Path, names: Iterable[str]) -> dict[str, SourceText]:
    """Return the texts of members of an archive that it holds.

    :raises ManuscriptError: it is no archive, or a member is no UTF-8.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = {info.filename: info for info in archive.infolist()}
            found = [infos[name] for name in names if name in infos]
            if any(info.file_size > _MOST_BYTES for info in found):
                raise ManuscriptError(f"{path}: holds more than {_MOST_BYTES:,} bytes of text")
            return {
                info.filename: SourceText(
                    path, archive.read(info).decode(UTF8), UTF8, member=info.filename
                )
                for info in found
            }
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, UnicodeDecodeError) as error:
        raise ManuscriptError(
            f"{path}: is no document of a word processor ({error}); save it again, or convert it: "
            f"pandoc -t markdown"
        ) from error
    except OSError as error:
        raise ManuscriptError(f"{path}: {error.strerror}; expected a manuscript") from error


@dataclass
class OfficeText:
    """The text of a member, character by character as it stands in the XML.

    :param source: the member.
    :ivar printed: references of fields: key -> text.
    """

    source: SourceText
    printed: dict[str, str] = field(default_factory=dict)
    _characters: list[str] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)
    _found: list[tuple[Found, Site | None]] = field(default_factory=list)

    def add(self, start: int, end: int) -> None:
        """Add the text at [start, end) of the XML."""
        for match in ENTITY.finditer(self.source.text, start, end):
            for character in of_entity(match[0]):
                self._put(character, match.start(), match.end())

    def sign(self, text: str, place: int) -> None:
        """Add text that stands for a tag, such as a tab or the end of a paragraph."""
        for character in text:
            self._put(character, place, place)

    def _put(self, character: str, start: int, end: int) -> None:
        is_plain = character.isprintable() and without_marks(character)
        self._characters.append(character if is_plain or start == end else " ")
        self._starts.append(start)
        self._ends.append(end)

    def cite(self, references: dict[str, str], place: int, by: str) -> None:
        """Add a citation that a field holds.

        :param references: key -> text.
        :param by: who holds it, for messages.
        """
        self.printed |= references
        at = len(self._characters)
        site = Site(self.source, place, place, BY_NAME, f"a field of {by} stands there")
        self._found.append((Found(at, at + 1, tuple(references)), site))
        self._characters.append(_HELD)
        self._starts.append(place)
        self._ends.append(place)

    def comment(self, text: str, site: Site | None) -> None:
        """Add a place where a comment asks for a citation; others ask for none."""
        if not open_places().fullmatch(f"[{text.strip().strip('[]()')}]"):
            return
        at = len(self._characters)
        self._found.append((Found(at, at + 1), site))
        self._characters.append(_HELD)
        self._starts.append(0)
        self._ends.append(0)

    def marked(self, marks: Marks) -> str:
        """Return the text with its places marked."""
        text = "".join(self._characters)
        found = list(self._found)
        for one in find_places(text):
            site = site_in_text(replace(self.source, text=text), one.start, one.end)
            found.append((one, self._moved(site, not one.keys and text[one.start] != "\\")))
        return mark_found(text, marks, found)

    def _moved(self, site: Site, is_open: bool) -> Site:
        """Return a site in the text as one in the XML, of which tags within it stay."""
        start = self._starts[site.start] if site.end > site.start else self._ends[site.start - 1]
        end = self._ends[site.end - 1] if site.end > site.start else start
        of_key = site.style.of_key
        style = BY_NAME if is_open else replace(site.style, of_key=lambda key: escape(of_key(key)))
        tags = "".join(_TAG.findall(self.source.text[start:end]))
        style = replace(style, behind=style.behind + tags)
        return replace(site, source=self.source, start=start, end=end, style=style)


def rewritten(data: bytes, member: str, text: bytes) -> bytes:
    """Return an archive of which one member is changed; the others stay byte for byte."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for info in old.infolist():
            content = text if info.filename == member else old.read(info)
            new.writestr(info, content, info.compress_type)
    return buffer.getvalue()
