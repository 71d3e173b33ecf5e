"""Late interaction: its equation, what it reads of citing sentences, and how it reranks."""

import json

import numpy as np
import pytest
import torch

from mpbert.commands import rerank
from mpbert.foundation.config import from_settings
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.seeding import named_rng
from mpbert.methods.late_interaction.reranker import LateInteraction
from mpbert.methods.late_interaction.states import max_sim
from mpbert.methods.rankings import Ranking
from mpbert.methods.torch_training import array_of
from mpbert.pretrained.device import trained_on
from tests.methods.conftest import fitted_reranker

QUICK = list(LateInteraction.quick)
FIRST = np.array([0])


@pytest.fixture(scope="module")
def fitted(store, lists):
    queries, ranking = lists("valid")
    return fitted_reranker("late_interaction", store, queries, [ranking], *QUICK)


def unlearnt(store, score):
    reranker = from_settings(LateInteraction, [*QUICK, f"score={score}"], "late_interaction")
    reranker.prepare(store, named_rng(1, "test"))
    return reranker


def test_a_token_counts_by_its_nearest_token_by_pencil():
    query = torch.tensor([[1.0, 0.0], [0.0, 1.0]], device=trained_on())
    texts = torch.tensor([[1, 0], [0.6, 0.8], [0, -1], [-1, 0]], device=trained_on())
    scores = max_sim(query, texts, np.array([0, 2, 3, 4]))
    assert scores == pytest.approx([(1 + 0.8) / 2, (0 - 1) / 2, (-1 + 0) / 2])
    assert len(max_sim(query, texts[:0], np.array([0]))) == 0


def test_features_are_those_of_pairs_one_by_one(fitted, store, lists):
    queries, ranking = lists("test")
    queries, ranking = queries.take(np.arange(40)), ranking.take(np.arange(40))
    found = fitted._candidates(store, queries, ranking)
    training = store.contexts("train")
    is_cited = [set(training.cited(i).tolist()) for i in range(len(training))]
    texts = store.local_texts(queries, (0, -1, 1))
    for number in range(40):
        query = array_of(fitted._states([texts[number]], fitted.query_tokens, "").of(FIRST)[0])
        mean = query.sum(axis=0) / np.linalg.norm(query.sum(axis=0))
        own = queries.citing_rows[number]
        part = np.flatnonzero(found.papers.queries == number)
        for row, features in zip(found.papers.rows[part], found.features[part], strict=True):
            paper = array_of(fitted._papers.of(np.array([row]))[0])
            assert features[3] == pytest.approx((query @ paper.T).max(axis=1).mean(), abs=2e-3)
            known = [
                i
                for i, cited in enumerate(is_cited)
                if row in cited
                and training.citing_rows[i] != own
                and training.years[i] <= store.years[own]
            ]
            near = sorted(known, key=lambda i: -(fitted._means[i] @ mean))[: fitted.citing]
            sentences = [array_of(fitted._sentences.of(np.array([i]))[0]) for i in near]
            scores = [(query @ each.T).max(axis=1).mean() for each in sentences]
            assert features[4] == pytest.approx(max(scores, default=0), abs=2e-2)
            assert features[5] == bool(near)


def test_one_score_alone_is_that_feature_and_learns_nothing(fitted, store, lists):
    queries, ranking = lists("test")
    queries, ranking = queries.take(np.arange(40)), ranking.take(np.arange(40))
    candidates = fitted._candidates(store, queries, ranking)
    features = {
        (query, row): each[-3:]
        for query, row, each in zip(
            candidates.papers.queries, candidates.papers.rows, candidates.features, strict=True
        )
    }
    dropped = 0
    for score, column in (("abstract", 0), ("citing", 1)):
        reranker = unlearnt(store, score)
        assert reranker.learns_from == ""
        found = reranker.rerank(store, queries, [ranking])
        for query in range(len(queries)):
            first = ranking.rows[query, : reranker.depth].tolist()
            kept = [row for row in first if score == "abstract" or features[query, row][2]]
            expected = sorted(kept, key=lambda row: (-features[query, row][column], row))
            assert [row for row in found.rows[query].tolist() if row >= 0] == expected
            scores = [features[query, row][column] for row in expected]
            assert np.allclose(found.scores[query, : len(kept)], scores)
            dropped += len(first) - len(kept)
    assert dropped > 0


def test_a_score_reads_no_more_than_it_asks_for(store):
    assert not hasattr(unlearnt(store, "abstract"), "_sentences")
    assert not hasattr(unlearnt(store, "citing"), "_papers")


def test_the_score_of_sentences_needs_some():
    with pytest.raises(ConfigError, match=r"citing=0: found score=citing.*choose score=abstract"):
        from_settings(LateInteraction, ["score=citing", "citing=0"], "late_interaction")


def test_global_queries_are_titles_and_abstracts(store, lists):
    valid, test = store.manuscripts("valid"), store.manuscripts("test")
    rows = np.tile(np.arange(20), (len(valid), 1))
    everything = Ranking(rows, -rows.astype(float))
    settings = *QUICK, "citing=0"
    reranker = fitted_reranker("late_interaction", store, valid, [everything], *settings)
    found = reranker.rerank(store, test, [everything.take(np.zeros(len(test), np.int64))])
    assert (np.sort(found.rows[:, :20]) == np.arange(20)).all()


def test_the_command_keeps_the_weights_and_makes_the_same_run_again(rfc_corpus, bm25, tmp_path):
    for name in ("one", "two"):
        place = tmp_path / name
        config = rerank.Config(
            rfc_corpus, place, [bm25 / "local"], reranker="late_interaction", settings=QUICK
        )
        rerank.run(config)
    learnt = json.loads((tmp_path / "one" / "learnt.json").read_text())
    names = [name for name, _ in learnt["features"]]
    assert names[-3:] == ["title and abstract", "nearest citing sentence", "has a citing sentence"]
    assert (tmp_path / "one" / "test.run").read_text().replace("one", "two") == (
        tmp_path / "two" / "test.run"
    ).read_text()


def test_the_command_keeps_no_weights_where_nothing_is_learnt(rfc_corpus, bm25, tmp_path):
    settings = [*QUICK, "score=citing"]
    config = rerank.Config(
        rfc_corpus,
        tmp_path / "citing",
        [bm25 / "local"],
        reranker="late_interaction",
        settings=settings,
    )
    rerank.run(config)
    assert {"valid.run", "test.run"} <= {path.name for path in (tmp_path / "citing").iterdir()}
    assert not (tmp_path / "citing" / "learnt.json").exists()


def test_a_corpus_without_texts_is_refused(store):
    class Empty:
        path, titles, num_abstract = "here", ["", ""], np.zeros(2, int)

    with pytest.raises(CorpusError, match="found neither titles nor abstracts"):
        LateInteraction().check(Empty())
