"""From citations to spans that are cut out of a sentence: a whole bracket where it only cites."""

import re
from collections.abc import Sequence

from mpbert.citations.author_year import Citation, is_inside
from mpbert.citations.records import Marker
from mpbert.foundation.lazy_patterns import lazy_re

_FILLERS = (
    r"(?:see|also|e\.?\s?g\.?|cf\.?|c\.f\.|i\.?e\.?|for example|for instance|such as|as in|in|by"
    r"|of|and|or|after|notably|especially|most notably|most recently|more recently|recently"
    r"|from|following|compare|viz\.?|inter alia|i\.a\.|among others|amongst others|a\.?o\.?"
    r"|and others|etc\.?"
    r"|for an? (?:overview|review|survey|discussion|summary)|for (?:more |further )?details"
    r"|and references therein|this volume|in press|to appear|forthcoming|henceforth|hereafter"
    r"|p\.\s?c\.|in progress|ch\.|and (?:many )?others|but see)"
)
_LEFT = lazy_re(rf"[(\[{{]+\s*(?:{_FILLERS}[\s,:;.]*)*$", re.IGNORECASE)
_RIGHT = lazy_re(rf"[\s,;.:]*(?:{_FILLERS}[\s,:;.]*)*[)\]}}]", re.IGNORECASE)
_BETWEEN = lazy_re(rf"[\s,;.:&/]*(?:{_FILLERS}[\s,;.:]*)*", re.IGNORECASE)
_CLOSING = lazy_re(r"\s?[)\]}]")
_OPENING = lazy_re(r"[(\[{]\s?$")
_WIDEST_FILLER = 60


def markers_of(text: str, citations: Sequence[Citation]) -> tuple[Marker, ...]:
    """Return the spans to cut out of a sentence, with the papers that each of them cites.

    Citations that are neither resolved nor certain stay in the text.
    """
    spans: list[tuple[int, int, tuple[str, ...]]] = []
    for citation in citations:
        if not (citation.cited_ids or citation.is_certain):
            continue
        if citation.is_distant and citation.names:
            name = citation.names[0]
            spans.append((name.word_starts[0], name.word_starts[1], citation.cited_ids))
        spans.append((citation.start, citation.end, citation.cited_ids))
    return join_spans(text, spans)


def join_spans(text: str, spans: Sequence[tuple[int, int, tuple[str, ...]]]) -> tuple[Marker, ...]:
    """Return markers of spans: those side by side are one, a bracket that only cites is part of it.

    :param spans: (start, end, cited ids) within the text; they may overlap.
    """
    return _widen(text, _merge(text, spans))


def _depth(text: str, start: int, end: int) -> int:
    return sum(text.count(c, start, end) for c in "([{") - sum(
        text.count(c, start, end) for c in ")]}"
    )


def _merge(
    text: str, spans: Sequence[tuple[int, int, tuple[str, ...]]]
) -> list[tuple[int, int, tuple[str, ...]]]:
    merged: list[tuple[int, int, tuple[str, ...]]] = []
    for start, end, ids in sorted(spans):
        if merged:
            last_start, last_end, last_ids = merged[-1]
            between = text[last_end:start]
            inside = not any(bracket in between for bracket in "()[]")
            if start <= last_end or (
                inside
                and len(between) < _WIDEST_FILLER
                and _BETWEEN.fullmatch(between)
                and (
                    not any(c.isalpha() for c in between)
                    or is_inside(text, last_start, "()")
                    or is_inside(text, last_start, "[]")
                )
            ):
                merged[-1] = (last_start, max(end, last_end), tuple(dict.fromkeys(last_ids + ids)))
                continue
        merged.append((start, end, ids))
    return merged


def _widen(text: str, spans: Sequence[tuple[int, int, tuple[str, ...]]]) -> tuple[Marker, ...]:
    markers = []
    for place, (start, end, ids) in enumerate(spans):
        low = spans[place - 1][1] if place else 0
        high = spans[place + 1][0] if place + 1 < len(spans) else len(text)
        if _depth(text, start, end) > 0:  # "Collins (1999": its bracket is still open
            right = _RIGHT.match(text, end, min(high, end + _WIDEST_FILLER))
            end = right.end() if right else end
        elif _depth(text, start, end) == 0:
            left = _LEFT.search(text, max(low, start - _WIDEST_FILLER), start)
            right = _RIGHT.match(text, end, min(high, end + _WIDEST_FILLER))
            if left and right:
                start, end = left.start(), right.end()
                while _OPENING.search(text, low, start) and _CLOSING.match(text, end, high):
                    start, end = (
                        _OPENING.search(text, low, start).start(),
                        _CLOSING.match(text, end, high).end(),
                    )
        markers.append(Marker(start, end, ids))
    return tuple(markers)
