import numpy as np

from mpbert.foundation.seeding import hashed_uniform, named_rng


def test_a_generator_depends_on_seed_purpose_and_indices_alone():
    first = named_rng(1, "a", 2).random(3)
    assert np.array_equal(first, named_rng(1, "a", 2).random(3))
    for other in (named_rng(2, "a", 2), named_rng(1, "b", 2), named_rng(1, "a", 3)):
        assert not np.array_equal(first, other.random(3))


def test_hashed_numbers_do_not_depend_on_their_batch():
    items = np.arange(100)
    together = hashed_uniform(1, "a", 5, items)
    alone = [hashed_uniform(1, "a", 5, int(item)).item() for item in items]
    assert together.tolist() == alone
    assert hashed_uniform(1, "a", 5, items[::-1]).tolist() == alone[::-1]


def test_hashed_numbers_change_with_every_argument():
    items = np.arange(1000)
    found = [
        hashed_uniform(1, "a", 5, items),
        hashed_uniform(2, "a", 5, items),
        hashed_uniform(1, "b", 5, items),
        hashed_uniform(1, "a", 6, items),
        hashed_uniform(1, "a", items, 5),
    ]
    distinct = np.unique(np.concatenate(found))
    assert len(distinct) == 5 * 1000 - 2  # the last holds (5, 5) and (6, 5) again


def test_hashed_numbers_are_even_and_neighbours_independent():
    found = hashed_uniform(1, "a", np.arange(300)[:, None], np.arange(300)).ravel()
    counts = np.histogram(found, bins=100, range=(0, 1))[0]
    assert ((counts - 900) ** 2 / 900).sum() < 148  # chi-square of 99, p = 0.001
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 0.01
    assert found.min() > 0
    assert found.max() < 1


def test_the_extreme_states_give_numbers_within_0_and_1(monkeypatch):
    from mpbert.foundation import seeding

    for state in (0, 2**64 - 1):
        monkeypatch.setattr(seeding, "_splitmix", lambda x, state=state: np.uint64(state))
        assert 0 < hashed_uniform(1, "a", 1) < 1


def test_hashed_numbers_are_the_same_on_any_machine():
    assert hashed_uniform(1, "sentences", 0, 1).item() == 0.04308052310517885
