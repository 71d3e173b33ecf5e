"""Contexts of a corpus asked as an index is asked: for learning, and for a row of the report.

A context becomes the manuscript that the page would make of the paper's text: title first, then
all sentences without markers. An encoder and the words read around the place, never behind the
next sentence.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mpbert.corpus.queries import Contexts
from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.errors import ConfigError, IndexFormatError
from mpbert.foundation.manifest import read_manifest
from mpbert.foundation.progress import progress
from mpbert.methods.rankings import Ranking, ranking_of_pairs
from mpbert.recommending.manuscripts.sentences import Manuscript
from mpbert.recommending.recommender import IndexRecommender
from mpbert.retrieval.pool import candidates_by_year


def manuscripts_of(store: CorpusStore, contexts: Contexts) -> Iterator[Manuscript]:
    """Yield the manuscript of each context, with one place."""
    title, sentences, latest = "", [], -1
    for row, position in zip(contexts.citing_rows, contexts.positions, strict=True):
        if row != latest:  # contexts of one paper are neighbours
            paper, latest = store.paper(int(row)), row
            title, sentences = paper.title, paper.sentences
        yield Manuscript([title, *sentences], np.array([position + 1]), [()])


class IndexSearch:
    """Ranks the papers of a corpus for its contexts by the very code that answers questions.

    :param path: index that build-index made of this corpus.
    :param pool: one of :data:`mpbert.retrieval.pool.POOLS`.
    :raises IndexFormatError: it is another index: it may know citations of the queries.
    :raises ConfigError: queries are whole papers, or training contexts, which the index holds.
    """

    def __init__(
        self, store: CorpusStore, path: Path, task: str, splits: list[str], pool: str = "known"
    ) -> None:
        if task != "local" or "train" in splits:
            raise ConfigError(
                f"--index answers contexts of valid or test; found --task {task} and splits "
                f"{', '.join(splits)}"
            )
        self._store, self._pool = store, pool
        self._recommender = IndexRecommender.open(path)
        manifest = read_manifest(path)
        is_changed = manifest["counts"]["generation"] > 1
        if manifest["command"] != "build-index" or is_changed:
            made = "add or remove" if is_changed else f"mpbert {manifest['command']}"
            raise IndexFormatError(
                f"{path}: found an index that {made} wrote, which may know what the queries cite; "
                f"expected one as mpbert build-index made it"
            )
        if self._recommender.paper_ids != store.paper_ids:
            raise IndexFormatError(
                f"{path}: found an index of other papers than {store.path} holds; build one of "
                f"this corpus with mpbert build-index"
            )

    def search(self, queries: Queries, split: str, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rankings, best first.

        :param queries: contexts of the split.
        :returns: (Q, K) rows, -1 beyond the end of a list, and (Q, K) scores, -inf there.
        """
        found: list[Ranking] = [None] * len(queries)
        groups = candidates_by_year(self._store, queries, split, self._pool)
        candidates = {place: papers for places, papers in groups for place in places.tolist()}
        manuscripts = manuscripts_of(self._store, queries)
        for place in progress(range(len(queries)), f"ask for {split}", "context"):
            manuscript = next(manuscripts)
            allowed = candidates[place].copy()
            allowed[queries.citing_rows[place]] = False
            question = self._recommender.question(manuscript, 0, int(queries.years[place]) or None)
            found[place] = self._recommender.rank(question, allowed, k).first(k)
        lengths = [each.rows.shape[1] for each in found]
        together = [
            np.concatenate([getattr(each, name)[0] for each in found] or [np.zeros(0)])
            for name in ("rows", "scores")
        ]
        owners = np.repeat(np.arange(len(found)), lengths)
        ranked = ranking_of_pairs(owners, *together, len(found))
        return ranked.rows, ranked.scores
