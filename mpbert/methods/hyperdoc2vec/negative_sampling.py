"""Negative sampling: what the words and the citations have in common.

Mikolov et al. (NIPS 2013), Eq. 4, for inputs h that are means of vectors: a target o is raised
above noise n sampled from count^power by steps of rate α,

    g = α · (label - σ(h · o)),    o ← o + g · h,    each input of h ← itself + Σ g · o,

where, as in word2vec, the inputs get the whole sum, not its share of the mean.

word2vec lets threads overwrite each other. Here a batch of a few hundred words, or 16 citations, is
computed from vectors that nobody changes meanwhile; then the rows of each matrix are shared out, a
share for each thread, and each share is changed in the order of the batch: the result does not
depend on the number of threads, nor on who does what.
Random numbers are hashes of (seed, place), so no thread has a generator.

Symbols: V words, N documents, D dimensions, K noise samples, T shares.
"""

from typing import NamedTuple

import numpy as np
from numba import float32, int64, njit, uint64

from mpbert.methods.hyperdoc2vec.lanes import add, dot, load, plus_times, prefetch, zeros

_BINS = 1024  # of σ between -8 and 8
_LINE = 16  # numbers of four bytes in a cache line
_AHEAD = 12  # rows that are fetched before they are changed
SIGMOID = (1 / (1 + np.exp(-((np.arange(_BINS) + 0.5) * 16 / _BINS - 8)))).astype(np.float32)


