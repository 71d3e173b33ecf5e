"""What work in threads waits for, and what ends it."""

import threading

import pytest

from mpbert.experiments.at_once import Locks, Waiting, run_at_once

SECONDS = 60  # far more than any wait here takes


def _run(needs, act, at_once=2, stop=lambda: None):
    run_at_once(Waiting(needs), act, at_once, stop)


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_each_call_comes_once_and_after_those_it_needs(at_once):
    needs, done = [[], [0], [], [1, 2], [0], [3, 4]], []

    def act(number):
        assert set(needs[number]) <= set(done)
        done.append(number)

    _run(needs, act, at_once)
    assert sorted(done) == list(range(len(needs)))
    if at_once == 1:
        assert done == sorted(done)


def test_as_many_run_at_once_as_may_and_no_more():
    together, running, most = threading.Barrier(3), [], []

    def act(number):
        running.append(number)
        most.append(len(running))
        together.wait(SECONDS)  # breaks unless three are there
        running.remove(number)

    _run([[]] * 6, act, at_once=3)
    assert max(most) == 3


def test_a_call_that_fails_stops_those_that_run_and_no_other_is_begun():
    stopped, begun = threading.Event(), []

    def act(number):
        begun.append(number)
        if number == 1:
            raise ValueError("it failed")
        assert stopped.wait(SECONDS)

    with pytest.raises(ValueError, match="it failed"):
        _run([[]] * 4, act, stop=stopped.set)
    assert sorted(begun) == [0, 1]


def test_a_key_has_one_lock():
    locks = Locks()
    assert locks.of("a") is locks.of("a") is not locks.of("b")
