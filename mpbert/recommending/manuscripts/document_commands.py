r"""Commands by LaTeX's ``\NewDocumentCommand`` (xparse) and by ``\newcommandx`` (xargs).

They say of each argument how it is given. Read are ``m``, ``o``, ``O{default}`` and ``s``, and
``2=default`` of xargs. A definition that asks for others is left out as a whole.
"""

import re

from mpbert.recommending.manuscripts.macros import (
    Definition,
    Frame,
    Macro,
    Parameter,
    command_name,
    read_count,
)
from mpbert.recommending.manuscripts.traced import NOWHERE, Traced, of_one_origin

_TRUE, _FALSE, _NO_VALUE = r"\BooleanTrue", r"\BooleanFalse", "-NoValue-"
_BRACED = r"\{((?:[^{}]|\{[^{}]*\})*+)\}"  # with one level of braces inside
_SPECIFICATION = re.compile(
    rf"\s*+(?:>\s*+\{{[^{{}}]*+\}}\s*+)*+[+!]*+\s*+(?:([mos])|O\s*+{_BRACED})"
)
_DEFAULT = re.compile(r"\s*([1-9])\s*=\s*(?:\{([^{}]*)\}|([^,{}]*))\s*(?:,|\Z)|[^,]*(?:,|\Z)")
# condition -> of which values it is true, and whether a branch follows for true, and for false
_CONDITIONS = {
    f"If{name}{branches}": (is_met, "T" in branches, "F" in branches)
    for name, is_met in {
        "Boolean": lambda value: value == _TRUE,
        "Value": lambda value: value != _NO_VALUE,
        "NoValue": lambda value: value == _NO_VALUE,
        "Blank": lambda value: not value,
    }.items()
    for branches in ("T", "F", "TF")
}
CONDITIONS = frozenset(_CONDITIONS)


def read_document_command(frame: Frame) -> Definition | None:
    r"""Return the name and the macro of what follows ``\NewDocumentCommand``; None: not read."""
    name, specification, body = command_name(frame.token()), frame.token(), frame.token()
    if name is None or specification is None or body is None:
        return None
    text, place, parameters = specification.text.rstrip(), 0, []
    while place < len(text):
        match = _SPECIFICATION.match(text, place)
        if match is None:
            return None
        default = {"m": None, "o": _NO_VALUE, "s": None}.get(match[1], match[2])
        parameters.append(Parameter(default, is_star=match[1] == "s"))
        place = match.end()
    return name, Macro(body.text, tuple(parameters))


def read_newcommandx(frame: Frame) -> Definition | None:
    r"""Return the same for ``\newcommandx``."""
    frame.star()
    name, count, options = command_name(frame.token()), read_count(frame), frame.bracket()
    body = frame.token()
    if name is None or count is None or body is None:
        return None
    parameters = [Parameter()] * count
    for match in _DEFAULT.finditer("" if options is None else options.text):
        if match[1] and int(match[1]) <= count:
            default = match[3] if match[2] is None else match[2]
            parameters[int(match[1]) - 1] = Parameter(default.strip())
    return name, Macro(body.text, tuple(parameters))


def chosen_branch(frame: Frame, condition: str) -> Traced | None:
    r"""Return what ``\IfBooleanTF`` and the like leave; None: an argument lacks.

    :param condition: name of the command, one of ``CONDITIONS``.
    """
    is_met, *has_branch = _CONDITIONS[condition]
    value = frame.token()
    branches = [frame.token() if has else of_one_origin("", NOWHERE) for has in has_branch]
    if value is None or None in branches:
        return None
    return branches[0 if is_met(value.text.strip()) else 1]


def read_argument(frame: Frame, parameter: Parameter) -> Traced | None:
    """Return the argument that stands here, or stands for one that may lack; None: it lacks."""
    if parameter.is_star:
        return of_one_origin(_TRUE if frame.star() else _FALSE, NOWHERE)
    if parameter.default is None:
        return frame.token()
    found = frame.bracket()
    return of_one_origin(parameter.default, NOWHERE) if found is None else found
