"""Questions that are read together have the answers of single ones, to the last digit."""

import dataclasses

import numpy as np
import pytest

from mpbert.recommending import rankers
from mpbert.recommending.directory import read_index
from mpbert.recommending.encoders import encoder_of_index
from mpbert.recommending.matching import cosines, near_cosines
from mpbert.recommending.rankers import AskedFor
from mpbert.recommending.recommender import Recommender
from mpbert.vectors.normal import normalized
from tests.recommending.given import GivenRecommender
from tests.recommending.texts import TEXTS, questions


@pytest.fixture
def recommender(matching):
    return Recommender(matching.index)


@pytest.fixture
def shallow(monkeypatch):
    """A ranking is no deeper than what is asked for, so that some papers are left out."""
    monkeypatch.setattr(rankers, "_DEPTH", 3)


def test_answers_are_those_of_single_questions(recommender, shallow):
    asked = questions(recommender)
    read = recommender.together([recommender.asked(**one) for one in asked])
    assert {one.estimate is not None for one in read if one.options.ranker == "both"} == {True}
    assert {one.estimate for one in read if one.options.ranker != "both"} == {None}
    assert [recommender.answer(one) for one in read] == [recommender.recommend(**o) for o in asked]
    assert recommender.together([]) == []


def test_papers_of_the_same_vector_stay_in_their_order(matching, shallow):
    data = read_index(matching.index)
    vectors = np.repeat(data.tables.vectors[::10], 10, axis=0)
    fusion = data.places.fusion._replace(weights={"cosine": 5.0, "age": 0.0})
    data = dataclasses.replace(
        data,
        tables=dataclasses.replace(data.tables, vectors=vectors),
        places=data.places._replace(fusion=fusion),
    )
    recommender = GivenRecommender(data, encoder_of_index(matching.index, data))
    asked = [recommender.asked(text, top=14) for text in TEXTS]
    found = [recommender.answer(one) for one in recommender.together(asked)]
    assert found == [recommender.recommend(text, top=14) for text in TEXTS]
    rows = [recommender.paper_ids.index(paper.paper_id) for paper in found[0]]
    assert rows[:10] == list(range(rows[0], rows[0] + 10))


def test_an_estimate_far_off_within_its_slack_changes_no_answer(recommender, shallow):
    rng = np.random.default_rng(1)
    asked = [recommender.asked(text, top=5) for text in TEXTS]
    for one, read in zip(asked, recommender.together(asked), strict=True):
        noise = rng.uniform(-0.2, 0.2, len(read.estimate.cosines)).astype(np.float32)
        estimate = read.estimate._replace(cosines=read.estimate.cosines + noise, slack=0.2001)
        noisy = dataclasses.replace(one, estimate=estimate)
        assert recommender.answer(noisy) == recommender.answer(one)


@pytest.mark.parametrize("dim", [1, 16, 512])
def test_near_cosines_are_off_by_their_slack_at_most(dim):
    rng = np.random.default_rng(dim)
    vectors = normalized(rng.standard_normal((300, dim)))
    vectors[7] = 0
    asked = normalized(rng.standard_normal((9, dim)))
    found, slack = near_cosines(vectors, asked)
    exact = np.stack([cosines(vectors, one) for one in asked])
    assert found.shape == exact.shape
    assert np.abs(found - exact).max() <= slack < 1e-4
    assert np.abs(found - exact.astype(np.float64)).max() <= slack


def test_few_questions_are_not_read_together(recommender):
    asked = [recommender.asked(text) for text in TEXTS[:3]]
    assert all(isinstance(one, AskedFor) for one in asked)
    assert [one.estimate for one in recommender.together(asked)] == [None] * 3
