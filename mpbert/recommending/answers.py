"""Answers: sequences of records that print as a table, and become one of pandas where it is."""

import shutil
from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar, overload
from unicodedata import east_asian_width

from mpbert.foundation.errors import printable
from mpbert.foundation.extras import imported
from mpbert.recommending.records import IndexedPaper, Recommendation

if TYPE_CHECKING:
    import pandas as pd

_MOST = 20  # records of a table that is printed
_NARROWEST = 20  # characters of a title in it
_RIGHT = {"rank", "score", "likely", "year"}  # columns of numbers

T = TypeVar("T")


class Records(Sequence[T]):
    """Records in their order; a slice of them knows the ranks that they had.

    :param at: record of a number.
    :param numbers: of these records, from 0.
    """

    columns: ClassVar[tuple[str, ...]] = ()

    def __init__(self, at: Callable[[int], T], numbers: range) -> None:
        self._at, self._numbers = at, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> Self: ...

    def __getitem__(self, place: int | slice) -> T | Self:
        """Return the record at a place, from 0, or those of a slice."""
        if isinstance(place, slice):
            part = copy(self)
            part._numbers = self._numbers[place]
            return part
        return self._at(self._numbers[place])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Records) and list(self) == list(other)

    def __repr__(self) -> str:
        rows = [tuple(map(printable, self.cells(number))) for number in self._numbers[:_MOST]]
        width = shutil.get_terminal_size((100, 24)).columns
        return "\n".join([*_lines(self.columns, rows, width), *self.notes()])

    def _repr_html_(self) -> str:
        rows = [_html_row(self.cells(number), "td") for number in self._numbers[:_MOST]]
        table = "\n".join([_html_row(self.columns, "th"), *rows])
        from html import escape  # a terminal need not wait for it

        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes())
        return f"<table>\n{table}\n</table>{notes}"

    def cells(self, number: int) -> tuple[str, ...]:
        """Return what a table shows of a record, a text for each of ``columns``."""
        raise NotImplementedError

    def notes(self) -> list[str]:
        """Return the lines that stand below the table."""
        return [f"... {len(self) - _MOST:,} more"] if len(self) > _MOST else []


class Recommendations(Records[Recommendation]):
    """Recommended papers, best first.

    >>> from mpbert import Recommender
    >>> found = Recommender("runs/index/rfc").recommend("Names are resolved by servers", top=3)
    >>> len(found), found[0].score >= found[1].score, [paper.year is None for paper in found]
    (3, True, [False, False, False])
    >>> print(found)
    rank    score  likely  paper_id  title ...

    :ivar warning: a line where the text seems to be in another language than the papers; else
        empty.
    :ivar holds: P(the library holds what belongs here); None where it is not known.
    :ivar fits: whether that is enough for the list to be of use; None where it is not known.
    """

    columns = ("rank", "score", "likely", "paper_id", "title", "authors", "year")

    def __init__(
        self,
        papers: Sequence[Recommendation],
        warning: str = "",
        holds: float | None = None,
        fits: bool | None = None,
    ) -> None:
        super().__init__(papers.__getitem__, range(len(papers)))
        self.warning, self.holds, self.fits = warning, holds, fits

    def cells(self, number: int) -> tuple[str, ...]:
        """Return the cells of a paper by its number, from 0."""
        paper = self._at(number)
        of_ranking = f"{number + 1}", f"{paper.score:.4f}", as_percent(paper.probability)
        return *of_ranking, *cells_of(paper)

    def judgement(self) -> dict[str, str | float | bool | None]:
        """Return warning, holds and fits, by their names."""
        return {"warning": self.warning, "holds": self.holds, "fits": self.fits}

    @property
    def doubt(self) -> str:
        """A line where nothing in the library fits well; else empty."""
        if self.fits is not False or self.holds is None:
            return ""
        return (
            f"nothing in this library fits well: {as_percent(self.holds)} likely that it holds "
            f"what belongs here"
        )

    def notes(self) -> list[str]:
        """Return how many papers are not shown, and the cautions."""
        return [*super().notes(), *self.cautions()]

    def cautions(self) -> list[str]:
        """Return lines that say why the list may be of no use; none where it may be of use."""
        return list(filter(None, [self.doubt, self.warning and f"warning: {self.warning}"]))

    def to_pandas(self) -> "pd.DataFrame":
        """Return the papers as a table of pandas, by rank, from 1.

        >>> from mpbert import Recommender
        >>> found = Recommender("runs/index/rfc").recommend("Names are resolved by servers")
        >>> list(found.to_pandas().columns)
        ['paper_id', 'title', 'authors', 'year', 'score', 'probability', 'reasons', 'why']

        ``authors`` and ``reasons`` are lists, an unknown ``year`` is NA, and
        ``attrs`` have ``warning``, ``holds`` and ``fits``.

        :raises MissingPackageError: pandas is not installed.
        """
        pd = imported("pandas")
        names = (
            *("paper_id", "title", "authors", "year", "score", "probability"),
            *("reasons", "why"),
        )
        rows = [[getattr(paper, name) for name in names] for paper in self]
        table = pd.DataFrame(rows, pd.RangeIndex(self._numbers, name="rank") + 1, names)
        table["authors"] = [list(paper.authors) for paper in self]
        table.attrs |= self.judgement()
        return table.astype({"year": "Int32", "score": "float64", "probability": "float64"})


def as_percent(probability: float | None) -> str:
    """Return a probability as a person reads it; a dash where it is not known."""
    return "-" if probability is None else f"{100 * probability:.0f} %"


def cells_of(paper: Recommendation | IndexedPaper) -> tuple[str, str, str, str]:
    """Return what a table shows of a paper: id, title, authors and year."""
    authors = ", ".join(paper.authors[:2]) + (" et al." if len(paper.authors) > 2 else "")
    return paper.paper_id, paper.title, authors, str(paper.year or "")


def _html_row(cells: Sequence[str], tag: str) -> str:
    from html import escape

    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def _lines(columns: Sequence[str], rows: list[tuple[str, ...]], width: int) -> list[str]:
    """Return an aligned table; the title gives way where it would be wider than the terminal."""
    widths = [max(map(_width, column)) for column in zip(columns, *rows, strict=True)]
    title = columns.index("title")
    excess = sum(widths) + 2 * (len(widths) - 1) - width
    widths[title] = min(widths[title], max(widths[title] - excess, _NARROWEST))
    return [
        "  ".join(
            _cell(text, place, name in _RIGHT)
            for text, place, name in zip(row, widths, columns, strict=True)
        ).rstrip()
        for row in (columns, *rows)
    ]


def _cell(text: str, width: int, is_right: bool) -> str:
    if _width(text) > width:
        while _width(text) >= width:
            text = text[:-1]
        text += "…"
    space = " " * (width - _width(text))
    return space + text if is_right else text + space


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(1 + (east_asian_width(char) in "WF") for char in text)
