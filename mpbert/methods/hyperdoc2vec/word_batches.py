"""Phase 1: every word from its neighbours and its document, batch by batch.

Words of one text share their inputs, so sums over windows are differences of running sums, and a
wide window costs as much as a narrow one; so do the changes that go back to the window's words.
"""

from typing import NamedTuple

import numpy as np
from numba import float32, int64, njit, uint64

from mpbert.methods.hyperdoc2vec.examples import SEGMENT
from mpbert.methods.hyperdoc2vec.lanes import (
    LANES,
    add,
    empty_rows,
    load,
    minus,
    plus,
    prefetch,
    run_on_blocks,
    store,
    times,
    zeros,
)
from mpbert.methods.hyperdoc2vec.negative_sampling import (
    Changes,
    Targets,
    below,
    change_of_inputs,
    draw_noise,
    list_change,
    make_changes,
    mix,
    prefetch_targets,
    score,
    share_of,
)
from mpbert.methods.hyperdoc2vec.together import number_of_this_thread, take, tasks_of

BATCH_SEGMENTS = 8  # pieces of text in a batch: what the threads share
_AHEAD = 12  # words whose vectors are fetched before they are read


class _Pieces(NamedTuple):
    """What S pieces compute, those of a batch or one of each thread.

    Row b of h is word b % SEGMENT of piece b // SEGMENT.

    :param h: (B, D) inputs; ``sums`` of the words IN before each word, ``backs`` what the words IN
        change by, as differences and then as sums, both with a border on each side of a piece.
    :param own: (2 S, D) document of a piece, changed at each word; then each as it was read.
    :param reach: (B, 2) first and last+1 token of a window.
    """

    h: np.ndarray
    sums: np.ndarray
    backs: np.ndarray
    own: np.ndarray
    reach: np.ndarray

    @classmethod
    def empty(cls, number: int, window: int, dim: int) -> "_Pieces":
        size, width = number * SEGMENT, number * _width(window)
        sums, backs = empty_rows(width, dim), empty_rows(width, dim)
        sums[:] = 0  # the border before a piece stays so
        reach = np.empty((size, 2), dtype=np.int64)
        return cls(empty_rows(size, dim), sums, backs, empty_rows(2 * number, dim), reach)


def train_words(
    tokens: np.ndarray, segments: np.ndarray, word_in: np.ndarray, word_out: np.ndarray,
    document_in: np.ndarray, keep: np.ndarray, other: np.ndarray, num_noise: int, window: int,
    rates: np.ndarray, seed: np.uint64, train_all: bool, num_threads: int, at_once: bool,
) -> None:  # fmt: skip
    """Change all matrices so that a word follows from its neighbours and its document: PV-DM.

    Le and Mikolov (ICML 2014), Sec. 2.2, with means and negative sampling.

    :param tokens: (T,) int32 words of all documents.
    :param segments: (P, 5) int64: first and last+1 token of a piece, the same of its document, and
        the row of the document; taken in this order, ``BATCH_SEGMENTS`` at a time.
    :param word_in: (V, D) and ``word_out`` (V, D), ``document_in`` (N, D): changed in place; where
        D is no multiple of 16, copies of them are held meanwhile.
    :param keep: and ``other``: alias table of the noise.
    :param window: most words on each side; each place chooses its own from 1 to this.
    :param rates: (P / BATCH_SEGMENTS,) float32, learning rate of each batch.
    :param train_all: whether words are changed too, not the documents alone.
    :param at_once: whether a piece changes the matrices at once, under the hands of other threads
        (Recht et al., NIPS 2011): faster, but the bits depend on who comes first. Else a batch does
        when all of it is computed, and the bits do not depend on the number of threads.
    """
    dim = word_in.shape[1]
    pieces = _Pieces.empty(num_threads if at_once else BATCH_SEGMENTS, window, dim)
    targets = Targets.empty(len(pieces.h), num_noise)
    changes = Changes.empty(BATCH_SEGMENTS, num_threads, SEGMENT * (num_noise + 1))
    run_on_blocks(
        _train_words_at_once if at_once else _train_words, (word_in, word_out, document_in),
        tokens, segments, keep, other, window, rates, seed, train_all, dim, pieces, targets,
        changes, num_threads=num_threads,
    )  # fmt: skip


@njit(inline="always")
def _width(window):
    """Return the rows of ``sums`` that a piece has: its words, those its windows reach, borders."""
    return SEGMENT + 2 * window + 2


@njit(cache=True, nogil=True)
def _train_words(
    word_in, word_out, document_in, tokens, segments, keep, other, window, rates, seed, train_all,
    dim, pieces, targets, changes, num_threads, counters,
):  # fmt: skip
    end = int64(0)
    for batch in range(len(rates)):
        start = batch * BATCH_SEGMENTS
        of_batch = segments[start : start + BATCH_SEGMENTS]
        begin, end = end, end + len(of_batch)
        for s in tasks_of(counters, begin, end):
            _compute(
                tokens, of_batch[s], word_in, word_out, document_in, keep, other, window,
                rates[batch], seed, train_all, dim, pieces, targets, changes, num_threads, False, s,
            )  # fmt: skip
        begin, end = end, end + num_threads
        for share in tasks_of(counters, begin, end):
            _change(
                tokens, of_batch, word_in, word_out, document_in, window, train_all, pieces,
                changes, num_threads, share,
            )  # fmt: skip


