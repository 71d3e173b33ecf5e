r"""TeX without commands of its own: ``\input`` and what a manuscript defines are put in place.

It is what TeX does before it sets a line, as far as a reader needs it: definitions count from where
they stand, and all text is read again until no command is left that the manuscript defines. White
space behind a command stays, unlike in TeX. Libraries that we tried (flachtex) know neither default
arguments nor ``\def`` and ``\let``, and have no bound.
"""

import re
from pathlib import Path

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.document_commands import (
    CONDITIONS,
    chosen_branch,
    read_argument,
    read_document_command,
    read_newcommandx,
)
from mpbert.recommending.manuscripts.including import (
    INCLUDING,
    PACKAGES,
    included_names,
    local_packages,
)
from mpbert.recommending.manuscripts.literal_tex import CODE, INLINE_CODE, LITERAL, URLS, literal
from mpbert.recommending.manuscripts.macros import (
    Definition,
    Frame,
    Macro,
    calls_itself,
    read_def,
    read_environment,
    read_let,
    read_newcommand,
    read_operator,
)
from mpbert.recommending.manuscripts.marks import plain_characters
from mpbert.recommending.manuscripts.source_text import SourceText, read_included
from mpbert.recommending.manuscripts.traced import NOWHERE, Origins, Traced, joined, of_one_origin

_STOP = re.compile(r"\\(?:[A-Za-z@]+|.|\Z)|%[^\n]*", re.DOTALL)
_MOST_INPUTS = 1000  # files that include others twice each would never end
# what commands may leave: so much, and a multiple of the characters that were read
_MOST_CALLS, _CALLS_PER_CHARACTER = 20_000, 0.25
_MOST_CHARACTERS, _PER_CHARACTER = 200_000, 10
_MOST_DEEP = 500  # calls within calls
_DEFS = frozenset("def gdef edef xdef".split())
# command that defines -> what reads the definition behind it
_READERS = {
    **dict.fromkeys(
        "newcommand renewcommand providecommand DeclareRobustCommand".split(), read_newcommand
    ),
    **dict.fromkeys(
        "NewDocumentCommand RenewDocumentCommand ProvideDocumentCommand "
        "DeclareDocumentCommand NewExpandableDocumentCommand".split(),
        read_document_command,
    ),
    **dict.fromkeys("newcommandx renewcommandx providecommandx".split(), read_newcommandx),
    **dict.fromkeys(_DEFS, read_def),
    "DeclareMathOperator": read_operator,
}
_PROVIDING = frozenset("providecommand ProvideDocumentCommand providecommandx".split())
_BODY_IS_GONE = frozenset(
    name for name, reader in _READERS.items() if reader not in (read_newcommand, read_operator)
)
_ENVIRONMENTS = frozenset("newenvironment renewenvironment".split())
_FI = re.compile(r"\\fi(?![A-Za-z])|\Z")
_SPACE, _NOTHING = of_one_origin(" ", NOWHERE), of_one_origin("{}", NOWHERE)
_LINE_ENDS = re.compile(r"(?<!\\)(?:\\\\)+\Z")
_OWN = frozenset(_READERS) | _ENVIRONMENTS | INCLUDING | URLS | CONDITIONS
_OWN |= INLINE_CODE | {"let", "begin", "end", "xspace", "iffalse"}


