"""The parser of TeX, which reads on where the text is broken, and says in one line where it is."""

import logging
from pathlib import Path

from pylatexenc.latexwalker import LatexWalker, LatexWalkerError
from pylatexenc.macrospec import LatexContextDb

from mpbert.recommending.manuscripts.tex_sites import MarkedTex

logger = logging.getLogger(__name__)


class TolerantWalker(LatexWalker):
    """Parses a text, and keeps what is broken in it."""

    def __init__(self, text: str, context: LatexContextDb) -> None:
        super().__init__(text, latex_context=context)
        self._broken: dict[int, str] = {}

    def _report_ignore_parse_error(self, exc: LatexWalkerError) -> None:
        """Keep an error by its place, in place of a line of the log for each."""
        self._broken.setdefault(getattr(exc, "pos", None) or 0, getattr(exc, "msg", str(exc)))

    def warn(self, path: Path, marked: MarkedTex, start: int) -> None:
        """Say what is broken first, and how often more.

        :param path: the manuscript.
        :param marked: the text that was parsed, or one of the same length.
        :param start: of what is read in it; a preamble before may be broken.
        """
        broken = sorted(found for found in self._broken.items() if found[0] >= start)
        if not broken:
            return
        place, said = broken[0]
        file, line = marked.line_at(place) or (path, None)
        more = f", and {len(broken) - 1:,} more" if len(broken) > 1 else ""
        logger.warning(
            "%s%s: cannot be followed as TeX: %s%s; text around may be left out; mend it",
            *(file, "" if line is None else f":{line}", said[:1].lower() + said[1:], more),
        )
