"""Blocks of XML text cut into sentences; no cut falls into a marker."""

import re
from collections.abc import Sequence

from mpbert.citations.records import Marker, RawSentence
from mpbert.corpus.formats.scholarly_xml.text import Block
from mpbert.corpus.raw.extracted_text import goes_on
from mpbert.corpus.text import split_sentences

_AFTER_STOP = re.compile(r"[.!?][\"'”’)\]]*(\s*)$")
_NEXT_SENTENCE = re.compile(r"\s+[\"“‘(\[]*[A-Z]|\s*$")


def sentences_of(block: Block, markers: Sequence[Marker]) -> tuple[RawSentence, ...]:
    """Return the sentences of a block with their markers.

    :param markers: of the block, in order, not overlapping.
    """
    spans = _given(block, markers) if block.ends else _split(block.text, markers)
    return tuple(
        RawSentence(
            block.text[start:end],
            tuple(
                Marker(m.start - start, m.end - start, m.cited_ids)
                for m in markers
                if start <= m.start and m.end <= end
            ),
        )
        for start, end in spans
    )


def _given(block: Block, markers: Sequence[Marker]) -> list[tuple[int, int]]:
    """Return the sentences of the file, joined where it ends one inside a citation."""
    text = block.text
    spans: list[tuple[int, int]] = []
    for start, end in zip([0, *block.ends], [*block.ends, len(text)], strict=True):
        start += len(text[start:end]) - len(text[start:end].lstrip())
        end = start + len(text[start:end].rstrip())
        if start == end:
            continue
        if spans:
            first, last = spans[-1]
            is_cut = any(m.start < start and m.end > last for m in markers)
            if is_cut or goes_on(text[first:last], text[start:end]):
                spans[-1] = (first, end)
                continue
        spans.append((start, end))
    return spans


def _split(text: str, markers: Sequence[Marker]) -> list[tuple[int, int]]:
    masked = _masked(text, markers)
    spans, place = [], 0
    for sentence in split_sentences(masked):
        start = masked.index(sentence, place)
        place = start + len(sentence)
        spans.append((start, place))
    return spans


def _masked(text: str, markers: Sequence[Marker]) -> str:
    """Return the text with markers written as a name, or as quotation marks after a full stop.

    So none splits a sentence, and one behind the full stop, as superscripts are, ends it.
    """
    pieces, last = [], 0
    for marker in markers:
        stop = _AFTER_STOP.search(text, max(last, marker.start - 8), marker.start)
        width = marker.end - marker.start
        if stop and _NEXT_SENTENCE.match(text, marker.end):
            pieces += [text[last : stop.start(1)], "”" * (marker.start - stop.start(1) + width)]
        else:
            pieces += [text[last : marker.start], "X" + "x" * (width - 1)]
        last = marker.end
    return "".join([*pieces, text[last:]])
