"""Citations of a corpus, and what would stand there if they were wrong: labels for nothing.

Each citation of a paper of a split is exchanged in two ways: for any paper that was there, and for
one near to the cited paper, the 10th to the 50th by the cosine of their vectors.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from mpbert.corpus.queries import Contexts
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.years import were_there
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.progress import progress
from mpbert.foundation.seeding import named_rng
from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.checking.standing import standing
from mpbert.recommending.column_making import empty_table
from mpbert.recommending.contexts import questions_of
from mpbert.recommending.directory import data_of
from mpbert.recommending.index_encoder import IndexEncoder
from mpbert.recommending.store_tables import papers_of
from mpbert.recommending.tables import CONTEXTS, IndexTables

UNIFORM, NEAR = 1, 2  # what stands in the place of the true paper, which is 0
_NEAREST, _FARTHEST = 10, 50
_LEAST = _FARTHEST + 10  # papers of a pool


def swaps_of(
    store: CorpusStore,
    index: AnsweringIndex,
    split: str,
    vectors: np.ndarray,
    most: int,
    pools: Sequence[int | None] = (None,),
) -> list[np.ndarray]:
    """Return of each pool the (C, 3, F) features of citations: true, any other, a near paper.

    :param index: of this corpus, which does not know its sentences of the split.
    :param vectors: (N, D) of length 1, by which papers are near.
    :param most: contexts, about; those of papers that are chosen at random.
    :param pools: sizes of random libraries that hold the cited papers; None: all papers.
    :raises CorpusError: there is no citation.
    """
    queries, rng = _sample(store, split, most), named_rng(1, "swapped citations")
    asked, found = questions_of(index, store, queries), [[] for _ in pools]
    for place in progress(range(len(queries)), f"exchange citations of {split}", "context"):
        [question] = next(asked)
        may_be = were_there(store.years, int(queries.years[place]))
        may_be[queries.citing_rows[place]] = False
        evidence = index.evidence(question)
        for size, trios in zip(pools, found, strict=True):
            swapped = _swapped(vectors, queries.cited(place), may_be, size, rng)
            trios += [standing(evidence, pool, trio) for pool, trio in swapped]
    if not all(found):
        raise CorpusError(
            f"{store.path}: found no citation of {split} papers with {_LEAST} papers or more to "
            f"exchange it for; expected some"
        )
    return [np.stack(trios) for trios in found]


def _sample(store: CorpusStore, split: str, most: int) -> Contexts:
    """Return the contexts of random papers of a split, none twice."""
    queries = store.queries(split, "local").distinct()
    papers, sizes = np.unique(queries.citing_rows, return_counts=True)
    order = named_rng(1, "papers whose citations are exchanged").permutation(len(papers))
    taken = papers[order[np.cumsum(sizes[order]) - sizes[order] < most]]
    return queries.take(np.flatnonzero(np.isin(queries.citing_rows, taken)))


def _swapped(
    vectors: np.ndarray,
    cited: np.ndarray,
    may_be: np.ndarray,
    size: int | None,
    rng: np.random.Generator,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (N,) pool, and the rows of the true, the uniform and the near paper, of each cited."""
    may_be_other = may_be.copy()
    may_be_other[cited] = False
    others = np.flatnonzero(may_be_other)
    for row in cited[may_be[cited]].tolist():
        library = others if size is None or size > len(others) else rng.choice(others, size, False)
        if len(library) < _LEAST:
            continue
        pool = np.zeros(len(may_be), dtype=bool)
        pool[library] = True
        nearness = vectors[library] @ vectors[row]
        nearest = np.argpartition(-nearness, _FARTHEST)[:_FARTHEST]
        nearest = library[nearest[np.argsort(-nearness[nearest], kind="stable")]]
        near = nearest[int(rng.integers(_NEAREST - 1, _FARTHEST))]
        yield pool, np.array([row, rng.choice(library), near])


def thin_index(store: CorpusStore, has_abstracts: bool) -> AnsweringIndex:
    """Return an index of titles, or of these and abstracts, alone, as files of BibTeX become."""
    papers = papers_of(store)
    if not has_abstracts:
        papers = papers.with_columns({"abstract": papers["title"]})
    vectors = np.zeros((papers.num_rows, 0), dtype=np.float32)
    tables = IndexTables(papers, empty_table(CONTEXTS), vectors)
    return AnsweringIndex(data_of(tables, 1, 1, fuses=False), IndexEncoder())
