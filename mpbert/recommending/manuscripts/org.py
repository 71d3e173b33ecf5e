r"""Manuscripts in Org: citations of Org itself, of org-ref, of pandoc and of LaTeX.

Left out are code, drawers, keywords, comments and headings without a citation; notes stand apart.
"""

import re
from dataclasses import replace

from mpbert.recommending.manuscripts.citation_commands import TEX_COMMENT
from mpbert.recommending.manuscripts.light import (
    BETWEEN_DOLLARS,
    HEADING,
    paragraphs,
    taken_out,
    without_formulas,
)
from mpbert.recommending.manuscripts.marks import (
    MARK,
    NOUN,
    Found,
    Marks,
    find_places,
    mark_found,
    masked,
    plain_characters,
)
from mpbert.recommending.manuscripts.org_export import (
    MACRO,
    exported,
    unexported_spans,
    with_macros,
)
from mpbert.recommending.manuscripts.raw_tex import RawTex, parts_apart
from mpbert.recommending.manuscripts.references import about_tex
from mpbert.recommending.manuscripts.sentences import About, Draft
from mpbert.recommending.manuscripts.sites import (
    ORG,
    ORG_KEY,
    Site,
    among,
    listed_keys,
    site_in_text,
)
from mpbert.recommending.manuscripts.source_text import SourceText

