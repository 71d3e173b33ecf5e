"""Phase 2: every cited document from the words around its citation, batch by batch."""

import numpy as np
from numba import float32, int64, njit, uint64

from mpbert.methods.hyperdoc2vec.lanes import (
    LANES,
    add,
    empty_rows,
    load,
    plus,
    prefetch,
    run_on_blocks,
    store,
    times,
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
from mpbert.methods.hyperdoc2vec.together import tasks_of

BATCH_CITATIONS = 16  # few: frequent words are in most windows, and their changes add up


def train_citations(
    tokens: np.ndarray, citations: np.ndarray, word_in: np.ndarray, document_in: np.ndarray,
    document_out: np.ndarray, keep: np.ndarray, other: np.ndarray, num_noise: int, window: int,
    rates: np.ndarray, seed: np.uint64, free: np.ndarray, train_all: bool, num_threads: int,
) -> None:  # fmt: skip
    """Change all matrices so that a cited document follows from the words around its citation.

    Han et al. (ACL 2018), Sec. 3.3, by negative sampling.

    :param tokens: (T,) int32 words of all documents.
    :param citations: (P, 5) int64: place of the citation among the tokens, first and last+1 token
        of the citing document, rows of the citing and of the cited document; taken in this order,
        ``BATCH_CITATIONS`` at a time.
    :param document_out: (N, D): changed in place, as are ``word_in`` and ``document_in``; where D
        is no multiple of 16, copies of them are held meanwhile.
    :param window: w; each citation chooses r from 0 to w - 1 and reads w - r words on each side.
    :param rates: (P / BATCH_CITATIONS,) float32, learning rate of each batch.
    :param free: (N,) which rows of ``document_out`` may change.
    :param train_all: whether words and citing documents are changed too.
    """
    dim = word_in.shape[1]
    h, backs = empty_rows(BATCH_CITATIONS, dim), empty_rows(BATCH_CITATIONS, dim)
    reach = np.empty((BATCH_CITATIONS, 2), dtype=np.int64)
    targets = Targets.empty(BATCH_CITATIONS, num_noise)
    changes = Changes.empty(BATCH_CITATIONS, num_threads, num_noise + 1)
    run_on_blocks(
        _train_citations, (word_in, document_in, document_out), tokens, citations, keep, other,
        window, rates, seed, free, train_all, dim, h, backs, reach, targets, changes,
        num_threads=num_threads,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _train_citations(
    word_in, document_in, document_out, tokens, citations, keep, other, window, rates, seed, free,
    train_all, dim, h, backs, reach, targets, changes, num_threads, counters,
):  # fmt: skip
    end = int64(0)
    for batch in range(len(rates)):
        start = batch * BATCH_CITATIONS
        of_batch = citations[start : start + BATCH_CITATIONS]
        begin, end = end, end + len(of_batch)
        for c in tasks_of(counters, begin, end):
            place, first, last, citing, cited = of_batch[c]
            state = mix(seed ^ uint64(start + c))
            half = window - below(state, window)
            reach[c, 0], reach[c, 1] = max(first, place - half), min(last, place + half)
            draw_noise(targets, c, cited, keep, other, state)
            _compute(
                tokens, citing, word_in, document_in, document_out, rates[batch], dim, h, backs,
                reach, targets, c,
            )  # fmt: skip
            for k in range(targets.rows.shape[1]):
                if free[targets.rows[c, k]]:
                    list_change(changes, c, targets, c, k, num_threads)
        begin, end = end, end + num_threads
        for share in tasks_of(counters, begin, end):
            _change(
                tokens, of_batch, word_in, document_in, document_out, train_all, h, backs, reach,
                changes, num_threads, share,
            )  # fmt: skip


@njit(cache=True, nogil=True)
def _change(
    tokens, citations, word_in, document_in, document_out, train_all, h, backs, reach, changes,
    num_shares, share,
):  # fmt: skip
    """Change the rows of a share, in the order of the batch."""
    for c in range(len(citations)):
        make_changes(changes, c, share, document_out, h)
        if train_all:
            citing = citations[c, 3]
            if share_of(citing, num_shares) == share:
                add(document_in, citing, float32(1), backs, c)
            for p in range(reach[c, 0], reach[c, 1]):
                if share_of(tokens[p], num_shares) == share:
                    add(word_in, tokens[p], float32(1), backs, c)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _compute(
    tokens, citing, word_in, document_in, document_out, rate, dim, h, backs, reach, targets, c
):
    """Fill row c of h, of the steps of ``targets``, and of ``backs``: what all inputs change by."""
    left, right = reach[c]
    for p in range(left, right):
        prefetch(word_in, tokens[p])
    prefetch_targets(targets, c, document_out)
    share = float32(1) / float32(right - left + 1)
    for j in range(0, word_in.shape[1], LANES):
        around = load(document_in, citing, j)
        for p in range(left, right):
            around = plus(around, load(word_in, tokens[p], j))
        store(h, c, j, times(around, share))
    score(targets, c, h, document_out, rate, dim)
    for j in range(0, word_in.shape[1], LANES):
        store(backs, c, j, change_of_inputs(targets, c, document_out, j))
