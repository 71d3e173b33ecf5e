"""Where a paper appeared: what a bibliography says of it beside authors, title, year and venue."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

_KINDS = {  # types of entries of BibTeX -> types of CSL, RIS, Crossref and OpenAlex
    "article": "article-journal article-magazine article-newspaper journal-article journal "
    "JOUR EJOUR MGZN NEWS",
    "inproceedings": "paper-conference proceedings-article conference CONF CPAPER",
    "incollection": "chapter book-chapter book-section book-part reference-entry CHAP ECHAP",
    "book": "book monograph edited-book reference-book BOOK EBOOK EDBOOK",
    "proceedings": "proceedings",
    "phdthesis": "thesis dissertation THES",
    "techreport": "report RPRT",
    "misc": "posted-content preprint repository manuscript webpage post dataset software",
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}


@dataclass(frozen=True, slots=True)
class Publication:
    """Where a paper appeared, as libraries and publishers say it; texts, empty where unknown.

    :param kind: type of the entry in BibTeX, such as ``article``.
    :param doi: without its resolver, in the letters of its source.
    :param number: of the issue.
    :param id_is_key: whether the paper's id is a key to cite it by, as in a ``.bib``; not so the
        number of a database, or the name of a file.
    :param other_ids: of copies of the record, which name the same paper.
    :param labels: its tags and collections in a library, as :func:`labels_of` writes them.
    """

    kind: str = ""
    doi: str = ""
    volume: str = ""
    number: str = ""
    pages: str = ""
    publisher: str = ""
    id_is_key: bool = True
    other_ids: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    def with_texts(self, change: Callable[[str], str]) -> "Publication":
        """Return the same with each text changed."""
        texts = (change(getattr(self, name)) for name in TEXTS)  # they are the first fields
        labels = tuple(map(change, self.labels))
        return Publication(*texts, self.id_is_key, self.other_ids, labels)

    def filled(self, other: "Publication") -> "Publication":
        """Return the same, with what another source says where this one says nothing."""
        ids = tuple(dict.fromkeys((*self.other_ids, *other.other_ids)))
        filled = {name: getattr(self, name) or getattr(other, name) for name in TEXTS}
        labels = tuple(sorted({*self.labels, *other.labels}))
        return replace(self, **filled, other_ids=ids, labels=labels)


TEXTS = tuple(field.name for field in fields(Publication) if field.type is str)


def published_of(value: Mapping[str, Any] | None) -> Publication:
    """Return a record from a value of a column; what a table lacks is unknown."""
    return Publication() if value is None else Publication(**value)


def labels_of(tags: Iterable[str], collections: Iterable[str] = ()) -> tuple[str, ...]:
    """Return tags and collections as labels, sorted: ``tag:to read``, ``collection:Thesis``."""
    names = [("tag", tag) for tag in tags] + [("collection", name) for name in collections]
    return tuple(sorted({f"{kind}:{text}" for kind, name in names if (text := name.strip())}))


def kind_of(name: str) -> str:
    """Return the type of an entry of BibTeX for a type of CSL, RIS, Crossref or OpenAlex.

    Empty for one that is not known.
    """
    return _KIND_OF.get(name, "")


def page_range(first: str, last: str) -> str:
    """Return pages from the first to the last."""
    return f"{first}-{last}" if first and last and first != last else first or last