_FLAGS = re.DOTALL | re.MULTILINE | re.IGNORECASE
_DROPPED = re.compile(
    r"^[ \t]*#\+begin_(src|example|export|comment)\b.*?^[ \t]*#\+end_\1[^\n]*"
    r"|^[ \t]*:(?:PROPERTIES|LOGBOOK):.*?^[ \t]*:END:[^\n]*|^[ \t]*:[ ][^\n]*|^[ \t]*#(?!\+)[^\n]*",
    _FLAGS,
)
_LITERAL = re.compile(
    _DROPPED.pattern + r"|(?<=\[\[)(?!\w*cit)[^\[\]\n]+(?=\])|https?://[^\s\]]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})++"
    r"|(?<![\w=~])([=~])(?=\S)[^=~\n]{1,200}(?<=\S)\2(?!\w)"
    r"|\bsrc_\w{1,20}(?:\[[^\[\]\n]*\])?\{[^{}\n]{0,300}\}"
    rf"|{BETWEEN_DOLLARS}|(?<![\\\w$])\$(?=\S)(?:\\.|[^\\$\n]){{0,300}}?(?<=\S)\$(?!\d)"
    r"|\\\((?:(?!\\\(|\n\s*\n).)*?\\\)|\\\[(?:(?!\\\[|\n\s*\n).)*?\\\]"
    r"|\\begin\{(equation|align|gather|multline)(\*?)\}.*?\\end\{\3\4\}",
    _FLAGS,
)
CITE = re.compile(r"\[cite(?:/([\w/-]{1,20}))?:([^\[\]]{0,2000})\]")
_KEY = r"&?\w[\w:./+-]*"
REF = re.compile(  # white space stands between keys in [[...]] alone
    r"(?P<link>\[\[)?\b(?P<style>(?:cite|parencite|textcite|autocite|footcite|supercite)[a-z]{0,8}):"
    rf"(?P<keys>{_KEY}(?:[,;](?(link)\s*){_KEY})*)(?<![.:])(?:\](?:\[[^\[\]]*\])?\])?"
)
# of its third version, with notes among the keys
_REF_3 = re.compile(
    r"\[\[((?:cite|parencite|textcite|autocite|footcite|supercite)[a-z]{0,8}):([^\[\]]{0,500}&[^\[\]]*)\]"
    r"(?:\[[^\[\]]*\])?\]"
)
_REF_KEY = re.compile(r"&(\w[\w:./+-]*\w|\w)")
_NOUNS = ("t", "text", "a", "author", "citet", "textcite", "citeauthor")
_KEYWORD = re.compile(r"^[ \t]*#\+(\w+):[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_CAPTION = re.compile(r"^[ \t]*#\+caption(?:\[[^\]]*\])?:[ \t]*(.*)$", re.MULTILINE | re.IGNORECASE)
_BIBLIOGRAPHY = re.compile(r"(?<!#\+)\bbibliography:([\w./~,-]+)")
_NAMED = re.compile(  # by Org; by ox-bibtex, with a style and options behind
    r'^[ \t]*#\+bibliography:[ \t]*"?([^"\n]+\.\w+(?="?[ \t]*$)|[^\s"]+)',
    re.MULTILINE | re.IGNORECASE,
)
_ABSTRACT = re.compile(r"^[ \t]*#\+begin_abstract(.*?)^[ \t]*#\+end_abstract", _FLAGS)
_TEX = re.compile(r"^[ \t]*#\+latex:[ \t]*(.*)$", re.MULTILINE | re.IGNORECASE)
_SNIPPET = re.compile(r"@@([\w-]{1,20}):(.*?)@@", re.DOTALL)
_LINES = re.compile(r"^[ \t]*#\+[^\n]*$|^-{5,}$", re.MULTILINE)
_HEADING = re.compile(r"^\*+[ \t]+(?:TODO |DONE )?(.*?)(?:[ \t]+:[\w:@]+:)?$", re.MULTILINE)
_LINK = re.compile(r"\[\[[^\[\]]*\](?:\[([^\[\]]*)\])?\]")
_NOTE = re.compile(r"\[fn:[\w-]*(?::([^\[\]]*))?\]")
_CODE = re.compile(
    r"(?<![\w=~])([=~])(?=\S)[^=~\n]{1,200}(?<=\S)\1(?!\w)"
    r"|\bsrc_\w{1,20}(?:\[[^\[\]\n]*\])?\{[^{}\n]{0,300}\}"
)
_EMPHASIS = re.compile(r"(?<![\w*/_+=~])([*/_+=~])(?=\S)([^\n]{1,300}?)(?<=\S)\1(?![\w*/_+=~])")


def read_org(source: SourceText) -> Draft:
    """Return the draft in a file of Org."""
    marks = Marks()

    def expanded(body: str) -> str:  # which stands nowhere in the file
        found = citations_in(SourceText(source.path, body))
        return mark_found(body, marks, [(one, None) for one, _ in found])

    text = mark_found(plain_characters(source.text), marks, citations_in(source))
    text, raw = _DROPPED.sub("\n\n", text), RawTex()
    text = with_macros(text, source.path, expanded)
    words = [(name.lower(), value) for name, value in _KEYWORD.findall(text)]
    text, abstracts = taken_out(_ABSTRACT, without_formulas(_with_tex(exported(text), raw)))
    about = About(named_bibliographies(source.text))
    text = _LINES.sub("\n\n", parts_apart(_CAPTION.sub(r"\n\n\1\n\n", text)))
    text, notes = taken_out(_NOTE, _HEADING.sub(rf"{HEADING}\1", text))
    text = "\n\n".join(_plain(part, raw) for part in (text, *notes))
    title, abstract = (
        _plain(part, raw) for part in (dict(words).get("title", ""), "\n\n".join(abstracts))
    )
    return Draft("\n\n".join([text, *raw.take_notes()]), marks, title, abstract, about)


def _plain(text: str, raw: RawTex) -> str:
    """Return a text as paragraphs without markup."""
    text = _LINK.sub(lambda link: link[1] or "", paragraphs(text))
    return _EMPHASIS.sub(r"\2", raw.words(_CODE.sub("", text)))


def named_bibliographies(text: str) -> tuple[str, ...]:
    """Return the files of references that a text names."""
    text = _DROPPED.sub("", text)
    files = _NAMED.findall(text)
    files += [name for names in _BIBLIOGRAPHY.findall(text) for name in names.split(",")]
    files += about_tex(text).bibliographies
    return tuple(dict.fromkeys(files))


def citations_in(source: SourceText) -> list[tuple[Found, Site | None]]:
    """Return the citations of a file, and where each stands."""
    text = plain_characters(source.text)
    text = masked(text, unexported_spans(text))
    text = masked(text, [match.span() for match in MACRO.finditer(text)])
    text = masked(text, [match.span() for match in _LITERAL.finditer(text)])
    found: list[tuple[Found, Site | None]] = []
    for match in CITE.finditer(text):
        start = match.start(2)
        items = [
            (start + key.start(), start + key.end(), key[1] or key[2])
            for key in ORG_KEY.finditer(match[2])
        ]
        site = among(source, items, match.end(2), ORG)
        found.append((_of(match, items, (match[1] or "").split("/")[0]), site))
    noted = list(_REF_3.finditer(text))
    for match in noted:
        start = match.start(2)
        items = [(start + k.start(1), start + k.end(1), k[1]) for k in _REF_KEY.finditer(match[2])]
        style = replace(ORG, between=";&", of_key=str)
        found.append((_of(match, items, match[1]), among(source, items, match.end(2), style)))
    inside = [match.span() for match in noted]
    for match in REF.finditer(masked(text, inside)):
        keys = listed_keys(match["keys"].replace(";", ","), match.start("keys"))
        sign = "&" if "&" in match["keys"] else ""
        items = [(start + len(sign), end, key.removeprefix(sign)) for start, end, key in keys]
        style = replace(ORG, between=f";{sign}" if sign else ",", of_key=str)
        site = among(source, items, match.end("keys"), style)
        found.append((_of(match, items, match["style"]), site))
    for one in find_places(text):
        site = site_in_text(source, one.start, one.end)
        is_open = not one.keys and not text[one.start : one.end].startswith("\\")
        found.append((one, replace(site, style=ORG) if is_open else site))
    return found


def _of(match: re.Match[str], items: list[tuple[int, int, str]], style: str) -> Found:
    keys = tuple(key for _, _, key in items)
    is_place = style not in ("n", "nocite")
    return Found(*match.span(), keys, NOUN if style in _NOUNS and is_place else "", is_place)


def _with_tex(text: str, raw: RawTex) -> str:
    """Return a text with the TeX of ``#+latex:`` in place where it cites or is a caption."""

    def words(tex: str) -> str:
        tex = TEX_COMMENT.sub("", tex)
        is_whole = tex.count("{") == tex.count("}")  # another line may close a group
        return raw.text_of(tex) if is_whole else re.sub(r"[{}]", "", raw.words(tex))

    def line(found: re.Match[str]) -> str:
        return words(found[1]) if MARK.search(found[1]) or "\\caption" in found[1] else ""

    def snippet(found: re.Match[str]) -> str:
        return words(found[2]) if found[1] == "latex" else ""

    return _SNIPPET.sub(snippet, _TEX.sub(line, text))
