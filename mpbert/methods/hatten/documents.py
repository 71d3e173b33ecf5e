"""What HAtten reads: papers and queries as lists of paragraphs.

A paragraph is a title, an abstract or a local context; a paper is its title and its abstract, a
local query the title and abstract of the citing paper and the context, a global query the title
and abstract alone. Paragraphs without a known word are left out.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from mpbert.corpus.bags import known_words
from mpbert.corpus.fields import abstract_sentences
from mpbert.corpus.store import Contexts, CorpusStore, Queries
from mpbert.foundation.ragged_rows import Ragged, stacked

TITLE, ABSTRACT, CONTEXT = 0, 1, 2  # types of paragraphs, and their places in a document
QUERIES = ("context", "context+abstract")


@dataclass(frozen=True)
class Documents:
    """Documents as lists of paragraphs, which several may share.

    :param words: rows of word numbers, one a paragraph: titles of N papers, then their abstracts,
        then contexts.
    :param paragraphs: rows of paragraph numbers, one a document.
    :param num_papers: N.
    """

    words: Ragged
    paragraphs: Ragged
    num_papers: int

    def __len__(self) -> int:
        return len(self.paragraphs)

    def take(self, rows: np.ndarray) -> "Documents":
        """Return these documents."""
        return Documents(self.words, self.paragraphs.take(rows), self.num_papers)

    def read(self, rows: np.ndarray) -> Ragged:
        """Return the words of these documents, each as one row, for documents of papers.

        Each holds the paragraphs of its own that have a word.
        """
        paragraphs = self.paragraphs.take(rows)
        return self.words.take(paragraphs.items).merged(paragraphs.lengths)

    def types_of(self, paragraphs: np.ndarray) -> np.ndarray:
        """Return the type of each of these paragraphs: title, abstract or context."""
        return np.minimum(paragraphs // max(self.num_papers, 1), CONTEXT)


class DocumentReader:
    """Reads documents of a corpus; its titles and abstracts are read once.

    :param words: (V,) known words, others are left out.
    :param longest: most words of a paragraph that are read.
    """

    def __init__(self, store: CorpusStore, words: pa.Array, longest: int) -> None:
        self._store, self._words, self._longest = store, words, longest
        titles = known_words(pa.array(store.titles, pa.large_string()), words)
        sentences, owners = abstract_sentences(store).read(0, store.num_papers)
        read = known_words(sentences, words)
        lengths = np.bincount(owners, read.lengths, minlength=store.num_papers).astype(np.int64)
        abstracts = Ragged.of_lengths(read.items, lengths)
        self._papers = stacked([titles, abstracts]).cut(longest)

    def papers(self, rows: np.ndarray) -> Documents:
        """Return titles and abstracts of papers."""
        return self._documents(self._papers, _paper_numbers(rows, self._store.num_papers))

    def queries(self, queries: Queries, query: str) -> Documents:
        """Return queries: of manuscripts title and abstract, of contexts what is asked for.

        :param query: ``context``, or ``context+abstract`` with those of the citing paper.
        """
        num_papers, rows = self._store.num_papers, queries.citing_rows
        if not isinstance(queries, Contexts):
            return self.papers(rows)
        texts = pa.array(self._store.local_texts(queries), pa.large_string())
        words = stacked([self._papers, known_words(texts, self._words).cut(self._longest)])
        contexts = 2 * num_papers + np.arange(len(queries))
        numbers = np.column_stack([_paper_numbers(rows, num_papers), contexts])
        return self._documents(words, numbers[:, CONTEXT:] if query == "context" else numbers)

    def _documents(self, words: Ragged, numbers: np.ndarray) -> Documents:
        """Drop empty paragraphs; ``numbers`` (M, P) are the paragraphs of each document."""
        every = Ragged(numbers.ravel(), np.arange(len(numbers) + 1) * numbers.shape[1])
        return Documents(words, every.where(words.lengths[every.items] > 0), self._store.num_papers)


def _paper_numbers(rows: np.ndarray, num_papers: int) -> np.ndarray:
    return np.column_stack([rows, num_papers + rows.astype(np.int64)])
