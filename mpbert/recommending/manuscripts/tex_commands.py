"""The commands and environments of TeX that a manuscript is read with, and their arguments."""

import re
from collections.abc import Collection

from pylatexenc.latexwalker import LatexNode, LatexWalker
from pylatexenc.latexwalker import get_default_latex_context_db as get_default_walker_db
from pylatexenc.macrospec import (
    EnvironmentSpec,
    LatexContextDb,
    MacroSpec,
    MacroStandardArgsParser,
    ParsedMacroArgs,
)

from mpbert.recommending.manuscripts.citation_commands import (
    CITE_COMMANDS,
    MULTI_CITE_COMMANDS,
    VOLUME_CITE_COMMANDS,
)
from mpbert.recommending.manuscripts.literal_tex import DRAWINGS

NOTES = (
    "footnote footnotetext tablefootnote endnote sidenote sidenotetext marginnote sidefootnote"
).split()
HEADINGS = "part chapter section subsection subsubsection paragraph subparagraph"
# commands that leave nothing, with their arguments
DROPPED = {
    **dict.fromkeys("label ref eqref pageref autoref cref Cref nameref vref url".split(), "*{"),
    **dict.fromkeys("bibliography bibliographystyle pagestyle nocite pagenumbering".split(), "{"),
    **dict.fromkeys("addbibresource usepackage RequirePackage documentclass".split(), "[{"),
    # notes to oneself, of todonotes, fixme and others
    **dict.fromkeys("todo Todo TODO missingfigure fixme FIXME fxnote fxwarning".split(), "*[{"),
    **dict.fromkeys("fxerror fxfatal todototoc listoftodos marginpar".split(), "*[{"),
    **dict.fromkeys("author date affiliation affil institute address email".split(), "[{"),
    **dict.fromkeys("orcid keywords thispagestyle graphicspath hyphenation".split(), "{"),
    **dict.fromkeys("includegraphics thanks".split(), "*[{"),
    **dict.fromkeys("vspace hspace".split(), "*{"),
    **dict.fromkeys("setlength addtolength setcounter addtocounter".split(), "{{"),
    **dict.fromkeys("index theoremstyle hypersetup cline rowcolor cellcolor".split(), "[{"),
    **dict.fromkeys("newcounter newlength captionsetup hyphenchar phantom".split(), "[{"),
    "newtheorem": "*{[{[",
    **dict.fromkeys(("defcitealias", "DeclareCiteCommand"), "{{"),
    **dict.fromkeys(("deleted", "sout", "DIFdel"), "[{"),  # text that was taken out
    **dict.fromkeys(("color", "pagecolor"), "[{"),
    "definecolor": "{{{",
    "printbibliography": "[",
    "cmidrule": "{",
    **dict.fromkeys("maketitle tableofcontents appendix newpage clearpage".split(), ""),
}
DROPPED["todototoc"] = DROPPED["listoftodos"] = ""
# commands that set the page and leave their arguments as text, where they have any
LAYOUT = frozenset(
    "noindent indent centering raggedright raggedleft small footnotesize scriptsize tiny "
    "normalsize large Large LARGE huge Huge bf it tt rm sf sl sc em bfseries itshape ttfamily "
    "rmfamily sffamily scshape slshape upshape mdseries normalfont selectfont hline toprule "
    "midrule bottomrule addlinespace hfill vfill hfil hrulefill dotfill smallskip medskip bigskip "
    "newline linebreak pagebreak nopagebreak nolinebreak cleardoublepage allowbreak left right "
    "middle big Big bigg Bigg bigl bigr Bigl Bigr displaystyle textstyle scriptstyle limits "
    "nolimits protect relax ignorespaces unskip leavevmode linewidth textwidth columnwidth "
    "textheight baselineskip parindent parskip arraystretch tabcolsep null strut makeatletter "
    "makeatother frontmatter mainmatter backmatter listoffigures listoftables printindex newblock "
    "sloppy fussy onecolumn twocolumn flushbottom raggedbottom global long centerline mbox fbox "
    "hbox vbox makebox framebox parbox minipage resizebox scalebox rotatebox adjustbox subfloat "
    "subcaption subcaptionbox footnotemark textnormal textup textmd underline uline fi else "
    "endinput LaTeX TeX LaTeXe BibTeX and email date today thepage csname endcsname "
    "verb lstinline texttt textsf textrm textlf textsl textbf textit boldsymbol bm ac acp acs acl "
    "acf acro acused Ac gls Gls glspl Glspl acrshort acrlong ensuremath texorpdfstring markboth "
    "markright microtypesetup numprint enquote S og fg textsuperscript textsubscript hl color "
    "added SI si qty num unit SIrange alph arabic roman Alph Roman".split()
)
_FORMULAS = (
    "equation equation* align align* alignat alignat* gather gather* multline multline* eqnarray "
    "eqnarray* flalign flalign* displaymath math algorithmic"
).split()
LISTINGS = ("lstlisting", "minted")  # of programs, where % begins no comment
ALGORITHMS = ("algorithm", "algorithm*")  # of which the caption is read
UNPRINTED = "thebibliography verbatim verbatim* filecontents filecontents* comment CCSXML".split()
# left out, but their citations are counted
COUNTED = (*_FORMULAS, *DRAWINGS, *LISTINGS, *ALGORITHMS)
# environments of rows, and their arguments
TABLES = {
    **{"tabular": "[{", "tabular*": "{[{", "tabularx": "{[{", "tabulary": "{[{"},
    **{"longtable": "[{", "supertabular": "{", "xltabular": "{[{", "tabu": "{"},
    **dict.fromkeys("tblr longtblr talltblr".split(), "[{"),
    **dict.fromkeys("NiceTabular NiceTabular*".split(), "[{["),
}
# environments of boxes and lists, whose arguments set the page
BOXES = {
    **dict.fromkeys("minipage multicols spacing adjustbox subfigure subtable".split(), "[[[{"),
    **dict.fromkeys("wrapfigure wraptable SCfigure".split(), "[{[{"),
    **dict.fromkeys("enumerate itemize description tcolorbox mdframed".split(), "["),
    **dict.fromkeys("otherlanguage otherlanguage*".split(), "{"),
}
# environments whose options are no text
WITH_OPTIONS = frozenset((*TABLES, *BOXES, *UNPRINTED, *COUNTED))
WITH_OPTIONS |= {"figure", "figure*", "table", "table*"}
# environments that stand within a sentence
INLINE = frozenset(
    "inparaenum enumerate* itemize* math otherlanguage* document subequations small".split()
)
# commands of csquotes that quote a paper, and where its key stands among their arguments
QUOTES = {
    **dict.fromkeys("textcquote blockcquote hybridblockcquote".split(), 1),
    **dict.fromkeys("foreigntextcquote foreignblockcquote hyphentextcquote".split(), 2),
}
# what a manuscript may define anew, and means what it did
KEPT = (
    CITE_COMMANDS
    | MULTI_CITE_COMMANDS
    | VOLUME_CITE_COMMANDS
    | {*DROPPED, *HEADINGS.split(), *TABLES, *COUNTED, *UNPRINTED}
    | {"title", "abstract", "caption", "captionof", "footnote", "footnotetext", "item", "par"}
    | {"document", "figure", "figure*", "table", "table*", "multicolumn", "multirow", "bibitem"}
)


