"""The question of a place in a text that is being written, read from what stands around it."""

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.answers import Recommendations
from mpbert.recommending.manuscripts.marks import PLACE
from mpbert.recommending.manuscripts.pasted import read_pasted
from mpbert.recommending.options import Options
from mpbert.recommending.rankers import AskedFor
from mpbert.serving.editor.search import PaperSearch
from mpbert.serving.live import Edition

_BEFORE, _BEHIND = 3000, 1000  # characters around a place that are read
_PARAGRAPH = re.compile(r"\n[ \t]*\r?\n")
_FENCE = re.compile(r"^(```|~~~)", re.MULTILINE)
_MOST_KEPT = 16


class PlaceQuestions:
    """Asks an edition of an index for places; of one thread.

    :param edition: that answers.
    """

    def __init__(self, edition: Edition) -> None:
        self.edition, self.search = edition, PaperSearch(edition.recommender)
        self._asked: OrderedDict[tuple[str, str, tuple[str, ...]], AskedFor | None] = OrderedDict()

    def answer(
        self,
        text: str,
        form: str,
        span: tuple[int, int],
        accepted: Sequence[str],
        top: int,
        mask: np.ndarray | None = None,
    ) -> Recommendations:
        """Return papers for a place, best first.

        :param span: [start, end) of the citation; what is typed there counts for nothing else.
        :param accepted: ids of papers that are cited there already.
        :param mask: (N,) whether a paper may be among them; None: any.
        """
        asked = self._question(text, form, span, tuple(accepted))
        if asked is None:
            return Recommendations([])
        options, allowed = replace(asked.options, top=top), asked.allowed
        if mask is not None:
            allowed = allowed & mask
        return self.edition.recommender.answer(replace(asked, options=options, allowed=allowed))

    def _question(
        self, text: str, form: str, span: tuple[int, int], accepted: tuple[str, ...]
    ) -> AskedFor | None:
        """Return the question of a place; None: it stands in nothing that is read."""
        before, behind = _around(text, span, form)
        for around in ((before, behind), (text[: span[0]], text[span[1] :])):
            name = (*around, accepted)
            if name not in self._asked:
                self._asked[name] = self._read(*around, form, accepted)
            self._asked.move_to_end(name)
            while len(self._asked) > _MOST_KEPT:
                self._asked.popitem(last=False)
            if self._asked[name] is not None:
                return self._asked[name]
        return None

    def _read(
        self, before: str, behind: str, form: str, accepted: tuple[str, ...]
    ) -> AskedFor | None:
        try:
            pasted = read_pasted(before + PLACE + behind, form, cursor=len(before))
        except ManuscriptError:
            return None
        recommender, number = self.edition.recommender, pasted.at_cursor or 0
        return recommender.asked_at(pasted.manuscript, number, Options(accepted=accepted))


def _around(text: str, span: tuple[int, int], form: str) -> tuple[str, str]:
    """Return what is read before and behind a place, in whole paragraphs where these are short."""
    start, end = span
    first, last = max(start - _BEFORE, 0), min(end + _BEHIND, len(text))
    if first and (found := _PARAGRAPH.search(text, first, start)):
        first = found.end()
    if last < len(text):
        ends = [found.start() for found in _PARAGRAPH.finditer(text, end, last)]
        last = ends[-1] if ends else last
    before = text[first:start]
    if form == "markdown" and len(_FENCE.findall(text, 0, first)) % 2:
        before = f"```\n{before}"
    return before, text[end:last]
