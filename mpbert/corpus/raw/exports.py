"""What exports of reference managers have in common: records that tell of a paper.

Works of an index of the literature may say what they cite; the others cite none.

A record has a key, or a DOI stands for it; where both lack, a key is made of the first author, the
year and the title, so that a later export of the same library has the same keys.
"""

import html
import logging
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from mpbert.corpus.formats.base import Reader
from mpbert.corpus.published import Publication, labels_of
from mpbert.corpus.raw.files import PACKED, FileSet, Source, walk
from mpbert.corpus.raw.identifiers import Identifiers, normal_doi, plain_doi
from mpbert.corpus.raw.keys import made_key
from mpbert.corpus.raw.linkage import Linker
from mpbert.corpus.raw.names import GROUP, INITIALS_LAST
from mpbert.corpus.raw.spans import plain
from mpbert.corpus.raw.values import reading, year_of
from mpbert.corpus.records import RawPaper
from mpbert.corpus.splits import YearSplits
from mpbert.foundation.errors import CorpusError, listed

logger = logging.getLogger(__name__)
_SPACE = re.compile(r"\s+")
# tags that exports leave in titles and abstracts; a bare "<" is a sign of comparison
_BLOCK = re.compile(r"</?(?:jats:)?(?:p|br|div|sec|title|li?|list|list-item)\b[^<>]*>", re.I)
_INLINE = re.compile(r"</?(?:jats:)?(?:i|b|em|strong|italic|bold|sub|sup|sc|span)\b[^<>]*>", re.I)
_HEADING = re.compile(r"^(?:abstract|summary)\s*[:.—-]\s*|^(?:Abstract|ABSTRACT)\s+(?=[A-Z])", re.I)


@dataclass(frozen=True)
class Export:
    """A record as its file has it; empty where nothing is said.

    :param key: of the record in its library, or none.
    :param year: a year or a date, as printed.
    :param authors: their names in the order of speech.
    :param files: attached to it, as printed: paths, those that are relative from its own file.
    :param references: what it cites.
    :param kind: type of the entry in BibTeX; ``volume`` and what follows are as printed.
    :param tags: keywords and tags; ``collections`` are folders of the library that hold it.
    :param known: what else it may be known by, beside DOI and title.
    """

    key: str
    title: str
    abstract: str
    year: str
    authors: tuple[str, ...]
    venue: str
    doi: str
    files: tuple[str, ...] = ()
    references: tuple[Identifiers, ...] = ()
    kind: str = ""
    volume: str = ""
    number: str = ""
    pages: str = ""
    publisher: str = ""
    tags: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    known: Identifiers = Identifiers()


