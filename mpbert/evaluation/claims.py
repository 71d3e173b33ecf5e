"""Claims as hypotheses: a row is above another one, or gains more where co-citations are rare.

A claim is confirmed or refuted where the 95 % interval of the difference leaves out 0 and the
corrected p-value is below 0.05. Else it is open, and so is one of a trained row of fewer than three
seeds. A claim on rows that were not run, or on no queries, is left out.
Symbols: Q queries, S seeds of a row, C citing papers, J cells (measure and subset), H hypotheses, B
resamples.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mpbert.evaluation.measures import measure
from mpbert.evaluation.seeds import too_few_seeds
from mpbert.evaluation.significance import (
    ClusterSums,
    bootstrap_means,
    cluster_sums,
    holm,
    percentile_interval,
    randomization_p_values,
    with_drawn_seeds,
)
from mpbert.evaluation.subsets import Subset
from mpbert.evaluation.tables import ALPHA, Resampling

_TIMES = 10  # as many exchanges as for a table: few decide a small p-value, which Holm multiplies
STRONGEST = "lexical"  # in place of a row: the strongest lexical one in this measure and subset
Cell = tuple[str, str]  # measure and name of the subset


@dataclass(frozen=True)
class Claim:
    """What is said to be better than what.

    :param paper: who says it, ``where`` in it, and ``text``, what: one sentence.
    :param better: row that is said to be above.
    :param than: rows below it, of which the best counts; ``("lexical",)``: see :data:`STRONGEST`.
    :param subset: such as ``P>=2``; empty for a claim on the difference of two gains.
    :param more_in: subset in which the gain is said to be larger than in ``less_in``.
    """

    name: str
    paper: str
    where: str
    text: str
    better: str
    than: tuple[str, ...]
    measure: str
    subset: str = ""
    more_in: str = ""
    less_in: str = ""

    @property
    def rows(self) -> tuple[str, ...]:
        """All rows that it names."""
        return self.better, *(name for name in self.than if name != STRONGEST)

    @property
    def cells(self) -> list[Cell]:
        """One, or two whose gains are compared: the first is said to be the larger."""
        subsets = [self.subset] if self.subset else [self.more_in, self.less_in]
        return [(self.measure, subset) for subset in subsets]


@dataclass(frozen=True)
class MeasuredClaim:
    """A claim, and what came of it.

    :param verdict: ``confirmed``, ``refuted`` or ``open``.
    :param reason: why nothing was tested, such as ``one seed``, so that p is NaN; else empty.
    :param than: row that was compared.
    :param difference: mean of the better row minus that of the other one, from -1 to 1, or the
        difference of two such gains; with ``low`` and ``high``, ends of its 95 % interval.
    :param p: of the randomization test, after Holm's correction over the claims tested. Of n rows
        of which the best was compared, a difference below 0 has n times the p-value before.
    """

    claim: Claim
    verdict: str
    reason: str
    than: str
    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class ClaimRows:
    """The rows that claims may name.

    :param hits: of each row that was run, for each seed (Q, K) whether the paper at each rank is
        relevant.
    :param lexical: those that count words.
    :param trained: those that need several seeds.
    """

    hits: Mapping[str, Sequence[np.ndarray]]
    lexical: frozenset[str] = frozenset()
    trained: frozenset[str] = frozenset()

    def candidates(self, claim: Claim) -> tuple[str, ...]:
        """Return the rows of which the best is compared."""
        if claim.than == (STRONGEST,):
            others = (name for name in self.hits if name != claim.better)
            return tuple(name for name in others if name in self.lexical)
        return claim.than


def measure_claims(
    claims: Sequence[Claim],
    rows: ClaimRows,
    subsets: Iterable[Subset],
    num_gold: np.ndarray,
    resampling: Resampling,
    rng: np.random.Generator,
) -> list[MeasuredClaim]:
    """Measure and test the claims that have rows and queries here.

    The value of a query is the mean over the seeds of a row.

    Intervals draw whole citing papers with replacement, and the seeds of each row too.

    :param num_gold: (Q,) number of relevant papers.
    """
    masks = {subset.name: subset.mask for subset in subsets}
    testable = [claim for claim in claims if _can_be_measured(claim, rows, masks)]
    return _measured(testable, rows, masks, num_gold, resampling, rng) if testable else []


def _can_be_measured(claim: Claim, rows: ClaimRows, masks: Mapping[str, np.ndarray]) -> bool:
    return (
        all(name in rows.hits for name in claim.rows)
        and bool(rows.candidates(claim))
        and all(masks[subset].any() for _, subset in claim.cells)
    )


def _measured(
    claims: Sequence[Claim],
    rows: ClaimRows,
    masks: Mapping[str, np.ndarray],
    num_gold: np.ndarray,
    resampling: Resampling,
    rng: np.random.Generator,
) -> list[MeasuredClaim]:
    sums = _Sums(claims, rows, masks, num_gold, resampling.clusters)
    tests = rng.spawn(1)[0]  # of its own: p-values do not change with the seeds of other rows
    candidates = [rows.candidates(claim) for claim in claims]
    others = [sums.strongest(names, claim) for claim, names in zip(claims, candidates, strict=True)]
    pairs = [(claim, other) for claim, other in zip(claims, others, strict=True)]
    names = list(dict.fromkeys(name for claim, other in pairs for name in (claim.better, other)))
    drawn = sums.draw(names, resampling.num_resamples, rng)
    samples = np.stack(
        [sums.gain(claim, drawn[claim.better] - drawn[other]) for claim, other in pairs], axis=-1
    )
    low, high = percentile_interval(samples)
    few = [_too_few_seeds(rows, claim.better, other) for claim, other in pairs]
    contributions = sums.contributions(pairs)
    p = _p_values(contributions, num_exchanges(resampling), tests)
    # the best of n was chosen on these queries, which favours it: it may be above by chance alone
    chosen_of = np.where(contributions.sum(axis=0) < 0, [len(names) for names in candidates], 1)
    p = np.minimum(p * chosen_of, 1.0)
    p = holm(np.where([bool(words) for words in few], np.nan, p))
    return [
        MeasuredClaim(
            claim,
            "open" if few[h] else _verdict(low[h], high[h], p[h]),
            few[h],
            other,
            float(sums.gain(claim, sums.means(claim.better) - sums.means(other))),
            float(low[h]),
            float(high[h]),
            float(p[h]),
        )
        for h, (claim, other) in enumerate(pairs)
    ]


def num_exchanges(resampling: Resampling) -> int:
    """Return how often citing papers are exchanged to test the claims."""
    return _TIMES * (resampling.num_samples + 1) - 1


def _too_few_seeds(rows: ClaimRows, *names: str) -> str:
    """Return the words on the row of the fewest seeds; nothing where all have enough."""
    trained = [len(rows.hits[name]) for name in names if name in rows.trained]
    return too_few_seeds(min(trained)) if trained else ""


def _verdict(low: float, high: float, p: float) -> str:
    if p < ALPHA and low > 0:
        return "confirmed"
    return "refuted" if p < ALPHA and high < 0 else "open"


def _p_values(contributions: np.ndarray, num_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Return (H,) p-values of sums of (C, H) contributions whose signs may be exchanged."""
    pair = np.stack([contributions, np.zeros_like(contributions)], axis=1)  # (C, 2, H)
    data = ClusterSums(pair, np.ones_like(contributions))
    others = np.array([[1], [-1]]) + np.zeros(contributions.shape[1], dtype=np.int64)
    return randomization_p_values(data, others, num_samples, rng)[0]


