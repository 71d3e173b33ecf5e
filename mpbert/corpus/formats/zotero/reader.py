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
from mpbert.corpus.published import kind_of
from mpbert.corpus.raw.exports import Export, ExportReader, spoken_name
from mpbert.corpus.raw.files import find_file, open_file
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.records import NOTES, RawPaper, RawSection

_KINDS = {  # types of Zotero -> those of CSL
    **{"journalArticle": "article-journal", "magazineArticle": "article-magazine"},
    **{"newspaperArticle": "article-newspaper", "conferencePaper": "paper-conference"},
    **{"bookSection": "chapter", "encyclopediaArticle": "chapter", "dictionaryEntry": "chapter"},
    **{"computerProgram": "software", "blogPost": "post", "document": "manuscript"},
}
# fields of one meaning, the first that is there counts
_TITLE = ("title", "caseName", "nameOfAct", "subject")
_VENUE = (
    *("publicationTitle", "proceedingsTitle", "bookTitle", "conferenceName", "encyclopediaTitle"),
    *("dictionaryTitle", "blogTitle", "websiteTitle", "sessionTitle", "forumTitle", "programTitle"),
    *("university", "institution", "repository"),
)
_DATE = ("date", "issueDate", "filingDate", "dateDecided", "dateEnacted")
_NUMBER = ("issue", "number", "reportNumber")
_PUBLISHER = ("publisher", "university", "institution", "repository")
_HELPERS = ("editor", "seriesEditor", "translator", "contributor", "reviewedAuthor", "bookAuthor")
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
        title = next(filter(None, map(item.values.get, _TITLE)), "")
        first = found.setdefault((item.citation_key or item.key, title), item)
        if first is not item:
            for name in ("files", "notes", "tags", "collections"):
                getattr(first, name).extend(getattr(item, name))
    return list(found.values())


def _export(item: Item, folder: Path) -> ZoteroExport:
    def of(*names: str) -> str:
        return next(filter(None, (item.values.get(name, "").strip() for name in names)), "")

    # a snapshot of a web page says less than the paper
    files = [file for file in item.files if file[1].lower().endswith(".pdf")] or item.files
    keys = (key for key, _ in files if _KEY.fullmatch(key))
    texts = [find_file(folder / "storage" / key, _CACHE, False) for key in keys]
    known = tuple(text for text in texts if text is not None)
    return ZoteroExport(
        key=item.citation_key,
        title=of(*_TITLE),
        abstract=of("abstractNote"),
        year=of(*_DATE),
        authors=tuple(_authors(item)),
        venue=of(*_VENUE),
        doi=of("DOI") or _in_extra(of("extra"), "doi"),
        files=() if known else tuple(_path(key, path) for key, path in files),
        kind=kind_of(_KINDS.get(item.kind, item.kind)),
        volume=of("volume"),
        number=of(*_NUMBER),
        pages=of("pages"),
        publisher=of(*_PUBLISHER),
        tags=tuple(item.tags),
        collections=tuple(item.collections),
        known=Identifiers(
            arxiv=of("archiveID") or _in_extra(of("extra"), "arxiv"),
            pubmed=of("PMID") or _in_extra(of("extra"), "pmid"),
            pmc=of("PMCID") or _in_extra(of("extra"), "pmcid"),
        ),
        text_files=known,
        notes=tuple(html.unescape(_TAG.sub(" ", note)).strip() for note in item.notes),
    )


def _authors(item: Item) -> Iterator[str]:
    """Yield the names of the authors; of its editors where it has none."""
    roles = {role for role, _, _ in item.people}
    main = {"author"} & roles or roles.difference(_HELPERS) or {"editor"}
    return (spoken_name(family, given) for role, family, given in item.people if role in main)


def _in_extra(extra: str, name: str) -> str:
    """Return what stands behind a name in the field ``extra``, one a line."""
    found = re.search(rf"^\s*{name}\s*:\s*(.+)$", extra, re.IGNORECASE | re.MULTILINE)
    return found[1].strip() if found else ""


def _path(key: str, path: str) -> str:
    """Return the path of an attached file: in the storage, or where it is linked from."""
    if path.startswith("storage:"):
        return f"storage/{key}/{path.removeprefix('storage:')}"
    return path.removeprefix("attachments:")
