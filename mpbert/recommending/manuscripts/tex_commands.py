"""The commands and environments of TeX that a manuscript is read with, and their arguments."""

import re

from pylatexenc.latexwalker import LatexNode, LatexWalker
from pylatexenc.latexwalker import get_default_latex_context_db as get_default_walker_db
from pylatexenc.macrospec import (
    EnvironmentSpec,
    LatexContextDb,
    MacroSpec,
    MacroStandardArgsParser,
    ParsedMacroArgs,
)

from mpbert.recommending.manuscripts.marks import (
    CITE_COMMANDS,
    MULTI_CITE_COMMANDS,
    VOLUME_CITE_COMMANDS,
)

HEADINGS = "part chapter section subsection subsubsection paragraph subparagraph"
# commands that leave nothing, with their arguments
DROPPED = {
    **dict.fromkeys("label ref eqref pageref autoref cref Cref nameref vref url".split(), "*{"),
    **dict.fromkeys("bibliography bibliographystyle addbibresource pagestyle nocite".split(), "{"),
    **dict.fromkeys("author date affiliation affil institute address email".split(), "[{"),
    **dict.fromkeys("orcid keywords thispagestyle graphicspath hyphenation".split(), "{"),
    **dict.fromkeys("includegraphics thanks".split(), "*[{"),
    **dict.fromkeys("vspace hspace".split(), "*{"),
    "printbibliography": "[",
    **dict.fromkeys("maketitle tableofcontents appendix newpage clearpage".split(), ""),
}
DROPPED_ENVIRONMENTS = (
    "equation equation* align align* alignat alignat* gather gather* multline multline* eqnarray "
    "eqnarray* flalign flalign* displaymath math tabular tabular* tabularx tabulary longtable "
    "tikzpicture pgfpicture thebibliography verbatim verbatim* lstlisting minted filecontents "
    "filecontents* algorithm algorithm* algorithmic comment CCSXML"
).split()


class _CiteArguments(MacroStandardArgsParser):
    r"""Arguments of a command that cites: stars, notes in brackets, keys in braces.

    :param num_groups: groups in braces, of which the last holds the keys; 0 for any number, all of
        which hold keys, as in ``\cites(see)()[1]{a}[2]{b}``.
    """

    _NOTES = re.compile(r"\*?(?:\s*\([^()]*\)){0,2}")
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


def walker_context() -> LatexContextDb:
    """Return which arguments commands and environments take, those of citing among them."""
    context = get_default_walker_db()
    macros = [
        *(MacroSpec(name, args_parser=_CiteArguments(1)) for name in CITE_COMMANDS),
        *(MacroSpec(name, args_parser=_CiteArguments(0)) for name in MULTI_CITE_COMMANDS),
        *(MacroSpec(name, args_parser=_CiteArguments(2)) for name in VOLUME_CITE_COMMANDS),
        *(MacroSpec(name, arguments) for name, arguments in DROPPED.items()),
        *(MacroSpec(name, "*[{") for name in (*HEADINGS.split(), "caption")),
        *(MacroSpec(name, "[{") for name in ("title", "footnote", "footnotetext")),
        *(MacroSpec(name, "{") for name in ("input", "include", "subfile", "abstract")),
    ]
    environments = [EnvironmentSpec(name, "[") for name in ("figure", "figure*", "table", "table*")]
    context.add_context_category(
        "manuscript", macros=macros, environments=environments, prepend=True
    )
    return context
