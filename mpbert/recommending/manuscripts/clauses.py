r"""A paragraph with marks becomes clauses: sentences, cut where one has several places.

Sentences are split before anything is cut out of them, as readers of papers do it. A sentence with
one place stays whole. Of one with several, each place has the clause in front of it; a noun, as of
``\citet``, that behind it. A clause without a word of its own is a part of its neighbour.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from mpbert.citations.author_year import find_citations
from mpbert.citations.markers import markers_of
from mpbert.citations.records import Marker
from mpbert.corpus.text import (
    MARKER_LIKE,
    clean_characters,
    cut_markers,
    marker_like_spans,
    split_sentences,
)
from mpbert.foundation.lazy_patterns import lazy_re
from mpbert.recommending.manuscripts.marks import MARK, NOUN, replace_spans, take_marks

_OTHER, _LOOSE = "\U00100000", "\U00100001"  # a marker of others; a noun that may be none
_MARKS = f"((?:{MARK.pattern})+)"
_AFTER_STOP = lazy_re(rf"([.!?]+[\"'”’)\]]*)\s*{_MARKS}(?=\s|$)")
_BEFORE_WORD = lazy_re(rf"{_MARKS}(\w+)")
_SUBJECT = lazy_re(rf"(^|[.!?][\"'”’)\]]*\s+)(?={MARK.pattern}(?:{MARK.pattern}|\s)*\s[a-z])")
_CUT = lazy_re(
    rf"(?:{NOUN}{_OTHER}|{_OTHER}|{NOUN}{_LOOSE}(?={MARK.pattern})|{_LOOSE}|{MARK.pattern})"
)
_INNER_NOUN = lazy_re(rf"(?<=.)\b(?:{NOUN}|Their)(?={MARK.pattern})")
_NOUN_BEFORE = lazy_re(rf"\b(?i:{NOUN}|their)\Z")
_POSSESSIVE = lazy_re(rf"{NOUN}({MARK.pattern})['’]s\b")
_WORD = lazy_re(r"\b(?=\w*[^\W\d_])\w{2,}")
# behind a stop of which a sentence goes on: "in the U.S. \cite{a} trees grow", "etc. [@a] in woods"
_ABBREVIATION = lazy_re(
    r"(?:\b(?:[^\W\d_]\.\s?)+[^\W\d_]|(?i:\b(?:etc|vs|cf|al|eg|ie|figs?|eqs?|secs?|nos?|dr|prof|approx"
    r"|resp|bzw|usw|ca|vgl|ggf|sog|inkl)))\.\s*\Z"
)
_CLOSING = lazy_re(r"\s?[)\]]+")
_EMPTY_WORDS = frozenset(
    "they them their its our we you it this these those that which who while when where than then "
    "the an and or but by in of on to as for from with via into at upon about over under see also "
    "so too not no such both all some many most more other others another each cf "
    "eg ie et al vs is are was were be been being has have had do does did can could may might "
    "will would should if else if there here respectively e.g i.e".split()
)


def clauses_of(paragraph: str) -> Iterator[list[tuple[str, list[str]]]]:
    """Yield each sentence of a paragraph as clauses without markers, and the marks of each.

    A clause may hold no word.
    """
    for sentence in split_sentences(clean_characters(_settled(paragraph))):
        if sentence.startswith(NOUN + _LOOSE):
            sentence = NOUN + sentence.removeprefix(NOUN + _LOOSE)
        yield [
            (cut_markers(clause, [Marker(*found.span()) for found in _CUT.finditer(clause)]), marks)
            for clause in _clauses(_INNER_NOUN.sub(lambda noun: noun[0].lower(), sentence))
            for marks in [MARK.findall(clause)]
        ]


def _clauses(sentence: str) -> list[str]:
    """Return a sentence as parts, of which each with a mark has a word of its own."""
    marks = list(MARK.finditer(sentence))
    if len(marks) < 2:
        return [sentence]
    cuts = [0]
    for mark, following in pairwise(marks):
        noun = _NOUN_BEFORE.search(sentence, mark.end(), following.start())
        closing = _CLOSING.match(sentence, mark.end())
        end = mark.end() if closing is None else closing.end()
        cuts.append(end if noun is None else noun.start())
    parts = [sentence[start:end] for start, end in pairwise([*cuts, len(sentence)])]
    found: list[list[str]] = []
    held: list[str] = []  # in which no word was said yet
    for part in parts:
        if _says(part):
            found.append([*held, part])
            held = []
        elif found and not held and not part.lstrip().lower().startswith((NOUN.lower(), "their")):
            found[-1].append(part)
        else:
            held.append(part)
    if held:
        found[-1:] = [[*(found[-1] if found else []), *held]]
    return ["".join(part) for part in found]


def _says(part: str) -> bool:
    words = _WORD.findall(_CUT.sub(" ", part).lower())
    return any(word not in _EMPTY_WORDS for word in words)


def _settled(paragraph: str) -> str:
    """Put a character for each marker of others, and move places out of these.

    Places move before a full stop that they follow, and behind words that they touch:
    "trees. [CITATION] Next" belongs to the trees, a cursor just before "Next" to the next sentence.
    """
    bare, _ = take_marks(paragraph)
    found = [
        (start, end, NOUN + _OTHER if bare[start].isalpha() else _OTHER)
        for start, end in _joined(_spans(bare))
    ]
    text = _SUBJECT.sub(_with_subject, replace_spans(paragraph, found))
    text = _POSSESSIVE.sub(r"Their\1", text)
    return _BEFORE_WORD.sub(r"\2\1", _AFTER_STOP.sub(r"\2\1", text))


def _with_subject(match: re.Match[str]) -> str:
    before = match.string[max(match.start() - 12, 0) : match.end()]
    return match[0] if _ABBREVIATION.search(before) else f"{match[1]}{NOUN}{_LOOSE}"


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def _spans(text: str) -> list[tuple[int, int]]:
    markers: Sequence[Marker] = markers_of(text, find_citations(text))
    spans = [(marker.start, marker.end) for marker in markers]
    return spans + [span for kind in MARKER_LIKE for span in marker_like_spans(text, kind)]
