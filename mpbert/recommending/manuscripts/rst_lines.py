"""Lines of reStructuredText: which hold sentences, which are directives, code or comments."""

import re

from mpbert.recommending.manuscripts.light import HEADING

_PRINTING = frozenset(  # directives whose body is text
    "note warning attention caution danger error hint important tip admonition seealso figure "
    "table list-table sidebar topic epigraph highlights pull-quote compound container rubric "
    "abstract versionadded versionchanged deprecated todo card dropdown tab-item grid".split()
)
_EXPLICIT = re.compile(r"([ \t]*)\.\.(?:[ \t]+(.*))?$")
_DIRECTIVE = re.compile(r"(?:\|[^|]+\|[ \t]+)?([\w:.+-]+)::(.*)")
_REFERENCE = re.compile(r"\[([^\[\]]+)\][ \t]*(.*)")
_OPTION = re.compile(r"[ \t]*:[\w -]+:([ \t].*)?$")
_RULE = re.compile(r"([=\-`:.'\"~^_*+#<>])\1{2,}[ \t]*$")


class RstLines:
    """The lines of a text, block by block.

    :ivar kept: lines of sentences and headings.
    :ivar dropped: [start, end) of the others, in which nothing cites.
    :ivar printed: references that the text prints: key -> text.
    :ivar files: bibliographies that it names.
    """

    def __init__(self, text: str) -> None:
        self.title, self.kept, self.files = "", [""], []
        self.dropped: list[tuple[int, int]] = []
        self.printed: dict[str, str] = {}
        self._depth = -1  # a block that is left out lasts while lines are indented more
        self._opens_literal, self._literal_depth = False, 0
        place = 0
        for line in text.split("\n"):
            if not self._keep(line):
                self.dropped.append((place, place + len(line)))
            place += len(line) + 1

    def _keep(self, line: str) -> bool:
        depth = len(line) - len(line.lstrip())
        if not line.strip():
            self.kept.append("")
            return True
        if depth > self._depth >= 0:
            return False
        self._depth = -1
        if self._opens_literal and depth > self._literal_depth:
            self._depth, self._opens_literal = self._literal_depth, False
            return False
        self._opens_literal = False
        if _RULE.match(line):
            self._end_heading()
            return True
        if explicit := _EXPLICIT.match(line):
            return self._explicit(depth, explicit[2] or "")
        if _OPTION.match(line):
            return False
        if line.rstrip().endswith("::"):
            self._opens_literal, self._literal_depth = True, depth
            line = line.rstrip()[:-1]
        self.kept.append(line)
        return True

    def _end_heading(self) -> None:
        if not self.kept[-1].strip():
            return
        heading = self.kept.pop()
        if not self.title:
            self.title = heading.strip()
        else:
            self.kept += ["", HEADING + heading.strip(), ""]

    def _explicit(self, depth: int, said: str) -> bool:
        """Read the first line of a directive, a reference or a comment."""
        self._depth = depth
        self.kept.append("")
        if directive := _DIRECTIVE.match(said):
            name, argument = directive[1], directive[2].strip()
            if name in ("bibliography", "footbibliography"):
                self.files += argument.split()
            elif name.rpartition(":")[2] in _PRINTING:
                self._depth = -1
                self.kept += ["", argument if name != "figure" else "", ""]
                return True
        elif reference := _REFERENCE.match(said):
            if reference[1][0].isalpha():
                self.printed[reference[1]] = reference[2]
            else:
                self._depth = -1
                self.kept.append(reference[2])
                return True
        return False
