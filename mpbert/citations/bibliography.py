"""The printed list of references in extracted text: found, cut off, read for letters and numbers.

Extraction leaves the list under its heading, under a spoiled one, or glued to the last section.
It is known by its sentences: years alone, ``In Proceedings of``, ``pages 1-8``, lists of names.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mpbert.citations.references import Reference

_WORD = (
    r"(?:references?|bibliograph(?:y|ie)|literature(?:\s+cited)?|works\s+cited|"
    r"r\s?e\s?f\s?e\s?r\s?e\s?n\s?c\s?e\s?s?)"
)
_HEADING = re.compile(rf"\W*(?:[\dIVX]+(?:\.\d*)*\W*)?{_WORD}\b", re.IGNORECASE)
_OPENING = re.compile(
    r"\W*(?:\d+\W*)?(?:References?|Bibliography|REFERENCES?|BIBLIOGRAPHY|R\sE\sF\sE\sR\sE\sN\sC\sE\sS?)"
    r"(?:\W*$|[\s:]+(?=[A-Z\[\d]))"
)
_YEAR_ALONE = re.compile(r"\W*(?:1[89]|20)\d\d[a-h]?\W*$")
_ISSUE = re.compile(r"\d\s?\(\d+(?:[-–/]\d+)?\)\s?[:,]")
_IMPRINT = re.compile(
    r"\b[Ii]n:?\s(?:[A-Z][\w.]+\s){0,2}Proc|\bProceedings\s(?:of|the)"
    r"|\bProc\.|\bpages?\s\d+\W|\bpp\.?\s?\d|\bUniversity Press\b|\b[Tt]echnical [Rr]eport\b"
    r"|\bPh\.?\s?D\.?\s[Tt]hesis|\b[Dd]issertation\b"
    r"|\b[Vv]ol(?:ume|\.)\s?\d|\beds?\.|\(eds?\b|\b[Ee]ditors?\b|\barXiv\b|\bAcademic Press\b"
    r"|\bMIT Press\b|\bSpringer\b|\bKluwer\b|\bElsevier\b|\bVerlag\b|\bJournal of\b"
)
# one of these is in everything that _IMPRINT finds, and is found faster
_IMPRINT_HINTS = (
    *("Proc", "page", "pp", "Press", "echnical", "hesis", "issertation", "olume", "ol.", "ed."),
    *("eds.", "(ed", "ditor", "arXiv", "Springer", "Kluwer", "Elsevier", "Verlag", "Journal"),
)
_ENTRY = re.compile(
    r"^(?:\[[\w+ ]{1,12}\]|\d{1,3}\.)?\s*[A-Z][\w'’?-]+,\s?(?:[A-Z]\.|[A-Z][a-z]+\b)"
    r".{0,200}?(?:\(?(?:1[89]|20)\d\d|$)"
)
_FULL_NAMES = re.compile(
    r"^(?:\[[\w+ ]{1,12}\]|\d{1,3}\.)?\s*(?:[A-Z][\w.'’?-]*\s+){1,3}(?:[a-z]{2,3}\s)?[A-Z][\w'’?-]+"
    r"(?:(?:,|,?\s(?:and|&))\s+(?:[A-Z][\w.'’?-]*\s+){1,3}(?:[a-z]{2,3}\s)?[A-Z][\w'’?-]+)*\W*(?:(?:1[89]|20)\d\d[a-h]?)?\W*$"
)
_HINTS = ("Proc", "pages ", "pp.", "Press", "Journal", "Report", "Vol", "vol", "hesis", "ditor")
_YEAR_LINE = re.compile(r"^\W?(?:1[89]|20)\d\d[a-h]?\W{0,2}$", re.MULTILINE)
_MAYBE_OPENING = re.compile(
    r"^.{0,6}(?:[Rr]eference|REFERENCE|Bibliography|BIBLIOGRAPHY|R E F E)", re.MULTILINE
)
_WINDOW, _DENSE, _LEAST = 10, 0.5, 6
_YEAR_NEARBY = re.compile(r"(?:1[89]|20)\d\d(?P<suffix>[a-h])?(?!\d)")
_NUMBER_NEARBY = re.compile(
    r"(?:^|[\s.\]])(?:\[(?P<square>\d{1,3})\]|(?P<plain>\d{1,3})\.)(?=\s?[A-Z])"
)


@dataclass(frozen=True)
class RawText:
    """Sections as headings and sentences, and the sentences of the list of references."""

    sections: list[tuple[str, list[str]]]
    bibliography: list[str]


def _is_strong(sentence: str) -> bool:
    if _YEAR_ALONE.match(sentence) or ("(" in sentence and _ISSUE.search(sentence)):
        return True
    return any(h in sentence for h in _IMPRINT_HINTS) and bool(_IMPRINT.search(sentence))


def _names(sentences: Sequence[str]) -> np.ndarray:
    names = [len(s) < 300 and bool(_ENTRY.match(s) or _FULL_NAMES.match(s)) for s in sentences]
    return np.array(names, dtype=bool)


def _density(entries: np.ndarray) -> float:
    return float(entries.mean()) if len(entries) else 0.0


def split_bibliography(sections: Sequence[tuple[str, list[str]]]) -> RawText:
    """Separate the list of references from the body.

    :param sections: (heading, sentences) in reading order.
    :returns: the sections without it (an emptied one is left out), and its sentences.
    """
    kept: list[tuple[str, list[str]]] = []
    bibliography: list[str] = []
    is_after_heading = False
    for heading, sentences in sections:
        is_heading = len(heading) < 40 and _HEADING.match(heading) is not None
        is_suspect = is_heading or is_after_heading or _is_suspect(sentences)
        if not is_suspect:
            kept.append((heading, list(sentences)))
            continue
        strong = np.array([len(s) < 500 and _is_strong(s) for s in sentences], dtype=bool)
        entries = strong | _names(sentences)
        density = _density(entries)
        if is_heading:
            is_after_heading = True
            if density >= 0.2 or len(sentences) < 3:
                bibliography += sentences
                continue
        elif is_after_heading and density >= 0.35 and len(sentences) >= 3:
            bibliography += sentences
            continue
        drop = np.zeros(len(sentences), dtype=bool)
        if strong.sum() >= 3:
            drop = _dense_runs(strong, entries)
        for place, sentence in enumerate(sentences):
            if not drop[place] and _OPENING.match(sentence):
                rest = entries[place + 1 : place + 31]
                if len(rest) < 3 or _density(rest) >= 0.3:
                    drop[place : place + 1 + _length_of_list(entries[place + 1 :])] = True
        bibliography += [s for s, is_dropped in zip(sentences, drop, strict=True) if is_dropped]
        rest_of_it = [s for s, is_dropped in zip(sentences, drop, strict=True) if not is_dropped]
        if rest_of_it or not sentences:
            kept.append((heading, rest_of_it))
    return RawText(kept, bibliography)


def _is_suspect(sentences: Sequence[str]) -> bool:
    """Return cheaply whether a section may hold a list of references."""
    text = "\n".join(sentences)
    hints = sum(map(text.count, _HINTS)) + len(_YEAR_LINE.findall(text))
    return hints >= 3 or _MAYBE_OPENING.search(text) is not None


def _dense_runs(strong: np.ndarray, entries: np.ndarray) -> np.ndarray:
    smooth = np.convolve(entries, np.ones(_WINDOW), "same") / _WINDOW
    drop = np.zeros(len(entries), dtype=bool)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], smooth >= _DENSE, [0]])))
    for start, end in edges.reshape(-1, 2):
        inside = np.flatnonzero(entries[max(0, start - 3) : end + 3]) + max(0, start - 3)
        if len(inside) == 0:
            continue
        first, last = inside[0], inside[-1]
        if last - first + 1 >= _LEAST and strong[first : last + 1].sum() >= 3:
            drop[first : last + 1] = True
    return drop


def _length_of_list(entries: np.ndarray) -> int:
    """Return how many sentences after the heading belong to it: up to where entries grow rare."""
    for start in range(0, len(entries), _WINDOW):
        if _density(entries[start : start + 2 * _WINDOW]) < 0.2:
            return start
    return len(entries)


class Bibliography:
    """The printed list of references as one text, in which titles can be looked up."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._text = " ".join(sentences)
        places = [i for i, c in enumerate(self._text) if c.isalpha()]
        self._letters = "".join(self._text[i].lower() for i in places)
        self._places = places

    def _place_of(self, title: str) -> int | None:
        letters = "".join(c for c in title.lower() if c.isalpha())[:32]
        found = self._letters.find(letters) if len(letters) >= 12 else -1
        return self._places[found] if found >= 0 else None

    def with_suffix(self, reference: Reference) -> Reference:
        """Return a reference with the letter printed after its year, where the list shows one."""
        place = self._place_of(reference.title)
        if place is None:
            return reference
        before = list(_YEAR_NEARBY.finditer(self._text, max(0, place - 60), place))
        if before and int(before[-1].group()[:4]) == reference.year and before[-1]["suffix"]:
            return replace(reference, suffix=before[-1]["suffix"])
        return reference

    def number_of(self, reference: Reference) -> int | None:
        """Return the number of a reference in a numbered list, or None."""
        place = self._place_of(reference.title)
        if place is None:
            return None
        numbers = list(_NUMBER_NEARBY.finditer(self._text, max(0, place - 250), place))
        return int(numbers[-1]["square"] or numbers[-1]["plain"]) if numbers else None
