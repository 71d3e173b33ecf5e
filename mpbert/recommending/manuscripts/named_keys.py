r"""The keys that TeX cites, also in formulas and listings that are not read, and in ``\nocite``.

A key stands in the first braces behind a command, and its options; in all braces of ``\cites``. In
comments, verbatim text and behind ``\end{document}`` nothing is cited.
"""

import re
from collections.abc import Collection, Iterator

from mpbert.recommending.manuscripts.citation_commands import (
    ALL_COMMANDS,
    MULTI_CITE_COMMANDS,
    VOLUME_CITE_COMMANDS,
)
from mpbert.recommending.manuscripts.marks import masked, split_keys
from mpbert.recommending.manuscripts.sentences import NamedKey
from mpbert.recommending.manuscripts.tex_sites import MarkedTex

_MORE = frozenset("nocite fullnocite bibentry citefield citename citelist bstctlcite".split())
_NO_KEYS = frozenset(["citetext"])
_COMMAND = re.compile(r"\\([A-Za-z]*[Cc]ite[A-Za-z]*|bibentry)(?![A-Za-z@])\*?")
_UNREAD = re.compile(
    r"(?<!\\)(?:\\\\)*%[^\n]*|\\verb\*?([^\w\s*])[^\n]*?\1|\\(begin|end)"
    r"\{(verbatim\*?|Verbatim|comment|filecontents\*?|lstlisting|minted|document)\}"
)
_OPTION = r"\s{0,3}(?:\[(?:[^\[\]{}]|\{[^{}]*\}){0,500}\]|\([^()]{0,200}\)|<[^<>]{0,200}>)"
_OPTIONS = re.compile(rf"(?:{_OPTION}){{0,4}}\s{{0,3}}")
_KEYS = re.compile(r"\{([^{}]{0,5000})\}")
_NO_KEY = re.compile(r"[\\#$\s]")


def named_keys(marked: MarkedTex, citing: Collection[str]) -> tuple[NamedKey, ...]:
    r"""Return the keys in the order of the text; ``*`` is that of ``\nocite{*}``.

    :param citing: commands that cite, beside those that are known.
    """
    text = masked(marked.text, list(_unread(marked.text)))
    commands = (ALL_COMMANDS | _MORE | set(citing)) - _NO_KEYS
    found = []
    for match in _COMMAND.finditer(text):
        if match[1] not in commands:
            continue
        where = marked.line_at(match.start())
        for key in _keys_behind(text, match.end(), match[1]):
            found.append(NamedKey(key, *(where or (None, None))))
    return tuple(found)


def _unread(text: str) -> Iterator[tuple[int, int]]:
    """Yield [start, end) of comments, verbatim text, and what stands behind the document."""
    opened, start = "", 0
    for match in _UNREAD.finditer(text):
        kind, name = match[2], match[3]
        if opened:
            if kind == "end" and name == opened:
                yield start, match.end()
                opened = ""
        elif name is None:
            yield match.span()
        elif (kind == "end") == (name == "document"):
            opened, start = name, match.start()
    if opened:
        yield start, len(text)


def _keys_behind(text: str, place: int, command: str) -> Iterator[str]:
    """Yield the keys behind a command."""
    groups = 0
    while group := _KEYS.match(text, _OPTIONS.match(text, place).end()):
        groups, place = groups + 1, group.end()
        if command in VOLUME_CITE_COMMANDS and groups == 1:
            continue  # the volume
        yield from (key for key in split_keys(group[1]) if not _NO_KEY.search(key))
        if command not in MULTI_CITE_COMMANDS:
            break
