"""What DualLCR reads: papers and contexts as places of words, and where a context cites."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from mpbert.corpus.bags import known_words
from mpbert.corpus.store import Contexts, CorpusStore, Queries
from mpbert.foundation.ragged_rows import Ragged, constant, joined


@dataclass(frozen=True)
class CitingTexts:
    """Texts that cite.

    :param words: Q rows of places of words.
    :param marks: (Q,) place of the mark of the citation in each.
    """

    words: Ragged
    marks: np.ndarray

    def take(self, queries: np.ndarray) -> "CitingTexts":
        """Return some of the texts."""
        return CitingTexts(self.words.take(queries), self.marks[queries])


class TextReader:
    """Titles with abstracts, and contexts with a mark behind the sentence that cites.

    The places after those of the vocabulary are the mark's, and that of a text without known words.

    :param vocabulary: (V,) known words.
    :param longest: most words of a text. The sentences beside the citing one have a quarter each.
    :ivar papers: N rows of places of words, none empty.
    """

    def __init__(self, store: CorpusStore, vocabulary: pa.Array, longest: int) -> None:
        self._store, self._vocabulary, self._longest = store, vocabulary, longest
        self._mark, unknown = len(vocabulary), len(vocabulary) + 1
        words = self._words(store.abstract_texts(np.arange(store.num_papers)), longest)
        nothing = (words.lengths == 0).astype(np.int64)
        unknown_words = np.full(int(nothing.sum()), unknown, dtype=np.int32)
        self.papers = joined(words, Ragged.of_lengths(unknown_words, nothing))

    def queries(self, queries: Queries) -> CitingTexts:
        """Return the texts of contexts; of manuscripts title and abstract, with a mark behind."""
        mark = constant(self._mark, len(queries))
        if not isinstance(queries, Contexts):
            papers = self.papers.take(queries.citing_rows)
            return CitingTexts(joined(papers, mark), papers.lengths)
        before, citing, after = (
            self._words(self._store.local_texts(queries, (place,)), limit)
            for place, limit in (
                *((-1, self._longest // 4), (0, self._longest // 2)),
                (1, self._longest // 4),
            )
        )
        return CitingTexts(joined(before, citing, mark, after), before.lengths + citing.lengths)

    def _words(self, texts: list[str], limit: int) -> Ragged:
        return known_words(pa.array(texts, pa.large_string()), self._vocabulary).cut(limit)
