"""Topic words of the map: regions of near papers, and words that set their titles apart.

Regions are those of k-means (Lloyd, IEEE Transactions on Information Theory 1982) on the map. The
words of a region are those that add most to the divergence (Kullback and Leibler, Annals of
Mathematical Statistics 1951) of its titles from all titles; each word is said once:

    weight(w, R) = p(w | R) · log(p(w | R) / p(w)),   p: the share of titles that hold w
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from mpbert.foundation.seeding import named_rng
from mpbert.serving.messages import Topic

MOST_TOPICS, PAPERS_A_TOPIC = 12, 20
_WORDS, _ROUNDS, _LEAST_TITLES = 2, 30, 2
_WORD = re.compile(r"[^\W\d_][^\W_]{2,}")
_STOP_WORDS = frozenset(
    "about across after all among analysis and any approach approaches are based been being "
    "beyond but can der des die does else for from get had has have how improved improving into "
    "its learning les made make method methods more most new not novel off one only our out over "
    "paper per proposed results review should some study such system systems than that the their "
    "them then there these they this those through toward towards two under und une upon use used "
    "using version very via was what when where which while who why will with within without"
    .split()
)  # fmt: skip


def topics_of(positions: np.ndarray, titles: Sequence[str]) -> list[Topic]:
    """Return topics from the largest region to the smallest; none of fewer than 4 papers.

    :param positions: (M, 2) places of papers on the map; ``titles`` (M,) theirs.
    """
    number = min(MOST_TOPICS, len(titles) // PAPERS_A_TOPIC + 1)
    if len(titles) < 2 * _LEAST_TITLES:
        return []
    regions = _regions(positions, number)
    words = [{word.casefold() for word in _WORD.findall(title)} - _STOP_WORDS for title in titles]
    everywhere = Counter(word for found in words for word in found)
    spelt = _spellings(titles)
    inside = [Counter[str]() for _ in range(number)]
    for region, found in zip(regions.tolist(), words, strict=True):
        inside[region].update(found)
    sizes = np.bincount(regions, minlength=number)
    topics, taken = [], set[str]()
    for region in np.argsort(-sizes, kind="stable").tolist():
        weights = {
            word: count * math.log(count * len(titles) / (everywhere[word] * sizes[region]))
            for word, count in inside[region].items()
            if count >= _LEAST_TITLES and word not in taken
        }
        ranked = sorted(weights, key=lambda word: (-weights[word], word))
        best = [word for word in ranked[:_WORDS] if weights[word] >= 0]
        if best:
            taken.update(best)
            rows = np.flatnonzero(regions == region)
            x, y = positions[rows].mean(axis=0).round(4).tolist()
            shown = [spelt[word] for word in best]
            topics.append(Topic(words=shown, x=x, y=y, num_papers=len(rows)))
    return topics


def _spellings(titles: Sequence[str]) -> dict[str, str]:
    """Return folded word -> how titles spell it most often, in lower case on a tie."""
    counts: dict[str, Counter[str]] = {}
    for title in titles:
        for word in _WORD.findall(title):
            is_name = word[1:] != word[1:].lower()  # IPv6, but no Packet that begins a title
            counts.setdefault(word.casefold(), Counter())[word if is_name else word.lower()] += 1
    return {word: max(found, key=lambda w: (found[w], w)) for word, found in counts.items()}


def _regions(positions: np.ndarray, number: int) -> np.ndarray:
    """Return (M,) numbers of the regions of positions, below ``number``; some may be empty."""
    rng = named_rng(1, "topics")
    centres = positions[[rng.integers(len(positions))]]
    for _ in range(number - 1):  # far from each other: k-means++
        nearest = _squares(positions, centres).min(axis=1)
        if not nearest.any():
            break
        chosen = rng.choice(len(positions), p=nearest / nearest.sum())
        centres = np.vstack([centres, positions[chosen]])
    for _ in range(_ROUNDS):
        regions = _squares(positions, centres).argmin(axis=1)
        counts = np.bincount(regions, minlength=len(centres))
        sums = [np.bincount(regions, weights=axis, minlength=len(centres)) for axis in positions.T]
        means = np.stack(sums, axis=1) / np.maximum(counts, 1)[:, None]
        moved = np.where(counts[:, None] > 0, means, centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return _squares(positions, centres).argmin(axis=1)


def _squares(positions: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return (M, K) squared distances."""
    return ((positions[:, None] - centres[None]) ** 2).sum(axis=2)
