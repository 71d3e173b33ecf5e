"""Coefficients of confidence, learnt from questions whose answers are known.

Of each question the first ten papers of its answer are examples of P(this paper is cited here).
P(the library holds what belongs here) is learnt from the answer as it is, and from answers of the
same library without it: once without the cited papers, and once without anything near, which are
the first hundred papers. The logistic regression is that of scikit-learn.

An index knows all words of its own contexts, so they cannot teach what an unknown word means. What
comes with mpbert tells that.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mpbert.recommending.confidence.coefficients import (
    PARTS,
    SHIPPED,
    Confidence,
    Logistic,
    read_confidence,
)
from mpbert.recommending.confidence.signs import FIRST, NAMES, NAMES_OF_ANSWER, signs_of_answer
from mpbert.recommending.learnt import PLACES

# what a library holds when it is asked
WHOLE, WITHOUT_CITED, WITHOUT_NEAR, WITHOUT_ALL, FOREIGN = KINDS = (
    *("what belongs there", "not the papers cited at the place", "nothing near"),
    *("no paper that the manuscript cites", "another subject"),
)
_STRENGTH = 1.0  # C of scikit-learn: the inverse of the penalty, of standardized signs
_MISSED = 0.05  # part of the places that the library holds a paper for, and are said not to fit
_DIGITS = 6
_NEAR = 100  # first papers, without which nothing near is left


@dataclass
class KnownAnswers:
    """Signs of answers, to learn from.

    :param signs: (K, 13) of the answer of the whole library to each question, ``is_cited`` (K,).
    :param of_answer: (17,) of each answer, ``kinds`` what the library held, one of ``KINDS``.
    """

    signs: list[np.ndarray] = field(default_factory=list)
    is_cited: list[np.ndarray] = field(default_factory=list)
    of_answer: list[np.ndarray] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)

    def add(self, signs: np.ndarray, kind: str) -> None:
        """Add an answer by its (K, 13) signs, K >= 1."""
        self.of_answer.append(signs_of_answer(signs))
        self.kinds.append(kind)

    def add_whole(self, signs: np.ndarray, is_cited: np.ndarray) -> None:
        """Add the answer of the whole library.

        :param is_cited: (M,) of the ranked papers.
        """
        self.signs.append(signs)
        self.is_cited.append(is_cited[: len(signs)])
        self.add(signs, WHOLE)

    def add_all(
        self,
        signs_of: Callable[[np.ndarray, np.ndarray], np.ndarray],
        rows: np.ndarray,
        scores: np.ndarray,
        is_cited: np.ndarray,
    ) -> None:
        """Add the answer of the whole library, and those of parts of it.

        :param signs_of: from ranked papers and their scores to the (K, 13) signs of the first.
        :param rows: (M,) ranked papers, with their ``scores``; ``is_cited`` (M,) of them.
        """
        self.add_whole(signs_of(rows, scores), is_cited)
        others = np.flatnonzero(~is_cited)
        for kind, kept in ((WITHOUT_CITED, others), (WITHOUT_NEAR, others[_NEAR:])):
            if len(kept) >= FIRST:
                self.add(signs_of(rows[kept], scores[kept]), kind)

    def with_those(self, other: "KnownAnswers") -> "KnownAnswers":
        """Return these and others."""
        lists = [(getattr(self, each), getattr(other, each)) for each in self.__dict__]
        return KnownAnswers(*(mine + its for mine, its in lists))

    def parts(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return signs and labels for each regression of :class:`Confidence`."""
        if not self.signs:
            return {}
        signs, labels = np.concatenate(self.signs), np.concatenate(self.is_cited)
        is_first = signs[:, NAMES.index("rank")] == 0
        return {
            "first": (signs[is_first], labels[is_first]),
            "others": (signs[~is_first], labels[~is_first]),
            "library": (np.stack(self.of_answer), np.array(self.kinds) == WHOLE),
        }


def learn_confidence(answers: KnownAnswers) -> Confidence | None:
    """Return coefficients; None where examples are missing, or all alike."""
    parts = answers.parts()
    if not parts or any(labels.all() or not labels.any() for _, labels in parts.values()):
        return None
    learnt = {name: _fitted(*part, PARTS[name]) for name, part in parts.items()}
    shipped = read_confidence(SHIPPED, PLACES)
    if shipped is not None and not learnt["library"].weights["known"]:
        learnt["library"] = _with_known(learnt["library"], shipped.library.weights["known"])
    of_answer, holds = parts["library"]
    found = learnt["library"].probabilities(of_answer[holds], NAMES_OF_ANSWER)
    threshold = _rounded(float(np.quantile(found, _MISSED)))
    return Confidence(**learnt, threshold=threshold, queries=len(answers.signs))


def _with_known(learnt: Logistic, weight: float) -> Logistic:
    """Return the same where all words are known, and less where they are not."""
    return Logistic({**learnt.weights, "known": weight}, _rounded(learnt.bias - weight))


def _fitted(signs: np.ndarray, labels: np.ndarray, names: tuple[str, ...]) -> Logistic:
    """Return a logistic regression of (M, S) signs, for (M,) labels; signs stay as they are."""
    from sklearn.linear_model import LogisticRegression

    mean, spread = signs.mean(axis=0), signs.std(axis=0)
    spread = np.where(spread > 1e-9, spread, np.inf)
    model = LogisticRegression(C=_STRENGTH, max_iter=1000).fit((signs - mean) / spread, labels)
    weights = model.coef_[0] / spread
    bias = float(model.intercept_[0] - weights @ mean)
    return Logistic(dict(zip(names, map(_rounded, weights.tolist()), strict=True)), _rounded(bias))


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
