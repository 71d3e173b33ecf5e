"""What HAtten is compared with in training: Gu, Gao and Hahnloser (ECIR 2022), Sec. 4.3.

The model of the last loop prefetches papers for each training query. Those that the query does not
cite are hard to tell from those that it does; but those that have as many words in common with it
as the papers that it cites are relevant too, if less so. Each query has a cited paper, some
prefetched ones and some random ones; the papers of the other queries of a batch are compared with
it as well. A paper that the query cites, or its citing paper, is never a negative of it.
"""

from dataclasses import dataclass

import numpy as np
import torch

from mpbert.foundation.ragged import row_numbers
from mpbert.foundation.ragged_rows import Ragged
from mpbert.methods.hatten.examples import TrainingQueries
from mpbert.pretrained.device import trained_on
from mpbert.vectors.normal import normalized

# how far a paper is from a query: the larger, the less relevant; KNOWN ones are not compared
KNOWN, CITED, ALIKE, HARD, OTHERS = range(5)
_BLOCK = 1024  # queries searched at once


@dataclass(frozen=True)
class Sampling:
    """What is sampled for each query.

    :param hard: papers of its prefetched list; ``easy``: papers of the whole pool.
    :param easy_level: level of the latter, HARD or OTHERS.
    """

    hard: int
    easy: int
    easy_level: int


def prefetch(
    queries: np.ndarray, papers: np.ndarray, pool: np.ndarray, known: Ragged, k: int
) -> np.ndarray:
    """Return (Q, k) rows of the most similar papers by cosine, best first; exact.

    :param queries: (Q, D).
    :param papers: (P, D) vectors of the papers whose rows, ascending, are ``pool``.
    :param known: (Q,) rows of papers that a query is not to find.
    :returns: int32; -1 beyond the end of a list, which has at most P papers.
    """
    device = trained_on()
    targets = torch.from_numpy(normalized(papers)).to(device).T
    units = torch.from_numpy(normalized(queries)).to(device)
    found = np.full((len(queries), k), -1, dtype=np.int32)
    for start in range(0, len(queries), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(queries)))
        scores = units[start : start + _BLOCK] @ targets  # (rows, P)
        unwanted = known.take(rows)
        places, in_pool = _places(pool, unwanted.items)
        owners = row_numbers(unwanted.lengths)[in_pool]
        scores[
            torch.from_numpy(owners).to(device), torch.from_numpy(places).to(device)
        ] = -torch.inf
        best, columns = scores.topk(min(k, len(pool)), dim=1)
        best, columns = best.cpu().numpy(), columns.cpu().numpy()
        found[rows, : columns.shape[1]] = np.where(np.isinf(best), -1, pool[columns])
    return found


def sample(
    examples: TrainingQueries,
    queries: np.ndarray,
    lists: np.ndarray | None,
    sampling: Sampling,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the papers of a batch and the level of each for each query.

    :param queries: (B,) numbers of training queries.
    :param lists: (B, K) their prefetched papers, -1 for none; None before the first are made.
    :returns: (U,) rows of the distinct papers, and (B, U) int64 levels.
    """
    batch = np.arange(len(queries))
    cited = examples.cited.take(queries)
    targets = cited.items[cited.offsets[:-1] + rng.integers(cited.lengths)]
    easy = examples.pool[rng.integers(len(examples.pool), size=(len(queries), sampling.easy))]
    owners, papers = row_numbers(np.full(len(queries), sampling.easy)), easy.ravel()
    levels = np.full(len(papers), sampling.easy_level)
    if lists is not None:
        keys = np.where(lists < 0, 1.0, rng.random(lists.shape))
        chosen = np.argsort(keys, axis=1, kind="stable")[:, : sampling.hard]
        hard = np.take_along_axis(lists, chosen, axis=1)
        query, _ = np.nonzero(hard >= 0)
        hard = hard[hard >= 0].astype(np.int64)
        alike = examples.overlap.jaccard(examples.numbers[queries[query]], hard)
        is_alike = alike >= examples.likeness[queries[query]]
        owners, papers = np.concatenate([owners, query]), np.concatenate([papers, hard])
        levels = np.concatenate([levels, np.where(is_alike, ALIKE, HARD)])
    distinct = np.unique(np.concatenate([papers, targets]))
    table = np.full((len(queries), len(distinct)), OTHERS)
    np.minimum.at(table, (owners, np.searchsorted(distinct, papers)), levels)
    for known, of in ((cited.items, row_numbers(cited.lengths)), (examples.citing[queries], batch)):
        places, is_sampled = _places(distinct, known)
        table[of[is_sampled], places] = KNOWN
    table[batch, np.searchsorted(distinct, targets)] = CITED
    return distinct, table


def known_papers(examples: TrainingQueries, queries: np.ndarray) -> Ragged:
    """Return (Q,) rows of the papers that queries cite, and of their citing papers."""
    cited = examples.cited.take(queries)
    items = np.insert(cited.items, cited.offsets[1:], examples.citing[queries])
    return Ragged(items, cited.offsets + np.arange(len(cited.offsets)))


def _places(ascending: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of those items that are among these, and (M,) which of them are."""
    places = np.minimum(np.searchsorted(ascending, items), max(len(ascending) - 1, 0))
    found = ascending[places] == items
    return places[found], found
