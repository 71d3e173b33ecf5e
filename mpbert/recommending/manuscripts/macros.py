r"""Commands that a manuscript defines: how TeX reads their definitions and their arguments.

Read are ``\newcommand``, ``\renewcommand``, ``\providecommand``, ``\DeclareRobustCommand``,
``\DeclareMathOperator``, ``\newenvironment``, ``\let``, and ``\def`` whose arguments follow one
another without anything between them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mpbert.recommending.manuscripts.traced import NOWHERE, Traced, joined, of_one_origin

NAME = re.compile(r"\\([A-Za-z@]+|.)", re.DOTALL)
_ESCAPED_OR_BRACE = re.compile(r"\\.|%[^\n]*|[{}]", re.DOTALL)
_BLANK = r"(?:[ \t]|%[^\n]*(?:\n|\Z))*+"
_SPACE = re.compile(rf"{_BLANK}(?:\n(?![ \t]*+\n))?{_BLANK}")
_PARAMETER = re.compile(r"#(#|[1-9])")
_WORD = re.compile(r"[\w(\[\\$]")
_LONGEST_OPTION = 2000  # characters in brackets
_MAY_END = re.compile(r"\{|\\[A-Za-z@]*[Ii]f")  # as \ifnum, and what \afterpage defers
_PLAIN_PARAMETERS = re.compile(r"(?:#[1-9])*")


@dataclass(frozen=True)
class Parameter:
    """How an argument of a command is given.

    :param default: of one in brackets that may lack; None: it must be there.
    :param is_star: whether it is a star, which may lack.
    """

    default: str | None = None
    is_star: bool = False


@dataclass(frozen=True)
class Macro:
    r"""A command that a manuscript defines.

    :param body: what it leaves, ``#1`` for its first argument.
    :param parameters: of its arguments, in their order.
    :param is_final: whether its body is a command that TeX knows, after ``\let``.
    """

    body: str
    parameters: tuple[Parameter, ...] = ()
    is_final: bool = False

    @cached_property
    def pieces(self) -> list[str]:
        """The body, split: text, number of an argument, text, and so on."""
        return _PARAMETER.split(self.body)

    def filled(self, arguments: list[Traced], origin: int) -> Traced:
        """Return what it leaves with these arguments, itself of one origin."""
        parts = []
        for place, piece in enumerate(self.pieces):
            if place % 2 == 0 or piece == "#":
                parts.append(of_one_origin(piece, origin))
            elif int(piece) <= len(arguments):
                parts.append(arguments[int(piece) - 1])
        return joined(parts)


class Frame:
    r"""A text that is being read, from ``position`` on.

    :param path: of the file that it is; empty for what a command left.
    :param folder: that ``\import`` named, in which it includes others.
    :param macro: whose call left it, and ``origin`` of the call; None: it is no macro.
    """

    def __init__(
        self,
        traced: Traced,
        path: str = "",
        folder: str = "",
        macro: Macro | None = None,
        origin: int = NOWHERE,
    ) -> None:
        self.traced, self.text, self.position = traced, traced.text, 0
        self.path, self.folder, self.macro, self.origin = path, folder, macro, origin

    @property
    def is_file(self) -> bool:
        """Whether it is a file."""
        return bool(self.path)

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        return self.position >= len(self.text)

    @property
    def has_word_ahead(self) -> bool:
        """Whether a word, a formula or a command follows at once, and no stop or space."""
        return _WORD.match(self.text, self.position) is not None

    @cached_property
    def _closing(self) -> dict[int, int]:
        """Place of the closing brace of each opening one that has one."""
        opened: list[int] = []
        closing = {}
        for match in _ESCAPED_OR_BRACE.finditer(self.text):
            if match[0] == "{":
                opened.append(match.start())
            elif match[0] == "}" and opened:
                closing[opened.pop()] = match.start()
        return closing

    def take(self, end: int) -> Traced:
        """Return what stands up to a place, and go on there."""
        part = self.traced.slice(self.position, end)
        self.position = end
        return part

    def skip_space(self) -> None:
        """Go on behind white space and comments, but not behind an empty line."""
        self.position = _SPACE.match(self.text, self.position).end()

    def group(self) -> Traced | None:
        """Return what stands in the braces here, and go on behind them; None: there are none."""
        closing = self._closing.get(self.position)
        if closing is None:
            return None
        inner = self.traced.slice(self.position + 1, closing)
        self.position = closing + 1
        return inner

    def bracket(self) -> Traced | None:
        """Return what stands in the brackets here, behind space; None: there are none."""
        start, depth = self.position, 0
        self.skip_space()
        if self.text.startswith("[", self.position):
            first = self.position + 1
            for place in range(first, min(len(self.text), first + _LONGEST_OPTION)):
                char = self.text[place]
                depth += (char == "{") - (char == "}")
                if depth < 0:
                    break
                if char == "]" and not depth:
                    self.position = place + 1
                    return self.traced.slice(first, place)
        self.position = start
        return None

    def token(self) -> Traced | None:
        """Return a group, a command or a character; None at the end, or before a closing brace."""
        self.skip_space()
        if self.is_at_end or self.text[self.position] in "}\n":
            return None
        if self.text[self.position] == "{":
            return self.group()
        name = NAME.match(self.text, self.position)
        return self.take(name.end() if name else self.position + 1)

    def star(self) -> bool:
        """Go on behind a star, and return whether there is one."""
        found = self.text.startswith("*", self.position)
        self.position += found
        return found


Definition = tuple[str, Macro]


def read_newcommand(frame: Frame) -> Definition | None:
    r"""Return the name and the macro of what follows ``\newcommand``; None: it is none."""
    frame.star()
    name = command_name(frame.token())
    parameters = _parameters(frame)
    body = frame.token()
    if name is None or body is None or parameters is None:
        return None
    return name, Macro(body.text, parameters)


def read_operator(frame: Frame) -> Definition | None:
    r"""Return the same for ``\DeclareMathOperator``."""
    frame.star()
    name, body = command_name(frame.token()), frame.token()
    return None if name is None or body is None else (name, Macro(f"{{{body.text}}}"))


def read_def(frame: Frame) -> Definition | None:
    r"""Return the same for ``\def``; None: something stands between its arguments."""
    frame.skip_space()
    name = NAME.match(frame.text, frame.position)
    if name is None:
        return None
    frame.position = name.end()
    brace = frame.text.find("{", name.end(), name.end() + _LONGEST_OPTION)
    parameters = frame.text[name.end() : max(brace, name.end())]
    frame.position = max(brace, name.end())
    body = frame.group()
    if body is None or not _PLAIN_PARAMETERS.fullmatch(parameters.strip()):
        return None
    return name[1], Macro(body.text, (Parameter(),) * parameters.count("#"))


def read_let(frame: Frame, macros: dict[str, Macro]) -> Definition | None:
    r"""Return the same for ``\let``: a copy of a macro, or a command of TeX."""
    name = command_name(frame.token())
    frame.skip_space()
    frame.position += frame.text.startswith("=", frame.position)
    target = frame.token()
    if name is None or target is None:
        return None
    known = macros.get(target.text.removeprefix("\\")) if target.text[:1] == "\\" else None
    return name, known or Macro(target.text, is_final=True)


def read_environment(frame: Frame) -> tuple[str, Macro, Macro] | None:
    r"""Return the name, beginning and end of what follows ``\newenvironment``; None: it is none."""
    frame.star()
    name = frame.token()
    parameters = _parameters(frame)
    begin, end = frame.token(), frame.token()
    if name is None or begin is None or end is None or parameters is None:
        return None
    return name.text.strip(), Macro(begin.text, parameters), Macro(end.text)


def read_count(frame: Frame) -> int | None:
    """Return the number in the brackets here, 0 where there are none; None: it is no digit."""
    count = frame.bracket()
    number = "0" if count is None else count.text.strip()
    return int(number) if number in set("0123456789") else None


def _parameters(frame: Frame) -> tuple[Parameter, ...] | None:
    count, default = read_count(frame), frame.bracket()
    if count is None:
        return None
    parameters = (Parameter(),) * count
    if default is None or not count:
        return parameters
    return Parameter(default.text), *parameters[1:]


def calls_itself(frames: Sequence[Frame], macro: Macro, command: Traced) -> bool:
    """Return whether a call stands in what the macro leaves, where TeX may never come to it.

    What stands there by an argument of the macro is no such call, nor is one in a branch that was
    chosen.

    :param frames: that are open, the last one holds the call.
    """
    may_end = is_named = False
    for frame in reversed(frames):
        if frame.macro is None:
            return False
        may_end = may_end or _MAY_END.search(frame.text, 0, frame.position) is not None
        is_named = is_named or command.text in frame.macro.body
        if frame.macro is macro:
            return may_end and is_named and frame.origin == int(command.origins[0])
    return False


def command_name(token: Traced | None) -> str | None:
    """Return the name of a command without its backslash; None: it is no command."""
    found = None if token is None else NAME.fullmatch(token.text.strip())
    return None if found is None else found[1]
