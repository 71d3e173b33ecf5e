"""Code of Typst, which is no text but for the content in its brackets."""

import re
from itertools import islice

_CODE_LINE = re.compile(r"^[ \t]*#(?:set|show|let|import)\b", re.MULTILINE)
_CALL = re.compile(r"#[A-Za-z_][\w.-]*(?=[(\[])|#(?=[\[{])|#[A-Za-z_][\w.-]*;?")
# what names the title: the document, a template, or a call that names authors too
_TITLING = re.compile(
    r"^[ \t]*(?:#?(?:set[ \t]+document|show[ \t]*:[^\n(\[{]*)|#([\w.-]+))\(", re.MULTILINE
)
_AUTHOR = re.compile(r"\bauthors?:")
_TITLE = re.compile(
    r'\btitle:\s*(?:\(\s*[\w-]+:\s*)?(?:"([^"\n]+)"|\[([^\[\]]+)\]|([A-Za-z_][\w-]*))'
)
_HEAD, _MOST_ARGUMENTS = 20_000, 5_000  # characters
_MOST_CALLS = 100
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


def title_in(text: str, code: str) -> str:
    """Return the title that a text gives its document, or its template; empty where it gives none.

    :param code: the text without comments and the like, of the same length.
    """
    code = code[:_HEAD]
    for call in islice(_TITLING.finditer(code), _MOST_CALLS):
        start = call.end() - 1
        end = start + _closing(code[start : start + _MOST_ARGUMENTS], 0)
        if call[1] and not _AUTHOR.search(code, start, end):
            continue
        found = _TITLE.search(code, start, end)
        if found and found[3]:
            found = re.search(
                rf'^[ \t]*#?let[ \t]+{found[3]}[ \t]*=[ \t]*(?:"([^"\n]+)"|\[([^\[\]]+)\])',
                *(code, re.MULTILINE),
            )
        if found:
            said = text[slice(*found.span(1 if found[1] else 2))]
            return re.sub(r"\s*\\?\s+", " ", said).strip()  # "\\ " ends a line
    return ""


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
