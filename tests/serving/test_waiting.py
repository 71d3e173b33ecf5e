"""Questions that wait are read together; each gets its own answer, or its own error."""

import asyncio
import threading

import pytest

from mpbert.foundation.errors import ConfigError, EncoderError, ManuscriptError
from mpbert.recommending.recommender import Recommender
from mpbert.serving.waiting import Queue


class Noting:
    """Answers with the text; notes what was read together. The first answer waits."""

    def __init__(self):
        self.groups, self.answers = [], []
        self.has_begun, self.may_answer = threading.Event(), threading.Event()
        self.damage = None

    def asked(self, text):
        if text == "wrong":
            raise ConfigError("wrong text")
        return text

    def together(self, asked):
        self.groups.append(asked)
        if self.damage is not None and len(asked) > 1:
            raise self.damage
        return [text.upper() for text in asked]

    def answer(self, asked):
        self.answers.append(asked)
        self.has_begun.set()
        assert self.may_answer.wait(300)
        if asked.lower() == "bad":
            raise ManuscriptError("bad text")
        return [asked]


def answers_of(recommender, texts, give_up=()):
    """Return the answers to questions that wait behind a first one, errors among them."""

    async def run():
        queue = Queue()
        first = asyncio.create_task(queue.recommend(recommender, {"text": "first"}))
        await asyncio.to_thread(recommender.has_begun.wait, 300)
        others = [asyncio.create_task(queue.recommend(*each)) for each in texts]
        await asyncio.sleep(0)
        for number in give_up:
            others[number].cancel()
        await asyncio.sleep(0)
        recommender.may_answer.set()
        async with asyncio.timeout(300):  # one that is never answered fails
            found = await asyncio.gather(first, *others, return_exceptions=True)
        return [each if isinstance(each, BaseException) else each[0] for each in found[1:]]

    return asyncio.run(run())


def test_those_that_wait_are_read_together_in_their_order():
    recommender = Noting()
    texts = [f"t{number}" for number in range(40)]
    found = answers_of(recommender, [(recommender, {"text": text}) for text in texts])
    assert found == [[text.upper()] for text in texts]
    assert recommender.groups == [["first"], texts[:32], texts[32:]]


def test_each_is_told_its_own_error():
    recommender = Noting()
    asked = [(recommender, {"text": text}) for text in ("a", "wrong", "bad", "b")]
    found = answers_of(recommender, asked)
    assert found[::3] == [["A"], ["B"]]
    assert isinstance(found[1], ConfigError) and isinstance(found[2], ManuscriptError)
    assert recommender.groups[1] == ["a", "bad", "b"]


@pytest.mark.parametrize("damage", [EncoderError("damaged"), MemoryError()])
def test_what_cannot_be_read_together_is_answered_by_itself(damage):
    recommender = Noting()
    recommender.damage = damage
    found = answers_of(recommender, [(recommender, {"text": text}) for text in ("a", "b")])
    assert found == [["a"], ["b"]]


def test_what_was_given_up_is_not_computed():
    recommender = Noting()
    asked = [(recommender, {"text": text}) for text in ("a", "b", "c")]
    found = answers_of(recommender, asked, give_up=[1])
    assert found[0] == ["A"] and found[2] == ["C"]
    assert isinstance(found[1], asyncio.CancelledError)
    assert recommender.answers == ["FIRST", "A", "C"]


def test_questions_to_another_edition_are_read_apart():
    old, new = Noting(), Noting()
    new.may_answer.set()
    found = answers_of(old, [(old, {"text": "a"}), (new, {"text": "b"}), (new, {"text": "c"})])
    assert found == [["A"], ["B"], ["C"]]
    assert (old.groups, new.groups) == ([["first"], ["a"]], [["b", "c"]])


def test_many_at_once_get_the_answers_of_single_ones(matching):
    recommender = Recommender(matching.index)
    texts = [f"Hosts relay mail {number}. Names are resolved." for number in range(12)]

    async def ask():
        queue = Queue()
        asked = [queue.recommend(recommender, {"text": text, "top": 5}) for text in texts]
        return await asyncio.gather(*asked)

    found = asyncio.run(ask())
    for text, (papers, milliseconds) in zip(texts, found, strict=True):
        expected = recommender.recommend(text, top=5)
        assert [paper.paper_id for paper in papers] == [paper.paper_id for paper in expected]
        # another thread may sum up float32 in another order
        scores = pytest.approx([paper.score for paper in expected], rel=1e-6)
        assert [paper.score for paper in papers] == scores
        assert milliseconds > 0
