"""The body of a paper as one text of an index: its sentences, and the pages of a PDF file.

A line feed stands between two sentences, or a form feed for each page that is turned between them;
as many as the first page has stand before the first one. A vertical tab stands before a sentence
that is on no page, such as a note. No sentence holds any of them. Older indexes
have a space between sentences, which are split anew.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from mpbert.corpus.text import split_sentences

ENDS = "\n\v\f"
_SENTENCE = re.compile(f"[^{ENDS}]+")


def body_text(sentences: Sequence[str], pages: Sequence[int] = ()) -> str:
    """Return sentences as one text.

    :param pages: (S,) on which each begins, from 1, 0 where it is not known; empty: none is.
    """
    if not any(pages):
        return "\n".join(sentences)
    ends = ["\f" * pages[0], *(_end(*two) for two in pairwise(pages))]
    return "".join(part for pair in zip(ends, sentences, strict=True) for part in pair)


def sentences_of(body: str) -> list[str]:
    """Return the sentences of a body."""
    return list(filter(None, parts_of(body)))


def parts_of(body: str) -> list[str]:
    """Return the same, and an empty one between two ends: each part has an end behind it."""
    has_ends = any(end in body for end in ENDS)
    if not has_ends:
        return split_sentences(body)
    return body.replace("\v", "\n").replace("\f", "\n").split("\n")


def pages_of(body: str) -> tuple[int, ...]:
    """Return the page on which each sentence of a body begins, 0: not known; empty: none is."""
    if "\f" not in body:
        return ()
    return tuple(page_at(body, found.start()) for found in _SENTENCE.finditer(body))


def page_at(body: str, place: int) -> int:
    """Return the page on which a character of a body is; 0: not known."""
    return body.count("\f", body.rfind("\v", 0, place) + 1, place)


def _end(before: int, after: int) -> str:
    if after < before:
        return "\v" + "\f" * after
    return "\f" * (after - before) or "\n"
