"""From the lines of a paper to its text: paragraphs, and sections by their numbered headings."""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from mpbert.citations.records import RawSentence
from mpbert.corpus.formats.pdf.lines import SOFT_HYPHEN
from mpbert.corpus.raw.extracted_text import debris, goes_on, page_junk
from mpbert.corpus.raw.spans import plain
from mpbert.corpus.records import RawSection

_REFERENCES = re.compile(
    r"\W*(?:\d{1,2}|[IVX]{1,4})?[.\s]*(?:references(?: and notes)?|bibliography|literature cited"
    r"|works cited|literatur(?:verzeichnis)?|r[ée]f[ée]rences|referencias|bibliograf[ií]a)\W*$",
    re.IGNORECASE,
)
_HEADING = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,4}\.)\s+([A-Z][^.!?]{2,70})$")
_SENTENCE_END = re.compile(r"[.!?:][\"'”’)\]]*$")
_EARLIEST = 0.3  # part of the text before which a list of references cannot begin
_EDGE = 2  # lines at the top and at the foot of a page that may be its frame
_REPEATED = 3  # pages that have the same line there
_SHORT = 0.75  # part of a usual line to which the last one of a paragraph reaches
_CUT = re.compile(rf"([^\W\d_]+){SOFT_HYPHEN}\s?([^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_NUMBER = re.compile(r"\d+")
_SIGNS = re.compile(r"[\W_]+")
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
# accents that old fonts of TeX print as signs of their own, before the letter or, ¸, behind it
_ACCENTS = {
    "´": "\u0301",
    "`": "\u0300",
    "¨": "\u0308",
    "ˆ": "\u0302",
    "˜": "\u0303",
    "ˇ": "\u030c",
}
_BEFORE = re.compile(r"([´¨ˆ˜ˇ]|(?<=\w)`) ?([A-Za-zı])")
_BEHIND = re.compile(r"([cCsStT]) ?¸")


def mended(text: str) -> str:
    """Return a text with whole letters: ``Mouni´e`` is Mounié, ``ﬁnd`` is find."""
    for sign, letters in _LIGATURES.items():
        text = text.replace(sign, letters)
    text = _BEFORE.sub(lambda found: found[2].replace("ı", "i") + _ACCENTS[found[1]], text)
    return unicodedata.normalize("NFC", _BEHIND.sub("\\1\u0327", text))


def frames_of(pages: Sequence[Sequence[str]]) -> set[str]:
    """Return what runs at the edges of several pages, as :func:`without_frame` compares it."""
    at_edge: Counter[str] = Counter()
    for lines in pages:
        at_edge.update({_framed(line) for line in [*lines[:_EDGE], *lines[-_EDGE:]]})
    return {line for line, count in at_edge.items() if count >= _REPEATED}


def without_frame(lines: Sequence[str], frames: set[str]) -> list[str]:
    """Return the lines of a page, or of its end, without page numbers and what runs there."""
    inner = range(_EDGE, len(lines) - _EDGE)
    return [
        line
        for place, line in enumerate(lines)
        if place in inner or not (_framed(line) in frames or page_junk(line) is not None)
    ]


def before_references(lines: Sequence[str]) -> list[str]:
    """Return the lines before the list of references, the last heading of which counts."""
    places = [place for place, line in enumerate(lines) if _REFERENCES.match(line)]
    if places and places[-1] >= _EARLIEST * len(lines):
        return list(lines[: places[-1]])
    return list(lines)


def words_of(lines: Sequence[str]) -> Counter[str]:
    """Return how often each word occurs, in small letters; those that a line cut do not count."""
    return Counter(_WORD.findall(_CUT.sub(" ", " ".join(lines)).lower()))


def sections_of_lines(lines: Sequence[str], words: Counter[str]) -> list[tuple[str, list[str]]]:
    """Return (heading, paragraphs) of lines; without a heading before the first.

    :param words: of :func:`words_of`.
    """
    usual = sorted(map(len, lines))[len(lines) // 2] if lines else 0
    sections: list[tuple[str, list[list[str]]]] = [("", [[]])]
    for line in lines:
        if heading := _HEADING.match(line):
            sections.append((heading[1].strip(), [[]]))
            continue
        sections[-1][1][-1].append(line)
        if len(line) < _SHORT * usual and _SENTENCE_END.search(line):
            sections[-1][1].append([])
    return [
        (heading, [joined(paragraph, words) for paragraph in paragraphs if paragraph])
        for heading, paragraphs in sections
    ]


def joined(lines: Sequence[str], words: Counter[str]) -> str:
    """Return lines as one text, with words whole that the end of a line cut.

    A hyphen stays where the text has the word with it elsewhere, or both parts but not the whole.

    :param words: of the whole text, in small letters, and how often each occurs.
    """

    def whole(found: re.Match[str]) -> str:
        together, apart = found[1] + found[2], f"{found[1]}-{found[2]}"
        if words[together.lower()]:
            return together
        has_parts = words[found[1].lower()] and words[found[2].lower()]
        return apart if words[apart.lower()] or has_parts else together

    text = _CUT.sub(whole, " ".join(lines))
    return " ".join(text.replace(f"{SOFT_HYPHEN} ", "-").replace(SOFT_HYPHEN, "-").split())


def sentences_of(paragraphs: Sequence[str], counts: Counter[str]) -> tuple[RawSentence, ...]:
    """Return the sentences of paragraphs; what is left of tables and formulas is counted."""
    found: list[RawSentence] = []
    for paragraph in _rejoined(paragraphs):
        for sentence in plain(paragraph, counts):
            if kind := debris(sentence.text):
                counts[f"sentences_dropped_as_{kind}"] += 1
            else:
                found.append(sentence)
    return tuple(found)


def on_pages(
    sections: Sequence[RawSection], pages: Sequence[Sequence[str]], first: int
) -> tuple[RawSection, ...]:
    """Return sections whose sentences know the page on which they begin.

    A sentence is found by its letters and digits: by its signs it differs from the lines.

    :param pages: lines of each page, as the sentences were made of them; ``first`` its number.
    """
    texts = [_letters("".join(lines)) for lines in pages]
    whole, starts = "".join(texts), list(accumulate(map(len, texts), initial=0))[:-1]
    place, made = 0, []
    for section in sections:
        sentences = []
        for sentence in section.sentences:
            own = _letters(sentence.text)
            start = whole.find(own, place)
            page = first + bisect_right(starts, place if start < 0 else start) - 1
            place = place if start < 0 else start + len(own)
            sentences.append(replace(sentence, page=page))
        made.append(replace(section, sentences=tuple(sentences)))
    return tuple(made)


def _letters(text: str) -> str:
    return _SIGNS.sub("", text)


def _framed(line: str) -> str:
    """Return a line as it is on other pages: without its numbers."""
    return _NUMBER.sub("0", line)


def _rejoined(paragraphs: Sequence[str]) -> list[str]:
    """Return paragraphs, those joined that were cut after an abbreviation or in brackets."""
    found: list[str] = []
    for text in paragraphs:
        if found and goes_on(found[-1], text):
            found[-1] += f" {text}"
        else:
            found.append(text)
    return found