def alias_table(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a table that samples i with probability weight_i / Σ weight by one look-up.

    Walker (ACM TOMS 1977): choose a column i and u in [0, 1); take i where u < keep_i, else
    other_i.

    :param weights: (M,) at least one above 0.
    :returns: (M,) float32 keep and (M,) int32 other.
    """
    return _fill_alias(weights.astype(np.float64) * (len(weights) / weights.sum()))


@njit(cache=True)
def _fill_alias(scaled):
    keep = np.ones(len(scaled), dtype=np.float32)
    other = np.arange(len(scaled)).astype(np.int32)
    small, large = [0] * 0, [0] * 0
    for i in range(len(scaled)):
        if scaled[i] < 1:
            small.append(i)
        else:
            large.append(i)
    while len(small) and len(large):
        i, j = small.pop(), large.pop()
        keep[i], other[i] = scaled[i], j
        scaled[j] -= 1 - scaled[i]
        if scaled[j] < 1:
            small.append(j)
        else:
            large.append(j)
    return keep, other


@njit(inline="always")
def mix(x):
    """Steele, Lea and Flood (OOPSLA 2014): one step of splitmix64."""
    x = uint64(x) + uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@njit(inline="always")
def below(state, limit):
    """Return a number from 0 to limit - 1, by the upper half of a hash."""
    return int64(((state >> uint64(32)) * uint64(limit)) >> uint64(32))


@njit(cache=True)
def subsample(tokens, offsets, keep, seed):
    """Return the tokens that are kept, each with the probability of its word, and new offsets.

    Mikolov et al. (NIPS 2013), Sec. 2.3.

    :param tokens: (T,) words; ``offsets`` (M + 1,) where each document begins.
    :param keep: (V,) float64 probability of each word.
    """
    kept = np.empty_like(tokens)
    kept_offsets = np.zeros_like(offsets)
    n = 0
    for m in range(len(offsets) - 1):
        for p in range(offsets[m], offsets[m + 1]):
            u = float(mix(seed ^ uint64(p)) >> uint64(11)) * 2.0**-53
            if u < keep[tokens[p]]:
                kept[n] = tokens[p]
                n += 1
        kept_offsets[m + 1] = n
    return kept[:n], kept_offsets


@njit(inline="always")
def share_of(row, num_shares):
    """Return the share that a row is in: a hash, so that frequent rows are spread."""
    return below(uint64(row) * uint64(0x9E3779B97F4A7C15), num_shares)


class Targets(NamedTuple):
    """Targets of a batch, of words or citations, each with its noise.

    :param rows: (B, K + 1) int64 of the matrix OUT, the target first.
    :param steps: (B, K + 1) float32, the g of each; 0 where noise is the target.
    :param sigmoid: σ between -8 and 8.
    """

    rows: np.ndarray
    steps: np.ndarray
    sigmoid: np.ndarray

    @classmethod
    def empty(cls, num: int, num_noise: int) -> "Targets":
        """Return room for B targets with K noise samples each."""
        shape = num, num_noise + 1
        return cls(np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.float32), SIGMOID)


@njit(inline="always")
def draw_noise(targets, b, target, keep, other, state):
    """Fill row b of ``targets.rows``: the target and K noise samples."""
    targets.rows[b, 0] = target
    for k in range(1, targets.rows.shape[1]):
        state = mix(state)
        row = below(state, len(keep))
        if float32(state & uint64(0xFFFFFF)) * float32(2.0**-24) >= keep[row]:
            row = int64(other[row])
        targets.rows[b, k] = row


@njit(inline="always")
def prefetch_targets(targets, b, out):
    """Begin to fetch the vectors OUT of row b."""
    for k in range(targets.rows.shape[1]):
        prefetch(out, targets.rows[b, k])


@njit(inline="always")
def score(targets, b, h, out, rate, dim):
    """Fill row b of ``targets.steps`` from row b of h."""
    for k in range(targets.rows.shape[1]):
        row, label, step = targets.rows[b, k], float32(k == 0), float32(0)
        if k == 0 or row != targets.rows[b, 0]:
            value = min(max(dot(h, b, out, row, dim), float32(-7.99)), float32(7.99))
            place = int64((value + float32(8)) * float32(_BINS / 16))
            step = rate * (label - targets.sigmoid[place])
        targets.steps[b, k] = step


@njit(inline="always")
def change_of_inputs(targets, b, out, j):
    """Return Σ g · o of row b, the block from column j on."""
    change = zeros()
    for k in range(targets.rows.shape[1]):
        change = plus_times(change, load(out, targets.rows[b, k], j), targets.steps[b, k])
    return change


class Changes(NamedTuple):
    """Changes of a matrix OUT: lists, one for each part of a batch and share of the rows.

    :param rows: (S, T, M) int32 to change, ``steps`` (S, T, M) float32 and the ``sources``
        (S, T, M) int32, rows of h: o ← o + g · h.
    :param counts: (S, T) int32 of a list.
    """

    rows: np.ndarray
    steps: np.ndarray
    sources: np.ndarray
    counts: np.ndarray

    @classmethod
    def empty(cls, parts: int, num_shares: int, most: int) -> "Changes":
        """Return room for the lists of S parts, of at most M changes each."""
        shape = parts, num_shares, most
        counts = np.zeros((parts, -(-num_shares // _LINE) * _LINE), dtype=np.int32)
        rows, sources = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
        return cls(rows, np.empty(shape, dtype=np.float32), sources, counts)


@njit(inline="always")
def list_change(changes, part, targets, b, k, num_shares):
    """Put the change of target k of row b into the list of its share."""
    row = targets.rows[b, k]
    share = share_of(row, num_shares)
    i = changes.counts[part, share]
    changes.rows[part, share, i] = row
    changes.steps[part, share, i] = targets.steps[b, k]
    changes.sources[part, share, i] = b
    changes.counts[part, share] = i + 1


@njit(inline="always")
def make_changes(changes, part, share, out, h):
    """Change the rows of a share, in the order of its list, and empty the list."""
    count = changes.counts[part, share]
    for i in range(count):
        if i + _AHEAD < count:
            prefetch(out, changes.rows[part, share, i + _AHEAD])
        source = changes.sources[part, share, i]
        add(out, changes.rows[part, share, i], changes.steps[part, share, i], h, source)
    changes.counts[part, share] = 0
