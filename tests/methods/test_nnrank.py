from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy import sparse

from mpbert.commands import rerank
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import read_run
from mpbert.foundation.config import from_settings
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.seeding import named_rng
from mpbert.methods import training
from mpbert.methods.citeomatic.field_bags import take_bags
from mpbert.methods.citeomatic.nnrank_features import PairFeatures, names_matrix
from mpbert.methods.citeomatic.nnrank_model import (
    FeatureScorer,
    cosines_of,
    field_vectors,
    score_pairs,
)
from mpbert.methods.citeomatic.nnrank_training import loss_of
from mpbert.methods.citeomatic.triplets import NEIGHBOUR, Triplets
from mpbert.methods.rankings import Ranking
from mpbert.methods.reranking import RERANKERS
from tests.methods.conftest import fitted_reranker

QUICK = ["dim=16", "metadata_dim=8", "epochs=2", "triplets=4000"]
NONE = -np.inf


def fitted(store, lists, task, *settings, checkpoint=None):
    queries, ranking = lists("train", task, top=40)
    settings = *QUICK, *settings
    reranker = fitted_reranker(
        "nnrank", store, queries, [ranking], *settings, checkpoint=checkpoint
    )
    assert 0 < reranker.counts["pairs_cited_in_lists"] < reranker.counts["pairs_cited"]
    return reranker


def mean_reciprocal_rank(queries, rows):
    hits = np.array([np.isin(rows[i], queries.cited(i)) for i in range(len(queries))])
    first = hits.argmax(axis=1) + 1
    return np.where(hits.any(axis=1), 1 / first, 0).mean()


def test_papers_of_other_splits_in_training_lists_are_no_negatives(store, lists):
    queries, ranking = lists("train", "global", top=40)
    foreign = np.flatnonzero(store.paper_splits != "train")
    rows = ranking.rows.copy()
    rows[:, ::2] = foreign[np.arange(rows[:, ::2].size) % len(foreign)].reshape(rows[:, ::2].shape)
    rows[ranking.rows < 0] = -1
    without = np.sort(np.where(np.isin(rows, foreign), -1, rows), axis=1)[:, ::-1]
    settings = [*QUICK, "selector=off", "epochs=1", "triplets=500"]
    sampled = []
    for each in (rows, without):
        seen = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(training, "train", lambda *a, seen=seen: seen.append(a[0]._near) or 1)
            reranker = from_settings(RERANKERS["nnrank"], settings, "nnrank")
            scores = np.where(each >= 0, 1.0, NONE)
            reranker.fit(store, queries, [Ranking(each, scores)], named_rng(1, "test"))
        sampled.append([set(row[row >= 0].tolist()) for row in seen[0]])
    assert sampled[0] == sampled[1]
    assert not set().union(*sampled[0]) & set(foreign.tolist())


@pytest.mark.parametrize(
    ("task", "settings"),
    [("local", ["query=context"]), ("global", ["metadata=authors+venue", "dim=24"])],
)
def test_training_makes_validation_better_than_before(store, lists, task, settings):
    queries, ranking = lists("valid", task, top=40)
    before = fitted(store, lists, task, *settings, "epochs=0", "selector=off")
    after = fitted(store, lists, task, *settings)
    found = [each.rerank(store, queries, [ranking]) for each in (before, after)]
    for each in found:
        assert np.array_equal(np.sort(each.rows, axis=1), np.sort(ranking.rows, axis=1))
    scores = [mean_reciprocal_rank(queries, each.rows) for each in found]
    assert scores[1] > scores[0] + 0.02
    if task == "global":
        assert scores[1] > mean_reciprocal_rank(queries, ranking.rows)


def inputs_of_two_papers(years=(2000, 2019, 2020, 2020)):
    """Two queries, of papers 2 and 3, over the words a, b, c; paper 2 cites paper 0 in training."""
    queries = [sparse.csr_array(np.array(m, dtype=np.float32)) for m in
               ([[1, 1, 0], [0, 0, 1]], [[0, 2, 1], [1, 0, 0]])]  # fmt: skip
    papers = [sparse.csr_array(np.array(m, dtype=np.float32)) for m in
              ([[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1]],
               [[0, 1, 1], [0, 0, 1], [0, 0, 0], [1, 1, 1]])]  # fmt: skip
    citations = sparse.csr_array(np.array([[0, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0] * 4]))
    years = np.array(years)
    inputs = PairFeatures(
        queries, papers, [(0, 0), (1, 1)], [], np.array([2, 3]), citations.astype(np.float32), years
    )
    ranking = Ranking(np.array([[0, 1, 3], [1, -1, -1]]), np.array([[5, 3, 1.0], [2, NONE, NONE]]))
    inputs.set_ranking(ranking, "scaled")
    return inputs


