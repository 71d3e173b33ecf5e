r"""Manuscripts in Typst: ``@key``, ``#cite(<key>)``, and files of ``#include`` in the same folder.

Left out are code, comments, formulas, raw text and headings without a citation; captions, and other
content that is an argument, stand apart. ``@key`` of a label of the text is no citation.
"""

import os
import re
from dataclasses import replace

from mpbert.recommending.manuscripts.light import HEADING, paragraphs
from mpbert.recommending.manuscripts.marks import (
    NOUN,
    Found,
    Marks,
    find_places,
    mark_found,
    masked,
    plain_characters,
)
from mpbert.recommending.manuscripts.placeholders import is_placeholder
from mpbert.recommending.manuscripts.sentences import About, Draft
from mpbert.recommending.manuscripts.sites import TYPST, Site, site_in_text
from mpbert.recommending.manuscripts.source_text import SourceText, read_included

_MOST_FILES = 200
_LITERAL = re.compile(
    r"/\*.*?\*/|(?<![:\w])//[^\n]*|(`{3,}).*?\1|`[^`\n]*`|(?<!\\)\$[^$]{0,2000}?(?<!\\)\$"
    r"|https?://[^\s\"\])]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    re.DOTALL,
)
_CODE_LINE = re.compile(r"^[ \t]*#(?:set|show|let|import)\b", re.MULTILINE)
_KEY = re.compile(r"(?<![\w@\\.])@([\w][\w:.-]*\w|\w|\?+)(?<![.:-])(\[[^\[\]]{0,80}\])?")
_CITE = re.compile(r"#cite[pt]?\(\s*(?:<([^<>]+)>|label\(\s*\"([^\"]+)\"\s*\))([^()]{0,200})\)")
_LABEL = re.compile(r"<([A-Za-z_][\w:.-]*)>")
_BIBLIOGRAPHY = re.compile(r"#bibliography\(\s*(\(?(?:[^()]*)\)?)")
_NAME = re.compile(r'"([^"]+\.(?:bib|ya?ml|json))"')
_TITLE = re.compile(r'\btitle:\s*(?:"([^"\n]+)"|\[([^\[\]]+)\])')
_INCLUDE = re.compile(r'#include\s+"([^"]+)"')
_HEADING = re.compile(r"^=+[ \t]+(.*)$", re.MULTILINE)
_CALL = re.compile(r"#[A-Za-z_][\w.-]*(?=[(\[])|#(?=[\[{])|#[A-Za-z_][\w.-]*;?")
_EMPHASIS = re.compile(r"(?<![\w*_])([*_])(?=\S)([^\n]{1,300}?)(?<=\S)\1(?![\w*_])")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def read_typst(source: SourceText) -> Draft:
    """Return the draft in a file of Typst."""
    marks, about = Marks(), _About()
    text = _read(source, source, marks, about, [])
    return Draft(text, marks, about.title, "", About(tuple(dict.fromkeys(about.files))))


class _About:
    def __init__(self) -> None:
        self.title, self.files, self.num_read = "", [], 0


def _read(
    source: SourceText, main: SourceText, marks: Marks, about: _About, opened: list[str]
) -> str:
    text = plain_characters(source.text)
    about.num_read += 1
    for found in _BIBLIOGRAPHY.finditer(text):
        about.files += _NAME.findall(found[1])
    if not about.title and (title := _TITLE.search(text)):
        about.title = title[1] or title[2]
    literal = [match.span() for match in _LITERAL.finditer(text)]
    marked = mark_found(text, marks, _found(source, masked(text, literal)))
    marked = _LITERAL.sub(lambda found: " " if found[0][0] != "h" else found[0], marked)

    def included(found: re.Match[str]) -> str:
        below = os.path.join(
            os.path.dirname(os.path.relpath(source.path, main.path.parent)), found[1]
        )
        name = str(below)
        if name in opened or about.num_read > _MOST_FILES:
            return ""
        read = read_included(main, [name])
        inner = [*opened, name]
        return "" if read is None else f"\n\n{_read(read, main, marks, about, inner)}\n\n"

    apart: list[str] = []
    words = _without_code(_INCLUDE.sub(included, marked), apart)
    words = _LABEL.sub("", _HEADING.sub(rf"{HEADING}\1", words)).replace("~", " ")
    words = re.sub(r"\\(?=[\s#$*_@`<\[\]])", "", words)
    return _EMPHASIS.sub(r"\2", paragraphs("\n\n".join([words, *apart])))


def _found(source: SourceText, text: str) -> list[tuple[Found, Site | None]]:
    labels = {match[1] for match in _LABEL.finditer(_CITE.sub("", text))}
    found: list[tuple[Found, Site | None]] = []
    for match in _CITE.finditer(text):
        key = match[1] or match[2]
        noun = NOUN if re.search(r"\"(?:prose|author)\"", match[3]) else ""
        found.append((Found(*match.span(), (key,), noun), _site(source, match, key)))
    for match in _KEY.finditer(text):
        is_place = match[1] not in labels
        one = Found(*match.span(), (match[1],), "" if is_place else "This", is_place)
        found.append((one, _site(source, match, match[1])))
    for one in find_places(text):
        shown = text[one.start : one.end]
        if not shown.startswith("\\") and not _KEY.search(shown):
            site = site_in_text(source, one.start, one.end)
            found.append((one, replace(site, style=TYPST)))
    return found


def _site(source: SourceText, match: re.Match[str], key: str) -> Site:
    if is_placeholder(key):
        return Site(source, *match.span(), TYPST)
    return Site(source, match.end(), match.end(), replace(TYPST, before=" "))


def _without_code(text: str, apart: list[str]) -> str:
    """Return a text without code; content of its arguments goes apart, that behind it stays."""
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
                pieces.append(f" {_without_code(inner, apart)} ")
            elif text[end] == "(":
                apart += [_without_code(part, apart) for part in _contents(inner)]
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
