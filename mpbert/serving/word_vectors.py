"""Vectors of papers by their words, for the map of an index that has none.

The first dimensions of latent semantic analysis (Deerwester et al., JASIS 1990), by the randomized
power iteration of Halko, Martinsson and Tropp (SIAM Review 2011), with numpy alone.
"""

import numpy as np

from mpbert.foundation.ragged import ranges, row_numbers
from mpbert.foundation.seeding import named_rng
from mpbert.methods.lexical.postings import Postings

_DIM, _ROUNDS = 8, 3
_LEAST, _MOST = 2, 0.5  # papers that hold a word which counts; the latter is a part of all
_MOST_ENTRIES = 1_000_000  # of papers and their words; of more, a fixed random part of the words


def word_vectors(words: Postings, num_papers: int) -> np.ndarray:
    """Return (N, 8) vectors; zeros for a paper without a word that counts.

    :param words: papers by their words, with their parts in BM25.
    """
    entries, lengths = _entries(words, num_papers)
    papers, weights = words.papers[entries], words.weights[entries].astype(np.float64)
    norms = np.sqrt(np.bincount(papers, weights**2, minlength=num_papers))
    weights /= norms[papers]
    of_word = row_numbers(lengths)

    def by_word(values: np.ndarray) -> np.ndarray:
        return _sums(of_word, weights, values[papers], len(lengths))

    def by_paper(values: np.ndarray) -> np.ndarray:
        return _sums(papers, weights, values[of_word], num_papers)

    size = min(_DIM, len(lengths), num_papers)
    found = by_paper(named_rng(1, "map of words").standard_normal((len(lengths), size)))
    for _ in range(_ROUNDS):
        found = by_paper(by_word(np.linalg.qr(found)[0]))
    basis = np.linalg.qr(found)[0]
    left, values, _ = np.linalg.svd(by_word(basis).T, full_matrices=False)
    return (basis @ left * values).astype(np.float32)


def _entries(words: Postings, num_papers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (E,) entries of the words that count, and (W,) how many papers hold each of them."""
    lengths = np.diff(words.offsets)
    rows = np.flatnonzero((lengths >= _LEAST) & (lengths <= max(_MOST * num_papers, _LEAST)))
    if lengths[rows].sum() > _MOST_ENTRIES:
        rows = named_rng(1, "words of the map").permutation(rows)
        rows = np.sort(rows[np.cumsum(lengths[rows]) <= _MOST_ENTRIES])
    return ranges(words.offsets[rows], lengths[rows]), lengths[rows]


def _sums(rows: np.ndarray, weights: np.ndarray, values: np.ndarray, number: int) -> np.ndarray:
    """Return (number, D): Σ of weight · value of the entries of each row.

    :param values: (E, D).
    """
    found = [np.bincount(rows, weights * column, minlength=number) for column in values.T]
    return np.stack(found, axis=1) if found else np.zeros((number, 0))
