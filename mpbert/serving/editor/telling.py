"""What an editor shows of a paper. It is plain text: markup could name pictures to fetch."""

from collections.abc import Iterable

from mpbert.recommending.records import IndexedPaper

_MOST_AUTHORS = 8
_LONGEST = 1200  # characters of an abstract


def told_paper(paper: IndexedPaper, reasons: Iterable[str] = ()) -> str:
    """Return title, authors, venue and year, what speaks for a paper, and its abstract."""
    authors = ", ".join(paper.authors[:_MOST_AUTHORS])
    authors += " et al." if len(paper.authors) > _MOST_AUTHORS else ""
    where = ", ".join(filter(None, [paper.venue, str(paper.year or "")]))
    abstract = paper.abstract
    if len(abstract) > _LONGEST:
        abstract = f"{abstract[:_LONGEST].rsplit(' ', 1)[0]} …"
    head = "\n".join(filter(None, [paper.title, authors, where]))
    why = "\n".join(f"- {reason}" for reason in reasons)
    return "\n\n".join(filter(None, [head, why, abstract]))
