"""Records of large XML files, one after another, in little memory, by the standard library.

No document type is loaded, and a file that declares entities is refused: they can expand without
end or name other files. Entities of HTML, as DBLP has them, are letters.
"""

import html
from collections.abc import Collection, Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from mpbert.corpus.raw.files import open_file
from mpbert.foundation.errors import CorpusError

_CHUNK = 1 << 16
_MOST_ELEMENTS = 1 << 18  # of a record: some collaborations have thousands of authors
_MOST_TEXT = 1 << 25  # characters of a record
_DEEPEST = 200


def xml_records(path: Path, tags: Collection[str]) -> Iterator[tuple[str, Element]]:
    """Yield (place, element) of all elements of these tags that are in no other of them.

    :raises CorpusError: the file is broken, declares entities, or a record is too large.
    """
    records = _Records(path, tags)
    with open_file(path) as file:
        is_last = False
        while not is_last:
            data = file.read(_CHUNK)
            is_last = not data
            try:
                records.parser.Parse(data, is_last)
            except (expat.ExpatError, ValueError, LookupError) as error:  # these of encodings
                raise _broken(records.place, error) from error
            yield from records.found
            records.found.clear()


def text_in(element: Element | None) -> str:
    """Return the text of an element and of all in it, with single spaces; empty for none."""
    return "" if element is None else " ".join("".join(element.itertext()).split())


class _Records:
    """Handlers of a parser, which collect records.

    :ivar found: (place, element) of the records that are complete.
    """

    def __init__(self, path: Path, tags: Collection[str]) -> None:
        self._path, self._tags = path, frozenset(tags)
        self.found: list[tuple[str, Element]] = []
        self._builder: TreeBuilder | None = None
        self._begun, self._depth, self._elements, self._text = "", 0, 0, 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        # an entity that nobody declares is told to _entity; nothing is loaded without a handler
        self.parser.UseForeignDTD(True)
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._data
        self.parser.SkippedEntityHandler = self._entity
        self.parser.EntityDeclHandler = self._declared

    @property
    def place(self) -> str:
        """Line that is being read."""
        return f"{self._path}:{self.parser.CurrentLineNumber}"

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if self._builder is None:
            if name not in self._tags:
                return
            self._builder, self._begun = TreeBuilder(), self.place
            self._depth = self._elements = self._text = 0
        self._depth += 1
        self._elements += 1 + len(attributes)
        self._check(self._depth, _DEEPEST, "elements in one another")
        self._check(self._elements, _MOST_ELEMENTS, "elements and attributes")
        self._builder.start(name, attributes)

    def _end(self, name: str) -> None:
        if self._builder is None:
            return
        self._depth -= 1
        self._builder.end(name.rpartition(":")[2])
        if not self._depth:
            self.found.append((self._begun, self._builder.close()))
            self._builder = None

    def _data(self, text: str) -> None:
        if self._builder is not None:
            self._text += len(text)
            self._check(self._text, _MOST_TEXT, "characters")
            self._builder.data(text)

    def _entity(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self._data(html.unescape(f"&{name};"))

    def _declared(self, name: str, *_: object) -> None:
        raise CorpusError(
            f"{self.place}: declares the entity {name!a}; expected none, as entities may expand "
            f"without end or name other files: write their text instead"
        )

    def _check(self, number: int, most: int, what: str) -> None:
        if number > most:
            raise CorpusError(
                f"{self._begun}: found a record of more than {most:,} {what}; expected one paper "
                f"in it: get a fresh copy of the file"
            )


def _broken(place: str, error: Exception) -> CorpusError:
    reason = expat.errors.messages.get(getattr(error, "code", 0), " ".join(str(error).split()))
    return CorpusError(
        f"{place}: broken XML ({reason}); expected a well-formed file, write or copy it again"
    )
