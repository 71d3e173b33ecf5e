import numpy as np
import pytest

from mpbert.methods.hyperdoc2vec.citation_batches import train_citations
from mpbert.methods.hyperdoc2vec.examples import SEGMENT
from mpbert.methods.hyperdoc2vec.negative_sampling import alias_table, subsample
from mpbert.methods.hyperdoc2vec.word_batches import BATCH_SEGMENTS, train_words

MASK = (1 << 64) - 1
DIM, NOISE, WINDOW, RATE, SEED = 6, 3, 2, 0.5, np.uint64(99)


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def one_step(h, out, target, keep, other, state):
    """Changes of the rows of ``out``, and of what h is the mean of: Eq. 4, term by term."""
    changes, back = [], np.zeros(DIM)
    for k in range(NOISE + 1):
        row = target
        if k:
            state = mix(state)
            row = ((state >> 32) * len(keep)) >> 32
            row = row if np.float32((state & 0xFFFFFF) * 2.0**-24) < keep[row] else other[row]
            if row == target:
                continue
        step = RATE * ((k == 0) - sigmoid(h @ out[row]))
        changes.append((row, step * h))
        back += step * out[row]
    return changes, back


@pytest.fixture
def matrices():
    rng = np.random.default_rng(3)
    shapes = {"word_in": 30, "word_out": 30, "document_in": 4, "document_out": 4}
    return {k: rng.normal(size=(n, DIM)).astype(np.float32) for k, n in shapes.items()}


@pytest.fixture
def tokens():
    return np.random.default_rng(4).integers(30, size=40).astype(np.int32)


def test_an_alias_table_draws_by_the_weights():
    weights = np.array([5.0, 0.0, 1.0, 3.0, 0.5])
    keep, other = alias_table(weights)
    drawn = keep / 5.0
    np.add.at(drawn, other, (1 - keep) / 5)
    assert np.allclose(drawn, weights / weights.sum(), atol=1e-7)


def test_subsampling_keeps_words_by_their_probability_and_order():
    tokens = np.tile(np.arange(3, dtype=np.int32), 20_000)
    offsets = np.array([0, 30_000, 30_000, 60_000])
    kept, kept_offsets = subsample(tokens, offsets, np.array([1.0, 0.25, 0.0]), SEED)
    counts = np.bincount(kept, minlength=3)
    assert counts[0] == 20_000
    assert counts[1] == pytest.approx(5000, abs=250)  # 4 standard deviations
    assert counts[2] == 0
    assert kept_offsets[-1] == len(kept)
    assert kept_offsets[1] == kept_offsets[2]


def test_subsampling_keeps_the_order():
    tokens = np.random.default_rng(1).permutation(50).astype(np.int32)
    kept, offsets = subsample(
        tokens, np.array([0, 20, 50]), (np.arange(50) % 2).astype(float), SEED
    )
    assert np.array_equal(kept, tokens[tokens % 2 == 1])
    assert np.array_equal(offsets, [0, (tokens[:20] % 2).sum(), 25])


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("train_all", [True, False])
def test_words_change_the_matrices_as_the_equation_says(matrices, tokens, train_all, at_once):
    segments = np.array([[0, 20, 0, 25, 2], [20, 25, 0, 25, 2], [25, 40, 25, 40, 0]])
    keep, other = alias_table(np.arange(1.0, 31.0))
    expected = {name: matrix.astype(float) for name, matrix in matrices.items()}
    old = {name: matrix.copy() for name, matrix in expected.items()}
    read = expected if at_once else old
    for low, high, first, last, document in segments:
        before = read["document_in"][document].copy()
        own, words = before.copy(), np.zeros((30, DIM))
        for p in range(low, high):
            state = mix(int(SEED) ^ p)
            reach = 1 + (((state >> 32) * WINDOW) >> 32)
            around = [q for q in range(max(first, p - reach), min(last, p + reach + 1)) if q != p]
            inputs = [read["word_in"][tokens[q]] for q in around]
            h = np.mean([*inputs, own], axis=0)
            changes, back = one_step(h, read["word_out"], tokens[p], keep, other, state)
            own += back  # a document is changed at once, words after the piece or the batch
            if train_all:
                for row, change in changes:
                    expected["word_out"][row] += change
                for q in around:
                    words[tokens[q]] += back
        expected["word_in"] += words
        expected["document_in"][document] += own - before
    rates = np.array([RATE], dtype=np.float32)
    train_words(
        *(tokens, segments, matrices["word_in"], matrices["word_out"], matrices["document_in"]),
        *(keep, other, NOISE, WINDOW, rates, SEED, train_all, 1 if at_once else 2, at_once),
    )
    for name, matrix in matrices.items():
        assert np.allclose(matrix, expected[name], atol=0.02), name  # σ comes from a table


@pytest.mark.parametrize("train_all", [True, False])
def test_a_batch_of_citations_changes_the_matrices_as_the_equation_says(
    matrices, tokens, train_all
):
    citations = np.array([[10, 0, 25, 2, 1], [0, 0, 25, 2, 0], [39, 25, 40, 0, 3]])
    keep, other = alias_table(np.array([1.0, 2.0, 3.0, 4.0]))
    free = np.array([True, True, False, True])
    expected = {name: matrix.astype(float) for name, matrix in matrices.items()}
    old = {name: matrix.copy() for name, matrix in expected.items()}
    for c, (place, first, last, citing, cited) in enumerate(citations):
        state = mix(int(SEED) ^ c)
        reach = WINDOW - (((state >> 32) * WINDOW) >> 32)
        read = tokens[max(first, place - reach) : min(last, place + reach)]
        h = np.mean([*old["word_in"][read], old["document_in"][citing]], axis=0)
        changes, back = one_step(h, old["document_out"], cited, keep, other, state)
        for row, change in changes:
            expected["document_out"][row] += change * free[row]
        if train_all:
            expected["document_in"][citing] += back
            np.add.at(expected["word_in"], read, back)
    rates = np.array([RATE], dtype=np.float32)
    train_citations(
        *(tokens, citations, matrices["word_in"], matrices["document_in"]),
        *(matrices["document_out"], keep, other, NOISE, WINDOW, rates, SEED, free, train_all, 2),
    )
    for name, matrix in matrices.items():
        assert np.allclose(matrix, expected[name], atol=0.02), name
    assert np.array_equal(matrices["document_out"][2], old["document_out"][2].astype(np.float32))


def test_the_number_of_threads_does_not_change_a_bit(matrices):
    rng = np.random.default_rng(7)
    tokens = rng.integers(30, size=5000).astype(np.int32)
    starts = np.arange(0, 5000, SEGMENT)
    ends = np.minimum(starts + SEGMENT, 5000)
    whole = np.zeros_like(starts)
    segments = np.stack([starts, ends, whole, whole + 5000, starts % 4], axis=1)
    keep, other = alias_table(np.ones(30))
    rates = np.full(-(-len(segments) // BATCH_SEGMENTS), 0.05, np.float32)
    results = []
    for threads in (1, 2):
        word_in, word_out, document_in, _ = (matrix.copy() for matrix in matrices.values())
        train_words(
            *(tokens, segments, word_in, word_out, document_in, keep, other, 5, 4, rates, SEED),
            *(True, threads, False),
        )
        results.append({"word_in": word_in, "word_out": word_out, "document_in": document_in})
    for name, matrix in results[0].items():
        assert np.array_equal(matrix, results[1][name])
        assert not np.array_equal(matrix, matrices[name])
