"""Texts for a transformer as ragged token ids: contexts, and abstracts that contexts augment.

    query    [CLS] fundamental context [SEP]
    paper    [CLS] title [SEP] abstract [SEP] context that cites it [SEP] ...

Title and abstract are parted as SPECTER does (Cohan et al., ACL 2020, Sec. 2.2). A tokenizer that
has no such tokens goes without.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers, smallest_per_row

Tokenize = Callable[[Sequence[str], int], "Ragged"]
"""Texts and the most tokens of each -> their token ids, without special tokens."""


@dataclass(frozen=True)
class Ragged:
    """M rows of token ids: ``values`` (N,), one row after another, and ``lengths`` (M,)."""

    values: np.ndarray
    lengths: np.ndarray

    def __len__(self) -> int:
        return len(self.lengths)

    def take(self, rows: np.ndarray) -> "Ragged":
        """Return some rows, in this order."""
        starts, lengths = offsets_of(self.lengths)[:-1][rows], self.lengths[rows]
        return Ragged(self.values[ranges(starts, lengths)], lengths)

    def cut(self, limit: int | np.ndarray) -> "Ragged":
        """Return the first ``limit`` tokens of each row, one for all or (M,)."""
        lengths = np.minimum(self.lengths, limit)
        return Ragged(self.values[ranges(offsets_of(self.lengths)[:-1], lengths)], lengths)

    def merged(self, counts: np.ndarray) -> "Ragged":
        """Return (len(counts),) rows, each made of as many consecutive ones as is said."""
        ends = offsets_of(self.lengths)[offsets_of(counts)]
        return Ragged(self.values, np.diff(ends))

    def padded(self, pad: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (M, longest) int64 token ids, and which of them are no padding."""
        is_token = np.arange(self.lengths.max(initial=0)) < self.lengths[:, None]
        tokens = np.full(is_token.shape, pad, dtype=np.int64)
        tokens[is_token] = self.values
        return tokens, is_token


def joined(*parts: Ragged) -> Ragged:
    """Return row by row the first part, then the second and so on; all have M rows."""
    lengths = np.sum([part.lengths for part in parts], axis=0)
    values = np.empty(lengths.sum(), dtype=np.int32)
    places = offsets_of(lengths)[:-1]
    for part in parts:
        values[ranges(places, part.lengths)] = part.values
        places = places + part.lengths
    return Ragged(values, lengths)


def constant(token: int | None, num_rows: int) -> Ragged:
    """Return rows that hold this token alone, or nothing if there is none."""
    length = 0 if token is None else 1
    values = np.full(num_rows * length, token or 0, dtype=np.int32)
    return Ragged(values, np.full(num_rows, length, dtype=np.int64))


@dataclass(frozen=True)
class Layout:
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
            cut.values[offsets_of(cut.lengths)[1:] - 1] = self.separator
        return cut

    def ended(self, part: Ragged) -> Ragged:
        """Return rows with a separator behind each."""
        return joined(part, constant(self.separator, len(part)))


class AugmentedTexts:
    """Papers and training contexts of a corpus, tokenised once, joined for each batch anew.

    :param tokenize: the tokenizer.
    """

    def __init__(self, store: CorpusStore, tokenize: Tokenize, layout: Layout) -> None:
        self._layout, self._tokenize = layout, tokenize
        self.training = store.contexts("train")
        self._contexts = self._context_part(store.local_texts(self.training))
        titles = tokenize(store.titles, layout.paper_tokens)
        abstracts = tokenize(_abstracts(store), layout.paper_tokens)
        both = joined(layout.ended(titles), abstracts).cut(layout.paper_tokens)
        self._papers = layout.ended(both)
        cited = self.training.cited_rows
        order = np.argsort(cited, kind="stable")
        self._citing = row_numbers(np.diff(self.training.cited_offsets))[order]
        self.num_citing = np.bincount(cited, minlength=store.num_papers)

    def queries(self, items: np.ndarray) -> Ragged:
        """Return the rows of training contexts."""
        return self._layout.rows(self._contexts.take(items))

    def other_queries(self, texts: Sequence[str]) -> Ragged:
        """Return the rows of contexts that are no training contexts."""
        return self._layout.rows(self._context_part(texts))

    def papers(
        self,
        rows: np.ndarray,
        num_contexts: int,
        rng: np.random.Generator,
        without: np.ndarray | None = None,
    ) -> Ragged:
        """Return the rows of papers, each with some random training contexts that cite it.

        :param num_contexts: how many; fewer where there are not so many.
        :param without: rows of citing papers of which no context may be read.
        """
        contexts, counts = self.draw(rows, num_contexts, rng, without)
        parts = self._papers.take(rows), self._contexts.take(contexts).merged(counts)
        return self._layout.rows(*parts)

    def draw(
        self,
        rows: np.ndarray,
        num_contexts: int,
        rng: np.random.Generator,
        without: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers of training contexts that cite the papers, and how many of each."""
        counts = self.num_citing[rows]
        contexts = self._citing[ranges(offsets_of(self.num_citing)[:-1][rows], counts)]
        if without is not None:
            keep = ~np.isin(self.training.citing_rows[contexts], without)
            counts = np.bincount(row_numbers(counts)[keep], minlength=len(rows))
            contexts = contexts[keep]
        limits = np.minimum(counts, num_contexts)
        return contexts[smallest_per_row(rng.random(len(contexts)), counts, limits)], limits

    def _context_part(self, texts: Sequence[str]) -> Ragged:
        return self._layout.ended(self._tokenize(texts, self._layout.context_tokens))


def training_texts(store: CorpusStore) -> list[str]:
    """Return what is read in training: titles, abstracts and contexts of the training papers."""
    rows = np.flatnonzero(store.paper_splits == "train")
    abstracts = _abstracts(store)
    papers = [f"{store.titles[row]} {abstracts[row]}" for row in rows]
    return papers + store.local_texts(store.contexts("train"))


def _abstracts(store: CorpusStore) -> list[str]:
    first, counts = store.sentence_offsets[:-1], store.num_abstract
    sentences = store.sentence_texts(ranges(first, counts))
    ends = offsets_of(counts)
    return [" ".join(sentences[ends[i] : ends[i + 1]]) for i in range(len(counts))]