@njit(cache=True, nogil=True)
def _train_words_at_once(
    word_in, word_out, document_in, tokens, segments, keep, other, window, rates, seed, train_all,
    dim, pieces, targets, changes, num_threads, counters,
):  # fmt: skip
    s = number_of_this_thread(counters)
    task = take(counters, len(segments))
    while task >= 0:
        low, high, first, last, document = segments[task]
        _compute(
            tokens, segments[task], word_in, word_out, document_in, keep, other, window,
            rates[task // BATCH_SEGMENTS], seed, train_all, dim, pieces, targets, changes,
            num_threads, True, s,
        )  # fmt: skip
        add(document_in, document, float32(1), pieces.own, s)
        if train_all:
            begin, end = max(first, low - window), min(last, high + window)
            for p in range(begin, end):
                add(word_in, tokens[p], float32(1), pieces.backs, s * _width(window) + p - begin)
        task = take(counters, len(segments))


@njit(cache=True, nogil=True)
def _change(
    tokens, segments, word_in, word_out, document_in, window, train_all, pieces, changes,
    num_shares, share,
):  # fmt: skip
    """Change the rows of a share, in the order of the batch."""
    for s in range(len(segments)):
        low, high, first, last, document = segments[s]
        if share_of(document, num_shares) == share:
            add(document_in, document, float32(1), pieces.own, s)
        if train_all:
            make_changes(changes, s, share, word_out, pieces.h)
            begin, finish = max(first, low - window), min(last, high + window)
            for p in range(begin, finish):
                if share_of(tokens[p], num_shares) == share:
                    row = s * _width(window) + p - begin
                    add(word_in, tokens[p], float32(1), pieces.backs, row)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _compute(
    tokens, piece, word_in, word_out, document_in, keep, other, window, rate, seed, train_all, dim,
    pieces, targets, changes, num_shares, at_once, s,
):  # fmt: skip
    """Compute what piece s of a batch changes, and put it into ``pieces`` and ``changes``."""
    low, high, first, last, document = piece
    begin, finish = max(first, low - window), min(last, high + window)
    for p in range(low, high):
        b, state = s * SEGMENT + p - low, mix(seed ^ uint64(p))
        reach = 1 + below(state, window)
        pieces.reach[b, 0], pieces.reach[b, 1] = max(first, p - reach), min(last, p + reach + 1)
        draw_noise(targets, b, tokens[p], keep, other, state)
    to = s * _width(window) - begin  # from the place of a token to its row in sums and backs
    _read(pieces, tokens, begin, finish, to, word_in)
    as_read = len(pieces.own) // 2 + s
    for j in range(0, word_in.shape[1], LANES):
        store(pieces.own, s, j, load(document_in, document, j))
        store(pieces.own, as_read, j, load(document_in, document, j))
    for p in range(low, high):
        b = s * SEGMENT + p - low
        if p + 1 < high:
            prefetch_targets(targets, b + 1, word_out)
        _average(pieces, b, s, to, word_in, int64(tokens[p]))
        score(targets, b, pieces.h, word_out, rate, dim)
        _give_back(pieces, b, s, to + p, to, targets, word_out)
        if train_all:
            for k in range(targets.rows.shape[1]):
                if at_once:
                    add(word_out, targets.rows[b, k], targets.steps[b, k], pieces.h, b)
                else:
                    list_change(changes, s, targets, b, k, num_shares)
    for p in range(begin + 1, finish):
        add(pieces.backs, to + p, float32(1), pieces.backs, to + p - 1)
    add(pieces.own, s, float32(-1), pieces.own, as_read)


@njit(inline="always")
def _read(pieces, tokens, begin, finish, to, word_in):
    """Fill running sums of the words IN from begin to finish, and zeros to be changed."""
    for p in range(begin, min(begin + _AHEAD, finish)):
        prefetch(word_in, tokens[p])
    for j in range(0, word_in.shape[1], LANES):
        store(pieces.backs, to + begin, j, zeros())
    for p in range(begin, finish):
        if p + _AHEAD < finish:
            prefetch(word_in, tokens[p + _AHEAD])
        for j in range(0, word_in.shape[1], LANES):
            word = load(word_in, tokens[p], j)
            store(pieces.sums, to + p + 1, j, plus(load(pieces.sums, to + p, j), word))
            store(pieces.backs, to + p + 1, j, zeros())


@njit(inline="always")
def _average(pieces, b, s, to, word_in, word):
    """Fill row b of h: the mean of the words of its window, without the word, and the document."""
    left, right = to + pieces.reach[b, 0], to + pieces.reach[b, 1]
    share = float32(1) / float32(right - left)
    for j in range(0, word_in.shape[1], LANES):
        outside = plus(load(pieces.sums, left, j), load(word_in, word, j))
        around = minus(load(pieces.sums, right, j), outside)
        store(pieces.h, b, j, times(plus(around, load(pieces.own, s, j)), share))


@njit(inline="always")
def _give_back(pieces, b, s, place, to, targets, word_out):
    """Change the document, and the differences at both ends of the window and of the word."""
    left, right = to + pieces.reach[b, 0], to + pieces.reach[b, 1]
    own, backs = pieces.own, pieces.backs
    for j in range(0, word_out.shape[1], LANES):
        change = change_of_inputs(targets, b, word_out, j)
        store(own, s, j, plus(load(own, s, j), change))
        store(backs, left, j, plus(load(backs, left, j), change))
        store(backs, place, j, minus(load(backs, place, j), change))
        store(backs, place + 1, j, plus(load(backs, place + 1, j), change))
        store(backs, right, j, minus(load(backs, right, j), change))
