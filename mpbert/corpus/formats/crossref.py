"""Reader of Crossref: works as its interface answers them.

A file holds a work, a list of works, answers with a ``message``, or one of these a line. A paper's
id is its DOI. Where a publisher gives its references, they are the citations, by DOI or by title:
for the global task.
"""

import re
from typing import Any

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.published import kind_of
from mpbert.corpus.raw.exports import Export, spoken_name
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.values import printed, text_of
from mpbert.corpus.raw.works import WorksReader

_DATES = ("issued", "published-print", "published-online", "published", "created")
# tags of JATS and MathML that are part of a line; the others begin a new one
_INLINE = re.compile(
    r"</?(?:mml:[\w-]+|jats:(?:italic|bold|su[bp]|sc|inline-[\w-]+|monospace|underline|xref"
    r"|tex-math|ext-link|styled-content|named-content|alternatives))\b[^<>]*>"
)
_BLOCK = re.compile(r"</?jats:[\w-]+\b[^<>]*>")


@READERS.register
class CrossrefReader(WorksReader):
    """Reads ``.json`` or ``.jsonl`` of Crossref, or a folder of them."""

    name = "crossref"
    expected = "a work of Crossref: an object with DOI and title, or a message with items"

    def decoded(self, text: str) -> str:
        """Return a text without the tags of JATS and MathML."""
        return _BLOCK.sub(" ", _INLINE.sub("", text))

    @staticmethod
    def works_in(answer: dict[str, Any]) -> list[Any]:
        """Return the works of an answer, or the object itself where it is a work."""
        message = answer.get("message", answer)
        return message["items"] if "items" in message else [message]

    @staticmethod
    def export_of(work: dict[str, Any]) -> Export:
        """Return what a work says."""
        names = work.get("author") or work.get("editor") or ()
        title = ": ".join(filter(None, (_first(work.get("title")), _first(work.get("subtitle")))))
        dates = (work[name] for name in _DATES if _is_date(work.get(name)))
        return Export(
            key="",
            title=title,
            abstract=text_of(work.get("abstract")),
            year=str(next(dates, "")),
            authors=tuple(filter(None, map(_name, names))),
            venue=_first(work.get("container-title")) or text_of(work.get("publisher")),
            doi=text_of(work.get("DOI")),
            references=tuple(map(_cited, work.get("reference") or ())),
            kind=kind_of(printed(work.get("type"))),
            volume=printed(work.get("volume")),
            number=printed(work.get("issue")),
            pages=printed(work.get("page") or work.get("article-number")),
            publisher=printed(work.get("publisher")),
        )


def _first(value: object) -> str:
    """Return the first of several texts, as Crossref gives titles, or the only one."""
    return text_of(value[0] if value else None) if isinstance(value, list) else text_of(value)


def _is_date(value: object) -> bool:
    return isinstance(value, dict) and any(map(any, value.get("date-parts") or ()))


def _name(author: dict[str, Any]) -> str:
    if name := text_of(author.get("name")):
        return name
    return spoken_name(*(text_of(author.get(part)) for part in ("family", "given", "suffix")))


def _cited(reference: dict[str, Any]) -> Identifiers:
    title = text_of(reference.get("article-title") or reference.get("volume-title"))
    return Identifiers(doi=text_of(reference.get("DOI")), title=title)
