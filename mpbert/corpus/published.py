"""Where a paper appeared: what a bibliography says of it beside authors, title, year and venue."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Publication:
    """Where a paper appeared, as libraries and publishers say it; texts, empty where unknown.

    :param kind: type of the entry in BibTeX, such as ``article``.
    :param doi: without its resolver, in the letters of its source.
    :param number: of the issue.
    :param id_is_key: whether the paper's id is a key to cite it by, as in a ``.bib``; not so the
        number of a database, or the name of a file.
    """

    kind: str = ""
    doi: str = ""
    volume: str = ""
    number: str = ""
    pages: str = ""
    publisher: str = ""
    id_is_key: bool = True

    def with_texts(self, change: Callable[[str], str]) -> "Publication":
        """Return the same with each text changed."""
        return replace(self, **{name: change(getattr(self, name)) for name in TEXTS})

    def filled(self, other: "Publication") -> "Publication":
        """Return the same, with what another source says where this one says nothing."""
        return replace(self, **{n: getattr(self, n) or getattr(other, n) for n in TEXTS})


TEXTS = tuple(field.name for field in fields(Publication) if field.type is str)


def published_of(value: Mapping[str, Any] | None) -> Publication:
    """Return a record from a value of a column; what a table lacks is unknown."""
    return Publication() if value is None else Publication(**value)
