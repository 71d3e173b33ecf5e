"""A manuscript as an encoder reads it: sentences without citation markers, and its places."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

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
from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.marks import (
    MARK,
    PLACE,
    Marks,
    Mention,
    find_places,
    mark_places,
    plain_characters,
    put_marks,
    take_marks,
    without_marks,
)
from mpbert.recommending.manuscripts.sites import site_in_text
from mpbert.recommending.manuscripts.source_text import SourceText

_BEFORE, _AFTER = 10_000, 1_000  # characters read around a place, about 100 and 10 sentences
_MARKS = f"((?:{MARK.pattern})+)"
_AFTER_STOP = re.compile(rf"([.!?]+[\"'”’)\]]*)\s*{_MARKS}(?=\s|$)")
_BEFORE_WORD = re.compile(rf"{_MARKS}(\w+)")


@dataclass(frozen=True)
class About:
    """What a file says of itself.

    :param bibliographies: files of references that it names, as it writes them.
    :param printed: references that it holds itself: key -> text.
    """

    bibliographies: tuple[str, ...] = ()
    printed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Draft:
    """A manuscript as text: a place is a character of ``marks``, an empty line ends a paragraph."""

    text: str
    marks: Marks
    title: str = ""
    abstract: str = ""
    about: About = About()


@dataclass(frozen=True)
class Manuscript:
    """Sentences without citation markers, title first where there is one.

    A place is a sentence with citations, however many: papers are asked for once, for all of them.

    :param places: (Q,) number of the sentence of each place, ascending.
    :param mentions: (Q,) the citations of each place, in the order of the text.
    :param about: what else the file says of itself.
    """

    sentences: list[str]
    places: np.ndarray
    mentions: list[tuple[Mention, ...]] = field(default_factory=list)
    about: About = About()

    @property
    def keys(self) -> list[tuple[str, ...]]:
        """(Q,) the keys that stand at each place already, each once; empty for an open place."""
        return [
            tuple(dict.fromkeys(key for mention in place for key in mention.keys))
            for place in self.mentions
        ]


def manuscript_of(draft: Draft) -> Manuscript:
    """Return the sentences of a draft; citations that are already there are cut out.

    Citations with the same keys in the same sentence, as citeauthor and citeyear leave them, are
    one: the one where more keys may be written.
    """
    sentences: list[str] = []
    found: dict[int, list[Mention]] = {}
    for part in (draft.title, draft.abstract, draft.text):
        for paragraph in re.split(r"\n\s*\n", part):
            text = clean_characters(_without_markers(_settled(paragraph)))
            for sentence in split_sentences(text):
                marks = list(MARK.finditer(sentence))
                sentence = cut_markers(sentence, [Marker(*mark.span()) for mark in marks])
                if any(map(str.isalpha, sentence)):  # as build-corpus
                    sentences.append(sentence)
                number = max(len(sentences) - 1, 0)  # a lone place belongs to what it follows
                mentions = [draft.marks.mention_at(mark[0]) for mark in marks]
                if mentions:
                    found.setdefault(number, []).extend(mentions)
    numbers = np.array(list(found), dtype=np.int64)
    return Manuscript(sentences, numbers, list(map(_each_once, found.values())), draft.about)


def manuscript_at(text: str, place: int | None, title: str = "", abstract: str = "") -> Manuscript:
    """Return the manuscript around one place of a text.

    Read are 10,000 characters before the place and 1,000 behind it, and the first 10,000
    of title and abstract.

    :param place: a citation belongs before this character of ``text``, counted from 0 in Unicode
        code points; None for its end.
    :raises ManuscriptError: the place lies outside of the text, or there is no word.
    """
    place = len(text) if place is None else place
    if not 0 <= place <= len(text):
        raise ManuscriptError(
            f"place {place}: outside of the text; expected 0 to {len(text)}, its length"
        )
    start, end = max(place - _BEFORE, 0), min(place + _AFTER, len(text))
    before, after = text[start:place], text[place:end]
    if start:
        before = before[re.search(r"\s|$", before).end() :]
    if end < len(text):
        after = after[: after.rfind(" ") + 1]
    marks = Marks()
    mark = marks.add()
    around = without_marks(before) + mark + without_marks(after)
    parts = (_without_places(without_marks(part[:_BEFORE])) for part in (title, abstract))
    draft = Draft(_without_places(around), marks, *parts)
    manuscript = manuscript_of(draft)
    check_places(manuscript, "the text")
    return manuscript


def _each_once(mentions: list[Mention]) -> tuple[Mention, ...]:
    """Return citations without those that have the keys of another one."""
    first: dict[object, Mention] = {}
    for number, mention in enumerate(mentions):
        name = mention.keys or number
        known = first.get(name)
        if known is None or (known.is_fixed and not mention.is_fixed):
            first[name] = mention
    return tuple(first.values())


def read_text(source: SourceText) -> Draft:
    r"""Return the draft in a plain text with ``[CITATION]``, ``[?]``, ``\cite{}`` or ``[@key]``."""
    marks = Marks()
    text = plain_characters(source.text)
    return Draft(mark_places(text, marks, site=partial(site_in_text, source)), marks)


def check_places(manuscript: Manuscript, name: str) -> None:
    """Check that a manuscript marks a place, and holds a word.

    :raises ManuscriptError: it does not.
    """
    if not len(manuscript.places):
        mark = r"\cite{todo}" if name.endswith(".tex") else PLACE
        raise ManuscriptError(
            f"{name}: found no {mark}; put {mark} where papers are to be recommended"
        )
    if not manuscript.sentences:
        raise ManuscriptError(
            f"{name} holds no word; expected the sentences around the place of a citation"
        )


def _without_places(text: str) -> str:
    r"""Cut out ``\cite{...}`` and the like; a mark inside of one stays."""
    bare, marks = take_marks(text)
    spans = [(start, end) for start, end, _ in find_places(bare)]
    pieces, last = [], 0
    for start, end in [*spans, (len(bare), len(bare))]:
        inside = [mark for place, mark in marks if start < place < end]
        outside = [(place - last, mark) for place, mark in marks if last <= place <= start]
        pieces += [put_marks(bare[last:start], outside), *inside]
        last = end
    return "".join(pieces)


def _settled(paragraph: str) -> str:
    """Move places out of citation markers, before a full stop they follow, behind words they touch.

    "trees. [CITATION] Next" belongs to the trees, a cursor just before "Next" to the next sentence.
    """
    bare, marks = take_marks(paragraph)
    if not marks:
        return paragraph
    ends = np.arange(len(bare) + 1)  # of the markers around each place, else the place itself
    for start, end in _spans(bare):
        ends[start + 1 : end] = np.maximum(ends[start + 1 : end], end)
    text = put_marks(bare, [(ends[place], mark) for place, mark in marks])
    return _BEFORE_WORD.sub(r"\2\1", _AFTER_STOP.sub(r"\2\1", text))


def _spans(text: str) -> list[tuple[int, int]]:
    markers: Sequence[Marker] = markers_of(text, find_citations(text))
    spans = [(marker.start, marker.end) for marker in markers]
    return spans + [span for kind in MARKER_LIKE for span in marker_like_spans(text, kind)]


def _without_markers(text: str) -> str:
    """Cut out whatever is certain to be, or looks like, a citation marker."""
    text = cut_markers(text, markers_of(text, find_citations(text)))
    for kind in MARKER_LIKE:
        if spans := marker_like_spans(text, kind):
            text = cut_markers(text, [Marker(*span) for span in spans])
    return text
