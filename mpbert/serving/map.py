"""A flat map of paper vectors: their two directions of largest variance.

Pearson (Philosophical Magazine 1901). Rows are scaled to length 1 first, as in the search, so that
near on the map means near in cosine as far as two dimensions can show it. Papers of an index
without vectors have those of their words.
"""

import numpy as np

from mpbert.foundation.seeding import named_rng
from mpbert.recommending.recommender import Recommender
from mpbert.serving.messages import Positions
from mpbert.serving.topics import topics_of
from mpbert.serving.word_vectors import word_vectors
from mpbert.vectors.normal import normalized

MAX_POINTS = 50_000  # what a browser draws at once without a stutter
_BLOCK = 8192  # rows in memory at once; the matrix itself may be larger than memory


def map_rows(vectors: np.ndarray) -> np.ndarray:
    """Return the rows that the map shows, ascending: all, or a fixed random part of very many.

    :param vectors: (N, D); a paper without a vector has zeros, and no place on the map.
    """
    rows = np.flatnonzero(vectors.any(axis=1))
    if len(rows) <= MAX_POINTS:
        return rows
    return np.sort(named_rng(1, "map").choice(rows, MAX_POINTS, replace=False))


def principal_directions(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean (D,) and the two unit directions (D, 2) of largest variance, largest first.

    The sign of a direction is that which makes its largest component positive.

    :param vectors: (N, D); read in blocks, rows of zeros are left out. D may be 0.
    """
    number, total, products = 0, 0.0, 0.0
    for start in range(0, len(vectors), _BLOCK):
        block = normalized(vectors[start : start + _BLOCK]).astype(np.float64)
        number += np.count_nonzero(block.any(axis=1))
        total, products = total + block.sum(axis=0), products + block.T @ block
    mean = total / max(number, 1)
    _, directions = np.linalg.eigh(products / max(number, 1) - np.outer(mean, mean))
    largest = np.zeros((vectors.shape[1], 2))
    if not len(largest):
        return mean, largest
    found = directions[:, ::-1][:, :2]  # one column where D is 1
    signs = np.sign(found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])])
    largest[:, : found.shape[1]] = found * signs
    return mean, largest


def project(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return (len(rows), 2) positions, centred and scaled together so that the farthest is at 1.

    :param vectors: (N, D).
    :param rows: rows of the papers to place.
    """
    mean, directions = principal_directions(vectors)
    positions = np.empty((len(rows), 2))
    for start in range(0, len(rows), _BLOCK):
        block = normalized(vectors[rows[start : start + _BLOCK]])
        positions[start : start + _BLOCK] = (block - mean) @ directions
    farthest = np.abs(positions).max(initial=0.0)
    return positions / farthest if farthest > 1e-9 else np.zeros_like(positions)


def positions_of(recommender: Recommender) -> Positions:
    """Return the map of an index, as the API answers it."""
    vectors = recommender.vectors
    if not vectors.shape[1]:
        vectors = word_vectors(recommender.word_postings, len(recommender))
    rows = map_rows(vectors)
    positions = project(vectors, rows).round(4)
    x, y = positions.T.tolist()
    titles, years = recommender.titles, recommender.years[rows].tolist()
    shown = [titles[row] for row in rows]
    return Positions(
        num_papers=len(recommender),
        paper_ids=[recommender.paper_ids[row] for row in rows],
        titles=shown,
        years=[year or None for year in years],
        x=x,
        y=y,
        topics=topics_of(positions, shown),
    )
