"""Entries of a text of BibTeX, told by how they begin: which have changed, and the text of some.

A text of 100,000 entries takes a second, where parsing them takes a minute.
"""

import re
from bisect import bisect
from collections.abc import Collection
from hashlib import blake2b
from typing import NamedTuple

_BEGINNING = re.compile(r"@[ \t]*(\w+)[ \t]*[{(]\s*([^\s,}]*)(\s*,)?")
# each begins with letters, which are searched for faster than a choice between some
_PARENTS = [
    re.compile(rf"""{name}\s*=\s*["{{]\s*([^\s"}}]+)""")
    for name in ("crossref", "Crossref", "CrossRef", "CROSSREF")
]


class _Stretch(NamedTuple):
    """A part of the text, which begins with ``@`` and ends before the next.

    :param kind: in small letters; ``key`` is empty where it is no entry.
    """

    start: int
    end: int
    kind: str
    key: str


class BibtexEntries:
    """The entries of a text.

    :ivar digests: by keys, of the text of the entries, of their parents and of all abbreviations:
        what is as before makes the same paper. None: entries cannot be told so, since one has no
        key, or stands behind another in one line.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._parts: list[_Stretch] = []
        self.digests: dict[str, bytes] | None = None
        begun: list[tuple[int, str, str]] = []
        for each in _BEGINNING.finditer(text):
            start, kind, key = each.start(), each[1].lower(), each[2]
            is_entry = kind not in ("string", "preamble", "comment")
            if text[text.rfind("\n", 0, start) + 1 : start].strip():
                if is_entry and each[3]:
                    return
            elif key or not is_entry:
                begun.append((start, kind, key if is_entry else ""))
            else:
                return
        ends = [*(start for start, *_ in begun[1:]), len(text)]
        self._parts = [_Stretch(e[0], end, *e[1:]) for e, end in zip(begun, ends, strict=False)]
        self.digests = self._digests()

    def _digests(self) -> dict[str, bytes]:
        self._parents = self._found_parents()
        shared = "".join(self._text_of(part) for part in self._parts if part.kind == "string")
        texts = dict.fromkeys(self._parents.values(), "")
        for part in self._parts if texts else ():
            if part.key in texts:
                texts[part.key] += self._text_of(part)
        found: dict[str, bytes] = {}
        for start, end, _, key in self._parts:
            if key:
                said = self._text[start:end] + texts.get(self._parents.get(key, ""), "") + shared
                before = found.get(key, b"")  # of entries with one key
                found[key] = blake2b(before + said.encode(), digest_size=16).digest()
        return found

    def _found_parents(self) -> dict[str, str]:
        """Return the keys of entries that another gives what they lack, by theirs."""
        starts = [part.start for part in self._parts]
        keys = {part.key.lower(): part.key for part in self._parts}
        parents: dict[str, str] = {}
        for named in (each for pattern in _PARENTS for each in pattern.finditer(self._text)):
            if place := bisect(starts, named.start()):
                parents[self._parts[place - 1].key] = keys.get(named[1].lower(), "")
        return {key: parent for key, parent in parents.items() if key and parent}

    def _text_of(self, part: _Stretch) -> str:
        return self._text[part.start : part.end]

    def only(self, keys: Collection[str]) -> str:
        """Return the text with empty lines for what these entries do not need."""
        needed = {*keys, *(self._parents.get(key, "") for key in keys)}
        lines = self._text.count("\n", 0, self._parts[0].start) if self._parts else 0
        texts = ["\n" * lines]
        for part in self._parts:
            is_kept = part.kind == "string" or (part.key and part.key in needed)
            text = self._text_of(part)
            texts.append(text if is_kept else "\n" * text.count("\n"))
        return "".join(texts)
