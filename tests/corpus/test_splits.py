import numpy as np
import pytest

from mpbert.corpus.splits import YearSplits, check_splits, split_at_random, split_by_year
from mpbert.foundation.errors import CorpusError


def test_years_are_split_at_the_two_borders():
    splits = split_by_year(np.array([1999, 2000, 2001, 2002, 2030]), YearSplits(2000, 2002))
    assert splits.tolist() == ["train", "valid", "valid", "test", "test"]


def test_years_out_of_order_are_refused():
    with pytest.raises(CorpusError, match="expected --valid-year < --test-year"):
        split_by_year(np.array([2000]), YearSplits(2002, 2002))


def test_the_random_split_is_72_8_20_and_depends_on_the_seed_alone():
    splits = split_at_random(1000, np.random.default_rng(1))
    assert [(splits == s).sum() for s in ("train", "valid", "test")] == [720, 80, 200]
    assert (splits == split_at_random(1000, np.random.default_rng(1))).all()
    assert (splits != split_at_random(1000, np.random.default_rng(2))).any()


def test_an_empty_part_is_refused_with_its_counts():
    with pytest.raises(CorpusError, match=r"without papers \(2 train, 0 valid, 1 test\)"):
        check_splits("papers", np.array(["train", "test", "train"]))
    with pytest.raises(CorpusError, match=r"without contexts \(7 train, 2 valid, 0 test\)"):
        check_splits("contexts", np.array(["train", "test", "valid"]), each=np.array([7, 0, 2]))


@pytest.mark.parametrize(
    ("way", "remedy"),
    [("year", "--valid-year"), ("random", "--seed"), ("given", "--split year or --split random")],
)
def test_the_remedy_for_an_empty_part_fits_the_way_to_split(way, remedy):
    with pytest.raises(CorpusError, match=f"expected some in each: choose .*{remedy}"):
        check_splits("papers", np.array(["train", "test"]), way=way)
