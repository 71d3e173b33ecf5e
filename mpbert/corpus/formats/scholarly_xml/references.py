"""The list of references of one paper, as XML files hold it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mpbert.citations.references import Reference
from mpbert.corpus.raw.identifiers import Identifiers


@dataclass(frozen=True)
class Work:
    """A work that an entry lists.

    :param own_id: its id where an entry lists several; else empty.
    :param year: None where it is not printed.
    """

    identifiers: Identifiers
    authors: tuple[str, ...]
    year: int | None
    own_id: str = ""


@dataclass(frozen=True)
class Entry:
    """An entry of a list of references, mostly of one work."""

    entry_id: str
    works: tuple[Work, ...]


class ReferenceList:
    """Entries by their ids, by their places counted from 0, and by what they print.

    :ivar is_numbered: citations print places, counted from 1.
    :ivar printed: all works as they are cited by names and year; the id of each is its place.
    """

    def __init__(self) -> None:
        self._entries: list[tuple[str, ...]] = []
        self._places: dict[str, int] = {}
        self._papers: dict[str, tuple[str, ...]] = {}
        self.is_numbered = False
        self.printed: list[Reference] = []

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: Entry, paper_ids: Sequence[str | None]) -> None:
        """Append an entry.

        :param paper_ids: the paper of the corpus that each of its works is, or None.
        """
        place = len(self)
        for work, paper_id in zip(entry.works, paper_ids, strict=True):
            if work.own_id:
                self._places[work.own_id] = place
                self._papers[work.own_id] = () if paper_id is None else (paper_id,)
            if work.year is not None and work.authors:
                self.printed.append(Reference(str(place), work.authors, work.year))
        self._entries.append(tuple(paper_id for paper_id in paper_ids if paper_id is not None))
        if self._places.setdefault(entry.entry_id, place) == place:  # of a repeated id the first
            self._papers[entry.entry_id] = self._entries[-1]

    @property
    def cited_ids(self) -> tuple[str, ...]:
        """Papers of the corpus among the entries, in order."""
        return self.papers_at(range(len(self)))

    def papers_at(self, places: Iterable[int]) -> tuple[str, ...]:
        """Return the papers of the corpus at these places, each once."""
        return tuple(dict.fromkeys(paper for place in places for paper in self._entries[place]))

    def papers_of(self, targets: Iterable[str]) -> tuple[str, ...]:
        """Return the papers of the corpus that these ids mean."""
        return tuple(paper for target in targets for paper in self._papers.get(target, ()))

    def places_of(self, targets: Iterable[str]) -> tuple[int, ...]:
        """Return the places of entries by their ids, each once; unknown ids have none."""
        known = (self._places[target] for target in targets if target in self._places)
        return tuple(dict.fromkeys(known))

    def places_of_numbers(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Return the places that these numbers mean; none unless all mean one."""
        if not self.is_numbered or not all(1 <= n <= len(self) for n in numbers):
            return ()
        return tuple(n - 1 for n in numbers)

    def learn_numbering(self, cited: Iterator[tuple[int, tuple[str, ...]]]) -> None:
        """Find out whether citations print places.

        :param cited: for citations that print one number, the number and the ids that they cite.
        """
        agree = [
            number == places[0] + 1
            for number, targets in cited
            if len(places := self.places_of(targets)) == 1
        ]
        self.is_numbered = sum(agree) >= 2 and sum(agree) >= 0.9 * len(agree)
