"""Which references a citation means: its names and year against the paper's own short list.

Evidence is graded. A grade is given to each pair of a citation and a reference, and the best grade
wins; where several references share it, their suffixes (1999a, 1999b) decide.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mpbert.citations.author_year import Citation
from mpbert.citations.names import PARTICLES, is_author, is_same_name, last_names
from mpbert.citations.printed_names import Name

# Grades of how well printed names fit the authors of a reference.
ALL_NAMES, SOME_NAMES, FIRST_NAME, NO_NAME = 3, 2, 1, 0
# (differences of years, least grade) in the order of trust; a reference that an earlier pass found
# is not looked for in a later one
_PASSES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((0,), ALL_NAMES),
    ((0,), SOME_NAMES),
    ((0,), FIRST_NAME),
    ((-1, 1), ALL_NAMES),
)
_ARTICLE = re.compile(r"^(?:an?|the)\s")  # BibTeX sorts titles without it


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
    :param year: its own year of publication, near which its citations "in press" are.
    """

    def __init__(self, references: Sequence[Reference], year: int) -> None:
        self._references = list(references)
        self._year = year
        self._forms = [[f for a in r.authors if (f := last_names(a))] for r in references]
        self._grades: dict[tuple[object, ...], tuple[int, int]] = {}

    def name_grade(self, names: Sequence[Name], et_al: bool, row: int) -> tuple[int, int]:
        """Return how well a printed list of names fits a reference, and where the list starts.

        :returns: a grade, and the position in ``names`` of the first author.
        """
        authors = self._forms[row]
        for first in range(len(names)):
            if first and names[first].follows_and:
                break  # "Smith and Li (2002)" is not by Li alone
            named = names[first:]
            leads = bool(authors) and is_author(named[0].words, authors[0])
            if not leads and len(named) < 2:
                continue
            known = sum(any(is_author(name.words, a) for a in authors) for name in named)
            if known < len(named) or len(authors) < len(named):
                continue
            if len(authors) == len(named) and not et_al:
                return ALL_NAMES, first
            if leads and et_al and len(authors) > max(len(named), 2):
                return ALL_NAMES, first
            if leads and "".join(named[0].words).endswith(authors[0][0]):  # no misspelling now
                return (SOME_NAMES if et_al or len(named) > 1 else FIRST_NAME), first
        return NO_NAME, 0

    def _grade(self, citation: Citation, row: int) -> tuple[int, int]:
        key = (tuple((n.words, n.follows_and) for n in citation.names), citation.et_al, row)
        if key not in self._grades:
            self._grades[key] = self.name_grade(citation.names, citation.et_al, row)
        return self._grades[key]

    def resolve(self, citations: Sequence[Citation]) -> None:
        """Set ``cited_ids`` of all citations of a paper, and narrow where their names start.

        Exact years with all names first; then, only for references not found so far, a first
        author alone, and years that are off by one or not printed.
        """
        chosen: dict[int, list[int]] = {}
        claimed: set[int] = set()
        for offsets, least in _PASSES:
            rows_of = {
                place: rows
                for place, citation in enumerate(citations)
                if place not in chosen and (rows := self._best(citation, offsets, least, claimed))
            }
            chosen.update(rows_of)
            claimed.update(row for rows in rows_of.values() for row in rows)
        suffixes: dict[tuple[int, ...], set[str]] = defaultdict(set)
        for place, rows in chosen.items():
            suffixes[tuple(rows)].add(citations[place].suffix)
        for place, rows in chosen.items():
            citation = citations[place]
            letters = suffixes[tuple(rows)] - {""}
            if len(rows) > 1 or len(letters) > 1:
                rows = self._by_suffix(citation.suffix, rows, letters)
            if rows:
                self._accept(citation, rows)

    def by_names_alone(self, citation: Citation) -> str | None:
        """Return the one reference that a list of names without a year can mean, or None.

        A single name must be that of the only reference by this first author. Narrows where the
        names start.
        """
        graded = [self._grade(citation, row) for row in range(len(self._references))]
        best = max((grade for grade, _ in graded), default=NO_NAME)
        rows = [row for row, (grade, _) in enumerate(graded) if grade == best]
        if best == NO_NAME or len(rows) != 1:
            return None
        self._accept(citation, rows)
        return self._references[rows[0]].paper_id

    def _best(
        self, citation: Citation, offsets: Sequence[int], least: int, claimed: set[int]
    ) -> list[int]:
        """Return the references of the best grade; beyond the first pass only unclaimed ones."""
        if citation.is_distant:
            return self._distant(citation) if offsets == (0,) else []
        is_first_pass = (offsets, least) == _PASSES[0]
        best, rows = least, []
        for row, reference in enumerate(self._references):
            if row in claimed and not is_first_pass:
                continue
            if not self._is_near(citation, reference.year, offsets):
                continue
            grade, _ = self._grade(citation, row)
            if grade >= best:
                rows = [*rows, row] if grade == best else [row]
                best = grade
        return rows

    def _is_near(self, citation: Citation, year: int, offsets: Sequence[int]) -> bool:
        if citation.year is not None:
            return citation.year - year in offsets
        if citation.is_in_press:
            return 1 in offsets and abs(self._year - year) <= 1
        return 1 in offsets

    def _distant(self, citation: Citation) -> list[int]:
        """Return the references of the year by the nearest name that is a first author."""
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

    def _by_suffix(self, suffix: str, rows: list[int], letters: set[str]) -> list[int]:
        """Return the one of several references that a letter after the year means, if any.

        The printed list decides. Without it, letters follow the order of BibTeX's styles; but where
        there are more letters than references, some are outside the corpus: nothing is sure.
        """
        printed = [row for row in rows if self._references[row].suffix]
        if printed:
            return [row for row in printed if self._references[row].suffix == suffix][:1]
        highest = max((ord(letter) - ord("a") for letter in letters), default=0)
        if not suffix or highest >= len(rows):
            return []
        return [sorted(rows, key=self._sort_key)[ord(suffix) - ord("a")]]

    def _sort_key(self, row: int) -> tuple[list[str], str]:
        title = _ARTICLE.sub("", self._references[row].title.lower())
        return [forms[0] for forms in self._forms[row]], title

    def _accept(self, citation: Citation, rows: list[int]) -> None:
        citation.cited_ids = tuple(self._references[row].paper_id for row in rows)
        if citation.is_inherited or citation.is_distant:
            return
        first = self._grade(citation, rows[0])[1]
        name = citation.names[first]
        forms = [form for author in self._forms[rows[0]] for form in author]
        while len(name.words) > 1 and name.words[0] not in PARTICLES:
            if any(is_same_name(name.words[0], form) for form in forms):
                break  # the rest are capitals that stood before the name
            name = replace(name, words=name.words[1:], word_starts=name.word_starts[1:])
            name = replace(name, start=name.word_starts[0])
        citation.start = name.start
