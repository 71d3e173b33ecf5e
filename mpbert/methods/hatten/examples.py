"""What HAtten learns from: training queries, and the words they have in common with papers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mpbert.corpus.bags import count_matrix
from mpbert.corpus.store import Contexts, CorpusStore, Queries
from mpbert.corpus.text import stem
from mpbert.foundation.ragged import row_numbers
from mpbert.foundation.ragged_rows import Ragged, stacked
from mpbert.methods.hatten.documents import DocumentReader, Documents


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

    stop_words = pa.array([*map(stem, sorted(ENGLISH_STOP_WORDS))], pa.large_string())
    return pc.is_in(terms, value_set=stop_words).to_numpy(zero_copy_only=False)


@dataclass(frozen=True)
class TrainingQueries:
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


def read_training_queries(
    store: CorpusStore, reader: DocumentReader, tasks: Sequence[str], query: str
) -> TrainingQueries:
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
    return TrainingQueries(
        queries=documents.take(kept),
        papers=reader.papers(np.arange(store.num_papers)),
        cited=cited,
        citing=np.concatenate([part.citing_rows for part in parts])[kept],
        pool=np.flatnonzero(store.paper_splits == "train"),
        numbers=kept,
        likeness=np.bincount(owners, likeness, minlength=len(kept)) / cited.lengths,
        overlap=overlap,
    )