def test_features_of_equation_3_by_pencil():
    inputs = inputs_of_two_papers()
    query, paper = np.array([0, 0, 1]), np.array([0, 1, 0])
    words, offsets = inputs.intersections(query, paper)
    assert [words[a:b].tolist() for a, b in pairwise(offsets)] == [
        [0], [0, 1], [], [1, 2], [2], [],
    ]  # fmt: skip
    # paper 0 is cited by paper 1, and by query 0 itself, of the same year as query 1
    expected = [[np.log(2), 1], [0, 0.5], [np.log(2), 0]]
    assert np.allclose(inputs.numbers(query, paper), expected)
    scorer = FeatureScorer(np.ones(3), np.array([1.0, 10, 100]), [], 2, 2, 1, torch.Generator())
    scorer.words.directions.data = torch.tensor([[1.0, 0], [0, 2], [3, 0]])
    fields = field_vectors(scorer.words, take_bags(inputs.texts, np.arange(6)), 2)
    texts = torch.tensor([[4, 4, 5], [0, 1, 0]])
    titles, abstracts = cosines_of(fields, [], inputs, texts, texts)
    # titles: (1, 1) and (1, 0); (1, 1) and itself; (1, 0) and (1, 0)
    assert torch.allclose(titles, torch.tensor([0.5**0.5, 1, 1]))
    # abstracts: (1, 2) and (1, 1); (1, 2) and (1, 0); (1, 0) and (1, 1)
    assert torch.allclose(abstracts, torch.tensor([3 / 10**0.5, 1 / 5**0.5, 0.5**0.5]))
    seen = []
    scorer.network.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    score_pairs(scorer, inputs, query, paper)
    assert torch.allclose(
        seen[0],
        torch.tensor(
            [
                [0.5**0.5, 3 / 10**0.5, 1, 110, np.log(2), 1],
                [1, 1 / 5**0.5, 11, 100, 0, 0.5],
                [1, 0.5**0.5, 0, 0, np.log(2), 0],
            ],
            dtype=torch.float32,
        ),
    )


def test_citations_by_newer_papers_than_the_query_are_not_known():
    inputs = inputs_of_two_papers((2000, 2020, 2010, 2009))  # paper 1, of 2020, cites paper 0
    found = inputs.numbers(np.array([0, 1]), np.array([0, 0]))
    assert found[:, 0].tolist() == [0, 0]  # query 0 cites it itself; query 1 is older than both


def test_scores_of_a_list_do_not_depend_on_its_depth():
    inputs = inputs_of_two_papers()
    rows = np.arange(4)[None].repeat(2, axis=0)
    query, paper = np.zeros(4, dtype=np.int64), np.arange(4)
    inputs.set_ranking(Ranking(rows, np.array([[0.9, 0.7, 0.4, 0.1]] * 2)), "score")
    assert np.allclose(inputs.numbers(query, paper)[:, 1], [0.9, 0.7, 0.4, 0.1])
    inputs.set_ranking(Ranking(rows[:, :3], np.array([[0.9, 0.7, 0.4]] * 2)), "score")
    assert np.allclose(inputs.numbers(query, paper)[:, 1], [0.9, 0.7, 0.4, 0.4])  # the lowest
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mpbert.methods.citeomatic.nnrank_features._SCALE", 3)
        inputs.set_ranking(Ranking(rows, np.array([[0.9, 0.7, 0.4, 0.1]] * 2)), "scaled")
    assert np.allclose(inputs.numbers(query, paper)[:, 1], [1, 0.6, 0, -0.6])
    inputs.set_ranking(Ranking(rows, np.array([[0.9, 0.7, 0.4, 0.1]] * 2)), "off")
    assert not inputs.numbers(query, paper)[:, 1].any()


def test_training_reads_the_same_features_as_ranking_does():
    inputs = inputs_of_two_papers()
    scorer = FeatureScorer(np.ones(3), np.ones(3), [], 2, 4, 1, torch.Generator().manual_seed(1))
    settings = from_settings(RERANKERS["nnrank"], ["word_dropout=0", "l1=0", "boost=none"], "n")
    triplets = Triplets(*(np.array(a) for a in ([0, 1], [0, 1], [3, 2], [0, 2])))
    loss = loss_of(scorer, settings, inputs, triplets, np.random.default_rng(1))
    odds = score_pairs(scorer, inputs, np.array([0, 1, 0, 1]), np.array([0, 1, 3, 2]))
    p = 1 / (1 + np.exp(-odds))
    expected = np.maximum(0.5 * np.array([0.3, 0.1]) + p[2:] - p[:2], 0).mean()
    assert float(loss.detach()) == pytest.approx(expected, rel=1e-5)


