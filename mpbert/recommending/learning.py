"""What an index learns from the validation contexts of its corpus: weights, then trees.

Each context is asked as a user would ask it, and its features are those of an answer. Candidates
are the first papers of each feature that depends on the question. The weights maximise the
likelihood of the cited papers among them, :func:`mpbert.methods.linear_fusion.learn_weights`.

The weight of companions is learnt by itself, with all others as they are: of each context that
cites several papers, the first is taken as accepted, and the others are sought. Then trees learn to
rank the first papers of the fusion anew: :mod:`mpbert.recommending.tree_learning`.
"""

from dataclasses import dataclass

import numpy as np

from mpbert.corpus.queries import Contexts, fixed_sample
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.progress import progress
from mpbert.recommending.contexts import manuscripts_of, read_in_blocks
from mpbert.recommending.examples import Examples
from mpbert.recommending.learnt import COMPANIONS, FEATURES, LearntWeights
from mpbert.recommending.learnt_trees import LearntTrees
from mpbert.recommending.recommender import IndexRecommender

LEAST_CONTEXTS, MOST_CONTEXTS = 50, 5000  # to learn from; of more, a fixed random sample is asked


@dataclass(frozen=True)
class Learnt:
    """What was learnt.

    :param weights: of the fusion; None: no paper that validation contexts cite is a candidate.
    :param trees: over its first papers; None: ``remark`` says why, else what they bring.
    """

    weights: LearntWeights | None
    trees: LearntTrees | None = None
    remark: str = ""


def can_learn(store: CorpusStore) -> bool:
    """Whether a corpus has enough validation contexts: weights of fewer would follow chance."""
    return len(store.contexts("valid").distinct()) >= LEAST_CONTEXTS


def learn(recommender: IndexRecommender, store: CorpusStore) -> Learnt:
    """Return weights and trees.

    :param recommender: of an index of this corpus that holds what can be learnt from.
    """
    from mpbert.recommending.tree_learning import learn_trees, why_not

    contexts = contexts_to_learn_from(store)
    reason = why_not(len(contexts))
    plain, accepting = _examples(recommender, store, contexts, not reason)
    weights = _weights(plain, accepting)
    if weights is None or reason:
        return Learnt(weights, remark=reason)
    trees, remark = learn_trees(plain, weights, contexts, recommender.known_citations)
    return Learnt(weights, trees, remark)


def learn_weights(recommender: IndexRecommender, store: CorpusStore) -> LearntWeights | None:
    """Return the weights alone; None where no paper that validation contexts cite is a candidate.

    :param recommender: of an index of this corpus that has the words of fields apart.
    """
    return _weights(*_examples(recommender, store, contexts_to_learn_from(store), False))


def contexts_to_learn_from(store: CorpusStore) -> Contexts:
    """Return validation contexts, none twice, or a fixed random sample of them."""
    contexts = store.contexts("valid").distinct()
    return contexts.take(fixed_sample(contexts, MOST_CONTEXTS))


def _weights(plain: Examples, accepting: Examples) -> LearntWeights | None:
    names = [name for name in FEATURES if plain.features and name in plain.features[0]]
    weights = plain.weights([name for name in names if name != COMPANIONS])
    if not weights:
        return None
    learnt = LearntWeights(weights, len(plain.gold), len(accepting.gold))
    beside = accepting.weights((COMPANIONS,), known=learnt)
    if beside.get(COMPANIONS, 0) > 0:
        learnt.weights[COMPANIONS] = beside[COMPANIONS]
    return learnt


def _examples(
    recommender: IndexRecommender, store: CorpusStore, contexts: Contexts, with_signals: bool
) -> tuple[Examples, Examples]:
    """Return all contexts, and again those that cite several papers, the first one accepted."""
    plain, accepting = Examples(with_signals), Examples()
    manuscripts = read_in_blocks(recommender, manuscripts_of(store, contexts))
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
