"""Manuscripts in files: the reader of each ending of a name."""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.marks import Marks, mark_places, without_marks
from mpbert.recommending.manuscripts.sentences import Draft, Manuscript, manuscript_of, read_text
from mpbert.recommending.manuscripts.source_text import SourceText, read_source

_PACKAGE = "mpbert.recommending.manuscripts"
# ending of a name -> module and function that read the text of the file
_OF_TEXT = {
    ".tex": "tex.read_tex",
    **dict.fromkeys((".ltx", ".latex"), "tex.read_tex"),
    **dict.fromkeys((".md", ".markdown", ".qmd", ".rmd"), "markdown.read_markdown"),
    ".org": "org.read_org",
    **dict.fromkeys((".rst", ".rest"), "rst.read_rst"),
    ".typ": "typst.read_typst",
    ".ipynb": "notebook.read_notebook",
    ".lyx": "lyx.read_lyx",
}
# the same of files that hold more than text, which are read by their paths
_OF_FILE = {".pdf": "printed.read_pdf", ".docx": "docx.read_docx", ".odt": "odt.read_odt"}
SUFFIXES = (*_OF_TEXT, ".json", ".txt", *_OF_FILE)
_OURS = ("title", "abstract", "text")


def read_manuscript_file(path: Path) -> Manuscript:
    """Return the manuscript in a file; it may mark no place.

    :raises ManuscriptError: it cannot be read, is not in its encoding, or of no known kind.
    """
    return manuscript_of(draft_at(path))


def draft_at(path: Path) -> Draft:
    """Return the draft in a file, before it is cut into sentences.

    :raises ManuscriptError: as of :func:`read_manuscript_file`.
    :raises ModuleNotFoundError: a package that reads such files is not installed.
    """
    suffix = path.suffix.lower()
    if suffix in _OF_FILE:
        return _reader(_OF_FILE[suffix])(path)
    if suffix not in SUFFIXES:
        raise ManuscriptError(
            f"{path}: found a name that ends in {path.suffix!r}; expected "
            f"{', '.join(SUFFIXES)}; or convert it: pandoc -t markdown -o paper.md {path.name}"
        )
    return draft_in(read_source(path))


def draft_with_text(path: Path) -> tuple[Draft, str]:
    """Return the draft in a file, and the text of the file; empty where it is no text.

    :raises ManuscriptError: as of :func:`read_manuscript_file`.
    """
    draft = draft_at(path)
    return draft, "" if path.suffix.lower() in _OF_FILE else read_source(path).text


def draft_in(source: SourceText) -> Draft:
    """Return the draft in the text of a file, before it is cut into sentences.

    A text that is a JSON object with a title, an abstract or a text is read as one, whatever its
    name.

    :raises ManuscriptError: it is not what the ending of the name says.
    """
    suffix = source.path.suffix.lower()
    if suffix in _OF_TEXT:
        return _reader(_OF_TEXT[suffix])(source)
    if suffix == ".json" or _is_ours(source.text):
        return _read_json(source.text, str(source.path))
    return read_text(source)


def _reader(name: str) -> Callable[..., Draft]:
    module, _, function = name.partition(".")
    found: Callable[..., Draft] = getattr(importlib.import_module(f"{_PACKAGE}.{module}"), function)
    return found


def _is_ours(text: str) -> bool:
    """Return whether a text is an object of JSON with keys of ours, and no manuscript in braces."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and any(key in content for key in _OURS)


def _read_json(text: str, name: str) -> Draft:
    """Return the draft in a JSON object with ``title``, ``abstract`` and ``text``."""
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ManuscriptError(f"{name}: is no JSON ({error}); mend it") from error
    if not isinstance(content, dict):
        raise ManuscriptError(
            f"{name}: found a {type(content).__name__}; expected an object with title, abstract "
            f"and text"
        )
    marks, parts = Marks(), {}
    for key in _OURS:
        value = content.get(key, "")
        if not isinstance(value, str):
            raise ManuscriptError(f"{name}: {key!r} is a {type(value).__name__}; expected a string")
        parts[key] = mark_places(without_marks(value), marks)
    return Draft(parts["text"], marks, parts["title"], parts["abstract"])
