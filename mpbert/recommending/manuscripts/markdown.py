"""Manuscripts in Markdown, read with markdown-it: paragraphs without markup, one mark a citation.

Title and abstract come from the YAML block at the head, else the title from the only heading of
level 1. Left out are other headings without a citation, code, tables, images, HTML and formulas.
"""

import re
from itertools import pairwise

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from mpbert.foundation.errors import ManuscriptError
from mpbert.foundation.option_files import load_yaml
from mpbert.recommending.manuscripts.marks import MARK, Marks, mark_places, without_marks
from mpbert.recommending.manuscripts.sentences import Draft

_HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FORMULA = re.compile(r"\$\$.*?\$\$|(?<![\\\w$])\$(?=\S)[^$\n]{0,200}?(?<=\S)\$(?!\d)", re.DOTALL)
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:?")
_LONGEST_FORMULA = 20  # characters


def read_markdown(text: str, name: str) -> Draft:
    """Return the draft in a Markdown text, with citations as pandoc writes them.

    :param name: what messages call it.
    :raises ManuscriptError: the block at its head is no YAML.
    """
    marks = Marks()
    text = without_marks(text)
    head = _HEAD.match(text)
    about = {} if head is None else _read_head(head[1], name)
    text = _COMMENT.sub("", text if head is None else text[head.end() :])
    parser = MarkdownIt("commonmark").enable("table")
    title, abstract = (
        mark_places(_plain(parser.parseInline(about.get(key, ""))), marks, in_text_keys=True)
        for key in _KEYS
    )
    paragraphs: list[str] = []
    tokens = parser.parse(text)
    has_title_heading = not title and [token.tag for token in tokens].count("h1") == 2  # its ends
    for before, token in pairwise(tokens):
        if token.type != "inline" or before.type in ("th_open", "td_open"):
            continue
        paragraph = mark_places(_plain([token]), marks, in_text_keys=True)
        if before.tag == "h1" and has_title_heading:
            title = paragraph
        elif before.type != "heading_open" or MARK.search(paragraph):
            paragraphs.append(paragraph)
    return Draft("\n\n".join(paragraphs), marks, title, abstract)


_KEYS = ("title", "abstract")


def _read_head(text: str, name: str) -> dict[str, str]:
    try:
        about = load_yaml(text) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: no such date
        reason = " ".join(str(error).split())
        raise ManuscriptError(
            f"{name}: the block between --- is no YAML ({reason}); mend it or take it out"
        ) from error
    if not isinstance(about, dict):
        return {}
    return {key: about[key] for key in _KEYS if isinstance(about.get(key), str)}


def _plain(tokens: list[Token]) -> str:
    """Return the text of inline tokens, without markup and code, formulas short or left out."""
    pieces = []
    for token in (child for inline in tokens for child in inline.children or []):
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
