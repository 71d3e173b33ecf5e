"""Trees of an index, learnt on the validation queries from which its weights were learnt.

A fusion knows the queries that it learnt from better than others, and trees would trust it too
much. So the queries are dealt into folds by their papers, as in
:mod:`mpbert.methods.lambdamart.reranker`: the first papers of a query, and their scores, come
from weights that were learnt on the other folds. The same folds choose how many trees there are,
how large they are, and whether there are any: the gain on queries that were held out has to be
above three times its standard error.
"""

import importlib.util

import numpy as np

from mpbert.corpus.queries import Queries
from mpbert.foundation.ragged import row_numbers
from mpbert.methods.lambdamart.related import KnownCitations
from mpbert.methods.lambdamart.tree_arrays import arrays_of
from mpbert.methods.lambdamart.tree_masks import TreeMasks
from mpbert.methods.lambdamart.trees import (
    Lists,
    TreeSettings,
    cross_validated,
    folds_by_paper,
    grown,
    precisions,
)
from mpbert.recommending.examples import Examples
from mpbert.recommending.learnt import COMPANIONS, LearntWeights
from mpbert.recommending.learnt_trees import LearntTrees
from mpbert.recommending.signals import DEPTH, fused_signals, signal_names

LEAST = 200  # queries: trees of fewer would follow chance
FOLDS = 5
# standard errors that a gain has to exceed: more than two, since the same queries choose the trees
ERRORS = 3.0
_SETTINGS = tuple(TreeSettings(leaves, 100, 0.05, 500) for leaves in (4, 31))


def why_not(number: int, queries: str) -> str:
    """Return why no trees can be learnt, or nothing.

    :param number: of queries to learn from; ``queries`` what they are.
    """
    if number < LEAST:
        return f"no trees: they need {LEAST} {queries} or more to learn from"
    if importlib.util.find_spec("lightgbm") is None:
        return "no trees: LightGBM is not installed; pip install 'mpbert[baselines]' brings it"
    return ""


def learn_trees(
    examples: Examples, weights: LearntWeights, queries: Queries, known: KnownCitations
) -> tuple[LearntTrees | None, str, list[np.ndarray]]:
    """Return the trees, and what they bring; None where that may be chance.

    :param examples: of the queries, with signals; ``weights`` that they taught.
    :returns: beside them of each query (M,) scores of its candidates by what did not learn from it.
    """
    teaches = np.array([gold.any() for gold in examples.gold])
    num_folds = min(FOLDS, len(np.unique(queries.citing_rows[teaches])))
    if num_folds < 2:
        said = "no trees: what is cited is among the candidates of one validation paper alone"
        return None, said, list(map(weights.scores, examples.features))
    folds = folds_by_paper(queries.citing_rows, teaches, num_folds)
    names = [name for name in weights.weights if name != COMPANIONS]
    held_out = held_out_scores(examples, names, folds)
    whole = _lists(examples, held_out, folds, queries.years, known)
    papers, lists = queries.citing_rows[whole.teach], whole.that_teach()
    found = {settings: cross_validated(lists, settings) for settings in _SETTINGS}
    after = {settings: precisions(lists, scores) for settings, (_, scores) in found.items()}
    best = max(after, key=lambda settings: after[settings].mean())
    before = precisions(lists, lists.start)
    gain, error = mean_and_error(after[best] - before, papers)
    said = (
        f"MAP@10 of held-out queries {100 * after[best].mean():.2f} with trees, "
        f"{100 * before.mean():.2f} without, standard error {100 * error:.2f}"
    )
    if gain <= ERRORS * error:
        return None, f"no trees: the gain may be chance, {said}", held_out
    grown_trees = grown(lists, best, found[best][0])
    trees = arrays_of(grown_trees)
    signals = tuple(signal_names(list(examples.features[0])))
    made = LearntTrees(TreeMasks(trees), signals)
    scores = whole.start + grown_trees.predict(whole.features)  # that lists without gold taught
    scores[whole.teach[row_numbers(whole.lengths)]] = found[best][1]
    firsts = np.split(scores, np.cumsum(whole.lengths)[:-1])
    for own, of_first in zip(held_out, firsts, strict=True):
        own[_first(own)] = of_first
    return made, f"{len(trees):,} trees of {best.leaves} leaves: {said}", held_out


def mean_and_error(values: np.ndarray, papers: np.ndarray) -> tuple[float, float]:
    """Return the mean of queries, and its standard error over their papers.

    Contexts of one paper are no independent draws; so a paper is drawn with all of them.

    :param values: (Q,) of queries; ``papers`` (Q,) rows of theirs.
    """
    mean = float(values.mean())
    _, paper = np.unique(papers, return_inverse=True)
    of_papers = np.bincount(paper, weights=values - mean)
    return mean, float(np.sqrt((of_papers**2).sum()) / len(values))


def held_out_scores(examples: Examples, names: list[str], folds: np.ndarray) -> list[np.ndarray]:
    """Return of each query (M,) scores by weights that were learnt on other folds.

    :param names: of features with weights; ``folds`` (Q,) of the queries.
    """
    fusions = {
        fold: LearntWeights(examples.weights(names, taught=folds != fold), 0)
        for fold in np.unique(folds).tolist()
    }
    each = zip(folds.tolist(), examples.features, strict=True)
    return [fusions[fold].scores(found) for fold, found in each]


def _first(scores: np.ndarray) -> np.ndarray:
    return np.argsort(-scores, kind="stable")[:DEPTH]


def _lists(
    examples: Examples,
    held_out: list[np.ndarray],
    folds: np.ndarray,
    years: np.ndarray,
    known: KnownCitations,
) -> Lists:
    """Return the first papers of each question by scores of what did not learn from it.

    :param held_out: of each question (M,) scores of its candidates.
    :param folds: (Q,) of the questions; ``years`` (Q,) of their manuscripts, 0 where none is known.
    """
    features, is_cited, start, lengths = [], [], [], []
    for number, scores in enumerate(held_out):
        first = _first(scores)
        rows, year = examples.rows[number][first], int(years[number]) or known.last_year
        fused = fused_signals(rows, scores[first], known, year)
        features.append(np.column_stack([examples.signals[number][first], fused]))
        is_cited.append(examples.gold[number][first] > 0)
        start.append(scores[first])
        lengths.append(len(first))
    joined = map(np.concatenate, (features, is_cited, start))
    return Lists(*joined, np.array(lengths), folds)
