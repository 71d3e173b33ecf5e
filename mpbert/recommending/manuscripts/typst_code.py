"""Code of Typst, which is no text but for the content in its brackets."""

import re

_CODE_LINE = re.compile(r"^[ \t]*#(?:set|show|let|import)\b", re.MULTILINE)
_CALL = re.compile(r"#[A-Za-z_][\w.-]*(?=[(\[])|#(?=[\[{])|#[A-Za-z_][\w.-]*;?")
_DEEPEST = 50
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def without_code(text: str, apart: list[str], depth: int = 0) -> str:
    """Return a text without code; content of its arguments goes apart, that behind it stays.

    :param depth: of brackets around it; what stands too deep is left out.
    """
    if depth > _DEEPEST:
        return ""
    pieces, last = [], 0
    for call in _CALL.finditer(text):
        if call.start() < last:
            continue
        end = call.end()
        is_line = _CODE_LINE.match(text, text.rfind("\n", 0, call.start()) + 1) is not None
        pieces.append(text[last : call.start()])
        if is_line:
            end = _end_of_line(text, end)
        while not is_line and end < len(text) and text[end] in _BRACKETS:
            closing = _closing(text, end)
            inner = text[end + 1 : closing]
            if text[end] == "[":
                said = without_code(inner, apart, depth + 1)
                if call[0] == "#footnote":
                    apart.append(said)
                else:
                    pieces.append(f" {said} ")
            elif text[end] == "(":
                apart += [without_code(part, apart, depth + 1) for part in _contents(inner)]
            end = closing + 1
        last = max(end, last)
    return "".join([*pieces, text[last:]])


def _end_of_line(text: str, start: int) -> int:
    """Return the end of a statement, which goes on in open brackets."""
    while start < len(text) and text[start] != "\n":
        start = _closing(text, start) + 1 if text[start] in _BRACKETS else start + 1
    return start


def _closing(text: str, start: int) -> int:
    """Return the place of the bracket that closes the one at ``start``; the end if none does."""
    depth, opening = 0, text[start]
    for place in range(start, len(text)):
        if text[place] == opening:
            depth += 1
        elif text[place] == _BRACKETS[opening]:
            depth -= 1
            if not depth:
                return place
    return len(text) - 1


def _contents(code: str) -> list[str]:
    """Return the content in brackets of arguments."""
    found, place = [], 0
    while (start := code.find("[", place)) >= 0:
        place = _closing(code, start) + 1
        found.append(code[start + 1 : place - 1])
    return found
