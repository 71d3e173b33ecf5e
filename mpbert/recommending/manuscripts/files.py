"""Manuscripts in files: TeX, Markdown, JSON or plain text, by the ending of the name."""

import json
from pathlib import Path

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.marks import Marks, mark_places, without_marks
from mpbert.recommending.manuscripts.sentences import (
    Draft,
    Manuscript,
    manuscript_of,
    read_text,
)
from mpbert.recommending.manuscripts.source_text import SourceText, read_source

SUFFIXES = (".json", ".markdown", ".md", ".tex", ".txt")


def read_manuscript_file(path: Path) -> Manuscript:
    """Return the manuscript in a file; it may mark no place.

    :raises ManuscriptError: it cannot be read, is not in its encoding, or of no known kind.
    """
    return manuscript_in(read_checked(path))


def read_checked(path: Path) -> SourceText:
    """Return the text of a file of a known kind.

    :raises ManuscriptError: as of :func:`read_manuscript_file`.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise ManuscriptError(
            f"{path}: found a name that ends in {path.suffix!r}; expected "
            f"{', '.join(SUFFIXES)}, or its text as standard input with -"
        )
    return read_source(path)


def manuscript_in(source: SourceText) -> Manuscript:
    """Return the manuscript in the text of a file.

    :raises ManuscriptError: it is not what the ending of the name says.
    """
    return manuscript_of(draft_in(source))


def draft_in(source: SourceText) -> Draft:
    """Return the draft in the text of a file, before it is cut into sentences.

    :raises ManuscriptError: it is not what the ending of the name says.
    """
    text, path = source.text, source.path
    suffix = path.suffix.lower()
    if suffix == ".tex":
        from mpbert.recommending.manuscripts.tex import read_tex

        return read_tex(source)
    if suffix in (".md", ".markdown"):
        from mpbert.recommending.manuscripts.markdown import read_markdown

        return read_markdown(source)
    if suffix == ".json" or text.lstrip().startswith("{"):
        return _read_json(text, str(path))
    return read_text(source)


def _read_json(text: str, name: str) -> Draft:
    """Return the draft in a JSON object with ``title``, ``abstract`` and ``text``."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ManuscriptError(f"{name}: is no JSON ({error}); mend it") from error
    if not isinstance(content, dict):
        raise ManuscriptError(
            f"{name}: found a {type(content).__name__}; expected an object with title, abstract "
            f"and text"
        )
    marks, parts = Marks(), {}
    for key in ("title", "abstract", "text"):
        value = content.get(key, "")
        if not isinstance(value, str):
            raise ManuscriptError(f"{name}: {key!r} is a {type(value).__name__}; expected a string")
        parts[key] = mark_places(without_marks(value), marks)
    return Draft(parts["text"], marks, parts["title"], parts["abstract"])
