"""All citations of one paper's text, by whatever style it cites, resolved to its references."""

import re
from collections import Counter
from collections.abc import Sequence

from mpbert.citations.author_year import Citation, find_citations
from mpbert.citations.bibliography import Bibliography
from mpbert.citations.markers import markers_of
from mpbert.citations.numbered import (
    NumberedCitation,
    find_labels,
    find_numbers,
    is_numbered,
    learn_numbers,
)
from mpbert.citations.records import Marker, RawSentence
from mpbert.citations.references import Reference, Resolver

_TWO_DIGITS = re.compile(r"\d\d")
_BRACKETED_DIGIT = re.compile(r"\[\s?\d")
_INSTEAD_OF_YEAR = (
    *("et al", "in press", "to appear", "forthcoming", "this volume", "in prep", "submitted"),
)


class CitationFinder:
    """Finds and resolves the citations of one paper.

    :param references: papers of the corpus that it cites.
    :param year: its year of publication.
    :param bibliography: its printed list of references, which may be empty.
    :ivar counts: how it cites, and how much was found.
    """

    def __init__(
        self, references: Sequence[Reference], year: int, bibliography: Bibliography
    ) -> None:
        self._references = [bibliography.with_suffix(r) for r in references]
        self._numbers = {
            number: reference.paper_id
            for reference in references
            if (number := bibliography.number_of(reference)) is not None
        }
        self._resolver = Resolver(self._references, year)
        self.counts: Counter[str] = Counter()

    def mark(self, sentences: Sequence[str]) -> list[RawSentence]:
        """Return the sentences with their markers; a resolved citation may help with another."""
        by_names: list[list[Citation]] = []
        by_number: list[list[NumberedCitation]] = []
        labels: list[list[tuple[int, int, tuple[str, ...]]]] = []
        for text in sentences:
            may_cite = _may_cite(text)
            by_names.append(find_citations(text) if may_cite else [])
            by_number.append(find_numbers(text) if may_cite and "[" in text else [])
            labels.append(find_labels(text, self._references) if may_cite and "[" in text else [])
        self._resolver.resolve([c for citations in by_names for c in citations])
        flat = [c for citations in by_number for c in citations]
        certain = sum(
            c.is_certain and bool(c.year) and not c.is_short for cs in by_names for c in cs
        )
        meaning: dict[int, str] = {}
        if numbered := is_numbered(flat, certain):
            self.counts["papers_citing_by_number"] += 1
            meaning = self._learn(flat)
        marked = []
        for text, citations, brackets, found in zip(
            sentences, by_names, by_number, labels, strict=True
        ):
            markers = markers_of(text, citations)
            extra = [Marker(start, end, ids) for start, end, ids in found]
            if numbered:
                extra += [
                    Marker(c.start, c.end, tuple(meaning[n] for n in c.numbers if n in meaning))
                    for c in brackets
                ]
            marked.append(RawSentence(text, _united(markers, extra)))
        return marked

    def _learn(self, brackets: Sequence[NumberedCitation]) -> dict[int, str]:
        resolved: dict[int, str] = {}
        for place, bracket in enumerate(brackets):
            if bracket.before is not None:
                found = self._resolver.by_names_alone(bracket.before)
                if found is not None:
                    resolved[place] = found
                    bracket.start = bracket.before.start
        return learn_numbers(brackets, resolved, self._numbers)

    def without_citations(self, heading: str) -> str:
        """Return a heading without the citations in it."""
        if not _may_cite(heading):
            return heading
        marked = self.mark([heading])[0]
        if not marked.markers:
            return heading
        for marker in reversed(marked.markers):
            heading = heading[: marker.start] + heading[marker.end :]
        return heading.strip()


def _may_cite(text: str) -> bool:
    return (
        _TWO_DIGITS.search(text) is not None
        or any(words in text for words in _INSTEAD_OF_YEAR)
        or _BRACKETED_DIGIT.search(text) is not None
    )


def _united(first: Sequence[Marker], second: Sequence[Marker]) -> tuple[Marker, ...]:
    """Return all markers in order, those that overlap made one."""
    united: list[Marker] = []
    for marker in sorted([*first, *second], key=lambda m: (m.start, m.end)):
        if united and marker.start < united[-1].end:
            last = united.pop()
            ids = tuple(dict.fromkeys(last.cited_ids + marker.cited_ids))
            marker = Marker(last.start, max(last.end, marker.end), ids)
        elif marker.start == marker.end:
            continue
        united.append(marker)
    return tuple(united)
