import dataclasses
import json
from itertools import pairwise

import numpy as np
import pytest

from mpbert.corpus.store import Queries
from mpbert.foundation.errors import RunError
from mpbert.foundation.ragged import offsets_of
from mpbert.methods.fusion.reranker import Fusion
from mpbert.methods.learnt_features import FILE
from mpbert.methods.linear_fusion import LinearFusion, gold_shares, learn_weights
from mpbert.methods.rankings import Ranking, union

NONE = -np.inf
FIRST = Ranking(np.array([[4, 2, 7], [1, -1, -1], [-1, -1, -1]]),
                np.array([[9.0, 5.0, 1.0], [3.0, NONE, NONE], [NONE] * 3]))  # fmt: skip
SECOND = Ranking(np.array([[2, 5], [1, 0], [8, 3]]), np.array([[0.4, 0.3], [0.9, 0.1], [0.2, 0.2]]))


def queries_of(*cited):
    lengths = [len(rows) for rows in cited]
    return Queries(
        [f"q{i}" for i in range(len(cited))], np.zeros(len(cited), dtype=int), offsets_of(lengths),
        np.concatenate([np.array(rows, dtype=int) for rows in cited]), np.full(len(cited), 2020),
        np.zeros(len(cited), dtype=bool),
    )  # fmt: skip


def test_reciprocal_ranks_by_pencil(store):
    fusion = Fusion(method="reciprocal", k=60, priors="none")
    found = fusion.rerank(store, queries_of([4], [1], [8]), [FIRST, SECOND])
    assert found.rows[0].tolist() == [2, 4, 5, 7]
    assert np.allclose(found.scores[0], [1 / 62 + 1 / 61, 1 / 61, 1 / 62, 1 / 63])
    assert found.rows[1, :2].tolist() == [1, 0]
    assert np.allclose(found.scores[1, :2], [2 / 61, 1 / 62])
    assert found.rows[2].tolist() == [8, 3, -1, -1]
    assert (found.scores[2, 2:] == NONE).all()


def test_the_union_and_the_ranks_in_it():
    found = union([FIRST, SECOND], 10)
    assert found.offsets.tolist() == [0, 4, 6, 8]
    assert found.rows.tolist() == [2, 4, 5, 7, 0, 1, 3, 8]
    assert found.places_in(FIRST, 10).tolist() == [1, 0, -1, 2, -1, 0, -1, -1]
    shares = gold_shares(found, queries_of([7, 4, 9], [6], [3]), 10)
    assert shares.tolist() == [0, 0.5, 0, 0.5, 0, 0, 1, 0]


def test_features_by_pencil(store):
    fusion = LinearFusion(priors=False)
    found = fusion.candidates(store, queries_of([4], [1], [8]), [FIRST, SECOND])
    assert found.features.shape == (8, 6)
    assert np.allclose(found.features[:4, 0], [0.5, 1, 0, 0])  # from 1 to 9
    assert np.allclose(found.features[:4, 1], [1 / 62, 1 / 61, 0, 1 / 63])
    assert found.features[:, 2].tolist() == [1, 1, 0, 1, 0, 1, 0, 0]
    assert np.isfinite(found.features).all()


def test_learnt_weights_are_where_the_likelihood_is_largest():
    rng = np.random.default_rng(1)
    lengths = rng.integers(2, 30, size=300)
    features = rng.normal(size=(lengths.sum(), 3))
    truth = np.array([2.0, -1.0, 0.0])
    noisy = features @ truth + rng.gumbel(size=len(features))  # softmax choice: McFadden (1974)
    offsets = offsets_of(lengths)
    gold = np.zeros(len(features))
    for start, end in pairwise(offsets):
        gold[start + noisy[start:end].argmax()] = 1
    gold[offsets[5] : offsets[6]] = 0  # a query whose cited paper was not found
    assert np.allclose(learn_weights(features, offsets, gold), truth, atol=0.35)


def test_a_better_ranking_gets_the_larger_weight_and_fusion_is_no_worse(store):
    queries = store.contexts("valid")
    rng = np.random.default_rng(3)
    each = np.repeat(np.arange(len(queries)), np.diff(queries.cited_offsets))

    def ranking(gain):
        scores = rng.random((len(queries), store.num_papers))
        scores[each, queries.cited_rows] += gain
        rows = np.argsort(-scores, axis=1)[:, :30]
        return Ranking(rows, np.take_along_axis(scores, rows, axis=1))

    def recall(found):
        hits = (found.rows[each, :10] == queries.cited_rows[:, None]).any(axis=1)
        return hits.mean()

    rankings = [ranking(0.1), ranking(0.4), ranking(0.4)]
    fusion = Fusion()
    counts = fusion.fit(store, queries, rankings, rng)
    assert counts["candidates_cited"] > 0.5 * len(queries)
    alone = [recall(r) for r in rankings]
    assert recall(fusion.rerank(store, queries, rankings)) > max(alone) + 0.05
    of_each = fusion.linear.weights[:9].reshape(3, 3).sum(axis=1)
    assert of_each[0] < min(of_each[1:])


def test_the_weights_are_told_and_kept_by_name(store, tmp_path, caplog):
    caplog.set_level("INFO")
    queries = queries_of([4], [0], [8])
    fusion = Fusion()
    fusion.input_names = ["words", "bag"]
    fusion.fit(store, queries, [FIRST, SECOND], np.random.default_rng(1))
    fusion.save(tmp_path)
    found = json.loads((tmp_path / FILE).read_text())
    assert found["what"] == "weight"
    names = [name for name, _ in found["features"]]
    assert names[:4] == ["words score", "words reciprocal_rank", "words has_it", "bag score"]
    assert names[6:] == ["citations", "age"]
    assert [weight for _, weight in found["features"]] == fusion.linear.weights.tolist()
    told = {
        record.fields["feature"]: record.fields["weight"]
        for record in caplog.records
        if "weight" in getattr(record, "fields", {})
    }
    assert told == dict(found["features"])
    Fusion(method="reciprocal").save(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_citations_are_those_known_in_the_year_of_the_query(store):
    training = store.contexts("train")
    paper = np.bincount(training.cited_rows).argmax()
    each = np.repeat(training.years, np.diff(training.cited_offsets))
    citing_years = each[training.cited_rows == paper]
    assert len(np.unique(citing_years)) > 2
    years = np.arange(citing_years.min() - 1, citing_years.max() + 2)
    queries = queries_of(*[[0]] * len(years))
    queries = dataclasses.replace(queries, years=years)
    ranking = Ranking(np.full((len(years), 1), paper), np.ones((len(years), 1)))
    found = LinearFusion().candidates(store, queries, [ranking]).features[:, -2]
    assert np.allclose(np.expm1(found), [(citing_years <= year).sum() for year in years])


def test_rankings_without_any_cited_paper_cannot_teach(store):
    queries = store.contexts("valid")
    nothing = Ranking(np.full((len(queries), 2), -1), np.full((len(queries), 2), NONE))
    citing = Ranking(queries.citing_rows[:, None].astype(int), np.ones((len(queries), 1)))
    with pytest.raises(RunError, match="none of the papers that validation queries cite is in"):
        Fusion().fit(store, queries, [nothing, citing], np.random.default_rng(1))
