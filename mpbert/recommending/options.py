"""What a recommender may be asked for, beside a place in a text."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, TypedDict, get_args

from mpbert.foundation.errors import ConfigError

Ranker = Literal["dense", "words", "both"]
RANKERS = tuple(sorted(get_args(Ranker)))


@dataclass(frozen=True)
class Options:
    """What is wanted of an answer.

    :param top: papers to return at most; fewer where the index is small, or no word is known.
    :param year: papers of later years are left out; those without a year stay.
    :param accepted: ids of papers already accepted at the place, or known to the whole paper. They
        are not returned; papers that are cited together with them gain.
    :param ranker: ``dense`` ranks by vectors, ``words`` by BM25, ``both`` by all that the index
        knows, see :class:`mpbert.recommending.rankers.PaperRanker`.
    :raises ConfigError: ``top`` is below 1, ``year`` is no whole number, ``accepted`` is one text,
        or there is no such ranker.
    """

    top: int = 10
    year: int | None = None
    accepted: Sequence[str] = ()
    ranker: Ranker = "both"

    def __post_init__(self) -> None:
        if self.ranker not in RANKERS:
            raise ConfigError(f"ranker {self.ranker!r}: expected one of {', '.join(RANKERS)}")
        if self.top < 1:
            raise ConfigError(f"top {self.top}: expected 1 or more")
        if not isinstance(self.year, Integral | None):
            raise ConfigError(
                f"year is {self.year!r}; expected a whole number, such as 2015, or None"
            )
        if isinstance(self.accepted, str):
            raise ConfigError(f"accepted is one text, {self.accepted!r}; expected a list of ids")


class Wanted(TypedDict, total=False):
    """The fields of :class:`Options`, as arguments by name."""

    top: int
    year: int | None
    accepted: Sequence[str]
    ranker: Ranker