class ExportReader(Reader):
    """Reads records of papers; of records with one key the first is kept.

    A record without a title is dropped and counted. One with a title alone is a paper, whose title
    is its abstract.

    :cvar suffixes: of the files in a folder that are read.
    :cvar expected: what a record is, for messages.
    :cvar has_keys: whether a key of a record is one to cite it by.
    :ivar problems: of records that are left out as broken, where a reader can go on behind one.
    :ivar noted: counts of what the latest reading left out of files beside records.
    :ivar attached: PDF files that records have attached, and the ids of these.
    :ivar texts: see :class:`mpbert.corpus.raw.files.FileSet`.
    """

    default_splits = YearSplits(valid_year=2018, test_year=2020)
    suffixes: ClassVar[tuple[str, ...]]
    expected: ClassVar[str]
    has_keys: ClassVar[bool] = True

    @abstractmethod
    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all records of a file.

        :raises CorpusError: the file is broken.
        """

    def decoded(self, text: str) -> str:
        """Return a text of a record without the commands of its format."""
        return text

    def __init__(self) -> None:
        super().__init__()
        self.linker = Linker()
        self.attached: dict[Path, str] = {}
        self.problems: list[CorpusError] = []
        self.noted: Counter[str] = Counter()
        self.texts: Mapping[Path, str] = {}

    def prepare(self, path: Source) -> None:
        """Learn which papers there are, and the files that are attached to them.

        :raises CorpusError: all records are broken; the first problem is named.
        """
        self.problems.clear()
        self.noted.clear()
        found = False
        for file, _, paper_id, record in self._identified(path):
            found = True
            known = replace(record.known, doi=record.doi, title=self._plain(record.title))
            if self.linker.add(paper_id, known):
                self._attach(file, paper_id, record.files)
        if self.problems and not found and not isinstance(path, FileSet):
            raise self.problems[0]
        self.counts.update(self.noted)
        for problem in self.problems:
            self.counts["records_left_out_as_broken"] += 1
            logger.warning("left out: %s", problem)

    def read_records(self, path: Source) -> Iterator[object]:
        """Yield (place, paper id, record)."""
        seen: set[str] = set()
        repeated: list[str] = []
        untitled: list[str] = []
        for _, place, paper_id, record in self._identified(path):
            if paper_id in seen:
                repeated.append(f"{paper_id!r} at {place}")
            else:
                seen.add(paper_id)
                untitled += [] if record.title.strip() else [f"{paper_id!r} at {place}"]
                yield place, paper_id, record
        if untitled:
            logger.warning("records without a title: %s", listed(untitled, 20))
        if repeated:
            self.counts["papers_with_the_id_of_an_earlier_one"] += len(repeated)
            logger.warning("left out, with the key of an earlier record: %s", listed(repeated, 20))

    def paper_id_of(self, record: object) -> str:
        """Return the id of the paper of a record."""
        return record[1]

    def content_of(self, record: object) -> object:
        """Return a record without its place."""
        return record[1:]

    def _identified(self, path: Source) -> Iterator[tuple[Path, str, str, Export]]:
        """Yield (file, place, paper id, record) of all records."""
        titles: dict[str, int] = {}  # of each id, by its hash
        self.texts = path.texts if isinstance(path, FileSet) else {}
        for file in walk(path, self.suffixes):
            for place, record in self.exports(file):
                paper_id = _id_of(record, titles)
                titles.setdefault(paper_id, hash(record.title))
                yield file, place, paper_id, record

    def _attach(self, file: Path, paper_id: str, names: Sequence[str]) -> None:
        """Note the PDF files that a record names; those that are not there are counted."""
        wanted = [name for name in names if name.lower().endswith(".pdf")]
        for name in wanted:
            bases = (file.parent / name, Path("/", name))  # Mendeley leaves out the first slash
            places = (base.with_name(base.name + end) for base in bases for end in ("", *PACKED))
            found = next(filter(_is_file, places), None)
            if found is None:
                self.counts["attached_files_not_found"] += 1
            else:
                self.attached.setdefault(found.resolve(), paper_id)

    def parse(self, record: object) -> RawPaper | None:
        """Return the paper of a record; None, and counted, without a title."""
        place, paper_id, found = record
        with reading(place, self.expected):
            title = self._plain(found.title)
            if not title:
                self.counts["records_without_a_title"] += 1
                return None
            abstract = plain(_HEADING.sub("", self._plain(found.abstract)), self.counts)
            if not abstract:
                self.counts["papers_known_by_their_title_alone"] += 1
                abstract = plain(title, self.counts)
            return RawPaper(
                paper_id=paper_id,
                title=title,
                year=year_of(found.year),
                abstract=abstract,
                sections=(),
                authors=tuple(filter(None, map(self._plain, found.authors))),
                venue=self._plain(found.venue),
                references=self._cited(paper_id, found.references),
                published=self._published(found),
            )

    def _published(self, found: Export) -> Publication:
        labels = map(self._plain, labels_of(found.tags, found.collections))
        printed = found.volume, found.number, found.pages, found.publisher
        return Publication(
            *(self._plain(found.kind), plain_doi(found.doi), *map(self._plain, printed)),
            id_is_key=self.has_keys and bool(found.key.strip()),
            labels=tuple(labels),
        )

    def _cited(self, paper_id: str, references: Sequence[Identifiers]) -> tuple[str, ...]:
        """Return the papers of the library that are cited, each once."""
        found = [self.linker.resolve(reference, self.counts) for reference in references]
        return tuple(dict.fromkeys(cited for cited in found if cited and cited != paper_id))

    def _plain(self, text: str) -> str:
        """Return a text without commands, tags and repeated white space."""
        text = self.decoded(text)
        if "<" in text:
            text = _INLINE.sub("", _BLOCK.sub(" ", text))
        return " ".join(html.unescape(text).split())


def listed_tags(*texts: str) -> tuple[str, ...]:
    """Return the tags of fields that hold several, with semicolons or commas between them."""
    parts = (text.split(";" if ";" in text else ",") for text in texts)
    return tuple(tag.strip() for each in parts for tag in each if tag.strip())


def spoken_name(family: str, given: str = "", suffix: str = "") -> str:
    """Return a name in the order of speech."""
    return " ".join(filter(None, map(str.strip, (given, family, suffix))))


def printed_name(name: str) -> str:
    """Return the same of a name as printed: ``Knuth, D. E.``, ``Knuth D E`` or ``D. E. Knuth``."""
    found = None if "," in name or GROUP.search(name) else INITIALS_LAST.fullmatch(name.strip())
    return spoken_name(*(found.groups() if found else name.split(",", 2)))


def _id_of(record: Export, titles: dict[str, int]) -> str:
    """Return the id of a record; a made one that another paper has is numbered.

    :param titles: hashes of those of the ids that are taken.
    """
    if key := _SPACE.sub("_", record.key.strip()):
        return key
    if doi := normal_doi(record.doi):
        return doi
    made = base = made_key(record.authors, year_of(record.year), record.title) or "record"
    number, own = 1, hash(record.title)
    while titles.get(made, own) != own:
        number += 1
        made = f"{base}-{number}"
    return made


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a NUL
        return False
