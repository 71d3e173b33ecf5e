"""Places in a manuscript: each becomes one private character, which survives all cleaning."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from mpbert.recommending.manuscripts.sites import Site

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
TEX_CITATION = re.compile(rf"~?\\(?:{_ALL})\b\*?(?:(?:{_NOTE}){{0,4}}{_KEYS})+")
_BRACES = re.compile(r"\{([^{}]*)\}")
_PANDOC = re.compile(r"\[[^\[\]@]{0,200}-?@[^\[\]]{1,2000}\](?!\()")  # before "(" it is a link
_PANDOC_KEY = re.compile(r"(?<![\w@])@(?:\{([^{}\s]+)\}|(\w(?:[\w:.#$%&+?<>~/-]*[\w/])?))")
_IN_TEXT = re.compile(r"(?<![\w@\\])-?" + _PANDOC_KEY.pattern.removeprefix(r"(?<![\w@])"))
BARE = re.compile(r"\[CITATION\]|\[\?+\]")


@dataclass
class Marks:
    """The places of one manuscript, in the order in which they were found.

    :ivar mentions: of each place what stands there already.
    """

    mentions: list["Mention"] = field(default_factory=list)

    def add(self, keys: tuple[str, ...] = (), site: Site | None = None) -> str:
        """Return the character of one more place; nothing when there are 65,533 already."""
        if len(self.mentions) >= _MOST:
            return ""
        self.mentions.append(Mention(keys, site))
        return chr(_FIRST + len(self.mentions) - 1)

    def mention_at(self, mark: str) -> "Mention":
        """Return what stands at a place by its character."""
        return self.mentions[ord(mark) - _FIRST]


@dataclass(frozen=True)
class Mention:
    """One citation of a manuscript.

    :param keys: that stand there already; empty for an open place.
    :param site: where it stands; None where no file holds it as it is read.
    """

    keys: tuple[str, ...] = ()
    site: Site | None = None

    @property
    def is_fixed(self) -> bool:
        """Whether no more keys can be written there."""
        return self.site is None or bool(self.site.hindrance)


def without_marks(text: str) -> str:
    """Return a text of others without characters that would be taken for places."""
    return MARK.sub("", text)


def plain_characters(text: str) -> str:
    """Return a text of the same length without marks of others, in which a line ends in one way."""
    return MARK.sub("\u2060", text).replace("\r\n", " \n").replace("\r", "\n")


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
    spans = [(*m.span(), _tex_keys(m[0])) for m in TEX_CITATION.finditer(text)]
    spans += [(*m.span(), ()) for m in BARE.finditer(text)]
    for pattern in (_PANDOC, _IN_TEXT) if in_text_keys else (_PANDOC,):
        spans += [(*m.span(), keys) for m in pattern.finditer(text) if (keys := _pandoc_keys(m[0]))]
    found: list[tuple[int, int, tuple[str, ...]]] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or span[0] >= found[-1][1]:
            found.append(span)
    return found


def mark_places(
    text: str,
    marks: Marks,
    in_text_keys: bool = False,
    site: Callable[[int, int], Site | None] = lambda start, end: None,
) -> str:
    """Return the text with one private character for each place.

    :param site: from [start, end) of a place in the text to where it stands in a file.
    """
    pieces, last = [], 0
    for start, end, keys in find_places(text, in_text_keys):
        pieces += [text[last:start], marks.add(keys, site(start, end))]
        last = end
    return "".join([*pieces, text[last:]])


def _tex_keys(command: str) -> tuple[str, ...]:
    return tuple(key for keys in _BRACES.findall(command) for key in split_keys(keys))


def _pandoc_keys(citation: str) -> tuple[str, ...]:
    return tuple(braced or bare for braced, bare in _PANDOC_KEY.findall(citation))
