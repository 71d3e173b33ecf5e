"""From XML elements to running text: blocks with the places of their citations."""

import html
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from lxml import etree

from mpbert.corpus.formats.scholarly_xml.files import local_name
from mpbert.corpus.text import LONGEST_PARAGRAPH

_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class Markup:
    """How a format marks up its text; tags are without namespace.

    :param blocks: tags that begin and end a paragraph, also inside of another.
    :param dropped: tags that are no running text, such as figures; what is dropped is counted.
    :param is_silent: whether an element is left out without being counted, such as a label.
    :param sentences: tags that hold one sentence each.
    :param targets_of: an element -> the entries of the list of references that it cites (none: it
        cites, but does not say what), or None where it is no citation.
    """

    blocks: frozenset[str]
    dropped: frozenset[str]
    sentences: frozenset[str]
    is_silent: Callable[[etree._Element], bool]
    targets_of: Callable[[etree._Element], tuple[str, ...] | None]


@dataclass(frozen=True, slots=True)
class Pointer:
    """A citation as the file marks it: a span of the text and the ids of the entries it cites."""

    start: int
    end: int
    targets: tuple[str, ...]


@dataclass(slots=True)
class Block:
    """A paragraph of text with single spaces.

    :param ends: where the file itself says that sentences end; empty: it does not.
    """

    text: str = ""
    pointers: list[Pointer] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


def blocks_of(element: etree._Element, markup: Markup, counts: Counter[str]) -> list[Block]:
    """Return the paragraphs of an element, and of those inside it, that hold text.

    :param counts: receives ``elements_dropped_TAG`` and ``paragraphs_dropped_as_too_long``.
    """
    flattener = _Flattener(markup, counts)
    flattener.walk(element)
    flattener.end_block()
    return flattener.blocks


def plain_text(element: etree._Element | None, markup: Markup) -> str:
    """Return the text inside an element such as a title, less what is no text; "" for None."""
    if element is None:
        return ""
    flattener = _Flattener(markup, Counter())
    flattener.walk_inside(element)
    flattener.end_block()
    return " ".join(block.text.strip() for block in flattener.blocks)


class _Flattener:
    def __init__(self, markup: Markup, counts: Counter[str]) -> None:
        self._markup, self._counts = markup, counts
        self._pieces: list[str] = []
        self._length = 0
        self._block = Block()
        self.blocks: list[Block] = []

    def walk(self, element: etree._Element) -> None:
        if element.tag is etree.Entity:  # of a document type that is not loaded: &alpha;
            self._add(html.unescape(element.text))
        tag = local_name(element)
        if not tag or self._markup.is_silent(element):
            return
        if tag in self._markup.dropped:
            self._counts[f"elements_dropped_{tag.replace('-', '_')}"] += 1
            self._add(" ")
            return
        if tag in self._markup.blocks:
            self.end_block()
            self.walk_inside(element)
            self.end_block()
            return
        start = self._length
        self.walk_inside(element)
        if tag in self._markup.sentences:
            self._block.ends.append(self._length)
            self._add(" ")  # some writers put no space between sentences
        targets = self._markup.targets_of(element)
        if targets is not None:
            self._block.pointers.append(Pointer(start, self._length, targets))

    def walk_inside(self, element: etree._Element) -> None:
        self._add(element.text or "")
        for child in element:
            self.walk(child)
            self._add(child.tail or "")

    def _add(self, text: str) -> None:
        text = _SPACES.sub(" ", text)
        if text.startswith(" ") and (not self._pieces or self._pieces[-1].endswith(" ")):
            text = text[1:]
        if text:
            self._pieces.append(text)
            self._length += len(text)

    def end_block(self) -> None:
        self._block.text = "".join(self._pieces)
        if len(self._block.text) > LONGEST_PARAGRAPH:
            self._counts["paragraphs_dropped_as_too_long"] += 1
        elif self._block.text.strip():
            self.blocks.append(self._block)
        self._block, self._pieces, self._length = Block(), [], 0
