"""Reader of Semantic Scholar: what its interface answers to a search, a batch or a list of ids.

A file holds a paper, a list of papers, a page of results, or one of these a line. Its references,
where it has them, are the citations: for the global task. The data sets are read as ``s2orc``.
"""

from typing import Any

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.raw.exports import Export
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.values import names_of, printed, text_of
from mpbert.corpus.raw.works import WorksReader

_LISTS = ("data", "recommendedPapers", "papers", "results")
_INSIDE = ("citingPaper", "citedPaper")  # of the answers on citations and references
_KINDS = {
    **{"JournalArticle": "article", "Review": "article", "Conference": "inproceedings"},
    **{"Book": "book", "BookSection": "incollection", "Dataset": "misc"},
}


@READERS.register
class SemanticScholarReader(WorksReader):
    """Reads ``.json`` or ``.jsonl`` of the interface of Semantic Scholar, or a folder of them."""

    name = "semantic_scholar"
    expected = "a paper of Semantic Scholar: an object with paperId and title, or a list as data"

    @staticmethod
    def works_in(answer: dict[str, Any]) -> list[Any]:
        """Return the papers of an answer, or the object itself where it is a paper."""
        found = next((answer[name] for name in _LISTS if isinstance(answer.get(name), list)), None)
        return [answer] if found is None else found

    @staticmethod
    def export_of(work: dict[str, Any] | None) -> Export:
        """Return what a paper says; null, which stands for an unknown id, has no title."""
        work = work or {}
        work = next((work[name] or {} for name in _INSIDE if name in work), work)
        ids = work.get("externalIds") or {}
        journal = work.get("journal") or {}
        place = work.get("publicationVenue") or {}
        kinds = work.get("publicationTypes") or ()
        return Export(
            key=text_of(work.get("paperId")),
            title=text_of(work.get("title")),
            abstract=text_of(work.get("abstract")),
            year=str(work.get("year") or work.get("publicationDate") or ""),
            authors=names_of(work.get("authors")),
            venue=text_of(place.get("name") or journal.get("name") or work.get("venue")),
            doi=text_of(ids.get("DOI") or work.get("doi")),
            references=tuple(map(_cited, work.get("references") or ())),
            kind=next((_KINDS[kind] for kind in kinds if kind in _KINDS), ""),
            volume=printed(journal.get("volume")),
            pages=" ".join(printed(journal.get("pages")).split()),
            known=Identifiers(
                arxiv=text_of(ids.get("ArXiv") or work.get("arxivId")),
                pubmed=printed(ids.get("PubMed")),
                pmc=printed(ids.get("PubMedCentral")),
            ),
        )


def _cited(reference: dict[str, Any]) -> Identifiers:
    ids = reference.get("externalIds") or {}
    return Identifiers(
        corpus_id=text_of(reference.get("paperId")),
        doi=text_of(ids.get("DOI") or reference.get("doi")),
        title=text_of(reference.get("title")),
    )
