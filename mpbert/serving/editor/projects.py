r"""The manuscript that a text is a part of: files by ``\input`` and the like, bibliographies.

A part names its root by ``% !TEX root``, or is named by a root beside or above it; it may belong to
several roots.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from mpbert.recommending.manuscripts.forms import form_of
from mpbert.recommending.manuscripts.linked import (
    included_names,
    is_whole,
    named_bibliographies,
    named_root,
)
from mpbert.serving.editor.texts import Buffer, EditorTexts, real

_OTHERS = (".json", ".ris", ".yaml", ".yml")  # bibliographies that are no BibTeX
_MOST_FILES = 500
_MOST_ABOVE = 4  # folders in which a root is looked for
_SETTINGS = ("_quarto.yml", "_bookdown.yml", "index.qmd", "index.Rmd", "index.md", "main.md")


@dataclass(frozen=True)
class Project:
    """A manuscript.

    :param files: with texts, roots first, each once.
    :param bibliographies: of BibTeX that it names, those that are there first.
    """

    files: tuple[Path, ...]
    bibliographies: tuple[Path, ...]


@dataclass(frozen=True)
class _Links:
    """What a file names."""

    text: str
    included: list[str]
    bibliographies: tuple[str, ...]
    is_whole: bool


class Projects:
    """Finds manuscripts; what a file names is read again when its text has changed."""

    def __init__(self) -> None:
        self._read: dict[tuple[Path, str], _Links] = {}

    def project_of(self, buffer: Buffer, texts: EditorTexts) -> Project:
        """Return the manuscript that a buffer is a part of."""
        form, files = buffer.form, {}
        for root in self._roots(buffer, texts):
            files |= dict.fromkeys(self._reached(root, texts, form))
        files.setdefault(buffer.path)
        named: dict[Path, None] = {}
        folders = list(dict.fromkeys(path.parent for path in files))
        for path in files:
            for name in self._links(path, texts, form).bibliographies:
                named[_bibliography(name, folders, texts)] = None
        if not named and form == "markdown":
            named = dict.fromkeys(_of_settings(buffer.path, texts))
        found = [path for path in named if path.suffix.lower() == ".bib"]
        there = sorted(found, key=lambda path: texts.text(path) is None)
        return Project(tuple(files), tuple(there))

    def _links(self, path: Path, texts: EditorTexts, form: str) -> _Links:
        text = texts.text(path) or ""
        known = self._read.get((path, form))
        if known is None or known.text != text:
            bibliographies = named_bibliographies(text, form, path)
            known = _Links(text, included_names(text, form), bibliographies, is_whole(text, form))
            self._read[path, form] = known
        return known

    def _roots(self, buffer: Buffer, texts: EditorTexts) -> list[Path]:
        if name := named_root(buffer.text):
            root = real(buffer.path.parent / name)
            if texts.text(root) is not None:
                return [root]
        own = self._links(buffer.path, texts, buffer.form)
        if buffer.form not in ("tex", "typst") or (buffer.form == "tex" and own.is_whole):
            return [buffer.path]
        candidates = [
            path
            for folder in _above(buffer.path)
            for path in _beside(folder, buffer.path.suffix)
            if path != buffer.path and self._links(path, texts, buffer.form).is_whole
        ]
        reached = {path: self._reached(path, texts, buffer.form) for path in candidates}
        holding = [path for path in candidates if buffer.path in reached[path]]
        below = {each for path in holding for each in reached[path][1:]}
        if holding:
            return [path for path in holding if path not in below]
        nearest = [path for path in candidates if path.parent == candidates[0].parent]
        return [*nearest, buffer.path]  # a part that none includes yet

    def _reached(self, root: Path, texts: EditorTexts, form: str) -> list[Path]:
        """Return a root and the files that it includes, in the order of reading."""
        found: dict[Path, None] = {}
        waiting = [root]
        while waiting and len(found) < _MOST_FILES:
            path = waiting.pop()
            if path in found:
                continue
            found[path] = None
            folders = (root.parent, path.parent)
            names = self._links(path, texts, form).included
            inner = (_included(name, folders, root.suffix, texts) for name in names)
            waiting += reversed([file for file in inner if file is not None])
        return list(found)


def texts_below(folder: Path, form: str) -> Iterator[Path]:
    """Yield the texts of a form in a folder and those below; some hundreds are looked into."""
    for parent, below, names in islice(os.walk(folder), _MOST_FILES):
        below[:] = sorted(name for name in below if not name.startswith((".", "node_modules")))
        yield from (real(Path(parent, name)) for name in names if form_of(Path(name)) == form)


def _included(name: str, folders: tuple[Path, ...], suffix: str, texts: EditorTexts) -> Path | None:
    for folder in dict.fromkeys(folders):
        for end in ("", suffix):
            path = real(folder / f"{name}{end}")
            if form_of(path) and texts.text(path) is not None:
                return path
    return None


def _above(path: Path) -> Iterator[Path]:
    """Yield the folder of a file and some above it, up to that of a repository."""
    for folder in list(path.parents)[: _MOST_ABOVE + 1]:
        yield folder
        if (folder / ".git").exists():
            return


def _beside(folder: Path, suffix: str) -> list[Path]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(suffix))
    except OSError:
        return []
    return [real(folder / name) for name in names[:_MOST_FILES]]


def _bibliography(name: str, folders: list[Path], texts: EditorTexts) -> Path:
    file = name if Path(name).suffix.lower() in (".bib", *_OTHERS) else f"{name}.bib"
    places = [real(folder / file) for folder in folders]
    return next((path for path in places if texts.text(path) is not None), places[0])


def _of_settings(path: Path, texts: EditorTexts) -> Iterator[Path]:
    """Yield the bibliographies that Quarto's or bookdown's settings name, or the first chapter."""
    for folder in _above(path):
        for name in _SETTINGS:
            text = texts.text(folder / name) or ""
            if name.endswith("yml"):
                text = f"---\n{text}\n---\n"
            named = named_bibliographies(text, "markdown", path)
            yield from (real(folder / each) for each in named)
            if named:
                return
