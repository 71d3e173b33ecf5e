"""Keys that are made of the first author, the year and the title: ``vaswani2017attention``."""

import re
import unicodedata
from collections.abc import Sequence

_WORD = re.compile(r"[a-z0-9]+")
_LONG = 4  # letters of the word of a title that stands in a key


def made_key(authors: Sequence[str], year: int | None, title: str) -> str:
    """Return the last name of the first author, the year and the first long word of the title.

    In small letters without accents; empty where none of the three can be written so.

    :param authors: names in the order of speech.
    """
    author = " ".join(authors[:1]).split()[-1:]
    long = [word for word in _words(title) if len(word) >= _LONG]
    return "".join([*_words(" ".join(author))[-1:], str(year or ""), *long[:1]])


def _words(text: str) -> list[str]:
    """Return the words of a text in small letters without accents."""
    plain_text = unicodedata.normalize("NFKD", text.casefold())
    return _WORD.findall(plain_text.encode("ascii", "ignore").decode())
