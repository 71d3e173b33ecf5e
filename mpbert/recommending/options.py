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
    :param since: papers of earlier years are left out; those without a year stay.
    :param filters: papers must have all of these: ``tag:NAME`` or ``collection:NAME``, in any case.
    :param accepted: ids of papers already accepted at the place, or known to the whole paper. They
        are not returned; papers that are cited together with them gain.
    :param ranker: ``dense`` ranks by vectors, ``words`` by BM25, ``both`` by all that the index
        knows, see :class:`mpbert.recommending.rankers.PaperRanker`.
    :raises ConfigError: ``top`` is below 1, a year is no whole number, ``accepted`` or ``filters``
        is one text, a filter is neither tag nor collection, or there is no such ranker.
    """

    top: int = 10
    year: int | None = None
    accepted: Sequence[str] = ()
    ranker: Ranker = "both"
    since: int | None = None
    filters: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.ranker not in RANKERS:
            raise ConfigError(f"ranker {self.ranker!r}: expected one of {', '.join(RANKERS)}")
        if self.top < 1:
            raise ConfigError(f"top {self.top}: expected 1 or more")
        for name in ("year", "since"):
            if not isinstance(value := getattr(self, name), Integral | None):
                raise ConfigError(
                    f"{name} is {value!r}; expected a whole number, such as 2015, or None"
                )
        if isinstance(self.accepted, str):
            raise ConfigError(f"accepted is one text, {self.accepted!r}; expected a list of ids")
        if isinstance(self.filters, str):
            raise ConfigError(f"filters is one text, {self.filters!r}; expected a list of them")
        for label in self.filters:
            if not label.startswith(("tag:", "collection:")):
                raise ConfigError(f"filter {label!r}: expected tag:NAME or collection:NAME")


class Wanted(TypedDict, total=False):
    """The fields of :class:`Options`, as arguments by name."""

    top: int
    year: int | None
    accepted: Sequence[str]
    ranker: Ranker
    since: int | None
    filters: Sequence[str]
