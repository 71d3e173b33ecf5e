"""What the bibliographic module reads: authors of papers, and citations of the last years."""

import itertools
from collections import Counter

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.methods.paper_parts import comparable
from mpbert.methods.training_citations import counted_by_year, training_citations

YEARS = 4  # the paper's
NUM_CITATIONS = YEARS + 1
_FEWEST = 2  # training papers of an author who is known


class AuthorsAndCitations:
    """Authors and citations, both of the training split alone.

    :param most_authors: A, of a paper; the first ones.
    :ivar authors: (N, A) numbers of authors, from 1; 0 for none, and for one who is not known.
    :ivar num_authors: how many are known.
    """

    def __init__(self, store: CorpusStore, most_authors: int) -> None:
        names = [list(map(comparable, each[:most_authors])) for each in store.authors]
        is_training = store.paper_splits == "train"
        training = (each for each, known in zip(names, is_training, strict=True) if known)
        counts = Counter(name for each in training for name in set(each) if name)
        known = sorted(name for name, count in counts.items() if count >= _FEWEST)
        number = {name: place + 1 for place, name in enumerate(known)}
        self.num_authors = len(number)
        self.authors = np.zeros((store.num_papers, most_authors), dtype=np.int64)
        for row, each in enumerate(names):
            self.authors[row, : len(each)] = [number.get(name, 0) for name in each]
        self._cited = counted_by_year(training_citations(store), store.years)
        self._last = int(store.manuscripts("train").years.max(initial=0))
        self._years = store.years

    def citations(self, papers: np.ndarray, years: np.ndarray) -> np.ndarray:
        """Return (P, 5) float32 ln(1 + citations) of the last four known years, and of all.

        The last one is the year before the query's, or the last of training. A year before the
        paper's own is -1.

        :param papers: (P,) rows; ``years`` (P,) of the queries.
        """
        last = np.minimum(years - 1, self._last)
        until = [self._cited.until(papers, last - back) for back in range(YEARS + 1)]
        columns = [
            np.where(last - back < self._years[papers], -1.0, np.log1p(now - before))
            for back, (now, before) in enumerate(itertools.pairwise(until))
        ]
        return np.stack([*columns, np.log1p(until[0])], axis=1).astype(np.float32)
