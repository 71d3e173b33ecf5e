"""Sentences of papers with their labels, which are free: each cites, or does not.

A citation that was not resolved is one, too. Some sentences have no label:

* those whose citation is a noun ("in [4]", "Smith (2003) shows"): without it they are ruins, by
  which a classifier would know them, and as which no manuscript has them;
* those in which something else looks like a citation, and those of fewer than four words;
* the abstract, acknowledgements and lists of references.
"""

import re
from dataclasses import dataclass

import numpy as np

from mpbert.citations.records import RawSentence
from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.records import RawPaper
from mpbert.corpus.text import cut_markers, find_marker_like, words

LEAST_WORDS = 4
NO_BODY = re.compile(r"(?i)acknowledg|references|bibliography")
# a citation behind one of these is its noun
_GOVERNORS = frozenset(
    "in by of from see to and or with on at for as per than the via under like following using "
    "also is are was were be been".split()
)


@dataclass(frozen=True)
class LabelledPaper:
    """The body of a paper.

    :param texts: its sentences without markers.
    :param labels: of each whether it cites; None: it has no label.
    :param cited: ids that each cites, as far as they are known.
    """

    paper_id: str
    title: str
    year: int
    abstract: list[str]
    texts: list[str]
    labels: list[bool | None]
    cited: list[tuple[str, ...]]

    @property
    def labelled(self) -> np.ndarray:
        """Numbers of the sentences with a label, ascending."""
        return np.flatnonzero([label is not None for label in self.labels])

    @property
    def known(self) -> np.ndarray:
        """Labels of these."""
        return np.array([label for label in self.labels if label is not None], dtype=bool)


def labelled(paper: RawPaper, clean: CleanPaper) -> LabelledPaper:
    """Return the sentences of a paper's body that hold a letter, with their labels.

    :param clean: the same paper without markers.
    """
    texts: list[str] = []
    labels: list[bool | None] = []
    cited: list[tuple[str, ...]] = []
    for section in paper.sections:
        is_body = not NO_BODY.search(section.heading)
        for sentence in section.sentences:
            text = cut_markers(sentence.text, sentence.markers)
            if not any(map(str.isalpha, text)):
                continue
            texts.append(text)
            labels.append(_label(sentence, text) if is_body else None)
            cited.append(tuple(i for marker in sentence.markers for i in marker.cited_ids))
    abstract = clean.sentences[: clean.num_abstract]
    return LabelledPaper(clean.paper_id, clean.title, clean.year, abstract, texts, labels, cited)


def _label(sentence: RawSentence, text: str) -> bool | None:
    if len(words(text)) < LEAST_WORDS or find_marker_like(text):
        return None
    if any(_is_noun(sentence.text, marker.start) for marker in sentence.markers):
        return None
    return bool(sentence.markers)


def _is_noun(text: str, start: int) -> bool:
    before = words(text[max(start - 80, 0) : start])
    return text[start].isalpha() or not before or before[-1] in _GOVERNORS
