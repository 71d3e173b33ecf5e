r"""Manuscripts in TeX, read with pylatexenc: text without commands, one mark for each citation.

Left out are comments, headings without a citation, displayed and long formulas, tables, listings
and the list of references; footnotes stand at the end. ``\input`` is followed within the folder.
Commands that the manuscript defines itself are not expanded.
"""

import logging
import os
import posixpath
import unicodedata
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pylatexenc.latex2text import (
    EnvironmentTextSpec,
    LatexNodes2Text,
    MacroTextSpec,
    get_default_latex_context_db,
)
from pylatexenc.latexwalker import (
    LatexEnvironmentNode,
    LatexMacroNode,
    LatexNode,
    LatexWalker,
    LatexWalkerError,
)
from pylatexenc.macrospec import LatexContextDb

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.marks import (
    CITE_COMMANDS,
    MARK,
    MULTI_CITE_COMMANDS,
    VOLUME_CITE_COMMANDS,
    Marks,
    mark_places,
    split_keys,
    without_marks,
)
from mpbert.recommending.manuscripts.sentences import Draft
from mpbert.recommending.manuscripts.tex_commands import (
    DROPPED,
    DROPPED_ENVIRONMENTS,
    HEADINGS,
    walker_context,
)
from mpbert.recommending.manuscripts.utf8 import read_utf8

logger = logging.getLogger(__name__)

_LONGEST_FORMULA = 20  # characters
# pylatexenc accents every character of an argument, accents too: each of \c{\c{\c{...}}} doubled it
_ACCENTS = {
    **{"'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304"},
    **{"c": "\u0327", "k": "\u0328", "H": "\u030b", "b": "\u0331", ".": "\u0307", "d": "\u0323"},
    **{"r": "\u030a", "u": "\u0306", "v": "\u030c", "not": "\u0338", "vec": "\u20d7"},
    **{"acute": "\u0301", "grave": "\u0300", "hat": "\u0302", "tilde": "\u0303", "bar": "\u0305"},
    **{"dot": "\u0307", "ddot": "\u0308", "check": "\u030c", "breve": "\u0306"},
}
_MOST_INPUTS = 1000  # files that include others twice each would never end


def read_tex(text: str, path: Path) -> Draft:
    r"""Return the draft in a TeX file: what stands in ``document`` where there is one.

    :param path: name for messages; ``\input`` is followed within its folder.
    :raises ManuscriptError: it cannot be parsed.
    """
    converter = _Converter(path)
    try:
        nodes = converter.parse(text)
        document = _first(nodes, LatexEnvironmentNode, "document")
        body = converter.nodelist_to_text(nodes if document is None else document.nodelist)
        title = _first(nodes, LatexMacroNode, "title")
        heading = "" if title is None else converter.last_argument(title)
    except (LatexWalkerError, RecursionError, IndexError) as error:
        at_end = isinstance(error, IndexError)  # the parser reads on behind the end
        reason = r"\verb at the end" if at_end else " ".join(str(error).split())[:200]
        raise ManuscriptError(
            f"{path}: cannot be read as TeX ({reason}); mend it, or pass plain text"
        ) from error
    marks = converter.marks
    title, abstract, text = (
        mark_places(part, marks)
        for part in (
            heading,
            "\n\n".join(converter.abstracts),
            "\n\n".join([body, *converter.footnotes]),
        )
    )
    return Draft(text, marks, title, abstract)