class Expander:
    """Expands one manuscript.

    :param kept: commands and environments whose definitions do not count: their meaning is known.
    :param includes: whether included files are read; else they are left out.
    """

    def __init__(self, source: SourceText, kept: frozenset[str], includes: bool = True) -> None:
        self.origins, self._includes = Origins(), includes
        self._source, self._kept = source, kept | _OWN
        self._macros: dict[str, Macro] = {}
        self._environments: dict[str, tuple[Macro, Macro]] = {}
        self._frames: list[Frame] = []
        self._read_packages: set[Path] = set()
        self._out: list[Traced] = []
        self._num_inputs = self._num_calls = self._num_left = self._num_read = 0

    def expand(self) -> Traced:
        """Return the whole text.

        :raises ManuscriptError: it has no end, or a file of it cannot be read.
        """
        self._open(self._source)
        while self._frames:
            frame = self._frames[-1]
            match = _STOP.search(frame.text, frame.position)
            self._out.append(frame.take(len(frame.text) if match is None else match.start()))
            if match is None:
                self._close()
            elif match[0][0] == "%" or len(match[0]) == 1:
                self._out.append(frame.take(match.end()))
            else:
                self._act(frame, match[0][1:])
        return joined(self._out)

    def _open(self, source: SourceText, folder: str = "") -> None:
        text = plain_characters(source.text)
        self._num_read += len(text)
        self._frames.append(Frame(self.origins.add_file(source, text), str(source.path), folder))

    def _close(self) -> None:
        frame = self._frames.pop()
        if not frame.text.endswith("\n") and (frame.is_file or "%" in frame.text) and self._frames:
            self._out.append(of_one_origin("\n", NOWHERE))  # TeX ends each line, and a comment

    def _act(self, frame: Frame, name: str) -> None:
        """Do what the command here says, or leave it as it is."""
        start = frame.position
        if name not in self._macros and "@" in name and name not in self._kept:
            name = name[: name.index("@")] or "@"
        command = frame.take(start + 1 + len(name))
        if name in INCLUDING:
            self._input(frame, name)
        elif name in ("begin", "end"):
            self._environment(frame, command, name)
        elif name in INLINE_CODE or name in URLS:
            self._out += literal(frame, start, name)
        elif name == "iffalse":
            frame.position = _FI.search(frame.text, frame.position).end()
        elif name == "xspace":
            self._xspace()
        elif name == "let" or name in _READERS or name in _ENVIRONMENTS:
            self._define(frame, name)
        elif name in CONDITIONS:
            self._decide(frame, command, name)
        elif name in PACKAGES:
            self._out.append(command)
            self._packages(frame, name)
        elif name in self._macros:
            self._call(self._macros[name], command)
        else:
            self._out.append(command)

    def _define(self, frame: Frame, name: str) -> None:
        """Take a definition out of the text; of one that is not understood, the arguments stay."""
        before = frame.position
        if name in _ENVIRONMENTS:
            environment = read_environment(frame)
            if environment is not None:
                if environment[0] not in self._kept:
                    self._environments[environment[0]] = environment[1:]
                return
            found: Definition | None = None
        elif name == "let":
            found = read_let(frame, self._macros)
        else:
            found = _READERS[name](frame)
        if found is None:
            if name not in _BODY_IS_GONE:
                frame.position = before  # pylatexenc tries open braces of it twice
        elif found[0] not in self._kept and (
            name not in _PROVIDING or found[0] not in self._macros
        ):
            self._macros[found[0]] = found[1]

    def _packages(self, frame: Frame, command: str) -> None:
        """Read definitions of packages in the folder, but for those that need TeX itself."""
        before = frame.position
        frame.bracket()
        names = frame.token()
        frame.position = before
        if names is None or not self._includes:
            return
        for source in local_packages(self._source, names.text, PACKAGES[command]):
            if source.path in self._read_packages:
                continue
            self._read_packages.add(source.path)
            macros, environments = dict(self._macros), dict(self._environments)
            package = Frame(self.origins.add_file(source, plain_characters(source.text)))
            while match := _STOP.search(package.text, package.position):
                package.position, name = match.end(), match[0][1:]
                if name in PACKAGES:
                    self._packages(package, name)
                elif match[0][0] != "%" and (name in _READERS or name in _ENVIRONMENTS):
                    self._define(package, name)
            for name, macro in list(self._macros.items()):
                if "@" in name + macro.body and macros.get(name) is not macro:
                    del self._macros[name]
            for name, pair in list(self._environments.items()):
                if "@" in pair[0].body + pair[1].body and environments.get(name) is not pair:
                    del self._environments[name]

    def _decide(self, frame: Frame, command: Traced, condition: str) -> None:
        r"""Go on with the branch of ``\IfBooleanTF`` and the like that counts."""
        before = frame.position
        branch = chosen_branch(frame, condition)
        if branch is None:
            frame.position = before
            self._out.append(command)
            return
        self._count(branch)
        self._frames.append(Frame(branch))

    def _call(self, macro: Macro, command: Traced, apart: str = "") -> None:
        """Go on with what a macro leaves.

        :param apart: ``begin`` or ``end`` of an environment, whose text stays apart from this.
        """
        is_inner = calls_itself(self._frames, macro, command)
        arguments = self._arguments(macro)
        if is_inner or arguments is None:
            self._out += [] if is_inner else [command]
            return
        start = int(command.origins[0])
        origin = self.origins.call(start, start + len(command))
        left = macro.filled(arguments, origin)
        if apart == "end" or (apart and self._frames[-1].has_word_ahead):
            left = joined([left, _SPACE] if apart == "begin" else [_SPACE, left])
        self._count(left)
        if left.text.startswith("[") and self._is_behind_line_end:
            self._out.append(_NOTHING)  # TeX looks for the length of \\[2pt] before it expands
        if macro.is_final:
            self._out.append(left)
        else:
            self._frames.append(Frame(left, macro=macro, origin=origin))

    @property
    def _is_behind_line_end(self) -> bool:
        return bool(_LINE_ENDS.search("".join(part.text for part in self._out[-2:])))

    def _count(self, left: Traced) -> None:
        self._num_calls += 1
        self._num_left += len(left)
        if (
            len(self._frames) > _MOST_DEEP
            or self._num_calls > _MOST_CALLS + _CALLS_PER_CHARACTER * self._num_read
            or self._num_left > _MOST_CHARACTERS + _PER_CHARACTER * self._num_read
        ):
            raise ManuscriptError(
                f"{self._source.path}: the commands that it defines leave {self._num_left:,} "
                f"characters, {len(self._frames):,} deep, and go on; mend those that call "
                f"themselves, or pass plain text"
            )

    def _arguments(self, macro: Macro) -> list[Traced] | None:
        """Return the arguments of a macro that stand here; None: some lack."""
        found: list[Traced] = []
        for parameter in macro.parameters:
            self._close_ended()
            argument = read_argument(self._frames[-1], parameter)
            if argument is None:
                return None
            found.append(argument)
        return found

    def _close_ended(self) -> None:
        """Close what is read to its end, so that arguments may stand behind it."""
        while len(self._frames) > 1 and self._frames[-1].is_at_end:
            self._close()

    def _xspace(self) -> None:
        self._close_ended()
        if self._frames[-1].has_word_ahead:
            self._out.append(_SPACE)

    def _environment(self, frame: Frame, command: Traced, name: str) -> None:
        r"""Expand the beginning or the end of an environment; copy one whose text is literal."""
        before = frame.position
        group = frame.token()
        environment = "" if group is None else group.text.strip()
        if environment in self._environments:
            whole = frame.traced.slice(before - len(command), frame.position)
            self._call(self._environments[environment][name == "end"], whole, apart=name)
            return
        if name == "begin" and environment in LITERAL:
            closing = f"\\end{{{environment}}}"
            end = frame.text.find(closing, frame.position)
            frame.position = before - len(command)
            copied = frame.take(len(frame.text) if end < 0 else end + len(closing))
            self._out += [] if environment in CODE else [copied]
            return
        frame.position = before
        self._out.append(command)

    def _input(self, frame: Frame, command: str) -> None:
        names, folder = included_names(frame, command, self._macros)
        self._num_inputs += 1
        if self._num_inputs > _MOST_INPUTS:
            raise ManuscriptError(
                f"{self._source.path}: includes more than {_MOST_INPUTS:,} files; mend it or "
                f"pass plain text"
            )
        included = read_included(self._source, names) if self._includes else None
        if included is not None and str(included.path) not in (one.path for one in self._frames):
            self._open(included, folder)
