"""Records of one library that tell of one paper, such as two entries of a ``.bib``, become one.

The first keeps its id, and takes from the others what it lacks; their ids name it, too.
"""

import logging
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.raw.identifiers import normal_doi, normal_title
from mpbert.foundation.errors import listed
from mpbert.recommending.dois import doi_of

logger = logging.getLogger(__name__)
_NAMED = 20  # copies that a line names
_PART = re.compile(r"(?:part|chapter|vol(?:ume)?)?(?:\d+|[ivx]+)")  # behind a title
MOST_IDENTIFIERS = 2  # of a paper
_NEAR = 1  # years between a preprint and what is printed


def without_copies(
    papers: Sequence[CleanPaper], counts: Counter[str], held: Collection[str] = ()
) -> list[CleanPaper]:
    """Return papers, each once, which cite each other so; a line of the log names the copies.

    :param counts: receives how many copies were merged.
    :param held: ids that are known already, which stay where a copy has another.
    """
    found, same = told_copies(papers, counts, held)
    return [renamed(paper, same) for paper in found] if same else found


def told_copies(
    papers: Sequence[CleanPaper], counts: Counter[str], held: Collection[str] = ()
) -> tuple[list[CleanPaper], dict[str, str]]:
    """Return papers as :func:`merged` does; a line of the log names the copies."""
    found, same = merged(papers, held)
    counts["copies_merged_in_the_library"] += len(same)
    if not same:
        return found, same
    for name, number in (_lacking(papers) - _lacking(found)).items():
        counts[name] -= min(number, counts[name])  # what a copy has told
    told = listed([f"{copy!r} with {first!r}" for copy, first in same.items()], _NAMED)
    logger.warning("one paper each, merged: %s", told)
    return found, same


def merged(
    papers: Sequence[CleanPaper], held: Collection[str] = ()
) -> tuple[list[CleanPaper], dict[str, str]]:
    """Return papers, each once with the records of its copies, and id of each copy -> id of paper.

    Two records are copies where they have one title, no two DOIs, years that differ by one at most
    and a first author in common; or one DOI, and titles of which one begins the other: chapters
    with the DOI of their book have others. A short title, such as "Preface", needs one year and as
    many authors, and what one more number tells apart is a second part.

    :param held: as of :func:`without_copies`.
    """
    kept: dict[str, CleanPaper] = {}
    known: dict[tuple[str, str], list[str]] = {}
    same: dict[str, str] = {}
    twice: list[CleanPaper] = []  # of one id, which are for others to judge
    for paper in sorted(papers, key=lambda paper: paper.paper_id not in held):
        if paper.paper_id in kept:
            twice.append(paper)
            continue
        own = identifiers(paper)
        others = [kept[other] for each in own for other in known.get(each, ())]
        first = next((other for other in others if _is_copy(paper, other)), None)
        if first is None:
            kept[paper.paper_id] = paper
        else:
            same[paper.paper_id] = first.paper_id
            kept[first.paper_id] = with_record_of(first, paper)[0]
        for each in own:
            ids = known.setdefault(each, [])
            paper_id = same.get(paper.paper_id, paper.paper_id)
            ids += [paper_id] * (paper_id not in ids)
    return [*kept.values(), *twice], same


def _lacking(papers: Sequence[CleanPaper]) -> Counter[str]:
    """Return how many papers lack a year, and how many say no more than their title."""
    return Counter(
        papers_without_year=sum(not paper.year for paper in papers),
        papers_known_by_their_title_alone=sum(
            _is_title(paper.sentences, paper.title) for paper in papers
        ),
    )


def identifiers(paper: CleanPaper) -> list[tuple[str, str]]:
    """Return what a paper may be known by; two records that share none are no copies."""
    title = normal_title(paper.title)
    if title is None and paper.year and paper.authors:
        title = f"{paper.title.casefold()} {paper.year}"
    found = ("doi", normal_doi(doi_of_paper(paper) or "")), ("title", title)
    return [(kind, value) for kind, value in found if value]


