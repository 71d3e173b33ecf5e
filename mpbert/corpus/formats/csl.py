"""Reader of CSL JSON: exports of Zotero, Better BibTeX and Mendeley, and what pandoc reads.

A file is an array of items, or an object that holds it under ``items``, as that of Better BibTeX
JSON does, whose items have the fields of Zotero. Attachments and notes that are items are left out.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.zotero.fields import NO_WORKS, export_of, item_of
from mpbert.corpus.published import kind_of
from mpbert.corpus.raw.exports import Export, ExportReader, listed_tags
from mpbert.corpus.raw.json_stream import iter_members
from mpbert.corpus.raw.values import id_of, printed, reading, text_of
from mpbert.foundation.errors import CorpusError

_VENUES = ("container-title", "event-title", "event", "collection-title", "publisher")


@READERS.register
class CslReader(ExportReader):
    """Reads a file ``.json`` of CSL items, or a folder of them."""

    name = "csl"
    suffixes = (".json",)
    expected = "an item of CSL JSON: an object with id and title"

    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all items.

        :raises CorpusError: the file holds no items, or one is broken.
        """
        for place, item in _items(file):
            with reading(place, self.expected):
                if item.get("itemType") in NO_WORKS:
                    self.noted["attachments_and_notes_left_out"] += 1
                    continue
                record = _of_zotero(item) if "itemType" in item else _export(item)
            yield place, record


def _items(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    is_array = True
    for key, value in iter_members(file):
        if key.isdecimal():
            yield f"{file}: item {int(key) + 1}", value
            continue
        is_array = False
        if key == "items" and isinstance(value, list):
            is_array = True
            for number, item in enumerate(value, start=1):
                yield f"{file}: item {number}", item
            return
    if not is_array:
        raise CorpusError(
            f"{file}: found an object without a list of items; expected CSL JSON, an array of "
            f"items: export the library as CSL JSON, or name another --reader"
        )


def _of_zotero(item: dict[str, Any]) -> Export:
    return replace(export_of(item_of(item)), files=_files(item))


def _export(item: dict[str, Any]) -> Export:
    venues = (text_of(item[name]) for name in _VENUES if item.get(name))
    return Export(
        key=id_of(item.get("citation-key")) or "_".join(str(item.get("id") or "").split()),
        title=text_of(item.get("title")),
        abstract=text_of(item.get("abstract")),
        year=str(item.get("issued") or ""),
        authors=tuple(map(_name, item.get("author") or item.get("editor") or ())),
        venue=next(venues, ""),
        doi=text_of(item.get("DOI")),
        files=_files(item),
        kind=kind_of(printed(item.get("type"))),
        volume=printed(item.get("volume")),
        number=printed(item.get("issue") or item.get("number")),
        pages=printed(item.get("page")),
        publisher=printed(item.get("publisher")),
        tags=listed_tags(printed(item.get("keyword"))),
    )


def _files(item: dict[str, Any]) -> tuple[str, ...]:
    """Return the paths of files that Better BibTeX or Zotero has attached."""
    attached = item.get("attachments") or ()
    return tuple(filter(None, (text_of(a.get("localPath") or a.get("path")) for a in attached)))


def _name(author: dict[str, Any]) -> str:
    if literal := text_of(author.get("literal")):
        return literal
    parts = ("given", "dropping-particle", "non-dropping-particle", "family", "suffix")
    return " ".join(filter(None, (text_of(author.get(part)) for part in parts)))
