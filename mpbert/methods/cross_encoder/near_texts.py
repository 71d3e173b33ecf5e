"""Pairs of a query and a candidate beside which stands the training sentence nearest to the query.

Texts are read by :class:`mpbert.pretrained.frozen_layers.FrozenLayers`: a row holds numbers of kept
states. Nearness is the cosine of mean states of the whole encoder, as it was pretrained.
"""

from dataclasses import replace

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of, row_numbers, smallest_per_row
from mpbert.foundation.ragged_rows import Ragged
from mpbert.methods.cross_encoder.texts import PairLayout, Pairs, PairTexts
from mpbert.pretrained.frozen_layers import UpperEncoder
from mpbert.vectors.normal import normalized

FEATURES = ("cosine of title and abstract", "cosine of the nearest citing sentence", "has one")
_PAIRS = 1 << 14  # whose features are made at once


class NearTexts(PairTexts):
    """Papers of a corpus, and training sentences that cite them, read once.

    :param encoder: the whole encoder over kept states.
    :param citing: training sentences that stand behind a candidate's abstract, the nearest ones.
    """

    def __init__(
        self, store: CorpusStore, encoder: UpperEncoder, layout: PairLayout, citing: int
    ) -> None:
        super().__init__(store, encoder.frozen.read, layout, citing, seed=0)
        self._encoder = encoder
        self._paper_vectors = self._vectors(self._papers, "embed papers")
        if citing:
            self._sentence_vectors = self._vectors(self._sentences, "embed sentences")

    def pairs(
        self, texts: Ragged, numbers: np.ndarray, own: np.ndarray, rows: np.ndarray, sample: int = 0
    ) -> Pairs:
        """Return the rows of M pairs, with their features; see :class:`PairTexts`."""
        features, chosen, counts = self._nearest(texts, numbers, own, rows)
        pairs = self.with_sentences(texts.take(numbers), rows, chosen, counts)
        return replace(pairs, features=features)

    def features(
        self, texts: Ragged, numbers: np.ndarray, own: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        """Return (M, F) float64 ``FEATURES`` of pairs; parameters as those of :meth:`pairs`.

        There may be many pairs: a block of them is compared with all sentences at once.
        """
        features = np.empty((len(rows), len(FEATURES)))
        for start in progress(range(0, len(rows), _PAIRS), "nearest sentences", "block"):
            part = slice(start, start + _PAIRS)
            features[part], *_ = self._nearest(texts, numbers[part], own[part], rows[part])
        return features

    def _nearest(
        self, texts: Ragged, numbers: np.ndarray, own: np.ndarray, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return features, numbers of the nearest training contexts, and (M,) how many."""
        once, which = np.unique(numbers, return_inverse=True)
        queries = self._vectors(texts.take(once), "")
        features = np.zeros((len(rows), len(FEATURES)))
        features[:, 0] = np.einsum("md,md->m", queries[which], self._paper_vectors[rows])
        if not self._citing:
            return features, np.zeros(0, np.int64), np.zeros(len(rows), np.int64)
        contexts, counts = self.known_contexts(rows, own)
        near = (queries @ self._sentence_vectors.T)[which[row_numbers(counts)], contexts]
        has = counts > 0
        starts = offsets_of(counts)[:-1][has]
        features[has, 1] = np.maximum.reduceat(near, starts) if has.any() else 0
        features[has, 2] = 1
        taken = smallest_per_row(-near, counts, self._citing)
        return features, contexts[taken], np.minimum(counts, self._citing)

    def _vectors(self, rows: Ragged, what: str) -> np.ndarray:
        """Return (M, D) vectors of length 1."""
        return normalized(self._encoder.embed(rows, what))
