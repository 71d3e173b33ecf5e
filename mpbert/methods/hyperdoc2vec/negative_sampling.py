"""Negative sampling on all cores, with the same result for any number of them.

Mikolov et al. (NIPS 2013), Eq. 4, for inputs h that are means of vectors: a target o is raised
above noise n sampled from count^power by steps of rate α,

    g = α · (label - σ(h · o)),    o ← o + g · h,    each input of h ← itself + Σ g · o,

where, as in word2vec, the inputs get the whole sum, not its share of the mean.

word2vec lets threads overwrite each other. Here a batch of a few hundred words, or 16 citations, is
computed from vectors that nobody changes meanwhile, and then every row of a matrix is changed by
one thread alone, in the order of the batch: the result does not depend on the number of threads.
Random numbers are hashes of (seed, place), so no thread has a generator.

Words of one text share their inputs, so sums over windows are differences of running sums, and a
wide window costs as much as a narrow one; so do the changes that go back to the window's words.

Symbols: V words, N documents, D dimensions, K noise samples, B targets of a batch.
"""

import numpy as np
from numba import float32, int64, njit, prange, uint64

from mpbert.methods.hyperdoc2vec.examples import SEGMENT

BATCH_SEGMENTS = 8  # pieces of text in a batch: what the threads share
BATCH_CITATIONS = 16  # few: frequent words are in most windows, and their changes add up
_BINS = 1024  # of σ between -8 and 8
_SIGMOID = (1 / (1 + np.exp(-((np.arange(_BINS) + 0.5) * 16 / _BINS - 8)))).astype(np.float32)


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
def _mix(x):
    """Steele, Lea and Flood (OOPSLA 2014): one step of splitmix64."""
    x = uint64(x) + uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@njit(inline="always")
def _below(state, limit):
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
            u = float(_mix(seed ^ uint64(p)) >> uint64(11)) * 2.0**-53
            if u < keep[tokens[p]]:
                kept[n] = tokens[p]
                n += 1
        kept_offsets[m + 1] = n
    return kept[:n], kept_offsets


@njit(fastmath=True, inline="always")
def _add(matrix, row, scale, source, source_row):
    for j in range(matrix.shape[1]):
        matrix[row, j] += scale * source[source_row, j]


@njit(fastmath=True, inline="always")
def _score(h, b, out, target, keep, other, state, rate, sigmoid, rows, steps, back, s):
    """Fill row b of ``rows`` and ``steps``: the target, K noise samples, and the g of each.

    Row s of ``back`` becomes Σ g · o.
    """
    dim = h.shape[1]
    for j in range(dim):
        back[s, j] = 0
    for k in range(rows.shape[1]):
        row, label = int64(target), float32(1)
        if k:
            state = _mix(state)
            row, label = _below(state, len(keep)), float32(0)
            if float32(state & uint64(0xFFFFFF)) * float32(2.0**-24) >= keep[row]:
                row = int64(other[row])
        step = float32(0)
        if k == 0 or row != target:
            score = float32(0)
            for j in range(dim):
                score += h[b, j] * out[row, j]
            score = min(max(score, float32(-7.99)), float32(7.99))
            step = rate * (label - sigmoid[int64((score + float32(8)) * float32(_BINS / 16))])
            _add(back, s, step, out, row)
        rows[b, k], steps[b, k] = row, step


