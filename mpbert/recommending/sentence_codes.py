"""Words of the sentences of papers as numbers of 16 bits: what a passage is sought in.

A paper with a body has a code for each word of abstract and body, in their order. Behind each
sentence stand 0 and its size: its bytes, and one for what stands between it and the next. Words of
one stem have one code. Those of another may have the same, so codes propose a passage, and its text
decides.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from zlib import crc32

import numpy as np

from mpbert.corpus.text import split_sentences, stem, words
from mpbert.foundation.ragged import offsets_of
from mpbert.recommending.bodies import parts_of
from mpbert.recommending.columns import ListColumn

_NONE = np.zeros(0, np.uint16)


def code_of_stem(of_stem: str) -> int:
    """Return the code of the words of a stem, from 1 on."""
    return crc32(of_stem.encode()) % 0xFFFF + 1


@lru_cache(1 << 20)
def _code(word: str) -> int:
    return code_of_stem(stem(word))


def codes_of(sentences: Iterable[str]) -> np.ndarray:
    """Return the uint16 codes of sentences; none where one has no size of 16 bits."""
    each = ((*map(_code, words(s)), 0, len(s.encode()) + 1) for s in sentences)
    try:
        return np.fromiter(chain.from_iterable(each), np.uint16)
    except OverflowError:
        return _NONE


def abstract_sentences(title: str, abstract: str) -> list[str]:
    """Return the sentences of an abstract; one that is the title alone tells nothing."""
    return [] if abstract.rstrip(".") == title.rstrip(".") else split_sentences(abstract)


def codes_column(papers: Iterable[tuple[str, str, str]]) -> ListColumn:
    """Return the codes of papers by title, abstract and body."""
    codes = [_NONE, *(_of_paper(*paper) for paper in papers)]
    lengths = np.fromiter(map(len, codes), np.int64)
    return ListColumn(offsets_of(lengths[1:]), np.concatenate(codes))


def _of_paper(title: str, abstract: str, body: str) -> np.ndarray:
    if not body:
        return _NONE
    first = abstract_sentences(title, abstract)
    is_told = " ".join(first) in ("", abstract)  # sizes tell where sentences are
    return codes_of([*first, *parts_of(body)]) if is_told else _NONE
