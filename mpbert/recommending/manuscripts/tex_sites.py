r"""TeX whose open places are marked, and where each citation of it stands in the files."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from mpbert.recommending.manuscripts.marks import Marks
from mpbert.recommending.manuscripts.placeholders import open_places
from mpbert.recommending.manuscripts.sites import TEX, Site, among, listed_keys, site_of_keys
from mpbert.recommending.manuscripts.traced import NOWHERE, Origins, Traced, joined, of_one_origin

COMMAND_BEFORE = re.compile(r"\\(?:[A-Za-z@]*\*?|begin\{[^{}]*\})\Z")  # whose option it may be
LONGEST_NAME = 40


@dataclass(frozen=True)
class MarkedTex:
    """Expanded TeX in which one private character stands for each ``[CITATION]`` and ``[?]``."""

    traced: Traced
    origins: Origins

    @property
    def text(self) -> str:
        """The text."""
        return self.traced.text

    def line_at(self, place: int) -> tuple[Path, int] | None:
        """Return the file in which a character of the text stands, and the line, from 1.

        Of what a command leaves, it is where the command stands; None: it stands nowhere.
        """
        origin = int(self.traced.origins[place])
        if origin < NOWHERE:
            origin = self.origins.span_of_call(origin)[0]
        if origin == NOWHERE:
            return None
        source, start = self.origins.in_file(origin)
        return source.path, source.text.count("\n", 0, start) + 1

    def site_of_keys(self, start: int, end: int, command: str) -> Site | None:
        r"""Return where the last keys of a ``\cite`` stand; None where no file has them so.

        :param start: the keys are [start, end) of the text.
        """
        whole = _literal(self.traced.origins[start - 1 : end])
        last = int(self.traced.origins[end - 1])
        if last < 0:
            return None
        source, place = self.origins.in_file(last)
        run = _run_before(self.traced.origins[start:end])
        if source.text[place - run : place - run + 1] + source.text[place + 1 : place + 2] != "{}":
            return None  # a command of the manuscript takes one character without braces
        if whole or (start < end and _literal(self.traced.origins[start:end])):
            return site_of_keys(source, place + 1 - (end - start), place + 1, command)
        if start == end or "%" in self.text[start:end]:
            return None
        begins_key = self.text[start : end - run].rstrip()[-1:] in ("", ",")
        written = source.text[place + 1 - run : place + 1]
        items = listed_keys(written, place + 1 - run)[0 if begins_key else 1 :]
        if not items:
            return Site(source, place + 1, place + 1, replace(TEX, before=",", behind=""))
        return among(source, items, place + 1, TEX)


def marked_tex(expanded: Traced, origins: Origins, marks: Marks) -> MarkedTex:
    r"""Mark the open places, but not the options of commands."""
    sites = _BareSites(expanded, origins)
    parts, last = [], 0
    for match in open_places(is_tex=True).finditer(expanded.text):
        start, end = match.span()
        if COMMAND_BEFORE.search(expanded.text, max(start - LONGEST_NAME, 0), start):
            continue
        mark = marks.add((), sites.site(start, end))
        parts += [expanded.slice(last, start), of_one_origin(mark, int(expanded.origins[start]))]
        last = end
    return MarkedTex(joined([*parts, expanded.slice(last)]), origins)


class _BareSites:
    def __init__(self, expanded: Traced, origins: Origins) -> None:
        self._expanded, self._origins = expanded, origins

    @cached_property
    def _lengths(self) -> dict[int, int]:
        """How many characters each call left, white space too, which words may need."""
        found = self._expanded.origins[self._expanded.origins < -1]
        calls, lengths = np.unique(found, return_counts=True)
        return dict(zip(calls.tolist(), lengths.tolist(), strict=True))

    def site(self, start: int, end: int) -> Site | None:
        """Return the site of an open place, or of the command that left it and nothing else."""
        found = self._expanded.origins[start:end]
        first = int(found[0])
        if _literal(found):
            source, place = self._origins.in_file(first)
            return Site(source, place, place + end - start, TEX)
        if first < -1 and (found == first).all() and self._lengths[first] == end - start:
            begin, behind = self._origins.span_of_call(first)
            source, place = self._origins.in_file(begin)
            return Site(source, place, place + behind - begin, TEX)
        return None


def _literal(origins: np.ndarray) -> bool:
    """Return whether all stands in a file as it stands here; of an open brace and keys, too."""
    first = int(origins[0]) if len(origins) else -1
    return first >= 0 and bool((origins == np.arange(first, first + len(origins))).all())


def _run_before(origins: np.ndarray) -> int:
    """Return how many characters at the end stand in a file as they stand here."""
    if not len(origins):
        return 0
    is_break = np.diff(origins[::-1]) != -1
    return int(is_break.argmax()) + 1 if is_break.any() else len(origins)
