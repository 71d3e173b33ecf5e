"""Which references a paper's author-year citations mean: names and years against its own short list.

Evidence is graded. A grade is given to each pair of a citation and a reference, and the best grade
wins; where several references share it, their suffixes (1999a, 1999b) decide.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mpbert.data.author_year import Citation, Name
from mpbert.data.names import is_author, is_same_name, last_names

# Grades of how well printed names fit the authors of a reference.
ALL_NAMES, SOME_NAMES, FIRST_NAME, NO_NAME = 3, 2, 1, 0


@dataclass(frozen=True, slots=True)
class Reference:
    """A paper in the list of references of another.

    :param authors: names in full, in order.
    :param suffix: letter after its year in the printed list of references, where that is known.
    """

    paper_id: str
    authors: tuple[str, ...]
    year: int
    title: str = ""
    suffix: str = ""


class Resolver:
    """Finds the references of one paper that its citations mean.

    :param references: the paper's references.
    """

    def __init__(self, references: Sequence[Reference]) -> None:
        self._references = list(references)
        self._forms = [[last_names(a) for a in r.authors] for r in references]
        self._grades: dict[tuple[tuple[Name, ...], bool], list[tuple[int, int]]] = {}

    def name_grade(self, names: Sequence[Name], et_al: bool, row: int) -> tuple[int, int]:
        """Return how well a printed list of names fits a reference, and where the list starts.

        :returns: a grade, and the position in ``names`` of the first author.
        """
        authors = self._forms[row]
        for first in range(len(names)):
            if not is_author(names[first].words, authors[0] if authors else ()):
                continue
            others = names[first + 1 :]
            known = sum(any(is_author(n.words, a) for a in authors[1:]) for n in others)
            if known < len(others):
                continue
            if et_al:
                full = len(authors) > len(others) + 1
                return (
                    ALL_NAMES if full and len(authors) > 2 else SOME_NAMES if full else NO_NAME
                ), first
            if len(authors) == len(others) + 1:
                return ALL_NAMES, first
            return (SOME_NAMES if others else FIRST_NAME), first
        return NO_NAME, 0

    def _graded(self, citation: Citation) -> list[tuple[int, int]]:
        key = (tuple(replace(n, start=0, word_starts=()) for n in citation.names), citation.et_al)
        if key not in self._grades:
            self._grades[key] = [
                self.name_grade(citation.names, citation.et_al, row)
                for row in range(len(self._references))
            ]
        return self._grades[key]

    def resolve(self, citations: Sequence[Citation]) -> None:
        """Set ``cited_ids`` of all citations of a paper, and narrow where their names start.

        Exact years first; then years that are off by one, or not printed, for references that no
        exact citation has claimed.
        """
        exact: dict[int, list[int]] = {}
        claimed: set[int] = set()
        for place, citation in enumerate(citations):
            rows = self._best(citation, {0}, set())
            if rows:
                exact[place] = rows
                claimed.update(rows)
        suffixes: dict[tuple[int, ...], set[str]] = defaultdict(set)
        for place, rows in exact.items():
            if len(rows) > 1:
                suffixes[tuple(rows)].add(citations[place].suffix)
        for place, citation in enumerate(citations):
            rows = exact.get(place)
            if rows is None:
                rows = self._best(citation, {-1, 1}, claimed)
                rows = rows if len(rows) == 1 else []
            elif len(rows) > 1:
                rows = self._by_suffix(citation.suffix, rows, suffixes[tuple(rows)])
            if rows:
                self._accept(citation, rows)

    def by_names_alone(self, citation: Citation) -> str | None:
        """Return the one reference that a list of names without a year can mean, or None.

        A single name must be that of the only reference by this first author. Narrows where the
        names start.
        """
        graded = self._graded(citation)
        best = max((grade for grade, _ in graded), default=NO_NAME)
        rows = [row for row, (grade, _) in enumerate(graded) if grade == best]
        if best == NO_NAME or len(rows) != 1:
            return None
        self._accept(citation, rows)
        return self._references[rows[0]].paper_id

    def _best(self, citation: Citation, offsets: set[int], claimed: set[int]) -> list[int]:
        if citation.is_distant:
            return self._distant(citation) if offsets == {0} else []
        best, rows = NO_NAME, []
        for row, (grade, _) in enumerate(self._graded(citation)):
            reference = self._references[row]
            if citation.year is None:
                near = offsets != {0}
            else:
                near = citation.year - reference.year in offsets
            if not near or row in claimed or grade == NO_NAME:
                continue
            if grade > best:
                best, rows = grade, []
            if grade == best:
                rows.append(row)
        return rows

    def _distant(self, citation: Citation) -> list[int]:
        """Return references of the year whose first author is the nearest name that is an author."""
        for name in reversed(citation.names):
            rows = [
                row
                for row, reference in enumerate(self._references)
                if reference.year == citation.year
                and self._forms[row]
                and self._forms[row][0]
                and is_same_name(name.words[0], self._forms[row][0][0])
            ]
            if rows:
                citation.names = (name,)
                return rows
        return []

    def _by_suffix(self, suffix: str, rows: list[int], suffixes: set[str]) -> list[int]:
        printed = [row for row in rows if self._references[row].suffix == suffix]
        if suffix and len(printed) == 1:
            return printed
        letters = sorted(s for s in suffixes if s)
        if suffix and len(letters) <= len(rows):
            order = sorted(rows, key=lambda row: self._sort_key(row))
            place = ord(suffix) - ord("a")
            if place < len(order):
                return [order[place]]
        return []

    def _sort_key(self, row: int) -> tuple[list[str], str]:
        reference = self._references[row]
        return [f[0] if f else "" for f in self._forms[row]], reference.title.lower()

    def _accept(self, citation: Citation, rows: list[int]) -> None:
        citation.cited_ids = tuple(self._references[row].paper_id for row in rows)
        if citation.is_inherited or citation.is_distant:
            return
        first = self._graded(citation)[rows[0]][1]
        name = citation.names[first]
        forms = self._forms[rows[0]][0]
        for word, start in zip(name.words, name.word_starts, strict=False):
            if any(is_same_name(word, form) for form in forms):
                citation.start = min(start, name.start) if word == name.words[0] else start
                break
        else:
            citation.start = name.start
