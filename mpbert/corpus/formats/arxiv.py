"""Reader of arXiv's metadata: the snapshot that arXiv gives away, one JSON object a line.

A paper's id is that of arXiv. Its year is that of the first version. LaTeX becomes text.
"""

import re
from typing import Any

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.bibtex import BibtexReader
from mpbert.corpus.raw.exports import Export, spoken_name
from mpbert.corpus.raw.files import Source
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.linkage import CommonLinker
from mpbert.corpus.raw.values import required_id, text_of, year_of, year_of_id
from mpbert.corpus.raw.works import WorksReader

_BRACKETS = re.compile(r"\s*\([^()]*\)")
_BETWEEN = re.compile(r",\s*(?:and\s+)?|\s+and\s+")  # names of authors


@READERS.register
class ArxivReader(WorksReader):
    """Reads ``.json`` or ``.jsonl`` of arXiv's metadata, or a folder of them."""

    name = "arxiv"
    expected = "a record of arXiv: an object with id, title and authors_parsed"
    decoded = BibtexReader.decoded

    def prepare(self, path: Source) -> None:
        """Learn which papers there are where other readers may have them: a record names none."""
        if isinstance(self.linker, CommonLinker):
            super().prepare(path)

    @staticmethod
    def works_in(answer: dict[str, Any]) -> list[Any]:
        """Return the object itself: it is a record."""
        return [answer]

    @staticmethod
    def export_of(work: dict[str, Any]) -> Export:
        """Return what a record says."""
        own = required_id(work["id"])
        versions = work.get("versions") or [{}]
        first = versions[0]
        journal = text_of(work.get("journal-ref"))
        return Export(
            key=own,
            title=text_of(work.get("title")),
            abstract=text_of(work.get("abstract")),
            year=str(_year(own, first, work)),
            authors=_authors(work),
            venue=journal or "arXiv",
            doi=text_of(work.get("doi")) or f"10.48550/arXiv.{own}",
            kind="article" if journal else "misc",
            tags=tuple(text_of(work.get("categories")).split()),
            known=Identifiers(arxiv=own),
        )


def _year(own: str, first: object, work: dict[str, Any]) -> int | str:
    created = first.get("created") if isinstance(first, dict) else ""
    return year_of(created) or year_of_id(own) or text_of(work.get("update_date"))


def _authors(work: dict[str, Any]) -> tuple[str, ...]:
    """Return names in the order of speech, without affiliations (behind suffixes, in brackets)."""
    if parsed := work.get("authors_parsed"):
        return tuple(spoken_name(*map(text_of, parts[:3])) for parts in parsed)
    printed = _BRACKETS.sub("", text_of(work.get("authors")))
    return tuple(filter(None, map(str.strip, _BETWEEN.split(printed))))
