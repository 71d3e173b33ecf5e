"""The prose of an RFC's section: its paragraphs, without diagrams, tables and code."""

import re
from collections import Counter
from collections.abc import Iterator

BULLET = re.compile(r"(?:[o*•+–-] {1,3}|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)] {1,3})(?=\S)")
ART = re.compile(
    r"\+[-=+]{2,}|[-=_~*#]{4,}|\|.*\||^\s*[|:]\s|<[-=]+|[-=]+>|/\\|\\/|\.{4,}|( {2,}\|)"
)
_CODE_START = re.compile(
    r"\s*(?:[{}]|(?:SYNTAX|MAX-ACCESS|ACCESS|STATUS|INDEX|AUGMENTS|DEFVAL|OBJECTS|LAST-UPDATED|"
    r"ORGANIZATION|CONTACT-INFO|DESCRIPTION|REFERENCE|IMPORTS|FROM|REVISION|#include|#define|"
    r"typedef|struct|<\?xml|</|//|/\*)(?:\s|$|\")|"
    r"(?:leaf|leaf-list|container|grouping|typedef|module|description|reference|type|import|"
    r"prefix|namespace|uses|must|when|list|key|augment|rpc|case|choice|enum|feature|identity|"
    r"status|default|mandatory|config|revision|organization|contact|base|units|range|length) "
    r"?[\"\w:'-]*;?\s*[\"{;]?\s*$|[\w-]+ +=(?:/)? |-- )"
)
_STOP_WORDS = frozenset(
    "the a an of to is in and for be by this that are it as on with or if not from which can may "
    "must should will has have was were when at these such its any no than into between also "
    "there their they we our each other only all using used does do but".split()
)
_TOKEN = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")


def indent_of(line: str) -> int:
    """Return how many characters stand before the first that is no space."""
    return len(line) - len(line.lstrip())


def iter_paragraphs(lines: list[str], counts: Counter[str]) -> Iterator[str]:
    """Yield the prose paragraphs and list items, lines joined; count the lines dropped.

    :param counts: receives ``lines_dropped_as_no_prose`` and ``lines_of_prose``.
    """
    for block in _blocks(lines):
        if is_prose(block):
            counts["lines_of_prose"] += len(block)
            yield join_lines(block)
        else:
            counts["lines_dropped_as_no_prose"] += len(block)


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in [*lines, ""]:
        starts = bool(
            BULLET.match(line.strip()) and block and indent_of(line) <= indent_of(block[0])
        )
        if block and (not line.strip() or starts):
            yield block
            block = []
        if line.strip():
            block.append(line)


def is_prose(block: list[str]) -> bool:
    """Return whether lines are a paragraph of English rather than a diagram, a table or code."""
    if sum(bool(ART.search(line)) for line in block) * 3 > len(block):
        return False
    if any(_is_code(line) for line in block):
        return False
    gaps = sum(len(re.findall(r"\S {4,}(?=\S)", line)) for line in block)
    if gaps * 2 > len(block):
        return False
    text = " ".join(block)
    tokens = _TOKEN.findall(text)
    if len(tokens) < 4:
        return False
    dense = re.sub(r"\s+", "", text)
    if sum(map(str.isalpha, dense)) < 0.7 * len(dense):
        return False
    share = sum(token.lower() in _STOP_WORDS for token in tokens) / len(tokens)
    return share >= (0.1 if text.endswith(".") else 0.15)


def _is_code(line: str) -> bool:
    return (
        line.endswith(("{", "}"))
        or "::=" in line
        or "OBJECT-TYPE" in line
        or _CODE_START.match(line) is not None
    )


def join_lines(block: list[str]) -> str:
    """Return the lines as one, without the bullet; a hyphen at a line's end joins its word."""
    text = ""
    for line in block:
        glue = "" if not text or re.search(r"\w-$", text) else " "
        text += glue + line.strip()
    bullet = BULLET.match(text)
    return re.sub(r" {2,}", " ", text[bullet.end() :] if bullet else text)
