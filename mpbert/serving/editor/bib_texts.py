"""Entries of the ``.bib`` files of a manuscript: where each stands, and which paper it is."""

import re
from collections import OrderedDict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mpbert.foundation.errors import CorpusError
from mpbert.recommending.bibliography import OwnReference, PaperMatcher, read_bibtex
from mpbert.serving.editor.texts import EditorTexts

_ENTRY = re.compile(r"^[ \t]*@[ \t]*(\w+)[ \t]*[{(]\s*([^\s,{}()=\"]*)", re.MULTILINE)
_MOST_KEPT = 50_000  # entries that are kept as read


@dataclass(frozen=True)
class EntrySpan:
    """An entry.

    :param start: of its key in the text of its file; it ends at ``end``.
    """

    path: Path
    key: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class BibEntries:
    """Entries of all files of a manuscript by their keys; of one that stands twice, the first.

    :param strings: definitions of strings.
    """

    entries: dict[str, EntrySpan]
    strings: str


def read_bibliographies(paths: tuple[Path, ...], texts: EditorTexts) -> BibEntries:
    """Return the entries of files; what is broken in one is left out."""
    found: dict[str, EntrySpan] = {}
    strings = []
    for path in paths:
        text = texts.text(path) or ""
        matches = list(_ENTRY.finditer(text))
        starts = [*(match.start() for match in matches), len(text)]
        for match, (start, end) in zip(matches, pairwise(starts), strict=True):
            kind, whole = match[1].lower(), text[start:end].strip()
            if kind == "string":
                strings.append(whole)
            elif match[2] and kind not in ("preamble", "comment"):
                found.setdefault(match[2], EntrySpan(path, match[2], *match.span(2), whole))
    return BibEntries(found, "\n".join(strings))


class EntryPapers:
    """Tells the papers that entries are; each that has not changed since is remembered."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, OwnReference] = OrderedDict()

    def paper_ids(self, bibliography: BibEntries, matcher: PaperMatcher) -> dict[str, str]:
        """Return key -> id of the entries that are papers of the index."""
        entries = bibliography.entries
        new = {key: entry for key, entry in entries.items() if entry.text not in self._known}
        if new:
            self._read(new, bibliography.strings)
        return matcher.paper_ids({key: self._known[e.text] for key, e in entries.items()})

    def _read(self, entries: dict[str, EntrySpan], strings: str) -> None:
        while len(self._known) > _MOST_KEPT:
            self._known.popitem(last=False)
        try:
            text = "\n".join([strings, *(entry.text for entry in entries.values())])
            references, _ = read_bibtex(text)
        except CorpusError:
            references = {}
        for key, entry in entries.items():
            self._known[entry.text] = references.get(key, OwnReference())
