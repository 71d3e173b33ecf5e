"""Manuscripts of Word (``.docx``): text, footnotes, and citations that fields hold.

A comment such as "citation needed" is a place. Left out are headings without a citation, the table
of contents, and the list of references.
"""

import base64
import re
from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.light import REFERENCES
from mpbert.recommending.manuscripts.marks import MARK, Marks
from mpbert.recommending.manuscripts.office import BY_NAME, OfficeText, members
from mpbert.recommending.manuscripts.reference_fields import (
    csl_references,
    field_references,
    unescaped_all,
)
from mpbert.recommending.manuscripts.sentences import About, Draft
from mpbert.recommending.manuscripts.sites import Site, Style
from mpbert.recommending.manuscripts.source_text import SourceText

_BODY, _COMMENTS = "word/document.xml", "word/comments.xml"
_NOTES = ("word/footnotes.xml", "word/endnotes.xml")
_SOURCES = tuple(f"customXml/item{number}.xml" for number in range(1, 10))
_TOKEN = re.compile(
    r"<w:t(?:\s[^>]*)?>(?P<text>[^<]*)</w:t>"
    r"|<w:instrText(?:\s[^>]*)?>(?P<code>[^<]*)</w:instrText>"
    r'|<w:fldChar\s[^>]*w:fldCharType="(?P<field>\w+)"'
    r'|<w:fldSimple\s[^>]*w:instr="(?P<simple>[^"]*)"|(?P<simple_end></w:fldSimple>)'
    r'|<w:pStyle\s+w:val="(?P<style_of>[^"]*)"|(?P<end></w:p>)'
    r'|<w:tag\s+w:val="MENDELEY_CITATION_v3_(?P<mendeley>[^"]*)"|(?P<block_end></w:sdt>)'
    r'|<w:commentRangeEnd\s[^>]*w:id="(?P<comment>\d+)"|<w:(?P<sign>tab|br|cr|noBreakHyphen)\b'
)
_SIGNS = {"tab": " ", "br": " ", "cr": " ", "noBreakHyphen": "-"}
_COMMENT = re.compile(r'<w:comment\s[^>]*w:id="(\d+)".*?</w:comment>', re.DOTALL)
_SOURCE = re.compile(r"<b:Source>.*?</b:Source>", re.DOTALL)
_RUN = Style(
    '<w:r><w:t xml:space="preserve"> (', "; ", ")</w:t></w:r>", BY_NAME.of_key, is_by_name=True
)
_HEADING = re.compile(r"(?i)heading|berschrift|titre|toc|title|caption$")


_SILENT = re.compile(r"ADDIN\s+(?:ZOTERO_BIBL|EN\.REFLIST|Mendeley Bib)|^\s*(?:TOC|BIBLIOGRAPHY)\b")


@dataclass
class _OpenField:
    """A field that is open: its code is read, then what it shows."""

    code: str = ""
    is_code: bool = True
    cites: bool = False
    is_block: bool = False


def read_docx(path: Path) -> Draft:
    """Return the draft in a document of Word.

    :raises ManuscriptError: it is none.
    """
    found = members(path, (_BODY, _COMMENTS, *_NOTES, *_SOURCES))
    if _BODY not in found:
        raise ManuscriptError(f"{path}: holds no {_BODY}; expected a document of Word")
    said = "" if _COMMENTS not in found else found[_COMMENTS].text
    comments = {match[1]: _words(match[0]) for match in _COMMENT.finditer(said)}
    marks, parts, printed = Marks(), [], {}
    for name in (_BODY, *_NOTES):
        if name in found:
            reader = _WordReader(found[name], comments)
            texts = reader.office.marked(marks).split("\n\n")
            parts.append(list(zip(reader.styles, texts, strict=False)))
            printed |= reader.office.printed
    for name in _SOURCES:
        printed |= _sources(found[name].text) if name in found else {}
    body = parts[0]
    title = next((text for style, text in body if style == "Title"), "")
    abstract = "\n\n".join(text for style, text in body if style == "Abstract")
    kept = [text for part in parts for text in _sentences(part)]
    printed = {key: said for key, said in printed.items() if said}
    return Draft("\n\n".join(kept), marks, title, abstract, About((), printed))


