r"""Manuscripts in TeX, read with pylatexenc: text without commands, one mark for each citation.

Left out are comments, headings without a citation, displayed and long formulas, rows of tables
without a citation, notes to oneself such as ``\todo``, listings and the list of references;
footnotes stand at the end. Of algorithms captions are read. Citations in formulas, algorithms,
drawings and listings are counted. Commands that the manuscript defines are expanded first, and
``\input`` is followed within the folder: see :mod:`mpbert.recommending.manuscripts.expand`.
"""

import logging
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

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
    LatexWalkerError,
)
from pylatexenc.macrospec import LatexContextDb

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.citation_commands import ALL_COMMANDS, is_noun, other_commands
from mpbert.recommending.manuscripts.expand import Expander
from mpbert.recommending.manuscripts.left_out import LeftOut
from mpbert.recommending.manuscripts.literal_tex import blanked
from mpbert.recommending.manuscripts.marks import (
    CROSS_REFERENCE,
    MARK,
    Marks,
    mark_places,
    noun_of,
    split_keys,
)
from mpbert.recommending.manuscripts.named_keys import named_keys
from mpbert.recommending.manuscripts.references import about_tex
from mpbert.recommending.manuscripts.sentences import Draft
from mpbert.recommending.manuscripts.source_text import SourceText
from mpbert.recommending.manuscripts.tex_accents import ACCENTS, accented
from mpbert.recommending.manuscripts.tex_commands import (
    ALGORITHMS,
    COUNTED,
    DROPPED,
    HEADINGS,
    INLINE,
    KEPT,
    LAYOUT,
    LISTINGS,
    NOTES,
    QUOTES,
    TABLES,
    UNPRINTED,
    WITH_OPTIONS,
    walker_context,
)
from mpbert.recommending.manuscripts.tex_nodes import (
    arguments_of,
    first_node,
    rows_of,
    text_or_nothing,
)
from mpbert.recommending.manuscripts.tex_sites import MarkedTex, marked_tex
from mpbert.recommending.manuscripts.tolerant import TolerantWalker

logger = logging.getLogger(__name__)

_QUOTE = re.compile(r"\"[`']|,,(?=\w)")  # of German, as babel takes them
_PARAMETER = re.compile(r"#+[1-9]")
_LONGEST_FORMULA = 20  # characters
_WORD, _MOST_WORDS = re.compile(r"\b[a-z]{3,}\b"), 6  # in a formula
_NAMED = 5  # commands that a warning names


def read_tex(source: SourceText, includes: bool = True) -> Draft:
    r"""Return the draft in a TeX file: what stands in ``document`` where there is one.

    Commands that nobody defines and pylatexenc does not know are counted in one warning, citations
    that are left out in another.

    :param source: the file; ``\input`` is followed within its folder.
    :param includes: whether it is; a text that came over the network names no files of ours.
    :raises ManuscriptError: it cannot be parsed, or its commands have no end.
    """
    expander = Expander(source, KEPT, includes)
    expanded = expander.expand()
    marks = Marks()
    marked = marked_tex(expanded, expander.origins, marks)
    converter = Converter(marked, marks)
    try:
        walker = TolerantWalker(blanked(marked.text), walker_context(converter.citing))
        nodes = walker.get_latex_nodes()[0]
        document = first_node(nodes, LatexEnvironmentNode, "document")
        body = converter.nodelist_to_text(nodes if document is None else document.nodelist)
        title = first_node(nodes, LatexMacroNode, "title")
        heading = "" if title is None else converter.last_argument(title)
    except (LatexWalkerError, RecursionError, IndexError) as error:
        at_end = isinstance(error, IndexError)  # the parser reads on behind the end
        reason = r"\verb at the end" if at_end else " ".join(str(error).split())[:200]
        raise ManuscriptError(
            f"{source.path}: cannot be read as TeX ({reason}); mend it, or pass plain text"
        ) from error
    walker.warn(source.path, marked, 0 if document is None else document.pos)
    _warn(source, converter.unread)
    converter.left_out.warn(source.path)
    title, abstract, text = (
        mark_places(_QUOTE.sub(lambda sign: "“" if sign[0] == "\"'" else "„", part), marks)
        for part in (
            heading,
            "\n\n".join(converter.abstracts),
            "\n\n".join([body, *converter.footnotes]),
        )
    )
    about = replace(about_tex(expanded.text), keys=named_keys(marked, converter.citing))
    return Draft(text, marks, title, abstract, about)


