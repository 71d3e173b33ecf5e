"""Why a paper is recommended: near sentences that cite it, and papers cited together with it."""

from itertools import pairwise

import numpy as np

from mpbert.foundation.ragged import offsets_of, ranges, row_numbers
from mpbert.recommending.companions import companions_of
from mpbert.recommending.lookup import Lookup
from mpbert.recommending.records import CitingSentence, Companion
from mpbert.recommending.tables import IndexTables
from mpbert.recommending.words import Words

_SHOWN = 3  # citing sentences and companions of a paper


class Reasons:
    """What an index knows that speaks for a paper."""

    def __init__(self, tables: IndexTables, lookup: Lookup, words: Words) -> None:
        self._titles, self._years = tables.papers["title"], tables.papers["year"]
        self._texts, self._citing = tables.contexts["text"], tables.contexts["citing_row"]
        self._lookup, self._words, self._paper_ids = lookup, words, tables.papers["paper_id"]

    def citing(
        self, rows: np.ndarray, words: tuple[np.ndarray, np.ndarray]
    ) -> list[tuple[CitingSentence, ...]]:
        """Return for each paper the known sentences citing it that are nearest to the question.

        :param rows: (K,) of the papers.
        :param words: (U,) columns of the stems of the question, and (U,) their counts.
        """
        starts = self._lookup.citing_offsets[rows]
        lengths = self._lookup.citing_offsets[rows + 1] - starts
        contexts = self._lookup.citing_contexts[ranges(starts, lengths)]
        similarities = self._words.similarities(*words, contexts)
        owners, ends = row_numbers(lengths), np.cumsum(lengths)
        order = np.lexsort((-similarities, owners))  # stable: of equal ones the first
        best = order[np.arange(len(order)) - (ends - lengths)[owners] < _SHOWN]
        each = zip(contexts[best].tolist(), similarities[best].tolist(), strict=True)
        shown = [self._citing_sentence(*one) for one in each]
        cuts = offsets_of(np.minimum(lengths, _SHOWN)).tolist()
        return [tuple(shown[start:end]) for start, end in pairwise(cuts)]

    def companions(self, row: int, accepted: np.ndarray) -> tuple[Companion, ...]:
        """Return papers cited together with one, accepted ones first.

        :param accepted: (A,) rows of papers accepted at the place.
        """
        known = set(accepted.tolist())
        return tuple(
            Companion(
                paper_id=self._paper_ids[other],
                title=self._titles[other],
                count=count,
                is_accepted=other in known,
            )
            for other, count in companions_of(self._lookup, row, accepted, _SHOWN)
        )

    def _citing_sentence(self, context: int, similarity: float) -> CitingSentence:
        citing = int(self._citing[context])
        return CitingSentence(
            text=self._texts[context],
            citing_id=self._paper_ids[citing],
            citing_title=self._titles[citing],
            citing_year=int(self._years[citing]) or None,
            similarity=round(similarity, 4),
        )