@njit(parallel=True, fastmath=True, cache=True)
def train_words(
    tokens, segments, word_in, word_out, document_in, keep, other, num_noise, window, rates, seed,
    train_all, num_threads,
):  # fmt: skip
    """Change all matrices so that a word follows from its neighbours and its document: PV-DM.

    Le and Mikolov (ICML 2014), Sec. 2.2, with means and negative sampling.

    :param tokens: (T,) int32 words of all documents.
    :param segments: (P, 5) int64: first and last+1 token of a piece, the same of its document, and
        the row of the document; taken in this order, ``BATCH_SEGMENTS`` at a time.
    :param word_in: (V, D) and ``word_out`` (V, D), ``document_in`` (N, D): changed in place.
    :param keep: and ``other``: alias table of the noise.
    :param window: most words on each side; each place chooses its own from 1 to this.
    :param rates: (P / BATCH_SEGMENTS,) float32, learning rate of each batch.
    :param train_all: whether words are changed too, not the documents alone.
    """
    dim, one = word_in.shape[1], float32(1)
    width = SEGMENT + 2 * window + 2  # a piece and what its windows reach, with two borders
    h = np.empty((BATCH_SEGMENTS * SEGMENT, dim), dtype=np.float32)
    rows = np.empty((BATCH_SEGMENTS * SEGMENT, num_noise + 1), dtype=np.int64)
    steps = np.empty((BATCH_SEGMENTS * SEGMENT, num_noise + 1), dtype=np.float32)
    sums = np.zeros((BATCH_SEGMENTS * width, dim), dtype=np.float32)  # of the words before
    backs = np.empty((BATCH_SEGMENTS * width, dim), dtype=np.float32)  # differences, then sums
    back = np.empty((BATCH_SEGMENTS, dim), dtype=np.float32)
    own = np.empty((BATCH_SEGMENTS, dim), dtype=np.float32)  # the document, changed at each word
    sigmoid = _SIGMOID
    for batch in range(len(rates)):
        start = batch * BATCH_SEGMENTS
        end = min(start + BATCH_SEGMENTS, len(segments))
        for s in prange(end - start):
            low, high, first, last, document = segments[start + s]
            begin, finish = max(first, low - window), min(last, high + window)
            to = s * width - begin  # from the place of a token to its row in sums and backs
            for j in range(dim):
                own[s, j] = document_in[document, j]
                backs[to + begin, j] = 0
            for p in range(begin, finish):
                for j in range(dim):
                    sums[to + p + 1, j] = sums[to + p, j] + word_in[tokens[p], j]
                    backs[to + p + 1, j] = 0
            for p in range(low, high):
                b, word = s * SEGMENT + p - low, int64(tokens[p])
                state = _mix(seed ^ uint64(p))
                reach = 1 + _below(state, window)
                left, right = max(first, p - reach), min(last, p + reach + 1)
                share = one / float32(right - left)  # the neighbours and the document
                for j in range(dim):
                    around = sums[to + right, j] - sums[to + left, j] - word_in[word, j]
                    h[b, j] = (around + own[s, j]) * share
                _score(
                    h, b, word_out, word, keep, other, state, rates[batch], sigmoid, rows, steps,
                    back, s,
                )  # fmt: skip
                _add(own, s, one, back, s)
                _add(backs, to + left, one, back, s)
                _add(backs, to + p, -one, back, s)
                _add(backs, to + p + 1, one, back, s)
                _add(backs, to + right, -one, back, s)
            for p in range(begin + 1, finish):
                _add(backs, to + p, one, backs, to + p - 1)
            _add(own, s, -one, document_in, document)
        for thread in prange(num_threads):
            for s in range(end - start):
                low, high, first, last, document = segments[start + s]
                if document % num_threads == thread:
                    _add(document_in, document, one, own, s)
                if train_all:
                    for b in range(s * SEGMENT, s * SEGMENT + high - low):
                        for k in range(num_noise + 1):
                            if rows[b, k] % num_threads == thread:
                                _add(word_out, rows[b, k], steps[b, k], h, b)
                    begin, finish = max(first, low - window), min(last, high + window)
                    for p in range(begin, finish):
                        if tokens[p] % num_threads == thread:
                            _add(word_in, tokens[p], one, backs, s * width + p - begin)


@njit(parallel=True, fastmath=True, cache=True)
def train_citations(
    tokens, citations, word_in, document_in, document_out, keep, other, num_noise, window, rates,
    seed, free, train_all, num_threads,
):  # fmt: skip
    """Change all matrices so that a cited document follows from the words around its citation.

    Han et al. (ACL 2018), Sec. 3.3, by negative sampling.

    :param tokens: (T,) int32 words of all documents.
    :param citations: (P, 5) int64: place of the citation among the tokens, first and last+1 token
        of the citing document, rows of the citing and of the cited document; taken in this order,
        ``BATCH_CITATIONS`` at a time.
    :param document_out: (N, D): changed in place, as are ``word_in`` and ``document_in``.
    :param window: w; each citation chooses r from 0 to w - 1 and reads w - r words on each side.
    :param rates: (P / BATCH_CITATIONS,) float32, learning rate of each batch.
    :param free: (N,) which rows of ``document_out`` may change.
    :param train_all: whether words and citing documents are changed too.
    """
    dim, one = word_in.shape[1], float32(1)
    h = np.empty((BATCH_CITATIONS, dim), dtype=np.float32)
    rows = np.empty((BATCH_CITATIONS, num_noise + 1), dtype=np.int64)
    steps = np.empty((BATCH_CITATIONS, num_noise + 1), dtype=np.float32)
    back = np.empty((BATCH_CITATIONS, dim), dtype=np.float32)
    read = np.empty((BATCH_CITATIONS, 2), dtype=np.int64)
    sigmoid = _SIGMOID
    for batch in range(len(rates)):
        start = batch * BATCH_CITATIONS
        end = min(start + BATCH_CITATIONS, len(citations))
        for c in prange(end - start):
            place, first, last, citing, cited = citations[start + c]
            state = _mix(seed ^ uint64(start + c))
            reach = window - _below(state, window)
            left, right = max(first, place - reach), min(last, place + reach)
            read[c, 0], read[c, 1] = left, right
            for j in range(dim):
                h[c, j] = document_in[citing, j]
            for p in range(left, right):
                _add(h, c, one, word_in, tokens[p])
            for j in range(dim):
                h[c, j] /= float32(right - left + 1)
            _score(
                h, c, document_out, cited, keep, other, state, rates[batch], sigmoid, rows, steps,
                back, c,
            )  # fmt: skip
        for thread in prange(num_threads):
            for c in range(end - start):
                for k in range(num_noise + 1):
                    if rows[c, k] % num_threads == thread and free[rows[c, k]]:
                        _add(document_out, rows[c, k], steps[c, k], h, c)
                if train_all:
                    citing = citations[start + c, 3]
                    if citing % num_threads == thread:
                        _add(document_in, citing, one, back, c)
                    for p in range(read[c, 0], read[c, 1]):
                        if tokens[p] % num_threads == thread:
                            _add(word_in, tokens[p], one, back, c)
