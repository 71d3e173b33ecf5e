"""Questions whose answers are known, to learn from: candidates, their features, what is cited."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mpbert.foundation.ragged import offsets_of
from mpbert.methods.linear_fusion import rounded_weights
from mpbert.recommending.learnt import AGE, CITATIONS, LearntWeights
from mpbert.recommending.questions import Asked
from mpbert.recommending.signals import own_signals

_DEPTH = 100  # candidates of each feature
_DIGITS = 6  # of a weight
_LEAST = 1e-9  # spread of a feature that varies


@dataclass
class Examples:
    """Candidates of several questions.

    :param has_signals: whether trees shall learn, too.
    :param rows: of each question: (M,) papers, ascending.
    :param features: of each question: name to (M,) values of its candidates.
    :param signals: of each question: (M, ...) of :func:`own_signals`, float32.
    :param gold: of each question: (M,) shares of its cited papers, 0 for the others.
    :param asked: the questions, several of a whole paper.
    """

    has_signals: bool = False
    rows: list[np.ndarray] = field(default_factory=list)
    features: list[dict[str, np.ndarray]] = field(default_factory=list)
    signals: list[np.ndarray] = field(default_factory=list)
    gold: list[np.ndarray] = field(default_factory=list)
    asked: list[list[Asked]] = field(default_factory=list)

    def add(
        self,
        asked: list[Asked],
        found: dict[str, np.ndarray],
        allowed: np.ndarray,
        cited: np.ndarray,
    ) -> None:
        """Add the candidates of a question, of the features of all papers.

        :param allowed: (N,) which papers may be candidates; ``cited`` rows of those to be found.
        """
        self.asked.append(asked)
        rows = _candidates(found, allowed)
        is_cited = np.isin(rows, cited)
        self.rows.append(rows)
        self.features.append({name: values[rows] for name, values in found.items()})
        self.gold.append(is_cited / max(is_cited.sum(), 1))
        if self.has_signals:
            self.signals.append(own_signals(found, allowed, rows).astype(np.float32))

    @property
    def lengths(self) -> np.ndarray:
        """(Q,) number of candidates of each question."""
        return np.array([len(gold) for gold in self.gold], dtype=np.int64)

    def weights(
        self,
        names: Sequence[str],
        known: LearntWeights | None = None,
        taught: np.ndarray | None = None,
    ) -> dict[str, float]:
        """Return the weights of features as they are; none where no candidate is cited.

        :param known: weights of other features, which stay as they are.
        :param taught: (Q,) questions to learn from; None: all.
        """
        gold = self.gold
        if taught is not None:
            gold = [each * chosen for each, chosen in zip(gold, taught, strict=True)]
        if not any(map(np.any, gold)):
            return {}
        columns = [np.concatenate([found[name] for found in self.features]) for name in names]
        features = np.stack(columns, axis=1)
        spread = features.std(axis=0)
        scaled = (features - features.mean(axis=0)) / np.maximum(spread, _LEAST)
        base = known and np.concatenate([known.scores(found) for found in self.features])
        learnt = rounded_weights(scaled, offsets_of(self.lengths), np.concatenate(gold), base)
        learnt = np.where(spread > _LEAST, learnt / np.maximum(spread, _LEAST), 0.0)
        return dict(zip(names, map(_rounded, learnt.tolist()), strict=True))


def _candidates(found: dict[str, np.ndarray], allowed: np.ndarray) -> np.ndarray:
    """Return the rows of the first allowed papers of each feature of the question, ascending."""
    rows = np.flatnonzero(allowed)
    chosen = [
        rows[np.argsort(-values[rows], kind="stable")[:_DEPTH]]
        for name, values in found.items()
        if name not in (CITATIONS, AGE) and values.any()
    ]
    return np.unique(np.concatenate([*chosen, np.zeros(0, dtype=np.int64)]))


def _rounded(weight: float) -> float:
    return float(f"{weight:.{_DIGITS}g}")
