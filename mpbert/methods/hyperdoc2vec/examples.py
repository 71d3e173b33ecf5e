"""What HyperDoc2Vec learns from: pieces of documents, and citations in them."""

from dataclasses import dataclass

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.ragged import offsets_of, row_numbers

SEGMENT = 32  # most words of a piece


def pieces_of(offsets: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return (P, 5) pieces of documents, as :func:`train_words` takes them.

    :param offsets: (M + 1,) where each document begins among the tokens.
    :param rows: (M,) their rows.
    """
    per_document = -(-np.diff(offsets) // SEGMENT)
    document = row_numbers(per_document)
    place = np.arange(len(document)) - np.repeat(
        np.cumsum(per_document) - per_document, per_document
    )
    first, last = offsets[document], offsets[document + 1]
    start = first + place * SEGMENT
    end = np.minimum(start + SEGMENT, last)
    return np.stack([start, end, first, last, rows[document]], axis=1)


@dataclass(frozen=True)
class Citations:
    """Citations of the training contexts.

    :param sentence: (P,) number of the citing sentence in the stream.
    :param first: (P,) number of the first sentence of the citing document; ``last`` of the last+1.
    :param citing: (P,) rows of the documents; ``cited`` (P,) too.
    """

    sentence: np.ndarray
    first: np.ndarray
    last: np.ndarray
    citing: np.ndarray
    cited: np.ndarray

    @classmethod
    def of_training(cls, store: CorpusStore, sources: np.ndarray) -> "Citations":
        """Return all of them; the stream holds the documents of the rows ``sources``."""
        contexts = store.contexts("train")
        document_of = np.full(store.num_papers, -1)
        document_of[sources] = np.arange(len(sources))
        starts = offsets_of(np.diff(store.sentence_offsets)[sources])
        each = row_numbers(np.diff(contexts.cited_offsets))
        citing = contexts.citing_rows[each]
        document = document_of[citing]
        first, last = starts[document], starts[document + 1]
        return cls(first + contexts.positions[each], first, last, citing, contexts.cited_rows)

    def among(self, sentence_offsets: np.ndarray) -> np.ndarray:
        """Return (P, 5) citations as :func:`train_citations` takes them.

        :param sentence_offsets: (S + 1,) where each sentence begins among the tokens.
        """
        place = (sentence_offsets[self.sentence] + sentence_offsets[self.sentence + 1]) // 2
        first, last = sentence_offsets[self.first], sentence_offsets[self.last]
        return np.stack([place, first, last, self.citing, self.cited], axis=1).astype(np.int64)
