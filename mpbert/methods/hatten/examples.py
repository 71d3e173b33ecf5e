"""What HAtten reads: papers and queries as lists of paragraphs, and what it learns from.

A paragraph is a title, an abstract or a local context; a paper is its title and its abstract, a
local query the title and abstract of the citing paper and the context, a global query the title
and abstract alone. Paragraphs without a known word are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mpbert.corpus.bags import count_matrix, stem
from mpbert.corpus.fields import abstract_sentences
from mpbert.corpus.store import Contexts, CorpusStore, Queries
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers
from mpbert.methods.dacr.examples import Ragged, known_words

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

    def types_of(self, paragraphs: np.ndarray) -> np.ndarray:
        """Return the type of each of these paragraphs: title, abstract or context."""
        return np.minimum(paragraphs // max(self.num_papers, 1), CONTEXT)


class Reader:
    """Reads documents of a corpus; its titles and abstracts are read once.

    :param words: (V,) known words, others are left out.
    :param longest: most words of a paragraph that are read.
    """

    def __init__(self, store: CorpusStore, words: pa.Array, longest: int) -> None:
        self._store, self._words, self._longest = store, words, longest
        titles = known_words(pa.array(store.titles, pa.large_string()), words)
        sentences, owners = abstract_sentences(store)
        read = known_words(sentences, words)
        lengths = np.bincount(owners, read.lengths, minlength=store.num_papers).astype(np.int64)
        abstracts = Ragged(read.items, offsets_of(lengths))
        self._papers = _cut(stacked([titles, abstracts]), longest)

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
        words = stacked([self._papers, _cut(known_words(texts, self._words), self._longest)])
        contexts = 2 * num_papers + np.arange(len(queries))
        numbers = np.column_stack([_paper_numbers(rows, num_papers), contexts])
        return self._documents(words, numbers[:, CONTEXT:] if query == "context" else numbers)

    def _documents(self, words: Ragged, numbers: np.ndarray) -> Documents:
        """Drop empty paragraphs; ``numbers`` (M, P) are the paragraphs of each document."""
        every = Ragged(numbers.ravel(), np.arange(len(numbers) + 1) * numbers.shape[1])
        return Documents(words, every.where(words.lengths[every.items] > 0), self._store.num_papers)


def _paper_numbers(rows: np.ndarray, num_papers: int) -> np.ndarray:
    return np.column_stack([rows, num_papers + rows.astype(np.int64)])


def _cut(rows: Ragged, longest: int) -> Ragged:
    lengths = np.minimum(rows.lengths, longest)
    return Ragged(rows.items[ranges(rows.offsets[:-1], lengths)], offsets_of(lengths))


def stacked(parts: Sequence[Ragged]) -> Ragged:
    """Return the rows of the first part, then those of the second and so on."""
    items = np.concatenate([part.items for part in parts])
    return Ragged(items, offsets_of(np.concatenate([part.lengths for part in parts])))


class Overlap:
    """The words that a training query and a paper have in common.

    Sets of stems without stop words; HAtten's code has lemmas, we have the S stemmer.

    :param queries: of which the local contexts count, and the citing papers where asked for.
    """

    def __init__(self, store: CorpusStore, queries: Sequence[Queries], query: str) -> None:
        texts = store.abstract_texts(np.arange(store.num_papers))
        self._citing = np.concatenate([q.citing_rows for q in queries])
        alone = [isinstance(q, Contexts) and query == "context" for q in queries]
        self._alone = np.repeat(alone, [len(q) for q in queries])
        for part in queries:
            texts += store.local_texts(part) if isinstance(part, Contexts) else [""] * len(part)
        counts, terms = count_matrix(pa.array(texts, pa.large_string()), stemmed=True)
        kept = counts[:, np.flatnonzero(~_is_stop_word(terms))].astype(bool).tocsr()
        self._papers, self._contexts = kept[: store.num_papers], kept[store.num_papers :]

    def jaccard(self, queries: np.ndarray, papers: np.ndarray) -> np.ndarray:
        """Return (E,) Jaccard indices |A and B| / |A or B| of pairs, 0 where both are empty."""
        found = self._contexts[queries]
        with_citing = (~self._alone[queries])[:, None]
        found = found + self._papers[self._citing[queries]].multiply(with_citing).tocsr()
        others = self._papers[papers]
        shared = found.multiply(others).tocsr().astype(np.int64).sum(axis=1)
        sizes = [rows.astype(bool).astype(np.int64).sum(axis=1) for rows in (found, others)]
        return shared / np.maximum(sizes[0] + sizes[1] - shared, 1)


def _is_stop_word(terms: pa.Array) -> np.ndarray:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # slow to import

    stop_words = stem(pa.array(sorted(ENGLISH_STOP_WORDS), pa.large_string()))
    return pc.is_in(terms, value_set=stop_words).to_numpy(zero_copy_only=False)


@dataclass(frozen=True)
class Examples:
    """The training queries, what they cite, and the papers they are compared with.

    :param queries: (Q,) documents; ``papers`` (N,) documents, by row.
    :param cited: (Q,) rows of the cited training papers, at least one.
    :param citing: (Q,) row of the citing paper.
    :param pool: rows of the training papers.
    :param numbers: (Q,) the queries as ``overlap`` counts them.
    :param likeness: (Q,) mean Jaccard index of a query and the papers that it cites.
    """

    queries: Documents
    papers: Documents
    cited: Ragged
    citing: np.ndarray
    pool: np.ndarray
    numbers: np.ndarray
    likeness: np.ndarray
    overlap: Overlap

    def __len__(self) -> int:
        return len(self.queries)


def read_examples(store: CorpusStore, reader: Reader, tasks: Sequence[str], query: str) -> Examples:
    """Return the training queries of these tasks that cite a training paper.

    The text of papers of later splits is not for training, so they are no examples.
    """
    parts = [store.queries("train", task) for task in tasks]
    read = [reader.queries(part, query) for part in parts]
    documents = read[0]  # contexts come first: their words hold those of all papers
    documents = Documents(
        documents.words, stacked([d.paragraphs for d in read]), documents.num_papers
    )
    cited = stacked([Ragged(part.cited_rows, part.cited_offsets) for part in parts])
    cited = cited.where(store.paper_splits[cited.items] == "train")
    kept = np.flatnonzero(cited.lengths)
    cited, overlap = cited.take(kept), Overlap(store, parts, query)
    owners = row_numbers(cited.lengths)
    likeness = overlap.jaccard(kept[owners], cited.items)
    return Examples(
        queries=documents.take(kept),
        papers=reader.papers(np.arange(store.num_papers)),
        cited=cited,
        citing=np.concatenate([part.citing_rows for part in parts])[kept],
        pool=np.flatnonzero(store.paper_splits == "train"),
        numbers=kept,
        likeness=np.bincount(owners, likeness, minlength=len(kept)) / cited.lengths,
        overlap=overlap,
    )
