"""Why cited papers are not found: missed contexts, sorted by what is known of their papers."""

from dataclasses import dataclass

import numpy as np

from mpbert.corpus.cocitation import citation_counts
from mpbert.corpus.store import Contexts, CorpusStore
from mpbert.foundation.ragged import row_numbers

_FEW_WORDS = 12  # of the citing sentence
_SIMILAR = 100  # ranks that count as nearly found

CAUSES = (
    "the cited paper is newer than the manuscript, so it is no candidate",
    "the cited paper was never cited in training, and has no abstract",
    "the cited paper was never cited in training",
    f"the citing sentence has fewer than {_FEW_WORDS} words",
    f"found among the first {_SIMILAR}: others fit as well",
    "none of these",
)


@dataclass(frozen=True)
class Misses:
    """Citations that a run does not have among its first papers.

    :param contexts: (M,) place of the context among those that were given.
    :param cited_rows: (M,) the paper that was not found.
    :param ranks: (M,) its rank in the run, from 1; 0 where it is not in the list.
    :param causes: (M,) place in ``CAUSES``: the first that holds.
    :param num_citations: of these contexts, found or not.
    """

    contexts: np.ndarray
    cited_rows: np.ndarray
    ranks: np.ndarray
    causes: np.ndarray
    num_citations: int


def find_misses(store: CorpusStore, contexts: Contexts, ranked: np.ndarray, top: int) -> Misses:
    """Return the citations whose paper is not among the first ``top`` of its context.

    :param ranked: (Q, K) rows of papers, best first, -1 beyond the end of a list.
    """
    owner = row_numbers(np.diff(contexts.cited_offsets))
    is_it = ranked[owner] == contexts.cited_rows[:, None]  # (C, K)
    ranks = np.where(is_it.any(axis=1), is_it.argmax(axis=1) + 1, 0)
    missed = np.flatnonzero((ranks == 0) | (ranks > top))
    papers, places, ranks = contexts.cited_rows[missed], owner[missed], ranks[missed]
    train = store.contexts("train")
    is_new = citation_counts(train.cited_rows, store.num_papers)[papers] == 0
    citing_rows = contexts.citing_rows[places]
    citing = store.sentence_offsets[citing_rows] + contexts.positions[places]
    num_words = np.array([len(text.split()) for text in store.sentence_texts(citing)], dtype=int)
    holds = [
        store.years[papers] > store.years[citing_rows],  # retrieval.pool leaves these out
        is_new & (store.num_abstract[papers] == 0),
        is_new,
        num_words < _FEW_WORDS,
        (ranks > 0) & (ranks <= _SIMILAR),
        np.ones(len(missed), dtype=bool),
    ]
    return Misses(places, papers, ranks, np.argmax(holds, axis=0), len(owner))
