"""Sentences of a manuscript that need a citation and have none, each with papers for it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mpbert.corpus.text import find_marker_like, words
from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.manuscripts.marks import Mention, without_marks
from mpbert.recommending.manuscripts.sentences import Draft, Manuscript, manuscript_of
from mpbert.recommending.options import Options
from mpbert.recommending.places import PlaceAnswer, PlaceRecommender, lines_of
from mpbert.recommending.unmarked.labels import LEAST_WORDS, NO_BODY
from mpbert.recommending.unmarked.locating import locate
from mpbert.recommending.unmarked.worthiness import read_worthiness

_CAPTION = re.compile(
    r"\\caption(?:of\{[^{}]*\})?\*?\s*(?:\[[^\]]{0,500}\])?\{(?:[^{}]|\{[^{}]*\}){0,3000}\}"
    r"|!\[[^\]]{0,3000}\]\(|^[ \t]*(?:#\+caption:|Table:|:[ \t])[^\n]*"
    r"|\\begin\{acks?\w*\}.*?\\end\{acks?\w*\}",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_HEADING = re.compile(
    r"^[ \t]*(?:\\(?:sub)*(?:section|chapter|paragraph)\*?\{([^{}\n]*)\}|[#*=]{1,6}[ \t]+([^\n]*)"
    r"|((?:\d[\d.]*[ \t]+)?(?:Acknowledge?ments?|References|Bibliography)[.:]?[ \t]*)$)",
    re.MULTILINE | re.IGNORECASE,
)

_ENDED = re.compile(r"[.!?:;][\"'”’)\]]*$")


@dataclass(frozen=True)
class UnmarkedSentence:
    """A sentence that cites nothing.

    :param line: on which it begins, from 1; None where the file has no lines, or includes it.
    :param probability: that a sentence like it cites, in a paper that cites all that it should.
    :param answer: the papers for it; its place is the rank of the sentence.
    :param span: [start, end) of its words in the text of the file; None as of ``line``.
    """

    line: int | None
    probability: float
    answer: PlaceAnswer
    span: tuple[int, int] | None = None

    def lines(self, year: int | None) -> list[str]:
        """Return the text that ``recommend`` prints; a year leaves out papers of later ones."""
        where = "" if self.line is None else f"line {self.line}, "
        head = f"{self.answer.place}. {where}probability {self.probability:.2f}: "
        return [head + self.answer.sentence, *lines_of(self.answer, year)[1:]]

    def as_json(self) -> dict[str, Any]:
        """Return what ``recommend --format json`` prints."""
        where = {"line": self.line, "probability": round(self.probability, 4)}
        return {**where, **self.answer.as_json()}


def find_unmarked(
    index: AnsweringIndex,
    draft: Draft,
    source: str,
    known: dict[str, str],
    most: int,
    options: Options,
) -> list[UnmarkedSentence]:
    """Return the sentences that most probably need a citation, best first.

    :param source: text of the file; empty where it is no text.
    :param known: key -> id, of papers of the index that the manuscript knows.
    :param most: sentences at most.
    """
    manuscript = manuscript_of(draft)
    head = len(manuscript_of(replace(draft, text="")).sentences)
    body = manuscript.sentences[head:]
    probabilities = read_worthiness().probabilities(body)
    spans = locate(body, source)
    chosen = []
    for number in _candidates(draft, manuscript, head, probabilities, spans, source):
        if len(chosen) == most:
            break
        chosen.append(number)
    places = np.concatenate([manuscript.places, np.array(chosen, np.int64) + head])
    mentions = [*manuscript.mentions, *(Mention() for _ in chosen)]
    recommender = PlaceRecommender(
        index, replace(manuscript, places=places, mentions=mentions), known
    )
    found = []
    for rank, number in enumerate(chosen, start=1):
        answer = recommender.answer(len(manuscript.mentions) + rank - 1, options)
        span = spans[number]
        line = None if span is None else source.count("\n", 0, span[0]) + 1
        answer = replace(answer, place=rank)
        found.append(UnmarkedSentence(line, float(probabilities[number]), answer, span))
    return found


def _candidates(
    draft: Draft,
    manuscript: Manuscript,
    head: int,
    probabilities: np.ndarray,
    spans: list[tuple[int, int] | None],
    source: str,
) -> Iterator[int]:
    """Yield numbers of sentences of the body that may need a citation, the best first."""
    cites = set(manuscript.places.tolist())
    text = without_marks(draft.text)
    body = manuscript.sentences[head:]
    in_text = locate(body, text)
    begins = sorted({span[0] for span in in_text if span})
    left_out = _left_out(source)
    for number in np.argsort(-probabilities, kind="stable").tolist():
        if head + number in cites or not _is_whole(body[number]):
            continue
        span, read = spans[number], in_text[number]
        if span and any(start <= span[0] < end for start, end in left_out):
            continue
        after = read and next((begin for begin in begins if begin >= read[1]), len(text))
        if read and find_marker_like(text[read[0] : after]):
            continue  # it cites by names or numbers
        yield number


def _is_whole(sentence: str) -> bool:
    """Return whether it is no heading, key word or address that a reader has left."""
    return len(words(sentence)) >= LEAST_WORDS and bool(_ENDED.search(sentence))


def _left_out(source: str) -> list[tuple[int, int]]:
    """Return [start, end) of captions, acknowledgements and lists of references."""
    spans = [match.span() for match in _CAPTION.finditer(source)]
    headings = list(_HEADING.finditer(source))
    ends = [*(heading.start() for heading in headings[1:]), len(source)]
    for heading, end in zip(headings, ends, strict=False):
        if NO_BODY.search(heading[0]):
            spans.append((heading.start(), end))
    return spans
