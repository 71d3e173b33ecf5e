"""Fragments of TeX as text: what stands in the midst of another markup."""

from pylatexenc.latexwalker import LatexMacroNode, LatexWalker, LatexWalkerError

from mpbert.recommending.manuscripts.marks import MARK, Marks
from mpbert.recommending.manuscripts.tex import Converter
from mpbert.recommending.manuscripts.tex_commands import walker_context
from mpbert.recommending.manuscripts.tex_sites import MarkedTex
from mpbert.recommending.manuscripts.traced import Origins, joined


class Fragments(Converter):
    """Converts fragments in which places are marked already; collects footnotes on the way."""

    def __init__(self) -> None:
        super().__init__(MarkedTex(joined([]), Origins()), Marks())
        self._context = walker_context()

    def text_of(self, fragment: str) -> str:
        """Return a fragment as text; its marks alone where it cannot be read."""
        try:
            tex = f"{fragment}{{}}"  # a line break would miss what may follow it
            walker = LatexWalker(tex, latex_context=self._context, tolerant_parsing=False)
            nodes = walker.get_latex_nodes()[0]
            return self.nodelist_to_text(nodes)
        except (LatexWalkerError, RecursionError, IndexError):
            return "".join(MARK.findall(fragment))

    def _cite(self, node: LatexMacroNode) -> str:
        return ""
