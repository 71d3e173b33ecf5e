"""Queries of a corpus asked as an index is asked: for learning, and for a row of the report.

A whole paper is asked by its title and the sentences of its abstract, as the corpus holds them. A
context becomes the manuscript that the page would make of the paper's text: title first, then
all sentences without markers. An encoder and the words read around the place, never behind the
next sentence.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from mpbert.corpus.queries import Contexts, Queries
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import IndexFormatError
from mpbert.foundation.manifest import read_manifest
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import row_numbers
from mpbert.methods.rankings import Ranking, ranking_of_pairs
from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.manuscripts.sentences import Manuscript
from mpbert.recommending.questions import Asked
from mpbert.recommending.recommender import Recommender
from mpbert.retrieval.pool import candidates_by_year

_BLOCK = 48  # contexts whose sentences are read at once: fewer than are remembered


def manuscripts_of(store: CorpusStore, contexts: Contexts) -> Iterator[Manuscript]:
    """Yield the manuscript of each context, with one place."""
    title, sentences, latest = "", [], -1
    for row, position in zip(contexts.citing_rows, contexts.positions, strict=True):
        if row != latest:  # contexts of one paper are neighbours
            paper, latest = store.paper(int(row)), row
            title, sentences = paper.title, paper.sentences
        yield Manuscript([title, *sentences], np.array([position + 1]), [()])


def read_in_blocks(
    recommender: AnsweringIndex, manuscripts: Iterator[Manuscript]
) -> Iterator[Manuscript]:
    """Yield the same manuscripts; a pretrained encoder reads the sentences of many at once."""
    while block := list(islice(manuscripts, _BLOCK)):
        recommender.read_ahead(block)
        yield from block


def questions_of(
    recommender: AnsweringIndex, store: CorpusStore, queries: Queries
) -> Iterator[list[Asked]]:
    """Yield the questions of each query: one of a context, several of a whole paper."""
    years = [int(year) or None for year in queries.years]
    if isinstance(queries, Contexts):
        manuscripts = read_in_blocks(recommender, manuscripts_of(store, queries))
        for year, manuscript in zip(years, manuscripts, strict=True):
            yield [recommender.question(manuscript, 0, year)]
        return
    for year, row in zip(years, queries.citing_rows.tolist(), strict=True):
        paper = store.paper(row)
        yield recommender.questions_of_whole([paper.title, *paper.abstract], year)


def index_of_corpus(store: CorpusStore, path: Path, splits: Sequence[str]) -> Recommender:
    """Return an index that build-index made of a corpus, which knows no contexts of some splits.

    :raises IndexFormatError: it is another index: it may know what the contexts cite.
    """
    index = Recommender(path)
    manifest = read_manifest(path)
    is_changed = manifest["counts"]["generation"] > 1
    asked, of_all = manifest["config"], ("train", *splits)
    known = asked.get("known", of_all if asked.get("all_contexts") else ())  # as it was called
    if is_changed or manifest["command"] != "build-index" or set(known) & set(splits):
        flag = f" --known {' '.join(known)}" if known else ""
        made = "add or remove" if is_changed else f"mpbert {manifest['command']}{flag}"
        raise IndexFormatError(
            f"{path}: found an index that {made} wrote, which may know what the contexts cite; "
            f"expected one as mpbert build-index made it"
        )
    if index.paper_ids != store.paper_ids:
        raise IndexFormatError(
            f"{path}: found an index of other papers than {store.path} holds; build one of "
            f"this corpus with mpbert build-index"
        )
    return index


class IndexSearch:
    """Ranks the papers of a corpus for its queries by the very code that answers questions.

    :param path: index that build-index made of this corpus; ``splits`` will be asked for.
    :param pool: one of :data:`mpbert.retrieval.options.POOLS`.
    :raises IndexFormatError: it is another index: it may know what the contexts cite.
    """

    def __init__(
        self, store: CorpusStore, path: Path, splits: Sequence[str], pool: str = "known"
    ) -> None:
        self._store, self._pool = store, pool
        self._recommender = index_of_corpus(store, path, splits)

    def search(self, queries: Queries, split: str, k: int) -> tuple[Ranking, np.ndarray | None]:
        """Return the first k papers of each query, and how sure these are, with and without.

        The paper that asks is no candidate. How sure: (Q, 3) P(the first paper is cited), P(the
        library holds what belongs there), and the same of the ranking without the cited papers; NaN
        where nothing is ranked; None: the index does not know.

        :param queries: contexts or whole papers of ``split``, valid or test: those of training are
            in the index.
        """
        found: list[Ranking] = []
        sure = []
        groups = candidates_by_year(self._store, queries, split, self._pool)
        candidates = {place: papers for places, papers in groups for place in places.tolist()}
        asked = questions_of(self._recommender, self._store, queries)
        for place in progress(range(len(queries)), f"ask for {split}", "question"):
            allowed = candidates[place].copy()
            allowed[queries.citing_rows[place]] = False
            questions = next(asked)
            ranking = self._recommender.rank(questions, allowed, k)
            found.append(ranking.first(k))
            sure.append(self._sure(questions, ranking, queries.cited(place)))
        rows = [np.zeros(0, dtype=np.int64), *(each.rows[0] for each in found)]
        scores = [np.zeros(0), *(each.scores[0] for each in found)]
        owners = row_numbers(np.array([len(each) for each in rows[1:]], dtype=np.int64))
        ranking = ranking_of_pairs(owners, np.concatenate(rows), np.concatenate(scores), len(found))
        values = np.array(sure, dtype=np.float64)
        return ranking, None if np.isnan(values).all() else values

    def _sure(
        self, questions: list[Asked], ranking: Ranking, cited: np.ndarray
    ) -> tuple[float, float, float]:
        """Return how sure the answer to a query is, and that without the cited papers."""
        is_paper = ranking.rows[0] >= 0
        rows, scores = ranking.rows[0][is_paper], ranking.scores[0][is_paper]
        whole = self._recommender.sure(questions, rows, scores)
        left = ~np.isin(rows, cited)
        without = self._recommender.sure(questions, rows[left], scores[left])
        unknown = float("nan")
        return (
            *((whole.papers[0], whole.holds) if whole else (unknown, unknown)),
            without.holds if without else unknown,
        )
