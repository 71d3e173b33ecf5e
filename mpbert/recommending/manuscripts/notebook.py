"""Manuscripts as Jupyter notebooks: the Markdown cells, as one text of Markdown.

A citation is written into the JSON where its cell stands, escaped as JSON is.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.markdown import read_markdown
from mpbert.recommending.manuscripts.marks import Mention
from mpbert.recommending.manuscripts.sentences import Draft
from mpbert.recommending.manuscripts.source_text import SourceText

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_ESCAPED = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)


def read_notebook(source: SourceText) -> Draft:
    """Return the draft in a notebook.

    :raises ManuscriptError: it is no notebook.
    """
    try:
        notebook = json.loads(source.text)
        cells = notebook["cells"]
        kinds = [cell["cell_type"] for cell in cells]
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        raise ManuscriptError(
            f"{source.path}: is no Jupyter notebook of format 4 ({type(error).__name__}); save it "
            f"with Jupyter, or convert it: jupyter nbconvert --to markdown"
        ) from error
    pieces, places = [], []
    for kind, parts in zip(kinds, _sources(source.text), strict=False):
        if kind != "markdown":
            continue
        for start, end in parts:
            said, origins = _decoded(source.text, start, end)
            pieces.append(said)
            places.append(origins)
        pieces.append("\n\n")
        places.append(np.full(2, -1))
    text = "".join(pieces)
    draft = read_markdown(replace(source, text=text), includes=False)
    at = np.concatenate([np.zeros(0, dtype=np.int64), *places, [len(source.text)]])
    moved = [_moved(mention, source, at) for mention in draft.marks.mentions]
    draft.marks.mentions[:] = moved
    return draft


def _moved(mention: Mention, source: SourceText, at: np.ndarray) -> Mention:
    """Return a citation with its site in the JSON."""
    site = mention.site
    if site is None:
        return mention
    start = int(at[site.start])
    if start < 0:  # behind the last character of a cell
        start = _end_of(source.text, int(at[site.start - 1]))
    end = _end_of(source.text, int(at[site.end - 1])) if site.end > site.start else start
    return replace(mention, site=replace(site, source=source, start=start, end=end, escape="json"))


def _end_of(text: str, start: int) -> int:
    return _ESCAPED.match(text, start).end()


def _decoded(text: str, start: int, end: int) -> tuple[str, np.ndarray]:
    """Return a string of JSON, and where each character of it stands."""
    said, origins = [], []
    place = start
    while place < end:
        match = _ESCAPED.match(text, place, end)
        piece = match[0]
        if re.match(r"\\u[dD][89abAB]", piece) and text.startswith("\\u", match.end()):
            piece = text[place : match.end() + 6]  # two of UTF-16 are one character
        character = json.loads(f'"{piece}"', strict=False)
        said.append(character)
        origins += [place] * len(character)
        place += len(piece)
    return "".join(said), np.array(origins, dtype=np.int64)


def _sources(text: str) -> Iterator[list[tuple[int, int]]]:
    """Yield, of each cell, the [start, end) of the strings of its source, without quotes."""
    path: list[str | None] = []  # names that are open, None for a list
    key, last, parts = None, "", []
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in "{[":
            path.append(key)
            key = None
            if sign == "{" and path == [None, "cells", None]:
                parts = []
        elif sign in "}]":
            if sign == "}" and path == [None, "cells", None]:
                yield parts
            path.pop()
            key = None
        elif sign == ":":
            key = json.loads(last)
        elif sign == ",":
            key = None
        elif sign.startswith('"'):
            is_source = path == [None, "cells", None] and key == "source"
            if is_source or path == [None, "cells", None, "source"]:
                parts.append((token.start() + 1, token.end() - 1))
        last = sign
