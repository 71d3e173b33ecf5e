"""What readers of JSON Lines in one file or in a folder of shards have in common."""

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from mpbert.citations.records import RawSentence
from mpbert.corpus.formats.base import Reader
from mpbert.corpus.raw.files import read_records, walk
from mpbert.corpus.raw.linkage import Linker
from mpbert.corpus.raw.spans import plain
from mpbert.corpus.raw.values import decode, reading
from mpbert.corpus.records import RawPaper


class ShardReader(Reader):
    """Reads papers that are one JSON object a line each; of papers with one id the first is kept.

    A paper of which only the title is known is a candidate too: its title is its abstract.

    :cvar suffixes: of the files in a folder that are read.
    :cvar expected: what a record is, for messages.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".json")
    expected: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.linker = Linker()
        self.repeated: set[str] = set()  # places of records whose id an earlier one has

    def lines(self, path: Path) -> Iterator[tuple[str, bytes]]:
        """Yield (place as ``path:line``, line) of all records, shard after shard."""
        for shard in walk(path, self.suffixes):
            yield from read_records(shard)

    def prepare(self, path: Path) -> None:
        """Learn the identifiers of all papers."""
        for place, line in self.lines(path):
            with reading(place, self.expected):
                if not self.learn(decode(line)):
                    self.repeated.add(place)
        self.counts["papers_with_the_id_of_an_earlier_one"] += len(self.repeated)

    def read_records(self, path: Path) -> Iterator[object]:
        """Yield (place, line as bytes)."""
        for place, line in self.lines(path):
            if place not in self.repeated:
                yield place, line

    def parse(self, record: object) -> RawPaper | None:
        """Return the paper of a line.

        :raises CorpusError: the record is broken.
        """
        place, line = record
        with reading(place, self.expected):
            return self.paper(decode(line))

    @abstractmethod
    def learn(self, record: dict[str, Any]) -> bool:
        """Add a record to ``linker``; return whether its id is new."""

    @abstractmethod
    def paper(self, record: dict[str, Any]) -> RawPaper | None:
        """Return the paper of a record; what it raises names the place of the record."""

    def abstract_or_title(
        self, abstract: tuple[RawSentence, ...], has_body: bool, title: str
    ) -> tuple[RawSentence, ...]:
        """Return the abstract, or the title where nothing else of a paper is known."""
        if abstract or has_body or not title:
            return abstract
        self.counts["papers_known_by_their_title_alone"] += 1
        return plain(title, self.counts)