def _is_copy(paper: CleanPaper, other: CleanPaper) -> bool:
    dois = {normal_doi(doi_of_paper(each) or "") for each in (paper, other)} - {None}
    titles = [_title(each) for each in (paper, other)]
    if len(dois) == 1 and all(map(doi_of_paper, (paper, other))):
        short, long = sorted(titles, key=len)
        return long.startswith(short) and not _PART.fullmatch(long[len(short) :])
    if len(dois) > 1 or titles[0] != titles[1]:
        return False
    years = [each.year for each in (paper, other)]
    if all(years) and abs(years[0] - years[1]) > _NEAR:
        return False
    is_short = normal_title(paper.title) is None
    if is_short and len(paper.authors) != len(other.authors):
        return False
    names = [set(_words(each.authors[0])) for each in (paper, other) if each.authors]
    return len(names) < 2 or not names[0].isdisjoint(names[1])


def _title(paper: CleanPaper) -> str:
    return normal_title(paper.title) or paper.title.casefold()


def _words(name: str) -> list[str]:
    return [word for word in name.casefold().replace(",", " ").split() if len(word.strip(".")) > 1]


def with_record_of(paper: CleanPaper, copy: CleanPaper) -> tuple[CleanPaper, bool, bool]:
    """Return a paper with all that a copy says where it says nothing, and the id of the copy.

    :returns: the paper, whether it takes the abstract, and whether the body.
    """
    found, takes_abstract, takes_body = filled(paper, copy)
    others = replace(copy.published, other_ids=(copy.paper_id, *copy.published.other_ids))
    more = {
        name: getattr(paper, name) or getattr(copy, name) for name in ("year", "authors", "venue")
    }
    published = paper.published.filled(others)
    return replace(found, **more, published=published), takes_abstract, takes_body


def filled(paper: CleanPaper, other: CleanPaper) -> tuple[CleanPaper, bool, bool]:
    """Return a paper with abstract and body of another where it has none, with what they cite.

    :returns: the paper, whether it takes the abstract, and whether the body.
    """
    (abstract, body), (more, behind) = _parts(paper), _parts(other)
    takes_abstract = _is_title(abstract, paper.title) and not _is_title(more, other.title)
    takes_body = not body and bool(behind)
    if not takes_abstract and not takes_body:
        return paper, False, False
    first, last = other if takes_abstract else paper, other if takes_body else paper
    texts, rest = _parts(first)[0], _parts(last)[1]
    moved = len(texts) - last.num_abstract
    cited = [(p, ids) for p, ids in first.cited if p < first.num_abstract]
    cited += [(p + moved, ids) for p, ids in last.cited if p >= last.num_abstract]
    pages = _pages(first)[: len(texts)] + _pages(last)[last.num_abstract :]
    filled = replace(
        paper,
        num_abstract=len(texts),
        sentences=texts + rest,
        sections=np.zeros(len(texts) + len(rest), np.int16),
        cited=cited,
        pages=pages if any(pages) else (),
    )
    return filled, takes_abstract, takes_body


def _is_title(abstract: Sequence[str], title: str) -> bool:
    """Whether an abstract says no more than the title."""
    return " ".join(abstract) in ("", title)


def _parts(paper: CleanPaper) -> tuple[list[str], list[str]]:
    """Return the sentences of abstract and body."""
    return paper.sentences[: paper.num_abstract], paper.sentences[paper.num_abstract :]


def _pages(paper: CleanPaper) -> tuple[int, ...]:
    return paper.pages or (0,) * len(paper.sentences)


def doi_of_paper(paper: CleanPaper) -> str | None:
    """Return the DOI that a record says, or that its id tells."""
    return paper.published.doi or doi_of(paper.paper_id)


def renamed(paper: CleanPaper, same: dict[str, str]) -> CleanPaper:
    """Return a paper that cites papers by their ids in the index."""
    return replace(
        paper, cited=[(place, [same.get(i, i) for i in ids]) for place, ids in paper.cited]
    )
