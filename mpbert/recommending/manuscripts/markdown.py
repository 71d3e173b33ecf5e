"""Manuscripts in Markdown, read with markdown-it: paragraphs without markup, one mark a citation.

Title and abstract come from the YAML block at the head, else the title from the only heading of
level 1. Left out are other headings and rows of tables without a citation, code, long formulas and
tags of HTML. Captions and notes stand behind the paragraph that holds them, or at the end.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from mpbert.foundation.errors import ManuscriptError
from mpbert.foundation.option_files import load_yaml
from mpbert.recommending.manuscripts.light import REFERENCES
from mpbert.recommending.manuscripts.markdown_parts import literal_spans, plain_markdown
from mpbert.recommending.manuscripts.marks import (
    MARK,
    NOUN,
    Found,
    Marks,
    find_places,
    mark_found,
    mark_places,
    masked,
    plain_characters,
)
from mpbert.recommending.manuscripts.raw_tex import RawTex
from mpbert.recommending.manuscripts.sentences import About, Draft, NamedKey
from mpbert.recommending.manuscripts.sites import (
    RST,
    SIMPLE_KEY,
    Site,
    among,
    listed_keys,
    site_in_text,
)
from mpbert.recommending.manuscripts.source_text import SourceText, read_included

_HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FORMULA = re.compile(
    r"\$\$.*?\$\$|(?<![\\\w$])\$(?=\S)(?:\\.|[^\\$\n]){0,200}?(?<=\S)\$(?!\d)", re.DOTALL
)
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,200}\]:?")
_ROLE = re.compile(r"\{cite(?::([a-z]{1,12}))?\}`([^`<>{}]{0,2000})`")  # of MyST
_TAG = re.compile(r"<(cite|strong)\s+data-cite=\"([^\"\n]{1,500})\"\s*(?:/>|>[^<]{0,500}</\1>)")
_INCLUDE = re.compile(r"\{\{<\s*include\s+(\S{1,300})\s*>\}\}")  # of Quarto
_NOCITE = re.compile(rf"@({SIMPLE_KEY}|\*)")
_MOST_DEEP = 20  # files within files
_LONGEST_FORMULA = 20  # characters


def read_markdown(source: SourceText, includes: bool = True) -> Draft:
    """Return the draft in a Markdown text, with citations as pandoc writes them.

    Places are marked before the text is parsed, so that each is known in the file.

    :param includes: whether files are read that Quarto includes.
    :raises ManuscriptError: the block at its head is no YAML.
    """
    marks = Marks()
    text = plain_characters(source.text)
    head = _HEAD.match(text)
    about = {} if head is None else read_head(head[1], str(source.path))
    parser = MarkdownIt("commonmark").enable("table")
    title, abstract = (
        mark_places(_plain(parser.parseInline(_text_of(about, key))), marks, in_text_keys=True)
        for key in ("title", "abstract")
    )
    start = 0 if head is None else head.end()
    body = _marked(source, start, marks, _MOST_DEEP if includes else 0)
    plain, apart = plain_markdown(body)
    tokens, raw = parser.parse("\n\n".join([plain, *apart])), RawTex()
    has_title_heading = not title and [token.tag for token in tokens].count("h1") == 2  # its ends
    paragraphs: list[str] = []
    in_list = False  # of references
    row: list[str] = []  # cells of the row that is being read
    for before, token in pairwise(tokens):
        if token.type == "tr_close" and MARK.search("".join(row)):
            paragraphs.append(", ".join(filter(None, row)))
        if token.type == "tr_open":
            row = []
        if token.type != "inline":
            continue
        captions: list[str] = []
        paragraph = raw.words(_plain([token], captions))
        captions = [*map(raw.words, captions), *raw.take_notes()]
        is_heading = before.type == "heading_open"
        if is_heading or REFERENCES.fullmatch(paragraph):
            in_list = REFERENCES.fullmatch(paragraph) is not None
        if before.type in ("th_open", "td_open"):
            row.append(paragraph)
        elif before.tag == "h1" and has_title_heading and not in_list:
            title = paragraph
        elif MARK.search("".join([paragraph, *captions])) or not (is_heading or in_list):
            paragraphs += [paragraph, *captions]
    nocite = tuple(map(NamedKey, _NOCITE.findall(str(about.get("nocite", "")))))
    known = About(bibliographies_of(about), _references(about), nocite)
    return Draft("\n\n".join(paragraphs), marks, title, abstract, known)


def _references(about: dict[str, Any]) -> dict[str, str]:
    """Return key -> title, of references in the head."""
    listed = about.get("references")
    found = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return {str(each["id"]): str(each.get("title", "")) for each in found if "id" in each}


def _marked(source: SourceText, start: int, marks: Marks, depth: int) -> str:
    """Return a text from ``start`` on with its places marked, and files that it includes in place.

    :param depth: of files within files; at 0 none is included.
    """
    text = plain_characters(source.text)[start:]
    marked = mark_found(text, marks, _found(source, text, start))

    def included(shortcode: re.Match[str]) -> str:
        inner = read_included(source, [shortcode[1]]) if depth else None
        if inner is None:
            return ""
        head = _HEAD.match(plain_characters(inner.text))
        return _marked(inner, 0 if head is None else head.end(), marks, depth - 1)

    return _INCLUDE.sub(included, marked)


def citations_in(source: SourceText) -> list[tuple[Found, Site | None]]:
    """Return the citations of a file behind its YAML block, and where each stands."""
    text = plain_characters(source.text)
    head = _HEAD.match(text)
    start = 0 if head is None else head.end()
    moved = _found(source, text[start:], start)
    return [(replace(f, start=f.start + start, end=f.end + start), site) for f, site in moved]


def _found(source: SourceText, text: str, start: int) -> list[tuple[Found, Site | None]]:
    """Return the citations of a text that begins at ``start`` of its file."""
    literal = literal_spans(text)
    found: list[tuple[Found, Site | None]] = [
        (one, site_in_text(source, start + one.start, start + one.end))
        for one in find_places(masked(text, literal), in_text_keys=True)
    ]
    return [*found, *_found_in_markup(source, text, start, literal)]


def _found_in_markup(
    source: SourceText, text: str, start: int, literal: Sequence[tuple[int, int]]
) -> Iterator[tuple[Found, Site]]:
    """Yield citations that are roles of MyST, or tags of notebooks."""
    firsts = [first for first, _ in literal]
    for pattern in (_ROLE, _TAG):
        for match in pattern.finditer(text):
            around = bisect_left(firsts, match.start()) - 1
            if around >= 0 and literal[around][1] > match.start():
                continue
            items = listed_keys(match[2], start + match.start(2))
            keys = tuple(key for _, _, key in items if key)
            noun = NOUN if match[1] in ("t", "ts", "ct", "author") else ""
            site = among(source, items, start + match.end(2), RST)
            yield Found(*match.span(), keys, noun), site


def head_of(text: str) -> str:
    """Return the YAML in the block at the head of a text; empty where there is none."""
    head = _HEAD.match(text)
    return "" if head is None else head[1]


def bibliographies_of(about: dict[str, Any]) -> tuple[str, ...]:
    """Return the files of references that a YAML block names."""
    named = about.get("bibliography", [])
    files = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    return tuple(name for name in files if isinstance(name, str))


def read_head(text: str, name: str) -> dict[str, Any]:
    """Return what a YAML block says.

    :raises ManuscriptError: it is none.
    """
    try:
        about = load_yaml(text) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: no such date
        reason = " ".join(str(error).split())
        raise ManuscriptError(
            f"{name}: the block between --- is no YAML ({reason}); mend it or take it out"
        ) from error
    return about if isinstance(about, dict) else {}


def _text_of(about: dict[str, Any], key: str) -> str:
    return about[key] if isinstance(about.get(key), str) else ""


def _plain(tokens: list[Token], captions: list[str] | None = None) -> str:
    """Return the text of inline tokens, without markup and code, formulas short or left out.

    :param captions: receives those of images.
    """
    pieces = []
    for token in (child for inline in tokens for child in inline.children or []):
        if token.type == "image" and captions is not None:
            captions.append(_plain([token], captions))
        if token.type in ("text", "text_special"):
            pieces.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            pieces.append(" ")
    text = _FOOTNOTE.sub("", "".join(pieces))
    return _FORMULA.sub(_short_formula, text)


def _short_formula(match: re.Match[str]) -> str:
    formula = match[0].strip("$")
    is_short = len(formula) <= _LONGEST_FORMULA and not match[0].startswith("$$")
    return formula if is_short else " "
