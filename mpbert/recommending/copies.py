"""Records of one library that tell of one paper, such as two entries of a ``.bib``, become one.

The first keeps its id, and takes from the others what it lacks; their ids name it, too.
"""

from collections import Counter
from collections.abc import Sequence

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.raw.identifiers import normal_doi, normal_title
from mpbert.recommending.arrivals import doi_of_paper, renamed, with_record_of

_NEAR = 1  # years between a preprint and what is printed


def without_copies(
    papers: Sequence[CleanPaper], counts: Counter[str]
) -> tuple[list[CleanPaper], dict[str, str]]:
    """Return papers, each once, which cite each other so; and id of each copy -> that of its paper.

    Two records are copies where they have one title, no two DOIs, years that differ by one at most
    and a first author in common; or one DOI, and one title
    begins as the other does: chapters with the DOI of their book have others.

    :param counts: receives how many copies were merged.
    """
    kept: dict[str, CleanPaper] = {}
    known: dict[tuple[str, str], list[str]] = {}
    same: dict[str, str] = {}
    for paper in papers:
        identifiers = _identifiers(paper)
        others = [kept[other] for each in identifiers for other in known.get(each, ())]
        first = next((other for other in others if _is_copy(paper, other)), None)
        if first is None:
            kept[paper.paper_id] = paper
        else:
            same[paper.paper_id] = first.paper_id
            kept[first.paper_id] = with_record_of(first, paper)[0]
        for each in identifiers:
            ids = known.setdefault(each, [])
            paper_id = same.get(paper.paper_id, paper.paper_id)
            ids += [paper_id] * (paper_id not in ids)
    counts["copies_merged_in_the_library"] += len(same)
    found = list(kept.values())
    return ([renamed(paper, same) for paper in found] if same else found), same


def _identifiers(paper: CleanPaper) -> list[tuple[str, str]]:
    found = ("doi", normal_doi(doi_of_paper(paper) or "")), ("title", _title(paper))
    return [(kind, value) for kind, value in found if value]


def _is_copy(paper: CleanPaper, other: CleanPaper) -> bool:
    dois = {normal_doi(doi_of_paper(each) or "") for each in (paper, other)} - {None}
    titles = [_title(each) for each in (paper, other)]
    if len(dois) == 1 and all(map(doi_of_paper, (paper, other))):
        return titles[0].startswith(titles[1]) or titles[1].startswith(titles[0])
    if len(dois) > 1 or titles[0] != titles[1]:
        return False
    years = [each.year for each in (paper, other)]
    if all(years) and abs(years[0] - years[1]) > _NEAR:
        return False
    names = [set(_words(each.authors[0])) for each in (paper, other) if each.authors]
    if len(names) == 2 and names[0].isdisjoint(names[1]):
        return False
    # a short title, such as "Preface", needs both
    return normal_title(paper.title) is not None or (len(names) == 2 and all(years))


def _title(paper: CleanPaper) -> str:
    return normal_title(paper.title) or paper.title.casefold()


def _words(name: str) -> list[str]:
    return [word for word in name.casefold().replace(",", " ").split() if len(word.strip(".")) > 1]
