"""Texts as rows of tokens that a transformer reads, and the texts that one is trained on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.foundation.ragged_rows import Ragged, constant, joined

Tokenize = Callable[[Sequence[str], int], Ragged]
"""Texts and the most tokens of each -> their token ids, without special tokens."""


@dataclass(frozen=True)
class TextLayout:
    """How texts become rows of tokens.

    :param start: token before every text, or None.
    :param separator: token after every part of a text, or None.
    :param paper_tokens: most tokens of title and abstract together.
    :param context_tokens: most tokens of a context.
    :param longest: most tokens of a row, special ones included.
    """

    start: int | None
    separator: int | None
    paper_tokens: int
    context_tokens: int
    longest: int

    def rows(self, *parts: Ragged) -> Ragged:
        """Return rows of these parts, whose last token is a separator even where they are cut."""
        cut = joined(constant(self.start, len(parts[0])), *parts).cut(self.longest)
        if self.separator is not None:
            cut.items[cut.offsets[1:] - 1] = self.separator
        return cut

    def ended(self, part: Ragged) -> Ragged:
        """Return rows with a separator behind each."""
        return joined(part, constant(self.separator, len(part)))


def training_texts(store: CorpusStore) -> list[str]:
    """Return what is read in training: titles, abstracts and contexts of the training papers."""
    rows = np.flatnonzero(store.paper_splits == "train")
    abstracts = joined_abstracts(store)
    papers = [f"{store.titles[row]} {abstracts[row]}" for row in rows]
    return papers + store.local_texts(store.contexts("train"))


def joined_abstracts(store: CorpusStore) -> list[str]:
    """Return the sentences of each abstract with spaces between."""
    first, counts = store.sentence_offsets[:-1], store.num_abstract
    sentences = store.sentence_texts(ranges(first, counts))
    ends = offsets_of(counts)
    return [" ".join(sentences[ends[i] : ends[i + 1]]) for i in range(len(counts))]
