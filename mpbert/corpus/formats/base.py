"""What a reader of a raw corpus is, and the registry of readers."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from mpbert.foundation.registry import Registry

if TYPE_CHECKING:  # the help of commands needs the registry alone
    from mpbert.corpus.raw.files import Source
    from mpbert.corpus.records import RawPaper
    from mpbert.corpus.splits import YearSplits


class Reader(ABC):
    """Reads one raw format, in two steps, so that the second may run in several processes.

    ``prepare`` is called once, then ``read_records`` gives cheap raw records in a fixed order and
    ``parse`` turns each into a paper. Processes that parse are forked after ``prepare``; they share
    what it left on ``self``. ``parse`` must depend on nothing but its record and that, and may
    change nothing but ``counts``.

    :cvar name: registry name, the value of ``--reader``.
    :cvar default_splits: years of the splits where the command line gives none.
    :ivar needs_citations: whether papers without any citation are refused; an index needs none.
    :ivar counts: name of everything noticed and dropped, and how often; names are sentences in
        snake_case such as ``records_without_year``. Processes' counts are summed.
    """

    name: ClassVar[str]
    default_splits: ClassVar["YearSplits"]

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.needs_citations = True

    def prepare(self, path: "Source") -> None:  # noqa: B027 (not abstract: most readers need none)
        """Read what the parsing of each paper must know of all others, such as ids and authors."""

    @abstractmethod
    def read_records(self, path: "Source") -> Iterator[object]:
        """Yield raw records, undecoded where decoding is work (bytes of a line, for example).

        :raises CorpusError: the file is missing or is not of this format.
        """

    @abstractmethod
    def parse(self, record: object) -> "RawPaper | None":
        """Return the paper of a record, or None (and count it) where there is none.

        :raises CorpusError: the record is broken.
        """

    def paper_id_of(self, record: object) -> str | None:
        """Return the id of a record's paper, by which copies in other formats are known.

        None: it cannot be told without parsing, and copies are not looked for.
        """
        return None

    def content_of(self, record: object) -> object:
        """Return what the paper of a record is made of: tuples, lists, dataclasses, paths."""
        return record

    def read(self, path: "Source") -> "Iterator[RawPaper]":
        """Yield all papers, in the order of the records, in this process."""
        self.prepare(path)
        for record in self.read_records(path):
            paper = self.parse(record)
            if paper is not None:
                yield paper


READERS: Registry[type[Reader]] = Registry("reader", "mpbert.corpus.formats")
