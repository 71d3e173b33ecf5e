"""What an index learns from the validation queries of its corpus: weights, then trees.

It learns twice: for places from contexts, and for whole papers from papers by their titles and
abstracts. Each query is asked as a user would ask it, and its features are those of an answer.
Candidates are the first papers of each feature that depends on the question. The weights maximise
the likelihood of the cited papers among them, :func:`mpbert.methods.linear_fusion.learn_weights`.

The weight of companions is learnt by itself, with all others as they are: of each query that cites
several papers, a random one is taken as accepted, and the others are sought. Then trees learn to
rank the first papers of the fusion anew: :mod:`mpbert.recommending.tree_learning`.
"""

import importlib.util
from functools import partial

import numpy as np

from mpbert.corpus.queries import Queries, fixed_sample
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.years import were_there
from mpbert.foundation.progress import progress
from mpbert.foundation.seeding import named_rng
from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.confidence.coefficients import Confidence
from mpbert.recommending.confidence.learning import KnownAnswers, learn_confidence
from mpbert.recommending.contexts import questions_of
from mpbert.recommending.examples import Examples
from mpbert.recommending.learnt import COMPANIONS, FEATURES, LearntWeights
from mpbert.recommending.learnt_trees import Learnt

LEAST = 50  # queries to learn from
MOST = {"local": 5000, "global": 1000}  # of more, a fixed random sample is asked
QUERIES = {"local": "validation contexts", "global": "validation papers"}


def can_learn(store: CorpusStore) -> bool:
    """Whether a corpus has enough validation contexts: weights of fewer would follow chance."""
    return len(queries_to_learn_from(store, "local")) >= LEAST


def learn(
    recommender: AnsweringIndex,
    store: CorpusStore,
    task: str,
    examples: tuple[Examples, Examples] | None = None,
) -> tuple[Learnt | None, str]:
    """Return weights and trees, and what the trees bring; None, and why nothing was learnt.

    :param recommender: of an index of this corpus that holds what can be learnt from.
    :param task: ``local`` for places, ``global`` for whole papers.
    :param examples: of :func:`examples_of`, where they are known.
    """
    from mpbert.recommending.tree_learning import learn_trees, why_not

    queries, of = queries_to_learn_from(store, task), QUERIES[task]
    if len(queries) < LEAST:
        return None, f"no weights: they need {LEAST} {of} or more to learn from"
    reason = why_not(len(queries), of)
    plain, accepting = examples or examples_of(recommender, store, queries, not reason)
    fusion = _weights(plain, accepting)
    if fusion is None:
        return None, f"no weights: no paper that {of} cite is a candidate"
    if reason:
        trees, remark, scores = None, reason, list(map(fusion.scores, plain.features))
    else:
        trees, remark, scores = learn_trees(plain, fusion, queries, recommender.features.known)
    return Learnt(fusion, trees, _confidence(recommender, plain, scores)), remark


def queries_to_learn_from(store: CorpusStore, task: str) -> Queries:
    """Return validation queries, none twice, or a fixed random sample of them."""
    queries = store.queries("valid", task).distinct()
    return queries.take(fixed_sample(queries, MOST[task]))


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


def examples_of(
    recommender: AnsweringIndex, store: CorpusStore, queries: Queries, with_signals: bool = True
) -> tuple[Examples, Examples]:
    """Return all queries, and again those that cite several papers, one of them accepted."""
    plain, accepting = Examples(with_signals), Examples()
    asked, rng = questions_of(recommender, store, queries), named_rng(1, "accepted papers")
    for number in progress(range(len(queries)), "learn to rank", "question"):
        questions, year = next(asked), int(queries.years[number])
        found = recommender.features.of_all(questions)
        allowed = were_there(store.years, year)
        allowed[queries.citing_rows[number]] = False
        cited = queries.cited(number)
        plain.add(questions, found, allowed, cited)
        if len(cited) > 1:
            place = int(rng.integers(len(cited)))
            allowed[cited[place]] = False
            companions = recommender.features.companions(cited[place : place + 1])
            others = np.delete(cited, place)
            accepting.add(questions, {**found, COMPANIONS: companions}, allowed, others)
    return plain, accepting


def _confidence(
    recommender: AnsweringIndex, examples: Examples, scores: list[np.ndarray]
) -> Confidence | None:
    """Return how sure answers are; None where there are no examples, or no scikit-learn.

    :param scores: of each question (M,) of its candidates, by what did not learn from it.
    """
    if importlib.util.find_spec("sklearn") is None:
        return None
    answers = KnownAnswers()
    for number in progress(range(len(scores)), "learn how sure answers are", "question"):
        ranked = np.argsort(-scores[number], kind="stable")
        rows, values = examples.rows[number][ranked], scores[number][ranked]
        asked, is_cited = examples.asked[number], examples.gold[number][ranked] > 0
        signs_of = partial(recommender.signs, asked, is_learnt=True)
        answers.add_all(signs_of, rows, values, is_cited)
    return learn_confidence(answers)
