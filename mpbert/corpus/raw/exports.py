"""What exports of reference managers have in common: records that tell of a paper, and cite none.

A record has a key, or a DOI stands for it; where both lack, a key is made of the first author, the
year and the title, so that a later export of the same library has the same keys.
"""

import html
import re
import unicodedata
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from mpbert.corpus.formats.base import Reader
from mpbert.corpus.raw.files import open_file, too_large, walk
from mpbert.corpus.raw.identifiers import normal_doi
from mpbert.corpus.raw.spans import plain
from mpbert.corpus.raw.values import reading, year_of
from mpbert.corpus.records import RawPaper
from mpbert.corpus.splits import YearSplits
from mpbert.foundation.errors import CorpusError

_MOST_BYTES = 1 << 28  # of a file: 100,000 papers with abstracts
_SPACE = re.compile(r"\s+")
# tags that exports leave in titles and abstracts; a bare "<" is a sign of comparison
_BLOCK = re.compile(r"</?(?:jats:)?(?:p|br|div|sec|title|li?|list|list-item)\b[^<>]*>", re.I)
_INLINE = re.compile(r"</?(?:jats:)?(?:i|b|em|strong|italic|bold|sub|sup|sc|span)\b[^<>]*>", re.I)
_HEADING = re.compile(r"^(?:abstract|summary)\s*[:.—-]\s*|^(?:Abstract|ABSTRACT)\s+(?=[A-Z])", re.I)
_WORD = re.compile(r"[a-z0-9]+")
_LONG = 4  # letters of the word of a title that stands in a made key


@dataclass(frozen=True)
class Export:
    """A record as its file has it; empty where nothing is said.

    :param key: of the record in its library, or none.
    :param year: a year or a date, as printed.
    :param authors: their names in the order of speech.
    """

    key: str
    title: str
    abstract: str
    year: str
    authors: tuple[str, ...]
    venue: str
    doi: str


class ExportReader(Reader):
    """Reads records of papers without citations; of records with one key the first is kept.

    A record without a title is dropped and counted. One with a title alone is a paper, whose title
    is its abstract.

    :cvar suffixes: of the files in a folder that are read.
    :cvar expected: what a record is, for messages.
    """

    default_splits = YearSplits(valid_year=2018, test_year=2020)
    suffixes: ClassVar[tuple[str, ...]]
    expected: ClassVar[str]

    @abstractmethod
    def exports(self, file: Path) -> Iterator[tuple[str, Export]]:
        """Yield (place, record) of all records of a file.

        :raises CorpusError: the file is broken.
        """

    def decoded(self, text: str) -> str:
        """Return a text of a record without the commands of its format."""
        return text

    def read_records(self, path: Path) -> Iterator[object]:
        """Yield (place, paper id, record)."""
        titles: dict[str, str] = {}  # of each id
        for file in walk(path, self.suffixes):
            for place, record in self.exports(file):
                paper_id = _id_of(record, titles)
                if paper_id in titles:
                    self.counts["papers_with_the_id_of_an_earlier_one"] += 1
                else:
                    titles[paper_id] = record.title
                    yield place, paper_id, record

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
            )

    def _plain(self, text: str) -> str:
        """Return a text without commands, tags and repeated white space."""
        text = _INLINE.sub("", _BLOCK.sub(" ", self.decoded(text)))
        return _SPACE.sub(" ", html.unescape(text)).strip()


def read_text(path: Path) -> str:
    """Return the text of a file, unpacked.

    :raises CorpusError: it is unreadable, too large, or not in UTF-8.
    """
    with open_file(path) as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise too_large(path, "file", _MOST_BYTES)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CorpusError(
            f"{path}:{line}: found broken UTF-8; expected a file in UTF-8: export the library so"
        ) from error


def spoken_name(family: str, given: str = "", suffix: str = "") -> str:
    """Return a name in the order of speech."""
    return " ".join(filter(None, map(str.strip, (given, family, suffix))))


def _id_of(record: Export, titles: dict[str, str]) -> str:
    """Return the id of a record; a made one that another paper has is numbered.

    :param titles: of the ids that are taken.
    """
    if key := _SPACE.sub("_", record.key.strip()):
        return key
    if doi := normal_doi(record.doi):
        return doi
    author = " ".join(record.authors[:1]).split()[-1:]
    long = [word for word in _words(record.title) if len(word) >= _LONG]
    parts = [*_words(" ".join(author))[-1:], str(year_of(record.year) or ""), *long[:1]]
    made = base = "".join(parts) or "record"
    number = 1
    while titles.get(made, record.title) != record.title:
        number += 1
        made = f"{base}-{number}"
    return made


def _words(text: str) -> list[str]:
    """Return the words of a text in small letters without accents."""
    plain_text = unicodedata.normalize("NFKD", text.casefold())
    return _WORD.findall(plain_text.encode("ascii", "ignore").decode())
