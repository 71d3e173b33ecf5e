"""Reader of Zotero's own library: ``zotero.sqlite``, or the folder that holds it and ``storage``.

The text that Zotero has taken from an attached file is the paper's text; a PDF file without such a
text is read. Notes are the last section. Keys are those of Better BibTeX, or of Zotero itself.
"""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.pdf.lines import MOST_TEXT, SOFT_HYPHEN
from mpbert.corpus.formats.pdf.text import (
    before_references,
    frames_of,
    mended,
    on_pages,
    sections_of_lines,
    sentences_of,
    without_frame,
    words_of,
)
from mpbert.corpus.formats.zotero.database import Item, read_items
from mpbert.corpus.formats.zotero.fields import TITLE, export_of
from mpbert.corpus.raw.exports import Export, ExportReader
from mpbert.corpus.raw.files import find_file, open_file
from mpbert.corpus.records import NOTES, RawPaper, RawSection

_KEY = re.compile(r"[A-Z0-9]+")  # of an item
_TAG = re.compile(r"<[^<>]*>")
_CACHE = ".zotero-ft-cache"


@dataclass(frozen=True)
class ZoteroExport(Export):
    """A record of Zotero.

    :param text_files: what Zotero has taken from its attached files.
    :param notes: as text.
    """

    text_files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


@READERS.register
class ZoteroReader(ExportReader):
    """Reads ``zotero.sqlite``, or the folder of Zotero."""

    name = "zotero"
    suffixes = ("zotero.sqlite",)
    expected = "an item of Zotero with a title"

    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all items.

        :raises CorpusError: the database cannot be read.
        """
        for item in _joined(read_items(file)):
            yield f"{file}: item {item.key}", _export(item, file.parent)

    def parse(self, record: object) -> RawPaper | None:
        """Return the paper of a record, with the text and the notes that Zotero has of it."""
        paper = super().parse(record)
        found = record[2]
        if paper is None:
            return None
        sections = [section for file in found.text_files[:1] for section in self._sections(file)]
        notes = sentences_of([note for note in found.notes if note], self.counts)
        if notes:
            sections.append(RawSection(NOTES, notes))
        return replace(paper, sections=tuple(sections))

    def _sections(self, file: Path) -> list[RawSection]:
        with open_file(file) as opened:
            text = opened.read(MOST_TEXT).decode(errors="replace")
        pages = [list(filter(None, map(str.strip, page.split("\n")))) for page in text.split("\f")]
        frames = frames_of(pages)
        pages = [[mended(_cut(line)) for line in without_frame(page, frames)] for page in pages]
        lines = before_references(list(chain.from_iterable(pages)))
        found = [
            RawSection(heading, sentences_of(paragraphs, self.counts))
            for heading, paragraphs in sections_of_lines(lines, words_of(lines))
        ]
        found = [section for section in found if section.sentences]
        return list(on_pages(found, pages, 1)) if len(pages) > 1 else found


def _cut(line: str) -> str:
    return f"{line[:-1]}{SOFT_HYPHEN}" if line.endswith("-") else line


def _joined(items: Iterable[Item]) -> list[Item]:
    """Return items; those of two libraries with one key and one title are one item."""
    found: dict[tuple[str, str], Item] = {}
    for item in items:
        title = next(filter(None, map(item.values.get, TITLE)), "")
        first = found.setdefault((item.citation_key or item.key, title), item)
        if first is not item:
            for name in ("files", "notes", "tags", "collections"):
                getattr(first, name).extend(getattr(item, name))
    return list(found.values())


def _export(item: Item, folder: Path) -> ZoteroExport:
    # a snapshot of a web page says less than the paper
    files = [file for file in item.files if file[1].lower().endswith(".pdf")] or item.files
    keys = (key for key, _ in files if _KEY.fullmatch(key))
    texts = [find_file(folder / "storage" / key, _CACHE, False) for key in keys]
    known = tuple(text for text in texts if text is not None)
    said = vars(export_of(item)) | {
        "files": () if known else tuple(_path(key, path) for key, path in files)
    }
    notes = tuple(html.unescape(_TAG.sub(" ", note)).strip() for note in item.notes)
    return ZoteroExport(**said, text_files=known, notes=notes)


def _path(key: str, path: str) -> str:
    """Return the path of an attached file: in the storage, or where it is linked from."""
    if path.startswith("storage:"):
        return f"storage/{key}/{path.removeprefix('storage:')}"
    return path.removeprefix("attachments:")