class _Converter(LatexNodes2Text):
    """Converts nodes to text; collects places, abstracts and footnotes on the way."""

    def __init__(self, path: Path) -> None:
        super().__init__(latex_context=self._text_context(), math_mode="text")
        self._path = path
        self.marks = Marks()
        self.abstracts: list[str] = []
        self.footnotes: list[str] = []
        self._open = [path.stem]  # files that are being read
        self._num_inputs = 0

    def parse(self, text: str) -> list[LatexNode]:
        """Return the nodes of a text."""
        walker = LatexWalker(without_marks(text), latex_context=walker_context())
        return walker.get_latex_nodes()[0]

    def last_argument(self, node: LatexMacroNode) -> str:
        """Return the text of a command's last argument, which may lack."""
        return self.nodelist_to_text(_arguments(node)[-1:])

    def macro_node_to_text(self, node: LatexMacroNode) -> str:
        """Return the text of a command."""
        return _text_or_nothing(super().macro_node_to_text, node)

    def environment_node_to_text(self, node: LatexEnvironmentNode) -> str:
        """Return the text of an environment."""
        return _text_or_nothing(super().environment_node_to_text, node)

    def math_node_to_text(self, node: LatexNode) -> str:
        """Return a short formula within a line as text, and nothing for others."""
        if getattr(node, "displaytype", "display") == "display":
            return " "
        text = self.nodelist_to_text(node.nodelist)
        return text if len(text) <= _LONGEST_FORMULA else " "

    def _text_context(self) -> LatexContextDb:
        context = get_default_latex_context_db()
        own: dict[str, Callable[[LatexNode], str]] = {
            **dict.fromkeys(CITE_COMMANDS, self._cite),
            **dict.fromkeys(MULTI_CITE_COMMANDS, self._cite),
            **dict.fromkeys(VOLUME_CITE_COMMANDS, self._cite),
            **dict.fromkeys(HEADINGS.split(), self._heading),
            **dict.fromkeys(("input", "include", "subfile"), self._input),
            **dict.fromkeys(("footnote", "footnotetext"), self._footnote),
            "abstract": self._abstract,
            "caption": lambda node: f"\n\n{self.last_argument(node)}\n\n",
            "item": lambda node: "\n\n",
            "par": lambda node: "\n\n",
        }
        own |= {name: partial(self._accented, accent) for name, accent in _ACCENTS.items()}
        macros = [MacroTextSpec(name, simplify_repl=repl) for name, repl in own.items()]
        macros += [MacroTextSpec(name, discard=True) for name in (*DROPPED, "title")]
        environments = [EnvironmentTextSpec(name, discard=True) for name in DROPPED_ENVIRONMENTS]
        environments += [
            EnvironmentTextSpec("abstract", simplify_repl=self._abstract_environment),
            *(
                EnvironmentTextSpec(name, simplify_repl=self._apart)
                for name in ("figure", "figure*", "table", "table*", "quote", "quotation")
            ),
        ]
        context.add_context_category(
            "manuscript", macros=macros, environments=environments, prepend=True
        )
        return context

    def _accented(self, accent: str, node: LatexNode) -> str:
        """Return an argument whose first letter has an accent."""
        text = self.last_argument(node).strip()
        if not text or MARK.match(text):
            return text
        letter = {"ı": "i", "ȷ": "j"}.get(text[0], text[0])
        return unicodedata.normalize("NFC", letter + accent) + text[1:]

    def _cite(self, node: LatexNode) -> str:
        groups = [group.latex_verbatim() for group in _arguments(node)]
        return self.marks.add(
            tuple(key for group in groups for key in split_keys(group.strip("{}")))
        )

    def _heading(self, node: LatexNode) -> str:
        text = self.last_argument(node)
        return f"\n\n{text if MARK.search(text) else ''}\n\n"

    def _footnote(self, node: LatexNode) -> str:
        self.footnotes.append(self.last_argument(node))
        return ""

    def _abstract(self, node: LatexNode) -> str:
        self.abstracts.append(self.last_argument(node))
        return "\n\n"

    def _abstract_environment(self, node: LatexNode) -> str:
        self.abstracts.append(self.nodelist_to_text(node.nodelist))
        return "\n\n"

    def _apart(self, node: LatexNode) -> str:
        return f"\n\n{self.nodelist_to_text(node.nodelist)}\n\n"

    def _input(self, node: LatexNode) -> str:
        name = self.last_argument(node).strip()
        stem = posixpath.normpath(name.removesuffix(".tex"))
        if stem in self._open:
            return ""
        self._num_inputs += 1
        if self._num_inputs > _MOST_INPUTS:
            raise ManuscriptError(
                f"{self._path}: includes more than {_MOST_INPUTS:,} files; mend it or "
                f"pass plain text"
            )
        self._open.append(stem)
        converted = self.nodelist_to_text(self.parse(self._included(name)))
        self._open.pop()
        return converted

    def _included(self, name: str) -> str:
        folder = self._path.parent.resolve()
        places = (os.path.join(folder, name + suffix) for suffix in ("", ".tex"))
        found = next(filter(os.path.isfile, places), None)  # of odd names too, unlike Path.is_file
        if found is None or not Path(found).resolve().is_relative_to(folder):
            where = "no such file" if found is None else "a file outside of the folder"
            logger.warning("%s: \\input of %r: found %s; left out", self._path, name, where)
            return ""
        return read_utf8(Path(found))


def _text_or_nothing(convert: Callable[[LatexNode], str], node: LatexNode) -> str:
    r"""Return what pylatexenc makes of a node: nothing of \href and others without arguments."""
    try:
        return convert(node)
    except (AttributeError, LookupError, TypeError, ValueError):
        return ""


def _arguments(node: LatexMacroNode) -> list[LatexNode]:
    """Return the arguments of a command, of which it has none as the argument of another."""
    return list(node.nodeargd.argnlist) if node.nodeargd else []


def _first(nodes: list[LatexNode], kind: type[LatexNode], name: str) -> LatexNode | None:
    """Return the first command or environment of a name, also within environments."""
    for node in nodes:
        if isinstance(node, kind) and name in (
            getattr(node, "macroname", None),
            getattr(node, "environmentname", None),
        ):
            return node
        if isinstance(node, LatexEnvironmentNode):
            found = _first(node.nodelist, kind, name)
            if found is not None:
                return found
    return None
