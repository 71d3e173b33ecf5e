"""From the citations that an XML file marks up to sentences with markers.

Files mark up less than is printed: ``[<ref>3</ref>-<ref>5</ref>]`` cites three papers, ``Smith et
al. (<ref>2004</ref>)`` leaves the names outside, some citations have no target, some no markup.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from mpbert.citations.author_year import Citation, find_citations
from mpbert.citations.markers import markers_of
from mpbert.citations.numbered import expand_numbers, find_numbers
from mpbert.citations.records import RawSentence
from mpbert.citations.references import Resolver
from mpbert.corpus.formats.scholarly_xml.references import ReferenceList
from mpbert.corpus.formats.scholarly_xml.sentences import sentences_of
from mpbert.corpus.formats.scholarly_xml.text import Block, Pointer

_NUMBERS = re.compile(r"\W*(\d{1,3}(?:\s?[,;&-]\s?\d{1,3})*)\W*")
_DASHES = re.compile("[\u2010-\u2015\u2212]")
_RANGE = re.compile(r"[\s)\]]*-[\s(\[]*")
_LONGEST_RANGE = 30
_EDGES = "([{ )]},;:.-"
_MAY_CITE = re.compile(r"\d\d|et al|in press|to appear|forthcoming|submitted")


def mark_blocks(
    blocks: Sequence[Block], references: ReferenceList, year: int, counts: Counter[str]
) -> list[tuple[RawSentence, ...]]:
    """Return the sentences of each block of a paper, all that cites in them marked.

    :param year: of the paper's publication.
    :param counts: receives what is marked up without a known target, and what is found besides.
    """
    texts = [_DASHES.sub("-", block.text) for block in blocks]  # one for one: spans stay right
    references.learn_numbering(_single_numbers(texts, blocks))
    found: list[list[Citation]] = []
    unknown: list[Citation] = []
    for text, block in zip(texts, blocks, strict=True):
        known, open_ends = _pointed(text, block.pointers, references, counts)
        if references.is_numbered and "[" in text:
            known += _bare_numbers(text, known, references, counts)
        named = find_citations(text) if _MAY_CITE.search(text) else []
        unknown += _take_over(named, known, open_ends, counts)
        found.append([*known, *open_ends, *named])
    if not references.is_numbered:
        _resolve(unknown, references, year, counts)
    return [
        sentences_of(block, [m for m in markers_of(text, citations) if m.start < m.end])
        for text, block, citations in zip(texts, blocks, found, strict=True)
    ]


def _numbers_of(printed: str) -> tuple[int, ...]:
    match = _NUMBERS.fullmatch(printed)
    return expand_numbers(match.group(1)) if match else ()


def _single_numbers(
    texts: Sequence[str], blocks: Sequence[Block]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    for text, block in zip(texts, blocks, strict=True):
        for pointer in block.pointers:
            numbers = _numbers_of(text[pointer.start : pointer.end])
            if len(numbers) == 1:
                yield numbers[0], pointer.targets


def _pointed(
    text: str, pointers: Sequence[Pointer], references: ReferenceList, counts: Counter[str]
) -> tuple[list[Citation], list[Citation]]:
    """Return the citations that the file marks up, ranges filled in, without outer brackets.

    :returns: those of known entries, and those of which the file does not say what they cite.
    """
    known: list[Citation] = []
    open_ends: list[Citation] = []
    last: tuple[int, int, int, int] | None = None  # start, end, number and place of the one before
    for pointer in pointers:
        start, end = _without_edges(text, pointer)
        numbers = _numbers_of(text[start:end])
        places, ids = references.places_of(pointer.targets), references.papers_of(pointer.targets)
        by_number: tuple[int, ...] = ()
        if pointer.targets or any(c in "[]" for c in text[pointer.start : pointer.end]):
            by_number = references.places_of_numbers(numbers)  # else it may be a footnote's mark
        if len(by_number) > len(places) and set(places) <= set(by_number):
            counts["citations_found_by_number"] += len(by_number) - len(places)
            places, ids = by_number, references.papers_at(by_number)
        if len(numbers) == len(places) == 1:
            if last and _RANGE.fullmatch(text, last[1], start):
                steps = numbers[0] - last[2]
                if 1 < steps < _LONGEST_RANGE and places[0] - last[3] == steps:
                    counts["citations_found_by_range"] += steps - 1
                    ids = references.papers_at(range(last[3] + 1, places[0] + 1))
                    start = last[0]  # the dash is part of the marker
            last = start, end, numbers[0], places[0]
        elif start < end:  # else it stands for one within a range that is not printed
            last = None
        citation = Citation(start, end, (), False, None, cited_ids=ids)
        (known if places else open_ends).append(citation)
        if not places:
            reason = "of_unknown_entries" if pointer.targets else "without_target"
            counts[f"citations_{reason}"] += 1
    return known, open_ends


def _without_edges(text: str, pointer: Pointer) -> tuple[int, int]:
    """Return the span without brackets and points at its ends: often only one of a pair is in."""
    printed = text[pointer.start : pointer.end]
    core = printed.strip(_EDGES)
    start = pointer.start + printed.index(core) if core else pointer.start
    return start, (start + len(core) if core else pointer.end)


def _bare_numbers(
    text: str, known: Sequence[Citation], references: ReferenceList, counts: Counter[str]
) -> list[Citation]:
    """Return the brackets of numbers that the file does not mark up."""
    found = []
    for bracket in find_numbers(text):
        places = references.places_of_numbers(bracket.numbers)
        if places and not any(_overlap(bracket.bracket, bracket.end, c) for c in known):
            counts["citations_found_by_number"] += len(places)
            ids = references.papers_at(places)
            found.append(Citation(bracket.bracket, bracket.end, (), False, None, cited_ids=ids))
    return found


def _take_over(
    named: Sequence[Citation],
    known: Sequence[Citation],
    open_ends: Sequence[Citation],
    counts: Counter[str],
) -> list[Citation]:
    """Give names and years the papers of the markup that they stand beside; return the others."""
    unknown = []
    for citation in named:
        over = [c for c in known if _overlap(citation.start, citation.end, c)]
        citation.cited_ids = tuple(dict.fromkeys(i for c in over for i in c.cited_ids))
        is_open = any(_overlap(citation.start, citation.end, c) for c in open_ends)
        if not over:
            unknown.append(citation)
            counts["citations_not_marked_up"] += citation.is_certain and not is_open
        citation.is_certain |= is_open or bool(over)
    return unknown


def _resolve(
    unknown: Sequence[Citation], references: ReferenceList, year: int, counts: Counter[str]
) -> None:
    """Resolve what the file left open by names and years: among all entries, known or not."""
    Resolver(references.printed, year).resolve(unknown)
    for citation in unknown:
        counts["citations_found_by_names"] += len(citation.cited_ids)
        citation.is_certain |= bool(citation.cited_ids)
        citation.cited_ids = references.papers_at(int(place) for place in citation.cited_ids)


def _overlap(start: int, end: int, citation: Citation) -> bool:
    return citation.start < end and start < citation.end
