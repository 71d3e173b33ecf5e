"""Reader of OpenAlex: works as its interface answers and as its snapshot holds them.

A file holds a work, a list of works, pages of results, or one of these a line. Abstracts come as
an index from words to places. ``referenced_works`` are the citations: for the global task.
"""

from typing import Any

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.published import kind_of, page_range
from mpbert.corpus.raw.exports import Export
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.values import printed, required_id, text_of
from mpbert.corpus.raw.works import WorksReader


@READERS.register
class OpenAlexReader(WorksReader):
    """Reads ``.json`` or ``.jsonl`` of OpenAlex, or a folder of them."""

    name = "openalex"
    expected = "a work of OpenAlex: an object with id and title, or a list of results"

    @staticmethod
    def works_in(answer: dict[str, Any]) -> list[Any]:
        """Return the works of an answer, or the object itself where it is a work."""
        return answer["results"] if "results" in answer else [answer]

    @staticmethod
    def export_of(work: dict[str, Any]) -> Export:
        """Return what a work says."""
        location = work.get("primary_location") or {}
        source = location.get("source") or work.get("host_venue") or {}
        authorships = work.get("authorships") or ()
        issue = work.get("biblio") or {}
        names = (text_of((each.get("author") or {}).get("display_name")) for each in authorships)
        return Export(
            key=_key(work["id"]),
            title=text_of(work.get("title") or work.get("display_name")),
            abstract=text_of_index(work.get("abstract_inverted_index")),
            year=str(work.get("publication_year") or work.get("publication_date") or ""),
            authors=tuple(filter(None, names)),
            venue=text_of(source.get("display_name")),
            doi=text_of(work.get("doi")),
            references=tuple(
                Identifiers(corpus_id=_key(cited)) for cited in work.get("referenced_works") or ()
            ),
            kind=_kind(work, source),
            volume=printed(issue.get("volume")),
            number=printed(issue.get("issue")),
            pages=page_range(printed(issue.get("first_page")), printed(issue.get("last_page"))),
            publisher=printed(source.get("host_organization_name")),
        )


def _kind(work: dict[str, Any], source: dict[str, Any]) -> str:
    """Return the type of an entry: that of Crossref, that of the work, or that of its source."""
    names = (work.get("type_crossref"), work.get("type"), source.get("type"))
    return next(filter(None, (kind_of(printed(name)) for name in names)), "")


def _key(address: str) -> str:
    """Return the id of a work without its address: ``W2741809807``."""
    return required_id(text_of(address).rpartition("/")[2])


def text_of_index(index: dict[str, list[int]] | None) -> str:
    """Return the text that an index from words to their places stands for; empty for none.

    :raises TypeError: a place is no number, or the index is none.
    """
    if index is None:
        return ""
    found = [(place, word) for word, places in index.items() for place in places]
    if not all(type(place) is int for place, _ in found):
        raise TypeError("found a place of a word that is no whole number")
    return " ".join(word for _, word in sorted(found))
