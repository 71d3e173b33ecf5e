"""Rankings of the papers of a corpus by the vectors of a directory, and exact matches if any."""

from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.checksums import fingerprint
from mpbert.foundation.errors import ConfigError, VectorsError
from mpbert.retrieval.approximate import ApproximateIndex
from mpbert.retrieval.dense import DenseIndex
from mpbert.retrieval.hybrid import HybridIndex
from mpbert.retrieval.pool import candidates_by_year
from mpbert.retrieval.stores.base import Mark
from mpbert.retrieval.stores.index import StoreIndex
from mpbert.retrieval.stores.papers import owner_of
from mpbert.vectors.matches import load_matches
from mpbert.vectors.store import VectorStore, check_ids, vectors_name


class VectorSearch:
    """All papers of a corpus by their vectors.

    :param directory: vectors directory of this corpus.
    :param task: of the queries, ``local`` or ``global``.
    :param similarity: ``cosine`` or ``dot``.
    :param dim: how many dimensions of each vector are used, the first ones; None: all.
    :param approximate: whether a part of the vectors is searched.
    :param pool: one of :data:`mpbert.retrieval.options.POOLS`.
    :param url: of a store that proposes papers; empty: all are searched here.
    :raises VectorsError: it is of another corpus.
    :raises ConfigError: exact matches count, and a part is to be searched, or inner products.
    :raises StoreUnavailableError: the store does not answer.
    """

    def __init__(
        self,
        store: CorpusStore,
        directory: Path,
        task: str,
        similarity: str = "cosine",
        dim: int | None = None,
        approximate: bool = False,
        pool: str = "known",
        url: str = "",
    ) -> None:
        self._store, self._directory, self._task, self._dim = store, directory, task, dim
        self._pool = pool
        self._read: dict[str, tuple[np.ndarray, csr_array | None]] = {}  # of each split
        vectors = self._load("papers", store.paper_ids)
        matches = load_matches(directory, "papers", len(vectors))
        if matches is None:
            self._index = self._without_matches(vectors, similarity, approximate, url)
            return
        if approximate or url or similarity != "cosine":
            given = "--approximate" if approximate else f"--similarity {similarity}"
            given = "--store" if url else given
            raise ConfigError(
                f"{given}: {directory} holds exact matches of tokens, which add to cosines over "
                f"all papers; leave {given} out"
            )
        self._index = HybridIndex(vectors, matches)

    def _without_matches(
        self, vectors: np.ndarray, similarity: str, approximate: bool, url: str
    ) -> DenseIndex:
        if url:
            what = f"{fingerprint(self._directory)} {self._dim} {similarity}"
            mark = Mark(owner_of(what), "whole")
            ids, years = self._store.paper_ids, self._store.years
            return StoreIndex(vectors, similarity, url, mark, ids, years)
        return (ApproximateIndex if approximate else DenseIndex)(vectors, similarity)

    def search(self, queries: Queries, split: str, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rankings, best first; training queries find training papers alone.

        :returns: (Q, K) rows, -1 beyond the end of a list, and (Q, K) scores, -inf there.
        """
        chosen = self._places_of(queries, split)
        vectors, matches = self._queries_of(split)
        asked = [vectors[chosen]]
        if matches is not None:
            asked.append(matches[chosen])
        k = min(k, self._store.num_papers - 1)
        rows = np.full((len(queries), k), -1, dtype=np.int64)
        scores = np.full((len(queries), k), -np.inf)
        for places, papers in candidates_by_year(self._store, queries, split, self._pool):
            index = self._index.within(papers)
            some = [part[places] for part in asked]
            found = index.search(*some, k, queries.citing_rows[places])
            length = found[0].shape[1]
            rows[places, :length], scores[places, :length] = found
        return rows, scores

    def scores_of(
        self, queries: Queries, split: str, asked: np.ndarray, papers: np.ndarray
    ) -> np.ndarray:
        """Return (P,) scores of pairs, as :meth:`search` gives them to vectors without matches.

        :param asked: (P,) places among the queries.
        :param papers: (P,) rows.
        :raises VectorsError: exact matches count beside the vectors.
        """
        if not isinstance(self._index, DenseIndex):
            raise VectorsError(
                f"{self._directory}: holds exact matches of tokens; expected vectors alone to "
                f"score further papers with, give those of another row"
            )
        vectors, _ = self._queries_of(split)
        return self._index.scores_of(vectors[self._places_of(queries, split)], asked, papers)

    def _queries_of(self, split: str) -> tuple[np.ndarray, csr_array | None]:
        """Return the vectors of all queries of a split, and their matches, if any; read once."""
        if split not in self._read:
            name = vectors_name(self._task, split)
            vectors = self._load(name, self._store.queries(split, self._task).query_ids)
            matches = load_matches(self._directory, name, len(vectors))
            if isinstance(self._index, HybridIndex) != (matches is not None):
                raise VectorsError(
                    f"{self._directory}: found exact matches of papers or of {name} alone; "
                    f"expected both: embed again"
                )
            self._read[split] = vectors, matches
        return self._read[split]

    def _places_of(self, queries: Queries, split: str) -> np.ndarray:
        """Return (Q,) the places of queries, which may be some of the split in any order."""
        ids = self._store.queries(split, self._task).query_ids
        if queries.query_ids == ids:
            return np.arange(len(ids))
        place_of = {query: place for place, query in enumerate(ids)}
        return np.array([place_of[query] for query in queries.query_ids], dtype=np.int64)

    def _load(self, name: str, ids: list[str]) -> np.ndarray:
        found = VectorStore.load(self._directory, name).first(self._dim)
        check_ids(found, ids, str(self._directory / name))
        return found.vectors


def check_training_queries(directory: Path, task: str, splits: list[str]) -> None:
    """Refuse to rank for training queries that have no vectors.

    :raises ConfigError: a directory without them.
    """
    training = directory / f"{vectors_name(task, 'train')}.npy"
    if "train" in splits and not training.exists():
        raise ConfigError(
            f"--splits train: these vectors have no training queries, there is no {training}; give "
            f"--lexical, to make training lists for a reranker"
        )
