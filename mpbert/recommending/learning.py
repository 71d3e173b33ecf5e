"""The weights of an index's fusion, learnt from the validation contexts of its corpus.

Each context is asked as a user would ask it, and its features are those of an answer. Candidates
are the first papers of each feature that depends on the question. The weights maximise the
likelihood of the cited papers among them, :func:`mpbert.methods.linear_fusion.learn_weights`.

The weight of companions is learnt by itself, with all others as they are: of each context that
cites several papers, the first is taken as accepted, and the others are sought.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from mpbert.corpus.queries import Contexts, fixed_sample
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of
from mpbert.methods.linear_fusion import rounded_weights
from mpbert.recommending.contexts import manuscripts_of
from mpbert.recommending.learnt import AGE, CITATIONS, COMPANIONS, FEATURES, LearntWeights
from mpbert.recommending.manuscripts.sentences import Manuscript
from mpbert.recommending.recommender import IndexRecommender

LEAST_CONTEXTS, MOST_CONTEXTS = 50, 1000  # to learn from; of more, a fixed random sample is asked
_BLOCK = 48  # contexts whose sentences are read at once: fewer than are remembered
_DEPTH = 100  # candidates of each feature
_DIGITS = 6  # of a weight
_LEAST = 1e-9  # spread of a feature that varies


@dataclass
class _Examples:
    """Candidates of several questions.

    :param features: of each question: name to (M,) values of its candidates.
    :param gold: of each question: (M,) shares of its cited papers, 0 for the others.
    """

    features: list[dict[str, np.ndarray]] = field(default_factory=list)
    gold: list[np.ndarray] = field(default_factory=list)

    def add(self, found: dict[str, np.ndarray], allowed: np.ndarray, cited: np.ndarray) -> None:
        """Add the candidates of a question, of the features of all papers.

        :param allowed: (N,) which papers may be candidates; ``cited`` rows of those to be found.
        """
        rows = _candidates(found, allowed)
        is_cited = np.isin(rows, cited)
        self.features.append({name: values[rows] for name, values in found.items()})
        self.gold.append(is_cited / max(is_cited.sum(), 1))

    def weights(self, names: Sequence[str], known: LearntWeights | None = None) -> dict[str, float]:
        """Return the weights of features as they are; none where no candidate is cited.

        :param known: weights of other features, which stay as they are.
        """
        if not any(map(np.any, self.gold)):
            return {}
        columns = [np.concatenate([found[name] for found in self.features]) for name in names]
        features = np.stack(columns, axis=1)
        spread = features.std(axis=0)
        scaled = (features - features.mean(axis=0)) / np.maximum(spread, _LEAST)
        offsets = offsets_of(np.array([len(gold) for gold in self.gold]))
        base = known and np.concatenate([known.scores(found) for found in self.features])
        learnt = rounded_weights(scaled, offsets, np.concatenate(self.gold), base)
        learnt = np.where(spread > _LEAST, learnt / np.maximum(spread, _LEAST), 0.0)
        return dict(zip(names, map(_rounded, learnt.tolist()), strict=True))


def can_learn(store: CorpusStore) -> bool:
    """Whether a corpus has enough validation contexts: weights of fewer would follow chance."""
    return len(store.contexts("valid").distinct()) >= LEAST_CONTEXTS


def learn_weights(recommender: IndexRecommender, store: CorpusStore) -> LearntWeights | None:
    """Return the weights; None where no paper that validation contexts cite is a candidate.

    :param recommender: of an index of this corpus that has the words of fields apart.
    """
    contexts = store.contexts("valid").distinct()
    contexts = contexts.take(fixed_sample(contexts, MOST_CONTEXTS))
    plain, accepting = _examples(recommender, store, contexts)
    names = [name for name in FEATURES if plain.features and name in plain.features[0]]
    weights = plain.weights([name for name in names if name != COMPANIONS])
    if not weights:
        return None
    learnt = LearntWeights(weights, len(contexts), len(accepting.gold))
    beside = accepting.weights((COMPANIONS,), known=learnt)
    if beside.get(COMPANIONS, 0) > 0:
        learnt.weights[COMPANIONS] = beside[COMPANIONS]
    return learnt


def _examples(
    recommender: IndexRecommender, store: CorpusStore, contexts: Contexts
) -> tuple[_Examples, _Examples]:
    """Return all contexts, and again those that cite several papers, the first one accepted."""
    plain, accepting = _Examples(), _Examples()
    manuscripts = _read_in_blocks(recommender, manuscripts_of(store, contexts))
    for number in progress(range(len(contexts)), "learn to fuse", "context"):
        manuscript, year = next(manuscripts), int(contexts.years[number])
        allowed = store.years <= year if year else np.ones(store.num_papers, dtype=bool)
        allowed[contexts.citing_rows[number]] = False
        cited = contexts.cited(number)
        question = recommender.question(manuscript, 0, year or None)
        plain.add(recommender.features(question), allowed, cited)
        if len(cited) > 1:
            question = recommender.question(manuscript, 0, year or None, cited[:1])
            allowed[cited[0]] = False
            accepting.add(recommender.features(question), allowed, cited[1:])
    return plain, accepting


def _read_in_blocks(
    recommender: IndexRecommender, manuscripts: Iterator[Manuscript]
) -> Iterator[Manuscript]:
    """Yield the same manuscripts; a pretrained encoder reads the sentences of many at once."""
    while block := list(islice(manuscripts, _BLOCK)):
        recommender.read_ahead(block)
        yield from block


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
