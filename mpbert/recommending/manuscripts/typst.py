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
from mpbert.recommending.manuscripts.sites import TYPST, Site
from mpbert.recommending.manuscripts.source_text import SourceText, read_included
from mpbert.recommending.manuscripts.typst_code import without_code

_MOST_FILES = 200
_LITERAL = re.compile(
    r"/\*.*?\*/|(?<![:\w])//[^\n]*|(`{3,}+).*?\1|`[^`\n]*`|(?<!\\)\$[^$]{0,2000}?(?<!\\)\$"
    r"|https?://[^\s\"\])]+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})++",
    re.DOTALL,
)
_KEY = re.compile(r"(?<![\w@\\.])@([\w][\w:.-]*\w|\w|\?+)(?<![.:-])(\[[^\[\]]{0,80}\])?")
CITE = re.compile(r"#cite[pt]?\(\s*(?:<([^<>]+)>|label\(\s*\"([^\"]+)\"\s*\))([^()]{0,200})\)")
_TODO = re.compile(r"#(?:todo|TODO|fixme|note)\Z")
_APART = " \t\n[(.,;:~\"'"  # in front of brackets that are no argument
_LABEL = re.compile(r"<([A-Za-z_][\w:.-]*)>")
_BIBLIOGRAPHY = re.compile(r"#bibliography\(\s*(\(?(?:[^()]*)\)?)")
_NAME = re.compile(r'"([^"]+\.(?:bib|ya?ml|json))"')
_TITLE = re.compile(r'\btitle:\s*(?:"([^"\n]+)"|\[([^\[\]]+)\])')
_INCLUDE = re.compile(r'#include\s+"([^"]+)"')
_HEADING = re.compile(r"^=+[ \t]+(.*)$", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![\w*_])([*_])(?=\S)([^\n]{1,300}?)(?<=\S)\1(?![\w*_])")


def read_typst(source: SourceText, includes: bool = True) -> Draft:
    """Return the draft in a file of Typst.

    :param includes: whether files of ``#include`` are read; a text that came over the network names
        none of ours.
    """
    marks, about = Marks(), _TypstAbout()
    about.num_read = 0 if includes else _MOST_FILES
    text = _read(source, source, marks, about, [])
    return Draft(text, marks, about.title, "", About(tuple(dict.fromkeys(about.files))))


class _TypstAbout:
    def __init__(self) -> None:
        self.title, self.files, self.num_read = "", [], 0


def _read(
    source: SourceText, main: SourceText, marks: Marks, about: _TypstAbout, opened: list[str]
) -> str:
    text = plain_characters(source.text)
    about.num_read += 1
    about.files += named_bibliographies(text)
    if not about.title and (title := _TITLE.search(text)):
        about.title = title[1] or title[2]
    marked = mark_found(text, marks, citations_in(source))
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
    words = without_code(_INCLUDE.sub(included, marked), apart)
    words = _LABEL.sub("", _HEADING.sub(rf"{HEADING}\1", words)).replace("~", " ")
    words = re.sub(r"\\(?=[\s#$*_@`<\[\]])", "", words)
    return _EMPHASIS.sub(r"\2", paragraphs("\n\n".join([words, *apart])))


def named_bibliographies(text: str) -> tuple[str, ...]:
    """Return the files of references that a text names."""
    return tuple(name for found in _BIBLIOGRAPHY.findall(text) for name in _NAME.findall(found))


def citations_in(source: SourceText) -> list[tuple[Found, Site | None]]:
    """Return the citations of a file, and where each stands; cross-references too."""
    text = plain_characters(source.text)
    text = masked(text, [match.span() for match in _LITERAL.finditer(text)])
    labels = {match[1] for match in _LABEL.finditer(CITE.sub("", text))}
    found: list[tuple[Found, Site | None]] = []
    for match in CITE.finditer(text):
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
            if note := _TODO.search(text, max(one.start - 20, 0), one.start):  # #todo[cite]
                one = replace(one, start=note.start())
            within = text[one.start - 1 : one.start] not in ("", *_APART) and shown[0] == "["
            site = Site(source, one.start + within, one.end - within, TYPST)
            found.append((one, site))
    return found


def _site(source: SourceText, match: re.Match[str], key: str) -> Site:
    if is_placeholder(key):
        return Site(source, *match.span(), TYPST)
    return Site(source, match.end(), match.end(), replace(TYPST, before=" "))