class _Sums:
    """Measures of rows summed by citing paper; each is computed once.

    :param sizes: (C, J) number of queries.
    """

    def __init__(
        self,
        claims: Sequence[Claim],
        rows: ClaimRows,
        masks: Mapping[str, np.ndarray],
        num_gold: np.ndarray,
        clusters: np.ndarray,
    ) -> None:
        cells = list(dict.fromkeys(cell for claim in claims for cell in claim.cells))
        self._place = {cell: j for j, cell in enumerate(cells)}
        chosen = np.array([masks[subset] for _, subset in cells])  # (J, Q)
        self.sizes = cluster_sums(chosen[None].astype(float), chosen, clusters).sizes
        self._of_row: dict[str, np.ndarray] = {}  # (C, S, J)
        named = [(c.better, *rows.candidates(c)) for c in claims]
        for name in dict.fromkeys(name for each in named for name in each):
            values = np.array([_values(cells, hits, num_gold) for hits in rows.hits[name]])
            self._of_row[name] = cluster_sums(values, chosen, clusters).sums

    def means(self, name: str) -> np.ndarray:
        """Return (J,) means over queries and seeds."""
        return self._of_row[name].mean(axis=1).sum(axis=0) / self.sizes.sum(axis=0)

    def strongest(self, names: Sequence[str], claim: Claim) -> str:
        """Return the row of the largest mean over all queries of a claim; the first of equals."""
        cells = [self._place[cell] for cell in claim.cells]
        totals = [self._of_row[name][:, :, cells].mean(axis=1).sum() for name in names]
        return names[int(np.argmax(totals))]

    def gain(self, claim: Claim, differences: np.ndarray) -> np.ndarray:
        """Return (...) what a claim says to be above 0, from (..., J) differences of two rows."""
        first, *second = (differences[..., self._place[cell]] for cell in claim.cells)
        return first - second[0] if second else first

    def draw(
        self, names: Sequence[str], num_resamples: int, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return (B, J) means of resamples of citing papers, and of the seeds of each row."""
        seeds = [self._of_row[name].shape[1] for name in names]
        data = ClusterSums(np.concatenate([self._of_row[n] for n in names], axis=1), self.sizes)
        means = with_drawn_seeds(bootstrap_means(data, num_resamples, rng), seeds, rng)  # (B, R, J)
        return {name: means[:, r] for r, name in enumerate(names)}

    def contributions(self, pairs: Sequence[tuple[Claim, str]]) -> np.ndarray:
        """Return (C, H) what each citing paper adds to the gain of a claim.

        For a difference of two gains, the gain over all queries is taken off each query first:
        under the null hypothesis the gain is the same in both subsets, but need not be 0.
        """
        return np.stack([self._contribution(claim, other) for claim, other in pairs], axis=1)

    def _contribution(self, claim: Claim, other: str) -> np.ndarray:
        cells = [self._place[cell] for cell in claim.cells]
        both = [self._of_row[name][:, :, cells].mean(axis=1) for name in (claim.better, other)]
        gains, sizes = both[0] - both[1], self.sizes[:, cells]  # (C, 1 or 2)
        if not claim.more_in:
            return gains[:, 0]
        centred = (gains - sizes * gains.sum() / sizes.sum()) / sizes.sum(axis=0)
        return (centred[:, 0] - centred[:, 1]) * sizes.sum()


def _values(cells: Sequence[Cell], hits: np.ndarray, num_gold: np.ndarray) -> list[np.ndarray]:
    """Return (J, Q) the measure of each cell for each query."""
    found = {name: measure(name, hits, num_gold) for name in dict.fromkeys(m for m, _ in cells)}
    return [found[name] for name, _ in cells]
