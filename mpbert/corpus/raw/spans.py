"""From a paragraph and the spans of its citations to sentences with markers."""

from collections import Counter
from collections.abc import Iterable, Sequence

from mpbert.citations.markers import join_spans
from mpbert.citations.records import RawSentence
from mpbert.corpus.records import RawSection
from mpbert.corpus.text import LONGEST_PARAGRAPH, marker_like_spans, split_sentences

Span = tuple[int, int, tuple[str, ...]]  # start, end, ids of the papers it cites
_UNMARKED = "author_year", "numbered"


def mark_paragraph(
    text: str, spans: Iterable[tuple[object, object, tuple[str, ...]]], counts: Counter[str]
) -> list[RawSentence]:
    """Return the sentences of a paragraph with markers at its citations.

    Citations side by side are one marker, which takes the bracket around them. What looks like a
    citation and has no span is marked too, without papers. No sentence ends within a span.

    :param spans: (start, end, cited ids) in characters of the text, in any order, as found in a
        file: those that are not within the text are dropped.
    :param counts: receives ``citation_spans``, ``citation_spans_outside_their_text``,
        ``citations_without_a_span`` and ``paragraphs_dropped_as_too_long``.
    """
    if len(text) > LONGEST_PARAGRAPH:
        counts["paragraphs_dropped_as_too_long"] += 1
        return []
    good: list[Span] = []
    for start, end, cited_ids in spans:
        counts["citation_spans"] += 1
        if type(start) is int and type(end) is int and 0 <= start < end <= len(text):
            good.append((start, end, cited_ids))
        else:
            counts["citation_spans_outside_their_text"] += 1
    good += _without_span(text, good, counts)
    good.sort()
    return [mark_piece(text, start, end, good) for start, end in borders_of(text, good)]


def mark_piece(text: str, start: int, end: int, spans: Sequence[Span]) -> RawSentence:
    """Return a piece of a text with markers at the spans in it; a span may reach beyond it."""
    piece = text[start:end]
    return RawSentence(piece, join_spans(piece, spans_inside(start, end, spans)))


def spans_inside(start: int, end: int, spans: Iterable[Span]) -> list[Span]:
    """Return the parts of spans that lie in a piece of a text, counted from where it begins."""
    return [
        (max(low, start) - start, min(high, end) - start, cited_ids)
        for low, high, cited_ids in spans
        if max(low, start) < min(high, end)
    ]


def borders_of(text: str, spans: Sequence[Span]) -> list[tuple[int, int]]:
    """Return start and end of each sentence of a text; none ends within a span."""
    shown, place = text, 0
    for start, end, _ in spans:
        if start and text[start - 1] in ".!?":  # "as shown.12 The": a quote may follow a full stop
            shown = shown[:start] + "'" * (end - start) + shown[end:]
    borders: list[tuple[int, int]] = []
    for sentence in split_sentences(shown):
        start = shown.index(sentence, place)
        place = start + len(sentence)
        if borders and any(low < start < high for low, high, _ in spans):
            borders[-1] = (borders[-1][0], place)
        else:
            borders.append((start, place))
    return borders


def sections_of(paragraphs: Iterable[tuple[str, list[RawSentence]]]) -> tuple[RawSection, ...]:
    """Return sections of (heading, sentences) of paragraphs: equal headings in a row are one."""
    sections: list[tuple[str, list[RawSentence]]] = []
    for heading, sentences in paragraphs:
        if sections and sections[-1][0] == heading:
            sections[-1][1].extend(sentences)
        else:
            sections.append((heading, list(sentences)))
    return tuple(RawSection(heading, tuple(found)) for heading, found in sections if found)


def plain(text: str, counts: Counter[str]) -> tuple[RawSentence, ...]:
    """Return the sentences of a text whose citations nobody marked, such as an abstract."""
    return tuple(mark_paragraph(text, (), counts))


def _without_span(text: str, spans: Sequence[Span], counts: Counter[str]) -> list[Span]:
    found: list[Span] = []
    for start, end in (span for kind in _UNMARKED for span in marker_like_spans(text, kind)):
        if not any(start < high and low < end for low, high, _ in spans):
            counts["citations_without_a_span"] += 1
        found.append((start, end, ()))
    return found