def _warn(source: SourceText, unread: Counter[str]) -> None:
    """Say which commands left nothing but their arguments."""
    if unread:
        named = ", ".join(f"\\{name} ({count:,})" for name, count in unread.most_common(_NAMED))
        more = ", ..." if len(unread) > _NAMED else ""
        logger.warning(
            "%s: %s uses of %s unknown commands were left out, and their arguments read as text: "
            "%s%s; define them with \\newcommand if that is wrong",
            *(source.path, f"{unread.total():,}", f"{len(unread):,}", named, more),
        )


class Converter(LatexNodes2Text):
    """Converts nodes to text; collects places, abstracts and footnotes on the way.

    :ivar unread: how often each unknown command stood in the text.
    :ivar left_out: citations in parts that are not read; ``citing``: other commands that cite.
    """

    def __init__(self, marked: MarkedTex, marks: Marks) -> None:
        self.citing = other_commands(marked.text)
        super().__init__(latex_context=self._text_context(), math_mode="text")
        self._marked, self._marks = marked, marks
        self.abstracts: list[str] = []
        self.footnotes: list[str] = []
        self.unread: Counter[str] = Counter()
        self.left_out = LeftOut(marked)

    def last_argument(self, node: LatexMacroNode) -> str:
        """Return the text of a command's last argument."""
        return self.nodelist_to_text(arguments_of(node)[-1:])

    def macro_node_to_text(self, node: LatexMacroNode) -> str:
        """Return the text of a command."""
        if self.latex_context.get_macro_spec(node.macroname) is None:
            name = node.macroname
            self.unread.update([name] if name.isalpha() and name not in LAYOUT else [])
        return text_or_nothing(super().macro_node_to_text, node)

    def environment_node_to_text(self, node: LatexEnvironmentNode) -> str:
        r"""Return the text of an environment; ``\begin{theorem}[\cite{a}]`` cites, too."""
        text = text_or_nothing(super().environment_node_to_text, node)
        name = node.environmentname
        if name not in WITH_OPTIONS and node.nodeargd:
            note = self.nodelist_to_text([n for n in node.nodeargd.argnlist or [] if n is not None])
            text = f"{note} {text}" if MARK.search(note) else text
        stands_within = name in INLINE or name in COUNTED or name in UNPRINTED
        return text if stands_within else f"\n\n{text}\n\n"

    def math_node_to_text(self, node: LatexNode) -> str:
        """Return a short formula within a line as text, and nothing for others."""
        if getattr(node, "displaytype", "display") == "display":
            self.left_out.add(node, "formula")
            return " "
        marked = "".join(MARK.findall(node.latex_verbatim()))  # $x_{[?]}$ is no place
        text = self.nodelist_to_text(node.nodelist).translate(dict.fromkeys(map(ord, marked)))
        if not any(map(str.isalnum, text)):  # $^{\cite{a}}$
            return "".join(MARK.findall(text)) or text
        is_text = len(_WORD.findall(text)) >= _MOST_WORDS  # a $ of code has shifted formulas
        return (
            text if is_text or len(text) <= _LONGEST_FORMULA else " " + "".join(MARK.findall(text))
        )

    def _text_context(self) -> LatexContextDb:
        context = get_default_latex_context_db()
        own: dict[str, Callable[[LatexNode], str]] = {
            **dict.fromkeys((*ALL_COMMANDS, *self.citing), self._cite),
            **dict.fromkeys(HEADINGS.split(), self._heading),
            **dict.fromkeys(NOTES, self._footnote),
            **dict.fromkeys(_LAST_ARGUMENT, self.last_argument),
            **dict.fromkeys(QUOTES, self._cite),
            **dict.fromkeys(("autoref", "cref", "Cref", "vref"), self._reference),
            "replaced": lambda node: self.nodelist_to_text(arguments_of(node)[1:2]),
            "abstract": self._abstract,
            "texorpdfstring": lambda node: self.nodelist_to_text(arguments_of(node)[:1]),
            **dict.fromkeys(("caption", "captionof"), self._caption),
            "item": self._item,
            "par": lambda node: "\n\n",
        }
        own |= {name: partial(self._accented, accent) for name, accent in ACCENTS.items()}
        macros = [MacroTextSpec(name, simplify_repl=repl) for name, repl in own.items()]
        dropped = (name for name in (*DROPPED, "title") if name not in own)
        macros += [MacroTextSpec(name, discard=True) for name in dropped]
        environments = [EnvironmentTextSpec(name, discard=True) for name in UNPRINTED]
        environments += [EnvironmentTextSpec(name, simplify_repl=self._drop) for name in COUNTED]
        environments += [
            EnvironmentTextSpec("abstract", simplify_repl=self._abstract_environment),
            *(EnvironmentTextSpec(name, simplify_repl=self._table) for name in TABLES),
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
        return accented(accent, self.last_argument(node))

    def _cite(self, node: LatexNode) -> str:
        groups = arguments_of(node)
        verbatim = [group.latex_verbatim() for group in groups]
        keys = tuple(key for text in verbatim for key in split_keys(text.strip("{}")))
        if any(_PARAMETER.match(key) for key in keys):
            return ""  # it stands in a definition that is not understood
        site = None
        if groups and verbatim[-1][:1] == "{" and verbatim[-1][-1:] == "}":
            start, end = groups[-1].pos + 1, groups[-1].pos + groups[-1].len - 1
            site = self._marked.site_of_keys(start, end, node.macroname)
        return self._marks.add(keys, site, is_noun(node.macroname))

    def _heading(self, node: LatexNode) -> str:
        text = self.last_argument(node)
        return f"\n\n{text if MARK.search(text) else ''}\n\n"

    def _item(self, node: LatexNode) -> str:
        label = self.nodelist_to_text([each for each in arguments_of(node) if each is not None])
        return f"\n\n{label} " if MARK.search(label) else "\n\n"

    def _reference(self, node: LatexNode) -> str:
        """Return the noun that a cross-reference prints."""
        kind = CROSS_REFERENCE.match(self.last_argument(node))
        return "This" if kind is None else noun_of(kind[1])

    def _caption(self, node: LatexNode) -> str:
        return f"\n\n{self.last_argument(node)}\n\n"

    def _drop(self, node: LatexEnvironmentNode) -> str:
        """Return the captions of an algorithm, and nothing of others; count what they cite."""
        name = node.environmentname
        if name not in ALGORITHMS:
            self.left_out.add(node, name.rstrip("*"), name not in LISTINGS)
            return " "
        captions = []
        for child in node.nodelist:
            if isinstance(child, LatexMacroNode) and child.macroname == "caption":
                captions.append(self._caption(child))
            else:
                self.left_out.add(child, name.rstrip("*"))
        return "".join(captions)

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

    def _table(self, node: LatexEnvironmentNode) -> str:
        """Return a paragraph for each row with a citation; others are numbers more than text."""
        texts = [", ".join(filter(None, map(self._cell, row))) for row in rows_of(node.nodelist)]
        return "".join(f"\n\n{text}\n\n" for text in texts if MARK.search(text))

    def _cell(self, nodes: list[LatexNode]) -> str:
        return " ".join(self.nodelist_to_text(nodes).split())


_LAST_ARGUMENT = (
    "added multicolumn multirow href hyperref hyperlink hypertarget "
    "mbox operatorname textmd textsf textup"
).split()
