"""Entries of papers behind those of a text of BibTeX, each with a key that no other entry has."""

import re
from collections.abc import Collection

from mpbert.recommending.bibtex import bibtex_entry
from mpbert.recommending.papers import IndexedPapers

_ENTRY_KEY = re.compile(r"^[ \t]*@[ \t]*\w+[ \t]*[{(]\s*([^\s,{}()]+)\s*,", re.MULTILINE)


class NewEntries:
    """Adds entries to a text of BibTeX.

    :param text: of the file; empty where there is none yet.
    :param others: keys that are known to be those of other papers, here or in other files. A key of
        the text that is not among them, because the text could not be read, is taken for that of
        the same paper.
    """

    def __init__(self, text: str, recommender: IndexedPapers, others: Collection[str] = ()) -> None:
        self._text, self._recommender = text, recommender
        self._others = {key.casefold() for key in others}
        self._taken = self._others | {key.casefold() for key in _ENTRY_KEY.findall(text)}
        self._entries: list[str] = []

    def key(self, paper_id: str) -> str:
        """Return the key that a paper would get, or has where it could not be read."""
        key = base = self._recommender.key_of(paper_id)
        number = 1
        if key.casefold() in self._taken - self._others:
            return key
        while key.casefold() in self._taken:
            number += 1
            key = f"{base}-{number}"
        return key

    def add(self, paper_id: str, key: str = "") -> str:
        """Add the entry of a paper that has none; return its key.

        :param key: that it shall have; empty: that of :meth:`key`.
        """
        key = key or self.key(paper_id)
        if key.casefold() not in self._taken:
            self._taken.add(key.casefold())
            self._others.add(key.casefold())
            self._entries.append(bibtex_entry(self._recommender.paper(paper_id), key))
        return key

    @property
    def added(self) -> str:
        """What stands behind the text then, with its line ends; empty if nothing was added."""
        if not self._entries:
            return ""
        gap = "" if not self._text else "\n" if self._text.endswith("\n") else "\n\n"
        added = gap + "\n\n".join(self._entries) + "\n"
        return added.replace("\n", "\r\n") if "\r\n" in self._text else added