def test_the_loss_of_odds_has_no_sigmoid():
    inputs = inputs_of_two_papers()
    scorer = FeatureScorer(np.ones(3), np.ones(3), [], 2, 4, 1, torch.Generator().manual_seed(1))
    words = ["word_dropout=0", "l1=0", "boost=none", "loss=odds", "margin=5"]
    settings = from_settings(RERANKERS["nnrank"], words, "n")
    triplets = Triplets(*(np.array(a) for a in ([0, 1], [0, 1], [3, 2], [0, 2])))
    loss = loss_of(scorer, settings, inputs, triplets, np.random.default_rng(1))
    odds = score_pairs(scorer, inputs, np.array([0, 1, 0, 1]), np.array([0, 1, 3, 2]))
    expected = np.maximum(5 * np.array([0.3, 0.1]) + odds[2:] - odds[:2], 0).mean()
    assert float(loss.detach()) == pytest.approx(expected, rel=1e-5)


def test_negatives_may_be_near_alone(store, lists):
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "train", lambda learner, *_: seen.append(learner) or 1)
        fitted(store, lists, "global", "negatives=near", "depth=7")
    sampled = seen[0]._sampler.sample(2000, np.random.default_rng(1), seen[0]._near)
    assert seen[0]._near.shape[1] <= 7
    assert set(sampled.kinds) == {NEIGHBOUR} and len(sampled) > 1500
    near = seen[0]._near[sampled.queries]
    assert (near == sampled.negatives[:, None]).any(axis=1).all()
    seen[0]._near = np.full_like(seen[0]._near, -1)
    with pytest.raises(CorpusError, match="found no triplet to learn from"):
        next(seen[0].step(0))
    seen[0]._near[sampled.queries[0]] = near[0]
    seen[0]._settings.triplets = 500  # of which few have a negative, fewer than 500 / 10
    seen[0].plan = replace(seen[0].plan, updates_per_step=50)
    losses = list(seen[0].step(0))
    assert 0 < len(losses) < 50 and np.isfinite(losses).all()


def test_scores_of_a_list_run_from_1_to_0():
    ranking = Ranking(np.array([[4, 2, 7], [1, -1, -1], [-1] * 3]),
                      np.array([[9, 5, 1.0], [3, NONE, NONE], [NONE] * 3]))  # fmt: skip
    assert ranking.scaled_scores().tolist() == [[1, 0.5, 0], [0, 0, 0], [0, 0, 0]]


def test_names_are_those_of_training_papers():
    names = [["x", "y"], ["z", " X"], [""], ["y", "Y "]]
    found = names_matrix(names, np.array([True, False, True, True]))
    assert found.toarray().tolist() == [[1, 1], [1, 0], [0, 0], [0, 1]]


def test_a_killed_training_that_reads_metadata_ranks_the_same(store, lists, goes_on):
    queries, ranking = lists("valid", "global")

    def ranked(place):
        reranker = fitted(store, lists, "global", "metadata=authors", checkpoint=place)
        return reranker.rerank(store, queries, [ranking])

    whole, again = goes_on(ranked)
    assert np.array_equal(again.rows, whole.rows)
    assert np.array_equal(again.scores, whole.scores)


def test_the_command_trains_on_lists_and_reranks_expanded_ones(rfc_corpus, bm25, tmp_path):
    rerank.run(
        rerank.Config(
            rfc_corpus, tmp_path / "candidates", [bm25 / "global"], reranker="citation_candidates",
            task="global",
        )
    )  # fmt: skip
    rerank.run(
        rerank.Config(
            rfc_corpus, tmp_path / "ranked", [tmp_path / "candidates"], bm25 / "global", "nnrank",
            [*QUICK, "epochs=1"], task="global",
        )
    )  # fmt: skip
    found, before = (read_run(tmp_path / n / "test.run") for n in ("ranked", "candidates"))
    assert np.array_equal(np.diff(found.offsets), np.diff(before.offsets))
    assert (tmp_path / "ranked" / "model.safetensors").is_file()
    assert list((tmp_path / "ranked.tensorboard").iterdir())  # the losses of its epochs
    with pytest.raises(ConfigError, match=r"nnrank needs --training, a directory with train.run"):
        rerank.Config(rfc_corpus, tmp_path / "out", [bm25 / "global"], reranker="nnrank")


def test_metadata_that_a_corpus_lacks_and_wrong_settings_are_refused(store, tmp_path):
    class Anonymous(CorpusStore):
        authors = [[]] * 120

    reranker = from_settings(RERANKERS["nnrank"], ["metadata=authors+venue"], "nnrank")
    with pytest.raises(
        CorpusError, match=r"no training paper has authors, which metadata=authors\+venue"
    ):
        reranker.check(Anonymous(store.path))
    reranker.check(store)
    with pytest.raises(ConfigError, match=r"word_dropout=1: expected 0 to 0.99"):
        from_settings(RERANKERS["nnrank"], ["word_dropout=1"], "nnrank")
