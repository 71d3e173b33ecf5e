"""Letters with accents of TeX."""

import unicodedata

from mpbert.recommending.manuscripts.marks import MARK

# pylatexenc accents every character of an argument, accents too: each of \c{\c{\c{...}}} doubled it
ACCENTS = {
    **{"'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304"},
    **{"c": "\u0327", "k": "\u0328", "H": "\u030b", "b": "\u0331", ".": "\u0307", "d": "\u0323"},
    **{"r": "\u030a", "u": "\u0306", "v": "\u030c", "not": "\u0338", "vec": "\u20d7"},
    **{"acute": "\u0301", "grave": "\u0300", "hat": "\u0302", "tilde": "\u0303", "bar": "\u0305"},
    **{"dot": "\u0307", "ddot": "\u0308", "check": "\u030c", "breve": "\u0306"},
}


def accented(accent: str, text: str) -> str:
    """Return a text whose first letter has an accent; a mark has none."""
    text = text.strip()
    if not text or MARK.match(text):
        return text
    letter = {"ı": "i", "ȷ": "j"}.get(text[0], text[0])
    return unicodedata.normalize("NFC", letter + accent) + text[1:]
