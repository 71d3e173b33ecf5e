"""What Org exports: macros as they are defined, no trees ``:noexport:`` or headed ``COMMENT``."""

import re
from collections.abc import Callable
from pathlib import Path

from mpbert.foundation.errors import ManuscriptError

_HEADING = re.compile(
    r"^(?P<stars>\*+)[ \t]+(?:(?:TODO|DONE)[ \t]+)?(?:\[#\w\][ \t]+)?(?P<comment>COMMENT\b)?"
    r"[^\n]*?(?:[ \t]:(?P<tags>[\w@#%:]+):)?[ \t]*$",
    re.MULTILINE,
)
_EXCLUDED = re.compile(r"^[ \t]*#\+exclude_tags:(.*)$", re.MULTILINE | re.IGNORECASE)
MACRO = re.compile(r"^[ \t]*#\+macro:[ \t]*(\S+)[ \t]*(.*)$", re.MULTILINE | re.IGNORECASE)
_CALL = re.compile(r"\{{3}([A-Za-z][\w-]*)(?:\(((?:(?!\n\s*\n).){0,2000}?)\))?\}{3}", re.DOTALL)
_PARAMETER = re.compile(r"\$([1-9])")
_MOST_DEEP = 20  # macros within macros
_MOST_CHARACTERS, _PER_CHARACTER = 200_000, 10  # that macros may leave


def with_macros(text: str, path: Path, read: Callable[[str], str]) -> str:
    """Return a text with ``{{{name(a,b)}}}`` as ``#+MACRO`` defines it; of others nothing is left.

    :param read: from what a macro leaves to the same with its citations marked.
    :raises ManuscriptError: macros have no end.
    """
    bodies = {name.lower(): body for name, body in MACRO.findall(text)}
    most, num_left = _MOST_CHARACTERS + _PER_CHARACTER * len(text), 0

    def left(call: re.Match[str]) -> str:
        nonlocal num_left
        arguments = [part.replace("\\,", ",") for part in re.split(r"(?<!\\),", call[2] or "")]
        given = dict(enumerate(arguments, start=1))
        body = bodies.get(call[1].lower(), "")
        body = _PARAMETER.sub(lambda number: given.get(int(number[1]), ""), body)
        num_left += len(body)
        if num_left > most:
            raise ManuscriptError(
                f"{path}: its macros leave {num_left:,} characters, and go on; mend those that "
                f"call themselves"
            )
        return read(body)

    for _ in range(_MOST_DEEP):
        text, num_calls = _CALL.subn(left, text)
        if not num_calls:
            break
    return text


def unexported_spans(text: str) -> list[tuple[int, int]]:
    """Return the [start, end) of trees that Org does not export, in order."""
    named = {tag for tags in _EXCLUDED.findall(text) for tag in re.split(r"[\s:]+", tags) if tag}
    excluded = (named or {"noexport"}) | {"ARCHIVE"}
    spans, start, depth = [], 0, 0  # of the tree that is left out
    for heading in _HEADING.finditer(text):
        level = len(heading["stars"])
        if depth and level > depth:
            continue
        if depth:
            spans.append((start, heading.start()))
        tags = (heading["tags"] or "").split(":")
        is_out = heading["comment"] or not excluded.isdisjoint(tags)
        start, depth = heading.start(), level if is_out else 0
    return [*spans, (start, len(text))] if depth else spans


def exported(text: str) -> str:
    """Return a text without trees that Org does not export."""
    pieces, last = [], 0
    for start, end in unexported_spans(text):
        pieces.append(text[last:start])
        last = end
    return "".join([*pieces, text[last:]])
