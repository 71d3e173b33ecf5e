"""Entries of a text of BibTeX, told by how they begin: which have changed, and the text of some.

A text of 100,000 entries takes half a second, where parsing them takes a minute.
"""

import re
from bisect import bisect
from collections.abc import Collection
from hashlib import blake2b

_BEGINNING = re.compile(r"@[ \t]*(\w+)[ \t]*[{(]\s*([^\s,}]*)(\s*,)?")
_CROSSREF = ("crossref", "Crossref", "CrossRef", "CROSSREF")
_PARENT = re.compile(r"""\s*=\s*["{]\s*([^\s"}]+)""")
_STRING = "@string"  # stands for the key of what holds an abbreviation


def in_comment(text: str, place: int) -> bool:
    """Whether a place in a text of BibTeX, outside of entries, is in a line that begins with %."""
    return text[text.rfind("\n", 0, place) + 1 : place].lstrip().startswith("%")


class BibtexEntries:
    """The entries of a text.

    :ivar digests: by keys, of the text of the entries, of their parents and of all abbreviations:
        what is as before makes the same paper. None: entries cannot be told so, since one has no
        key, or stands behind another in one line.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._keys: list[str] = []  # of stretches, each from one "@" to the next; empty: no entry
        self._bounds: list[int] = []
        self._parents: dict[str, str] = {}
        self.digests = self._digests() if self._divide() else None

    def _divide(self) -> bool:
        """Find where stretches begin; return whether entries can be told so."""
        text = self._text
        for each in _BEGINNING.finditer(text):
            start, (kind, key, comma) = each.start(), each.groups()
            is_entry = (kind := kind.lower()) not in ("string", "preamble", "comment")
            if start and text[start - 1] != "\n":
                if in_comment(text, start):
                    continue
                if text[text.rfind("\n", 0, start) + 1 : start].strip():
                    if is_entry and comma:
                        return False
                    continue  # a sign within a text
            if is_entry and not key:
                return False
            self._bounds.append(start)
            self._keys.append(key if is_entry else _STRING if kind == "string" else "")
        self._bounds.append(len(text))
        return True

    def _stretch(self, place: int) -> str:
        return self._text[self._bounds[place] : self._bounds[place + 1]]

    def _digests(self) -> dict[str, bytes]:
        self._parents = self._found_parents()
        places = [place for place, key in enumerate(self._keys) if key == _STRING]
        shared = "".join(map(self._stretch, places)).encode()
        texts = dict.fromkeys(self._parents.values(), b"")
        for place, key in enumerate(self._keys) if texts else ():
            if key in texts:
                texts[key] += self._stretch(place).encode()
        found: dict[str, bytes] = {}
        for place, key in enumerate(self._keys):
            if key and key != _STRING:
                made = blake2b(self._stretch(place).encode(), digest_size=16)
                made.update(texts.get(self._parents.get(key, ""), b"") + shared)
                made.update(found.get(key, b""))  # of another entry with this key
                found[key] = made.digest()
        return found

    def _found_parents(self) -> dict[str, str]:
        """Return the keys of entries that another gives what they lack, by theirs."""
        keys = {key.lower(): key for key in self._keys}
        parents: dict[str, str] = {}
        for name in _CROSSREF:
            place = -1
            while (place := self._text.find(name, place + 1)) >= 0:
                stretch = bisect(self._bounds, place) - 1
                if stretch >= 0 and (parent := _PARENT.match(self._text, place + len(name))):
                    parents[self._keys[stretch]] = keys.get(parent[1].lower(), "")
        return {key: parent for key, parent in parents.items() if key and parent}

    def only(self, keys: Collection[str]) -> str:
        """Return the text with empty lines for what these entries do not need."""
        needed = {*keys, *(self._parents.get(key, "") for key in keys), _STRING} - {""}
        texts = ["\n" * self._text.count("\n", 0, self._bounds[0])]
        for place, key in enumerate(self._keys):
            text = self._stretch(place)
            texts.append(text if key in needed else "\n" * text.count("\n"))
        return "".join(texts)
