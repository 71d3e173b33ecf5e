"""Places in a manuscript: each becomes one private character, which survives all cleaning."""

import re
from dataclasses import dataclass, field

PLACE = "[CITATION]"
_FIRST = 0xF0000  # plane 15, for private use
_MOST = 0xFFFD
_CLASS = "[\U000f0000-\U000ffffd]"
MARK = re.compile(_CLASS)

CITE_COMMANDS = frozenset(
    # natbib
    "cite citet citep citealt citealp citeauthor citefullauthor citeyear citeyearpar citenum "
    "citetalias citepalias Citet Citep Citealt Citealp Citeauthor "
    # biblatex
    "Cite parencite Parencite footcite footcitetext textcite Textcite smartcite Smartcite "
    "supercite autocite Autocite fullcite footfullcite citetitle citedate citeurl "
    "notecite Notecite pnotecite fnotecite".split()
)
MULTI_CITE_COMMANDS = frozenset(
    "cites Cites parencites Parencites footcites footcitetexts smartcites Smartcites textcites "
    "Textcites supercites autocites Autocites".split()
)
VOLUME_CITE_COMMANDS = frozenset(
    "volcite Volcite pvolcite Pvolcite fvolcite ftvolcite svolcite Svolcite tvolcite Tvolcite "
    "avolcite Avolcite".split()
)

_ALL = "|".join(sorted(CITE_COMMANDS | MULTI_CITE_COMMANDS | VOLUME_CITE_COMMANDS))
_NOTE = r"\s{0,3}(?:\[[^\[\]{}]{0,200}\]|\([^()\[\]{}]{0,200}\))"
_KEYS = r"\s{0,3}\{[^{}]{0,2000}\}"
_TEX = re.compile(rf"~?\\(?:{_ALL})\b\*?(?:(?:{_NOTE}){{0,4}}{_KEYS})+")
_BRACES = re.compile(r"\{([^{}]*)\}")
_PANDOC = re.compile(r"\[[^\[\]@]{0,200}-?@[^\[\]]{1,2000}\]")
_PANDOC_KEY = re.compile(r"(?<![\w@])@(?:\{([^{}\s]+)\}|(\w(?:[\w:.#$%&+?<>~/-]*[\w/])?))")
_IN_TEXT = re.compile(r"(?<![\w@\\])-?" + _PANDOC_KEY.pattern.removeprefix(r"(?<![\w@])"))
_BARE = re.compile(r"\[CITATION\]|\[\?+\]")


@dataclass
class Marks:
    """The places of one manuscript, in the order in which they were found.

    :ivar keys: of each place the keys that stand there already; empty for an open place.
    """

    keys: list[tuple[str, ...]] = field(default_factory=list)

    def add(self, keys: tuple[str, ...] = ()) -> str:
        """Return the character of one more place; nothing when there are 65,533 already."""
        if len(self.keys) >= _MOST:
            return ""
        self.keys.append(keys)
        return chr(_FIRST + len(self.keys) - 1)

    def keys_at(self, mark: str) -> tuple[str, ...]:
        """Return the keys of a place by its character."""
        return self.keys[ord(mark) - _FIRST]


def without_marks(text: str) -> str:
    """Return a text of others without characters that would be taken for places."""
    return MARK.sub("", text)


def split_keys(keys: str) -> tuple[str, ...]:
    r"""Return the keys in the braces of ``\cite``."""
    listed = re.sub(r"(?<!\\)%.*", "", keys).split(",")
    return tuple(key.strip() for key in listed if key.strip())


def take_marks(text: str) -> tuple[str, list[tuple[int, str]]]:
    """Return the text without marks, and (place in it, mark) of each."""
    found = list(MARK.finditer(text))
    return MARK.sub("", text), [(match.start() - i, match[0]) for i, match in enumerate(found)]


def put_marks(text: str, marks: list[tuple[int, str]]) -> str:
    """Return the text with marks at their places: the inverse of :func:`take_marks`."""
    pieces, last = [], 0
    for place, mark in sorted(marks, key=lambda found: found[0]):
        pieces += [text[last:place], mark]
        last = place
    return "".join([*pieces, text[last:]])


def find_places(text: str, in_text_keys: bool = False) -> list[tuple[int, int, tuple[str, ...]]]:
    r"""Return (start, end, keys) of ``\cite{...}``, ``[CITATION]``, ``[?]`` and ``[@key]``.

    :param in_text_keys: whether ``@key`` without brackets is a place too, as in pandoc's Markdown.
    """
    spans = [(*m.span(), _tex_keys(m[0])) for m in _TEX.finditer(text)]
    spans += [(*m.span(), ()) for m in _BARE.finditer(text)]
    for pattern in (_PANDOC, _IN_TEXT) if in_text_keys else (_PANDOC,):
        spans += [(*m.span(), keys) for m in pattern.finditer(text) if (keys := _pandoc_keys(m[0]))]
    found: list[tuple[int, int, tuple[str, ...]]] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or span[0] >= found[-1][1]:
            found.append(span)
    return found


def mark_places(text: str, marks: Marks, in_text_keys: bool = False) -> str:
    """Return the text with one private character for each place."""
    pieces, last = [], 0
    for start, end, keys in find_places(text, in_text_keys):
        pieces += [text[last:start], marks.add(keys)]
        last = end
    return "".join([*pieces, text[last:]])


def _tex_keys(command: str) -> tuple[str, ...]:
    return tuple(key for keys in _BRACES.findall(command) for key in split_keys(keys))


def _pandoc_keys(citation: str) -> tuple[str, ...]:
    return tuple(braced or bare for braced, bare in _PANDOC_KEY.findall(citation))
