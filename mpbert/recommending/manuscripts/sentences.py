"""A manuscript as an encoder reads it: sentences without citation markers, and its places."""

import logging
import re
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.clauses import clauses_of
from mpbert.recommending.manuscripts.marks import (
    PLACE,
    Marks,
    Mention,
    find_places,
    mark_places,
    plain_characters,
    replace_spans,
    take_marks,
    without_marks,
)
from mpbert.recommending.manuscripts.sites import site_in_text
from mpbert.recommending.manuscripts.source_text import SourceText

logger = logging.getLogger(__name__)

_BEFORE, _AFTER = 10_000, 1_000  # characters read around a place, about 100 and 10 sentences
_SENTENCE_START = re.compile(r"(?:^|[.!?])\s*\Z")


class NamedKey(NamedTuple):
    """A key that a manuscript cites, and where; None: in no file, or it is not known.

    :param key: ``*`` stands for all of the bibliography.
    """

    key: str
    path: Path | None = None
    line: int | None = None


@dataclass(frozen=True)
class About:
    """What a file says of itself.

    :param bibliographies: files of references that it names, as it writes them.
    :param printed: references that it holds itself: key -> text.
    :param keys: that are cited where no sentence is read, too; those of the places may be missing.
    """

    bibliographies: tuple[str, ...] = ()
    printed: dict[str, str] = field(default_factory=dict)
    keys: tuple[NamedKey, ...] = ()


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

    A place is a citation. A sentence with several is cut into clauses, one for each, see
    :mod:`mpbert.recommending.manuscripts.clauses`.

    :param places: (Q,) number of the sentence of each place, ascending.
    :param mentions: (Q,) the citation at each place, in the order of the text.
    :param about: what else the file says of itself.
    """

    sentences: list[str]
    places: np.ndarray
    mentions: list[Mention] = field(default_factory=list)
    about: About = About()

    @property
    def keys(self) -> list[tuple[str, ...]]:
        """(Q,) the keys that stand at each place already, each once; empty for an open place."""
        return [tuple(dict.fromkeys(mention.keys)) for mention in self.mentions]

    def at_end(self) -> "Manuscript":
        """Return the same with one place, behind the last sentence."""
        return replace(self, places=np.array([len(self.sentences) - 1]), mentions=[Mention()])


def manuscript_of(draft: Draft) -> Manuscript:
    """Return the sentences of a draft; citations that are already there are cut out.

    Citations with the same keys in the same sentence, as citeauthor and citeyear leave them, are
    one: the one where more keys may be written.
    """
    sentences: list[str] = []
    found: list[tuple[int, Mention]] = []
    for part in filter(None, (draft.title, draft.abstract, draft.text)):
        for paragraph in re.split(r"\n\s*\n", part):
            for clauses in clauses_of(paragraph):
                mentions: list[tuple[int, Mention]] = []
                for clause, marks in clauses:
                    if any(map(str.isalpha, clause)):  # as build-corpus
                        sentences.append(clause)
                    number = max(len(sentences) - 1, 0)  # a lone place belongs to what it follows
                    mentions += [(number, draft.marks.mention_at(mark)) for mark in marks]
                found += _each_once(mentions)
    numbers = np.array([number for number, _ in found], dtype=np.int64)
    unprinted = [
        NamedKey(key, *((one.site.source.path, one.site.line) if one.site else ()))
        for one in draft.marks.unprinted
        for key in one.keys
    ]
    about = replace(draft.about, keys=(*draft.about.keys, *unprinted))
    return Manuscript(sentences, numbers, [mention for _, mention in found], about)


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
    parts = (part and _without_places(without_marks(part[:_BEFORE])) for part in (title, abstract))
    draft = Draft(_without_places(around), marks, *parts)
    manuscript = manuscript_of(draft)
    check_places(manuscript, "the text")
    return manuscript


def whole_sentences(title: str, abstract: str) -> list[str]:
    """Return the sentences of title and abstract, without citations.

    Read are the first 10,000 characters of each.

    :raises ManuscriptError: there is no word.
    """
    marks = Marks()
    parts = (mark_places(without_marks(part[:_BEFORE]), marks) for part in (title, abstract))
    return whole_of(Draft("", marks, *parts), "the text")


def whole_of(draft: Draft, name: str) -> list[str]:
    """Return the sentences of title and abstract of a draft; of its text where it has neither.

    :raises ManuscriptError: there is no word.
    """
    if draft.title or draft.abstract:
        draft = replace(draft, text="")
    sentences = manuscript_of(draft).sentences
    if not sentences:
        raise ManuscriptError(f"{name} holds no word; expected a title, an abstract, or both")
    return sentences


def _each_once(mentions: list[tuple[int, Mention]]) -> list[tuple[int, Mention]]:
    """Return the citations of a sentence without those with the keys, or the site, of another."""
    first: dict[object, tuple[int, Mention]] = {}
    for number, found in enumerate(mentions):
        site = found[1].site  # \both{[?]} may leave it twice
        name = found[1].keys or (number if site is None else (site.source.path, site.start))
        known = first.get(name)
        if known is None:
            first[name] = found
        elif known[1].is_fixed and not found[1].is_fixed:
            first[name] = known[0], found[1]
    return list(first.values())


def read_text(source: SourceText) -> Draft:
    r"""Return the draft in a plain text with ``[CITATION]``, ``[?]``, ``\cite{}`` or ``[@key]``."""
    marks = Marks()
    text = plain_characters(source.text)
    return Draft(mark_places(text, marks, site=partial(site_in_text, source)), marks)


def with_place(manuscript: Manuscript, name: str) -> Manuscript:
    """Return a manuscript that is asked at its end where it marks no place, which a line says.

    :raises ManuscriptError: it holds no word.
    """
    if not len(manuscript.places) and manuscript.sentences:
        logger.warning("%s: marks no place, so it is asked at its end", name)
        return manuscript.at_end()
    check_places(manuscript, name)
    return manuscript


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
    bare, _ = take_marks(text)
    spans = []
    for found in find_places(bare):
        begins = _SENTENCE_START.search(bare, max(found.start - 5, 0), found.start)
        spans.append((found.start, found.end, found.noun if begins else found.noun.lower()))
    return replace_spans(text, spans)