def _sentences(paragraphs: list[tuple[str, str]]) -> list[str]:
    """Return the paragraphs of text, without the list of references."""
    kept, in_list = [], False
    for style, text in paragraphs:
        is_heading = bool(_HEADING.match(style))
        if is_heading or REFERENCES.fullmatch(text):
            in_list = bool(REFERENCES.fullmatch(text))
        is_text = not is_heading and style not in ("Abstract", "Bibliography") and not in_list
        if (MARK.search(text) and style not in ("Title", "Abstract")) or is_text:
            kept.append(text)
    return kept


class _WordReader:
    """Reads a member, token by token.

    :ivar styles: of each paragraph.
    :ivar office: the text, in which an empty line ends a paragraph.
    """

    def __init__(self, source: SourceText, comments: dict[str, str]) -> None:
        self.office, self.styles = OfficeText(source), []
        self._source, self._comments = source, comments
        self._style = ""
        self._fields: list[_OpenField] = []
        for token in _TOKEN.finditer(source.text):
            getattr(self, f"_{token.lastgroup}")(token)

    @property
    def _is_silent(self) -> bool:
        """Whether text is none of the manuscript: a field's code, or what its manager printed."""
        return any(field.is_code or field.cites for field in self._fields)

    def _text(self, token: re.Match[str]) -> None:
        if not self._is_silent:
            self.office.add(*token.span("text"))

    def _sign(self, token: re.Match[str]) -> None:
        if not self._is_silent:
            self.office.sign(_SIGNS[token["sign"]], token.start())

    def _code(self, token: re.Match[str]) -> None:
        if self._fields:
            self._fields[-1].code += unescaped_all(token["code"])

    def _field(self, token: re.Match[str]) -> None:
        if token["field"] == "begin":
            self._fields.append(_OpenField())
        elif self._fields and self._fields[-1].is_code:
            self._show(token.start())
        if token["field"] == "end" and self._fields:
            self._fields.pop()

    def _simple(self, token: re.Match[str]) -> None:
        self._fields.append(_OpenField(unescaped_all(token["simple"])))
        self._show(token.start())

    def _simple_end(self, token: re.Match[str]) -> None:
        if self._fields:
            self._fields.pop()

    def _show(self, place: int) -> None:
        """Begin the result of the innermost field."""
        field = self._fields[-1]
        field.is_code = False
        found = field_references(field.code)
        field.cites = found is not None or bool(_SILENT.search(field.code))
        if found is not None:
            self.office.cite(found[0], place, found[1])

    def _mendeley(self, token: re.Match[str]) -> None:
        try:
            said = base64.b64decode(token["mendeley"]).decode("utf-8", "replace")
        except ValueError:
            said = ""
        self.office.cite(csl_references(said), token.start(), "Mendeley")
        self._fields.append(_OpenField(is_code=False, cites=True, is_block=True))

    def _block_end(self, token: re.Match[str]) -> None:
        if self._fields and self._fields[-1].is_block:
            self._fields.pop()

    def _style_of(self, token: re.Match[str]) -> None:
        self._style = token["style_of"]

    def _end(self, token: re.Match[str]) -> None:
        self.office.sign("\n\n", token.start())
        self.styles.append(self._style)
        self._style = ""

    def _comment(self, token: re.Match[str]) -> None:
        said = self._comments.get(token["comment"], "")
        self.office.comment(said, Site(self._source, token.start(), token.start(), _RUN))


def _words(xml: str) -> str:
    return unescaped_all("".join(re.findall(r"<w:t(?:\s[^>]*)?>([^<]*)</w:t>", xml)))


def _sources(xml: str) -> dict[str, str]:
    """Return key -> reference, as text, of Word's own list of sources."""
    found = {}
    for source in _SOURCE.findall(xml):
        said = {
            name: unescaped_all(match[1])
            for name in ("Tag", "Last", "Title", "Year", "DOI")
            if (match := re.search(rf"<b:{name}>([^<]*)</b:{name}>", source))
        }
        found[said.pop("Tag", "")] = ". ".join(said.values())
    return found
