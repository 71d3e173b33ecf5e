import numpy as np
import pytest

from mpbert.foundation.ragged import offsets_of, row_numbers
from mpbert.model.masking import choose_masks, mask_sentences, num_masked

MASK, SEPARATOR = 3, 2


@pytest.fixture
def batch():
    """400 documents of 1 to 40 sentences of 1 to 9 tokens; each token says its sentence."""
    rng = np.random.default_rng(1)
    per_paper = rng.integers(1, 41, 400)
    lengths = rng.integers(1, 10, per_paper.sum())
    tokens = 10 + row_numbers(lengths)
    tokens[offsets_of(lengths)[1:] - 1] = SEPARATOR
    return tokens, lengths, per_paper


def masked_batch(tokens, lengths, per_paper, seed):
    """The masks of a batch, and its tokens and lengths with them."""
    masks = choose_masks(per_paper, np.random.default_rng(seed))
    return masks, *mask_sentences(tokens, lengths, masks, MASK)


def sentences_of(tokens, lengths):
    return np.split(tokens, offsets_of(lengths)[1:-1])


@pytest.mark.parametrize(
    ("sentences", "masked"), [(1, 1), (6, 1), (13, 1), (14, 2), (20, 3), (30, 4), (34, 5), (99, 5)]
)
def test_number_of_masked_sentences_is_15_percent_at_least_1_at_most_5(sentences, masked):
    assert num_masked(np.array([sentences])).tolist() == [masked]


def test_each_document_has_its_number_of_distinct_masked_sentences(batch):
    per_paper = batch[2]
    masked = choose_masks(per_paper, np.random.default_rng(2)).masked
    assert np.all(np.diff(masked) > 0)
    counts = np.bincount(row_numbers(per_paper)[masked], minlength=len(per_paper))
    assert counts.tolist() == num_masked(per_paper).tolist()


def test_four_fifths_are_hidden_a_tenth_stays_a_tenth_comes_from_another_document(batch):
    tokens, lengths, per_paper = batch
    before, paper = sentences_of(tokens, lengths), row_numbers(per_paper)
    found = {"hidden": 0, "kept": 0, "replaced": 0}
    for seed in range(5):
        masks, *result = masked_batch(*batch, seed)
        after = sentences_of(*result)
        for s in masks.masked:
            if len(before[s]) == 1:  # a separator alone looks the same in any case
                continue
            assert after[s][-1] == SEPARATOR
            if np.array_equal(after[s], before[s]):
                found["kept"] += 1
            elif after[s][0] == MASK:
                assert len(after[s]) == len(before[s])
                assert np.all(after[s][:-1] == MASK)
                found["hidden"] += 1
            elif len(after[s]) > 1:
                assert paper[after[s][0] - 10] != paper[s]
                found["replaced"] += 1
        others = np.setdiff1d(np.arange(len(lengths)), masks.masked)
        assert all(np.array_equal(after[s], before[s]) for s in others)
    total = sum(found.values())
    shares = [found[kind] / total for kind in ("hidden", "kept", "replaced")]
    assert total > 3000
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.02)


def test_the_original_arrays_are_untouched(batch):
    copies = [array.copy() for array in batch]
    masked_batch(*batch, 3)
    assert all(np.array_equal(a, b) for a, b in zip(batch, copies, strict=True))


def test_a_single_document_has_no_replacement():
    tokens, lengths = np.array([11, 12, 2] * 40), np.full(40, 3)
    for seed in range(20):
        _, found, _ = masked_batch(tokens, lengths, np.array([40]), seed)
        rows = found.reshape(40, 3)
        assert set(map(tuple, rows)) <= {(11, 12, 2), (MASK, MASK, 2)}


def test_same_generator_same_masks_and_another_seed_others(batch):
    def tokens(seed):
        return masked_batch(*batch, seed)[1]

    assert np.array_equal(tokens(1), tokens(1))
    assert not np.array_equal(tokens(1), tokens(2))
