"""Where the files of a manuscript cite: each citation, and each key of it."""

import re
from dataclasses import dataclass
from pathlib import Path

from mpbert.recommending.manuscripts.forms import citations_in, key_spans
from mpbert.recommending.manuscripts.marks import Found
from mpbert.recommending.manuscripts.placeholders import is_placeholder
from mpbert.recommending.manuscripts.sites import Site
from mpbert.recommending.manuscripts.source_text import SourceText
from mpbert.recommending.manuscripts.typst import labels_of

_APART = re.compile(r"[\s{}\[\]()<>,;@&`\"'|]+")
_STOPS = ".:!?*_-"


@dataclass(frozen=True)
class KeyUse:
    """A key at [start, end) of a file."""

    path: Path
    start: int
    end: int
    key: str


@dataclass(frozen=True)
class FileUses:
    """What a file cites.

    :param open_places: citations that are still to be chosen, such as ``[CITATION]``.
    :param labels: that it defines, whose references look like citations.
    :param words: all that may be a key, in small letters, wherever it stands.
    """

    source: SourceText
    keys: tuple[KeyUse, ...]
    open_places: tuple[tuple[Found, Site | None], ...]
    labels: frozenset[str]
    words: frozenset[str]


class UsesReader:
    """Reads files, each again when its text has changed."""

    def __init__(self) -> None:
        self._read: dict[Path, FileUses] = {}

    def of(self, path: Path, text: str, form: str) -> FileUses:
        """Return what a file cites."""
        known = self._read.get(path)
        if known is None or known.source.text != text:
            known = self._read[path] = read_uses(SourceText(path, text), form)
        return known


def read_uses(source: SourceText, form: str) -> FileUses:
    """Return what a file cites."""
    keys, open_places = [], []
    for found, site in citations_in(source, form):
        spans = key_spans(source, found)
        known = [span for span in spans if not is_placeholder(span[2])]
        keys += [KeyUse(source.path, *span) for span in known]
        if len(known) < len(spans) or not found.keys:
            open_places.append((found, site))
    parts = _APART.split(source.text.casefold())
    words = frozenset(each for part in parts for each in (part, part.strip(_STOPS)))
    labels = frozenset(labels_of(source) if form == "typst" else ())
    return FileUses(source, tuple(keys), tuple(open_places), labels, words)
