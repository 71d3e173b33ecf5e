r"""TeX in the midst of Markdown and Org: ``\textsf{a}`` becomes the words that it prints."""

import re
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpbert.recommending.manuscripts.tex_fragments import Fragments

_INNER = r"[^{}\\]"
for _ in range(4):  # groups within groups
    _INNER = rf"(?:\\.|[^{{}}\\\n]|\n(?!\s*\n)|\{{{_INNER}{{0,2000}}+\}})"
_GROUP = rf"\{{({_INNER}{{0,5000}}+)\}}"
_OPTION = r"\[[^\[\]\n]{0,500}\]"
_COMMAND = re.compile(  # {\em x}; \textsf{x}; the space behind a command
    rf"\{{(?=\\[A-Za-z]){_INNER}{{0,5000}}+\}}|\\[A-Za-z]+\*?(?:{_OPTION}|{_GROUP})*+|\\(?=\s)"
)
_CAPTION = re.compile(rf"\\caption\*?(?:{_OPTION})?{_GROUP}")
_LABEL = re.compile(r"(?<![ \t])[ \t]*\\label\{[^{}\n]{0,200}\}")
_DISPLAYED = re.compile(
    r"\\begin\{(equation|align|gather|multline|eqnarray)(\*?)\}(?:(?!\\begin\{\1).)*?\\end\{\1\2\}",
    re.DOTALL,
)
_SETTING = re.compile(
    rf"\\(?:begin|end)\{{[A-Za-z]{{1,20}}\*?\}}(?:{_OPTION}|\{{[^{{}}\s]*\}})*|\\centering\b"
)


def parts_apart(text: str) -> str:
    """Return a text in which captions and environments stand apart; labels and formulas go."""
    text = _LABEL.sub("", _DISPLAYED.sub("\n\n", text))
    return _SETTING.sub("\n\n", _CAPTION.sub(r"\n\n\1\n\n", text))


class RawTex:
    """The TeX of one manuscript in another markup."""

    @cached_property
    def _fragments(self) -> "Fragments":
        from mpbert.recommending.manuscripts.tex_fragments import Fragments  # few manuscripts

        return Fragments()

    def words(self, text: str) -> str:
        """Return a text in which commands are the words that they print."""
        return _COMMAND.sub(lambda command: self._fragments.text_of(command[0]), text)

    def text_of(self, tex: str) -> str:
        """Return TeX as text."""
        return self._fragments.text_of(tex)

    def take_notes(self) -> list[str]:
        """Return the footnotes that were read, each once."""
        if "_fragments" not in self.__dict__:
            return []
        notes, self._fragments.footnotes = self._fragments.footnotes, []
        return notes
