"""Splits of a corpus: by year of the citing paper, or at random as MP-BERT4CR does.

A split belongs to a paper, and its citation contexts inherit it. Every paper stays in the pool of
candidates whatever its split.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpbert.foundation.errors import CorpusError

if TYPE_CHECKING:  # the help of commands needs the names alone
    import numpy as np

SPLITS = ("train", "valid", "test")
TEST_SHARE = 0.2  # of a random split, as in MP-BERT4CR
# way to split -> what to do where it leaves a part empty
_REMEDIES = {
    "given": "choose --split year or --split random",
    "random": "choose another --seed, or add papers",
    "year": "choose other --valid-year and --test-year, or --split random",
}


@dataclass(frozen=True)
class YearSplits:
    """First years of the validation and of the test split; everything before is for training."""

    valid_year: int
    test_year: int


def split_by_year(years: "np.ndarray", splits: YearSplits) -> "np.ndarray":
    """Return the split of each paper by its year of publication.

    :param years: (N,), years of publication.
    :returns: (N,), array of ``train`` (before ``valid_year``), ``valid`` (from there on, before
        ``test_year``) and ``test`` (from ``test_year`` on).
    :raises CorpusError: the two years are not in order.
    """
    import numpy as np

    if splits.valid_year >= splits.test_year:
        raise CorpusError(
            f"valid year {splits.valid_year} is not before test year {splits.test_year}; "
            f"expected --valid-year < --test-year"
        )
    years = np.asarray(years)
    return np.where(
        years < splits.valid_year, "train", np.where(years < splits.test_year, "valid", "test")
    )


def split_at_random(
    num_papers: int, rng: "np.random.Generator", test_share: float = TEST_SHARE
) -> "np.ndarray":
    """Return a random split: 72 % train, 8 % valid, 20 % test of the papers.

    MP-BERT4CR (Sec. 5.1) divides papers 80/20; a tenth of the 80 is held out here for validation.

    :param test_share: of the papers, from 0 to less than 1.
    :returns: (N,), array of ``train``, ``valid`` and ``test``.
    """
    import numpy as np

    splits = np.full(num_papers, "train", dtype="<U5")
    order = rng.permutation(num_papers)
    num_test = round(test_share * num_papers)
    num_valid = round(0.1 * (num_papers - num_test))
    splits[order[:num_test]] = "test"
    splits[order[num_test : num_test + num_valid]] = "valid"
    return splits


def split_as_given(given: Sequence[str | None]) -> "np.ndarray":
    """Return the splits that a raw corpus itself gives; papers of which it says nothing are train.

    :param given: (N,), split or None of each paper.
    :raises CorpusError: it gives none.
    """
    import numpy as np

    if not any(given):
        raise CorpusError(
            "the raw corpus gives no splits; expected some: choose --split year or --split random"
        )
    return np.array([split or "train" for split in given], dtype="<U5")


def check_splits(
    name: str,
    splits: "np.ndarray",
    needed: Sequence[str] = SPLITS,
    way: str = "year",
    each: "np.ndarray | int" = 1,
) -> None:
    """Refuse splits that leave a part empty.

    :param name: what is split, for the message, such as ``"papers"``.
    :param splits: (N,) the split of each paper.
    :param needed: splits that may not be empty.
    :param way: how they were split: ``given``, ``random`` or ``year``; for the message.
    :param each: how many of what is split each paper has, (N,) or the same for all.
    :raises CorpusError: one of them has none.
    """
    counts = {split: int(((splits == split) * each).sum()) for split in SPLITS}
    empty = [split for split in needed if not counts[split]]
    if empty:
        found = ", ".join(f"{count} {split}" for split, count in counts.items())
        raise CorpusError(
            f"the split leaves {' and '.join(empty)} without {name} ({found}); "
            f"expected some in each: {_REMEDIES[way]}"
        )


def check_split(split: str) -> None:
    """Check the name of a split.

    :raises ValueError: it is none of :data:`SPLITS`.
    """
    if split not in SPLITS:
        raise ValueError(f"split is {split!r}; expected one of {', '.join(SPLITS)}")
