"""What indexes answered before they were arrays of numpy alone, they answer today."""

import json
from pathlib import Path

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.recommending.recommender import Recommender

FIXTURES = Path(__file__).parents[1] / "fixtures"
STORED = json.loads((FIXTURES / "index_answers.json").read_text())


@pytest.fixture(params=STORED["answers"])
def answered(request, tmp_path):
    """An index that is made anew, or that of ``build-index``; and what it answered."""
    formats, path = FIXTURES / "formats", tmp_path / "index"
    if request.param == "learnt":
        path = formats / "index_2"
    else:
        encoder = ["--encoder", str(formats / "index_2" / "encoder")]
        more = encoder if request.param == "encoder" else []
        assert main(["index", str(formats / "papers.jsonl"), str(path), *more]) == 0
    return Recommender(path), STORED["answers"][request.param]


def test_answers_are_those_of_before(answered):
    recommender, stored = answered
    found = [recommender.recommend(**asked, top=6) for asked in STORED["asked"]]
    found.append(recommender.recommend_whole(*STORED["whole"], top=6))
    for answer, before in zip(found, stored, strict=True):
        ids, scores, _, citing, companions = zip(*before, strict=True)
        assert [paper.paper_id for paper in answer] == list(ids)
        # to the digit on the machine that stored them; processors sum up float32 in other orders
        assert np.allclose([paper.score for paper in answer], scores, rtol=1e-6, atol=0)
        for paper, sentences, others in zip(answer, citing, companions, strict=True):
            assert [[c.paper_id, c.count] for c in paper.why.companions] == others
            assert [s.citing_id for s in paper.why.citing] == [s[0] for s in sentences]
            near = [s.similarity for s in paper.why.citing]
            assert np.allclose(near, [s[1] for s in sentences], rtol=1e-6, atol=1e-12)