class _CiteArguments(MacroStandardArgsParser):
    r"""Arguments of a command that cites: stars, notes in brackets, keys in braces.

    :param num_groups: groups in braces, of which the last holds the keys; 0 for any number, all of
        which hold keys, as in ``\cites(see)()[1]{a}[2]{b}``.
    """

    _NOTES = re.compile(r"\*?(?:\s*\([^()]*\)){0,2}")
    _ANGLE = re.compile(r"<[^<>{}]{0,200}>")  # of apacite
    _BRACKET = re.compile(r"\s*\[")
    _BRACE = re.compile(r"\s*\{")

    def __init__(self, num_groups: int) -> None:
        super().__init__()
        self._num_groups = num_groups

    def parse_args(
        self, w: LatexWalker, pos: int, parsing_state: object = None
    ) -> tuple[ParsedMacroArgs, int, int]:
        """Return the groups of keys, where they begin, and how long all arguments are."""
        end = pos + w.s.startswith("*", pos)
        if not self._num_groups:
            end = self._NOTES.match(w.s, pos).end()
        groups: list[LatexNode] = []
        if angle := self._ANGLE.match(w.s, end):
            end = angle.end()
        while True:
            while self._BRACKET.match(w.s, end):
                note = w.get_latex_maybe_optional_arg(end, parsing_state=parsing_state)
                if note is None:
                    break
                end = note[1] + note[2]
            if not self._BRACE.match(w.s, end):
                break
            node, start, length = w.get_latex_expression(
                end, strict_braces=False, parsing_state=parsing_state
            )
            groups.append(node)
            end = start + length
            if len(groups) == self._num_groups:
                break
        keys = groups if not self._num_groups else groups[self._num_groups - 1 :]
        return ParsedMacroArgs(argspec="{" * len(keys), argnlist=keys), pos, end - pos


def walker_context(citing: Collection[str] = ()) -> LatexContextDb:
    """Return which arguments commands and environments take, those of citing among them.

    :param citing: more commands that cite.
    """
    context = get_default_walker_db()
    macros = [
        *(MacroSpec(name, args_parser=_CiteArguments(1)) for name in {*CITE_COMMANDS, *citing}),
        *(MacroSpec(name, args_parser=_CiteArguments(0)) for name in MULTI_CITE_COMMANDS),
        *(MacroSpec(name, args_parser=_CiteArguments(2)) for name in VOLUME_CITE_COMMANDS),
        *(MacroSpec(name, arguments) for name, arguments in DROPPED.items()),
        *(MacroSpec(name, "*[{") for name in (*HEADINGS.split(), "caption")),
        *(MacroSpec(n, "[{") for n in ("title", *NOTES)),
        *(MacroSpec(name, "{") for name in ("abstract", "operatorname", "underline", "mbox")),
        MacroSpec("captionof", "{[{"),
        MacroSpec("href", args_parser=_CiteArguments(2)),
        MacroSpec("texorpdfstring", "{{"),
        MacroSpec("replaced", "[{{"),
        MacroSpec("added", "[{"),
        MacroSpec("hyperref", "[{"),
        *(MacroSpec(name, "{{") for name in ("hyperlink", "hypertarget")),
        *(MacroSpec(n, args_parser=_CiteArguments(at)) for n, at in QUOTES.items()),
        MacroSpec("multicolumn", "{{{"),
        MacroSpec("multirow", "[{[{[{"),
        MacroSpec("cmidrule", args_parser=_CiteArguments(0)),
    ]
    floats = ("figure", "figure*", "table", "table*", *ALGORITHMS)
    environments = [EnvironmentSpec(name, "[") for name in floats]
    environments += [EnvironmentSpec(*each) for each in (*TABLES.items(), *BOXES.items())]
    environments += [EnvironmentSpec(n, "{") for n in ("block", "alertblock", "exampleblock")]
    context.add_context_category(
        "manuscript", macros=macros, environments=environments, prepend=True
    )
    return context
