"""Whether a text and a library have a language in common: a line of warning where they have not.

Two shares of the words around a place tell: ``known``, those that some paper of the index holds,
and ``common``, those that three papers in ten hold, which are the small words of its language. A
text in the language of the library has a fair share of both, whatever it is about; a library that
quotes other languages knows their words, but they are common in none. The limits were set on
validation contexts of RFCs and of the ACL, against libraries of 10 papers and more. Fewer papers
know too few words to tell; there only a text of which they know no word is another language.
"""

from typing import NamedTuple

from mpbert.recommending.words import Words

_COMMON = 0.3  # part of the papers that hold a common word
_FEW, _MORE = 8, 16  # words from which on the shares of a text tell something
_KNOWN, _COMMON_OF_FEW = 0.45, 0.12
_LEAST_PAPERS = 10  # whose words tell something
_QUOTED, _COMMON_OF_MORE = 0.95, 0.06


class Shared(NamedTuple):
    """What a text shares with a library.

    :param number: of words of the text.
    :param known: part of them that a paper holds, ``common``: that many papers hold.
    :param papers: of the library.
    """

    number: int
    known: float
    common: float
    papers: int = _LEAST_PAPERS

    @property
    def has_language(self) -> bool:
        """Whether the text may be in a language of the library; a text without words may."""
        if self.papers < _LEAST_PAPERS:
            return self.known > 0 or self.number < _FEW
        if not self.number or not self.known:
            return not self.number
        is_foreign = self.known < _KNOWN and self.common < _COMMON_OF_FEW
        is_quoted = self.known < _QUOTED and self.common < _COMMON_OF_MORE
        return not ((self.number >= _FEW and is_foreign) or (self.number >= _MORE and is_quoted))

    @property
    def warning(self) -> str:
        """One line where the language is another, or the subject is; else empty."""
        if self.has_language:
            return ""
        number = round(self.known * self.number)
        return (
            f"the library knows {number} of the {self.number} words around this place: it may be "
            f"in another language; do not rely on this list"
        )


def shared(text: str, words: Words) -> Shared:
    """Return what a text shares with the papers of an index.

    :param words: of the index.
    """
    found = words.frequencies(text)
    if not len(found):
        return Shared(0, 0.0, 0.0)
    known, common = float((found > 0).mean()), float((found > _COMMON).mean())
    return Shared(len(found), known, common, words.num_papers)
