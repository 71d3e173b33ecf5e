"""Keys to cite papers by: those of their library where it has them, others made of their records.

A key is given once, when a paper comes into an index, and kept: what is added later gets another.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.corpus.raw.keys import made_key
from mpbert.foundation.growing_arrays import Numbers
from mpbert.recommending.columns import TextColumn
from mpbert.recommending.growing_tables import GrowingColumn
from mpbert.recommending.likely_texts import LETTERS, may_be, sums_of

_KEY_SAFE = re.compile(r"[A-Za-z0-9_.:/-]")
_LETTER = re.compile(r"[a-z]")
_AT_ONCE = 1 << 14  # keys that are compared at once, at least


@dataclass(frozen=True)
class Keyless:
    """What a key is made of.

    :param year: 0 where it is unknown.
    :param id_is_key: whether the id itself is one.
    """

    paper_id: str
    authors: Sequence[str]
    year: int
    title: str
    id_is_key: bool

    def key(self, shares_case: bool) -> str:
        """Return a key that another paper may have.

        :param shares_case: whether another paper has the id without regard to case.
        """
        made = "" if self.id_is_key else made_key(self.authors, self.year, self.title)
        return made if _LETTER.search(made) else bibtex_key(self.paper_id, shares_case)


def citation_keys(papers: Sequence[Keyless], taken: TextColumn | None = None) -> list[str]:
    """Return a key of each paper, unique without regard to case, as BibTeX compares them.

    :param papers: with different ids.
    :param taken: keys of other papers; None: there are none.
    """
    folded = Counter(paper.paper_id.casefold() for paper in papers)
    order = sorted(papers, key=lambda each: (not each.id_is_key, each.paper_id))
    made = [paper.key(folded[paper.paper_id.casefold()] > 1) for paper in order]
    near: Iterable[str] = ()
    if taken is not None:  # a number apart, letters of a key that is taken are those of the other
        is_near = may_be(taken, [key.casefold() for key in made], LETTERS)
        near = taken.take(np.flatnonzero(is_near))
    keys = dict(zip([paper.paper_id for paper in order], unique_keys(made, near), strict=True))
    return [keys[paper.paper_id] for paper in papers]


def unique_keys(made: Iterable[str], taken: Iterable[str] = ()) -> Iterator[str]:
    """Yield keys, with a number where an earlier paper has one.

    :param made: keys of papers; those that have keys of their own come first.
    """
    used = {key.casefold() for key in taken}
    last: dict[str, int] = {}  # number that was given to each
    for base in made:
        key, folded = base, base.casefold()
        number = last.get(folded, 1)
        while key.casefold() in used:
            number += 1
            key = f"{base}-{number}"
        last[folded] = number
        used.add(key.casefold())
        yield key


def made_unique(keys: TextColumn, is_own: np.ndarray) -> TextColumn:
    """Return the keys as :func:`unique_keys` does, in the order of the papers; memory holds a part.

    Two keys may be the same, a number behind or not, where their letters are.

    :param is_own: (N,) whether a paper has a key of its own, which come first.
    """
    order = np.argsort(~is_own, kind="stable")
    sums = sums_of(keys, LETTERS)[0][order]
    by_letters = np.argsort(sums, kind="stable")
    order, ends = order[by_letters], np.flatnonzero(np.diff(sums[by_letters], append=-1)) + 1
    together, first = GrowingColumn(Numbers(np.uint8)), 0
    while first < len(order):
        end = int(ends[min(np.searchsorted(ends, first + _AT_ONCE), len(ends) - 1)])
        together.extend(TextColumn.of(list(unique_keys(keys.take(order[first:end])))))
        first = end
    found, made, places = GrowingColumn(Numbers(np.uint8)), together.array(), np.argsort(order)
    for first in range(0, len(places), _AT_ONCE):
        found.extend(made.take(places[first : first + _AT_ONCE]))
    return found.array()


def bibtex_key(paper_id: str, with_case: bool = False) -> str:
    """Return a key of letters, digits and ``_.:/+-`` that no other id has.

    A character that may not stand in a key becomes its number in hexadecimal between two ``+``.

    :param with_case: whether another id differs in case alone. BibTeX ignores case, so a capital X
        becomes ``++x``.
    """
    return "".join(
        f"++{character.lower()}"
        if with_case and "A" <= character <= "Z"
        else character
        if _KEY_SAFE.fullmatch(character)
        else f"+{ord(character):x}+"
        for character in paper_id
    )
