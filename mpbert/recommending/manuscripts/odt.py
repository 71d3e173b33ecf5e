"""Manuscripts of LibreOffice (``.odt``): text, notes, and citations that Zotero or it holds.

A comment such as "citation needed" is a place. Left out are headings without a citation, indexes,
and what tracked changes took out.
"""

import re
from pathlib import Path

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.light import REFERENCES
from mpbert.recommending.manuscripts.marks import MARK, Marks
from mpbert.recommending.manuscripts.office import BY_NAME, OfficeText, members
from mpbert.recommending.manuscripts.reference_fields import field_references, unescaped_all
from mpbert.recommending.manuscripts.sentences import About, Draft
from mpbert.recommending.manuscripts.sites import Site
from mpbert.recommending.manuscripts.source_text import SourceText

_BODY = "content.xml"
_TOKEN = re.compile(r"<(/?)([\w:-]+)([^<>]*?)(/?)>|[^<]+")
_ATTRIBUTE = re.compile(r'(?<![\w:-])([\w:-]+)="([^"]*)"')
_STYLE = re.compile(
    r'<style:style [^>]*?style:name="([^"]*)"[^>]*?style:parent-style-name="([^"]*)"'
)
_PARAGRAPHS = ("text:p", "text:h")
# whose text is none of the manuscript
_SILENT = frozenset(
    "text:tracked-changes text:note-citation text:bibliography-mark office:annotation "
    "text:table-of-content text:bibliography text:alphabetical-index text:illustration-index "
    "office:forms svg:title svg:desc text:sequence-decls".split()
)


def read_odt(path: Path) -> Draft:
    """Return the draft in a document of LibreOffice.

    :raises ManuscriptError: it is none.
    """
    found = members(path, (_BODY,))
    if _BODY not in found:
        raise ManuscriptError(f"{path}: holds no {_BODY}; expected a document of LibreOffice")
    reader, marks = _OdtReader(found[_BODY]), Marks()
    texts = reader.office.marked(marks).split("\n\n")
    paragraphs = list(zip(reader.kinds, texts, strict=False))
    title = next((text for kind, text in paragraphs if kind == "Title"), "")
    kept, in_list = [], False
    for kind, text in paragraphs:
        is_heading = kind == "text:h"
        if is_heading or REFERENCES.fullmatch(text):
            in_list = REFERENCES.fullmatch(text) is not None
        if kind != "Title" and (MARK.search(text) or not (is_heading or in_list)):
            kept.append(text)
    return Draft("\n\n".join(kept), marks, title, "", About((), reader.office.printed))


class _OdtReader:
    """Reads a document, tag by tag.

    :ivar kinds: of each paragraph: its style where that is ``Title``, else its tag.
    :ivar office: the text, in which an empty line ends a paragraph.
    """

    def __init__(self, source: SourceText) -> None:
        self.office, self.kinds = OfficeText(source), []
        self._source = source
        self._parents = dict(_STYLE.findall(source.text))
        self._silent: list[str] = []  # tags that are open within one that is silent
        self._comment: list[str] = []
        self._in_zotero = False
        self._kind = ""
        body = source.text.find("<office:body")
        for token in _TOKEN.finditer(source.text, max(body, 0)):
            if token[2] is None:
                self._text(token)
            elif token[1]:
                self._end(token)
            else:
                self._start(token)

    def _text(self, token: re.Match[str]) -> None:
        if "office:annotation" in self._silent:
            self._comment.append(token[0])
        elif not self._silent and not self._in_zotero and self._kind:
            self.office.add(*token.span())

    def _start(self, token: re.Match[str]) -> None:
        tag, said = token[2], dict(_ATTRIBUTE.findall(token[3]))
        place = token.start()
        if tag == "text:reference-mark-start" and (
            found := field_references(unescaped_all(said.get("text:name", "")))
        ):
            self.office.cite(found[0], place, found[1])
            self._in_zotero = True
        elif tag == "text:reference-mark-end":
            self._in_zotero = False
        elif tag == "text:bibliography-mark":
            names = ("text:author", "text:title", "text:year")
            key = unescaped_all(said.get("text:identifier", "")) or "entry"
            printed = ". ".join(unescaped_all(said.get(name, "")) for name in names)
            self.office.cite({key: printed}, place, "LibreOffice")
        if token[4]:
            if tag in ("text:s", "text:tab", "text:line-break") and not self._silent:
                self.office.sign(" ", place)
        elif tag in _SILENT or self._silent:
            self._silent.append(tag)
        elif tag in _PARAGRAPHS:
            style = said.get("text:style-name", "")
            title = "Title" in (style, self._parents.get(style))
            if tag == "text:p" and self._kind:  # a note within a paragraph
                self.office.sign(" ", place)
            self._kind = "Title" if title else tag

    def _end(self, token: re.Match[str]) -> None:
        place = token.end()
        if self._silent:
            tag = self._silent.pop()
            if tag == "office:annotation":
                said = unescaped_all("".join(self._comment))
                self.office.comment(said, Site(self._source, place, place, BY_NAME))
                self._comment = []
        elif token[2] in _PARAGRAPHS:
            self.office.sign("\n\n", token.start())
            self.kinds.append(self._kind or "text:p")
