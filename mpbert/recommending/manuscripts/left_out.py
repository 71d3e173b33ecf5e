r"""Citations of a manuscript in TeX for which no papers are recommended, and where they stand."""

import logging
from pathlib import Path

from pylatexenc.latexwalker import LatexNode

from mpbert.recommending.manuscripts.citation_commands import TEX_CITATION, TEX_COMMENT
from mpbert.recommending.manuscripts.marks import MARK
from mpbert.recommending.manuscripts.tex_sites import MarkedTex

logger = logging.getLogger(__name__)

_NAMED = 5  # places that a warning names


class LeftOut:
    """Counts the citations in parts of a text that are left out.

    :param marked: the text, with all that stands in drawings and listings.
    """

    def __init__(self, marked: MarkedTex) -> None:
        self._marked = marked
        self._found: list[tuple[str, int, tuple[Path, int] | None]] = []

    def add(self, node: LatexNode, kind: str, has_comments: bool = True) -> None:
        """Count the citations in a part of the text.

        :param kind: what it is, as a warning names it.
        :param has_comments: whether ``%`` begins one there, as it does not in a listing.
        """
        text = self._marked.text[node.pos : node.pos + node.len]
        if has_comments:
            text = TEX_COMMENT.sub("", text)
        number = len(MARK.findall(text)) + len(TEX_CITATION.findall(text))
        if number:
            self._found.append((kind, number, self._marked.line_at(node.pos)))

    def warn(self, path: Path) -> None:
        """Say in one line how many citations were left out, and where, if there are any.

        :param path: the manuscript.
        """
        if not self._found:
            return
        total = sum(number for _, number, _ in self._found)
        named = "; ".join(_named(*found, path) for found in self._found[:_NAMED])
        logger.warning(
            "%s: %d %s left out, since no sentence is read there: %s%s; cite in the text around",
            *(path, total, "citation was" if total == 1 else "citations were", named),
            "; ..." if len(self._found) > _NAMED else "",
        )


def _named(kind: str, number: int, where: tuple[Path, int] | None, path: Path) -> str:
    several = f" ({number})" if number > 1 else ""
    if where is None:
        return f"{kind}{several}"
    file = "" if where[0] == path else f"{where[0]} "
    return f"{kind}{several}, {file}line {where[1]}"
