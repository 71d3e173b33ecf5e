r"""Manuscripts in Typst: ``@key``, ``#cite(<key>)``, and files of ``#include`` in the same folder.

Left out are code, comments, formulas, raw text and headings without a citation; captions, and other
content that is an argument, stand apart. ``@key`` of a label of any of the files is no citation.
"""

import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from mpbert.recommending.manuscripts.citation_commands import TEXTUAL
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
from mpbert.recommending.manuscripts.source_text import SourceText, read_beside
from mpbert.recommending.manuscripts.typst_code import title_in, without_code

_MOST_FILES = 200
_LITERAL = re.compile(
    r"/\*.*?\*/|(?<![:\w])//[^\n]*|(?<!`)(`{3,}+).*?\1|`[^`\n]*`|(?<!\\)\$(?:\\.|\"(?:\\.|[^\"\\\n])*+\"|[^$\\\"]){0,2000}+\$"
    r"|https?://[^\s\"\])]+|\"@[\w-]+/[^\"\n]*\""
    r"|(?<![\w.+:@-])(?:mailto:)?[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})++",
    re.DOTALL,
)
KEY = re.compile(r"(?<!\\)@([\w][\w:.-]*\w|\w|\?+)(?<![.:-])(\[[^\[\]]{0,80}\])?")
CITE = re.compile(r"#([a-z]{0,10}cite[\w-]{0,20})\(((?:[^()]|\([^()]{0,200}\)){0,300})\)")
_CITED = re.compile(r"<([^<>\s]+)>|label\(\s*\"([^\"]+)\"\s*\)")
_TODO = re.compile(r"#(?:todo|TODO|fixme|note)\Z")
_APART = " \t\n[(.,;:~\"'"  # in front of brackets that are no argument
_LABEL = re.compile(r"<(\w[\w:.-]*)>")
# one that is the first argument of a call is defined elsewhere
_DEFINED = re.compile(rf"(?<!\(){_LABEL.pattern}|\blabel\(\s*\"([^\"]+)\"\s*\)")
_BIBLIOGRAPHY = re.compile(r"(?<![\w.-])bibliography\(\s*(\(?(?:[^()]*)\)?)")
_NAME = re.compile(r'"([^"]+\.(?:bib|ya?ml|json))"')
INCLUDE = re.compile(r'#?\binclude\s*(?:\(\s*)?"([^"]+\.typ)"\s*\)?')
_HEADING = re.compile(r"^=+[ \t]+(.*)$", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![\w*_])([*_])(?=\S)([^\n]{1,300}?)(?<=\S)\1(?![\w*_])")


def read_typst(source: SourceText, includes: bool = True) -> Draft:
    """Return the draft in a file of Typst.

    :param includes: whether files of ``#include`` are read; a text that came over the network names
        none of ours.
    """
    reader = _TypstReader(source, includes)
    text = reader.read(source)
    title = title_in(plain_characters(source.text), _without_literal(source.text))
    return Draft(text, reader.marks, title, "", About(tuple(dict.fromkeys(reader.files))))


class _TypstReader:
    """Reads a file of Typst, and those that it includes.

    :ivar files: of references that they name.
    """

    def __init__(self, main: SourceText, includes: bool) -> None:
        self.marks, self.files = Marks(), list[str]()
        self._main, self._includes, self._num_read = main, includes, 0
        self._labels = set[str]()
        self._parts: dict[tuple[Path, str], SourceText | None] = {}
        self._find(main, set())

    def _find(self, source: SourceText, known: set[Path]) -> None:
        """Find the labels of a file, and of all that it includes; a reference may stand in any."""
        known.add(source.path)
        text = _without_literal(source.text)
        self._labels |= _labels_in(text)
        for name in INCLUDE.findall(text) if self._includes else ():
            if (source.path, name) in self._parts or len(known) >= _MOST_FILES:
                continue
            folder = self._main if name.startswith("/") else source  # "/" is that of the project
            part = read_beside(self._main, folder, name.lstrip("/"))
            self._parts[source.path, name] = part
            if part is not None and part.path not in known:
                self._find(part, known)

    def read(self, source: SourceText, opened: tuple[Path, ...] = ()) -> str:
        """Return the text of a file.

        :param opened: files that include this one.
        """
        text = plain_characters(source.text)
        self._num_read += 1
        self.files += named_bibliographies(source.text)
        marked = mark_found(text, self.marks, citations_in(source, self._labels))
        marked = _LITERAL.sub(lambda found: " " if found[0][0] != "h" else found[0], marked)
        opened = (*opened, source.path)
        apart: list[str] = []

        def included(found: re.Match[str]) -> str:
            part = self._parts.get((source.path, found[1]))
            if part is None or part.path in opened or self._num_read > _MOST_FILES:
                return ""
            inner = self.read(part, opened)
            if found[0].startswith("#"):
                return f"\n\n{inner}\n\n"
            apart.append(inner)  # within code
            return ""

        words = without_code(INCLUDE.sub(included, marked), apart)
        words = _LABEL.sub("", _HEADING.sub(rf"{HEADING}\1", words)).replace("~", " ")
        words = re.sub(r"\\(?=[\s#$*_@`<\[\]])", "", words)
        return _EMPHASIS.sub(r"\2", paragraphs("\n\n".join([words, *apart])))


def _without_literal(text: str) -> str:
    text = plain_characters(text)
    return masked(text, [match.span() for match in _LITERAL.finditer(text)])


def labels_of(source: SourceText) -> set[str]:
    """Return the labels that a file defines."""
    return _labels_in(_without_literal(source.text))


def _labels_in(text: str) -> set[str]:
    return {found[1] or found[2] for found in _DEFINED.finditer(CITE.sub("", text))}


def named_bibliographies(text: str) -> tuple[str, ...]:
    """Return the files of references that a text names."""
    text = _without_literal(text)
    return tuple(name for found in _BIBLIOGRAPHY.findall(text) for name in _NAME.findall(found))


def citations_in(
    source: SourceText, labels: Collection[str] = ()
) -> list[tuple[Found, Site | None]]:
    """Return the citations of a file, and where each stands; cross-references too.

    :param labels: that other files of the manuscript define.
    """
    text = _without_literal(source.text)
    labels = _labels_in(text).union(labels)
    found: list[tuple[Found, Site | None]] = []
    for match in CITE.finditer(text):
        if cited := _CITED.search(match[2]):
            key = cited[1] or cited[2]
            is_noun = match[1] in TEXTUAL or re.search(r"\"(?:prose|author)\"", match[2])
            one = Found(*match.span(), (key,), NOUN if is_noun else "")
            found.append((one, _site(source, match, key)))
    for match in KEY.finditer(text):
        is_place = match[1] not in labels
        one = Found(*match.span(), (match[1],), "" if is_place else "This", is_place)
        found.append((one, _site(source, match, match[1])))
    for one in find_places(text):
        shown = text[one.start : one.end]
        if not shown.startswith("\\") and not KEY.search(shown):
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
