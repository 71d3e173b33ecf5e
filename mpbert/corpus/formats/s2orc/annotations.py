"""Full texts of S2ORC as the Semantic Scholar API gives them: a text and lists of spans in it.

The lists are JSON strings (or null). The older data set, ``s2orc``, holds all in ``content``; the
newer one, ``s2orc_v2``, has ``body`` and ``bibliography``, and ``_`` in the names of the lists.
"""

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from typing import Any

from mpbert.citations.records import RawSentence
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.linkage import Linker
from mpbert.corpus.raw.spans import Span, mark_paragraph, sections_of, spans_inside
from mpbert.corpus.raw.values import id_of, text_of
from mpbert.corpus.records import RawSection


class AnnotatedText:
    """A text and the spans in it by kind, sorted; spans outside the text or repeated are dropped.

    :param part: ``content``, ``body`` or ``bibliography`` of a record.
    """

    def __init__(self, part: Mapping[str, Any] | None, counts: Counter[str]) -> None:
        part = part or {}
        self.text = part.get("text") or ""
        self._counts = counts
        self._lists = {
            name.replace("_", ""): value for name, value in (part.get("annotations") or {}).items()
        }

    def spans(self, kind: str) -> list[tuple[int, int, dict[str, Any]]]:
        """Return (start, end, attributes) of all spans of a kind, such as ``bibref``."""
        value = self._lists.get(kind)
        found = json.loads(value) if isinstance(value, str) else value
        spans: list[tuple[int, int, dict[str, Any]]] = []
        for item in found or ():
            start, end = (_whole(item.get(name)) for name in ("start", "end"))
            span = (start, end, item.get("attributes") or {})
            if not 0 <= start < end <= len(self.text):
                self._counts["annotations_outside_their_text"] += 1
            else:
                spans.append(span)
        spans.sort(key=lambda span: (*span[:2], str(span[2])))
        distinct = [span for place, span in enumerate(spans) if spans[place - 1 : place] != [span]]
        self._counts["annotations_repeated"] += len(spans) - len(distinct)  # releases repeat many
        return distinct

    def first(self, kind: str) -> str:
        """Return the text of the first span of a kind; empty where there is none."""
        spans = self.spans(kind)
        return self.text[spans[0][0] : spans[0][1]].strip() if spans else ""


def read_annotations(
    record: Mapping[str, Any], linker: Linker, counts: Counter[str]
) -> tuple[tuple[RawSentence, ...], tuple[RawSection, ...], tuple[str, ...]]:
    """Return abstract, sections and the papers that the references of a full text mean."""
    body = AnnotatedText(record.get("content") or record.get("body"), counts)
    listed = body
    if record.get("bibliography"):
        listed = AnnotatedText(record["bibliography"], counts)
    resolved = _resolve(listed, linker, counts)
    spans = []
    for start, end, attributes in body.spans("bibref"):
        ref_id = attributes.get("ref_id")
        counts["citation_spans_without_a_reference"] += not ref_id
        cited = resolved.get(ref_id) or id_of(attributes.get("matched_paper_id"))
        spans.append((start, end, (cited,) if cited in linker.paper_ids else ()))
    abstracts = body.spans("abstract")
    headings = body.spans("sectionheader")
    starts = [start for start, _, _ in headings]
    abstract: list[RawSentence] = []
    paragraphs = []
    for start, end, _ in abstracts:
        abstract += _paragraph(body.text, start, end, spans, counts)
    for start, end, _ in body.spans("paragraph"):
        if any(low <= start < high for low, high, _ in abstracts):
            continue
        place = bisect_right(starts, start) - 1
        heading = body.text[headings[place][0] : headings[place][1]] if place >= 0 else ""
        paragraphs.append((heading.strip(), _paragraph(body.text, start, end, spans, counts)))
    return tuple(abstract), sections_of(paragraphs), tuple(dict.fromkeys(resolved.values()))


def _paragraph(
    text: str, start: int, end: int, spans: list[Span], counts: Counter
) -> list[RawSentence]:
    return mark_paragraph(text[start:end], spans_inside(start, end, spans), counts)


def _resolve(listed: AnnotatedText, linker: Linker, counts: Counter[str]) -> dict[str, str]:
    titles = listed.spans("bibtitle")
    resolved = {}
    for start, end, attributes in listed.spans("bibentry"):
        title = next((listed.text[a:b] for a, b, _ in titles if start <= a and b <= end), "")
        printed = Identifiers(
            corpus_id=id_of(attributes.get("matched_paper_id")),
            doi=text_of(attributes.get("doi")),
            title=title,
        )
        cited = linker.resolve(printed, counts)
        if cited and "id" in attributes:
            resolved[attributes["id"]] = cited
    return resolved


def _whole(value: object) -> int:
    """Return an offset; some releases write it as text. -1 for none."""
    try:
        return int(value)
    except (TypeError, ValueError):
        return -1
