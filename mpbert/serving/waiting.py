"""The queue of a recommender: questions are answered one after another, and read together."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from mpbert.recommending.answers import Recommendations
from mpbert.recommending.rankers import AskedFor
from mpbert.recommending.recommender import Recommender

T = TypeVar("T")
Answered = tuple[Recommendations, float]
_MOST = 32  # questions that are read together


@dataclass
class _Waiting:
    """A question, and who waits for its answer.

    :ivar seconds: that were spent on it.
    """

    recommender: Recommender
    question: dict[str, Any]
    answer: "asyncio.Future[Answered]"
    asked: AskedFor | None = None
    seconds: float = 0.0


class Queue:
    """Questions to a recommender.

    One thread: a single question uses all cores, and one whose time is over leaves the queue before
    it is computed. Questions that wait at the same time are read together, which costs less.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._waiting: deque[_Waiting] = deque()

    async def run(self, function: Callable[..., T], *args: object) -> T:
        """Return what a function returns when its turn has come."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *args)

    async def recommend(self, recommender: Recommender, question: dict[str, Any]) -> Answered:
        """Return the papers for a question, and the milliseconds that they took.

        :param question: arguments of :meth:`Recommender.recommend`.
        :raises MpbertError: as there.
        """
        loop = asyncio.get_running_loop()
        waiting = _Waiting(recommender, question, loop.create_future())
        self._waiting.append(waiting)
        self._thread.submit(self._answer_some, loop)  # once for each, so that none is left
        return await waiting.answer

    def _answer_some(self, loop: asyncio.AbstractEventLoop) -> None:
        taken = self._take()
        for one in taken:
            self._timed(loop, one, _check)
        _read_together([one for one in taken if one.asked])
        for one in taken:
            if one.asked and not one.answer.done():
                self._timed(loop, one, partial(_answer, loop))

    def _take(self) -> list[_Waiting]:
        """Take the first questions of the queue, all of one recommender, that are still asked."""
        taken: list[_Waiting] = []
        while self._waiting and len(taken) < _MOST:
            if taken and self._waiting[0].recommender is not taken[0].recommender:
                break  # the index was changed
            taken.append(self._waiting.popleft())
        return [one for one in taken if not one.answer.done()]

    def _timed(
        self, loop: asyncio.AbstractEventLoop, one: _Waiting, act: Callable[[_Waiting], None]
    ) -> None:
        start = time.perf_counter()
        try:
            act(one)
        except Exception as error:  # who asked is told, whatever it is
            _tell(loop, one.answer, error)
        one.seconds += time.perf_counter() - start


def _check(one: _Waiting) -> None:
    one.asked = one.recommender.asked(**one.question)


def _read_together(taken: list[_Waiting]) -> None:
    if not taken:
        return
    start = time.perf_counter()
    try:
        read = taken[0].recommender.together([one.asked for one in taken])
    except Exception:  # each that it is true of will be told by itself
        return
    seconds = (time.perf_counter() - start) / len(taken)
    for one, asked in zip(taken, read, strict=True):
        one.asked = asked
        one.seconds += seconds


def _answer(loop: asyncio.AbstractEventLoop, one: _Waiting) -> None:
    start = time.perf_counter()
    found = one.recommender.answer(one.asked)
    seconds = one.seconds + time.perf_counter() - start
    _tell(loop, one.answer, (found, 1000 * seconds))


def _tell(
    loop: asyncio.AbstractEventLoop, answer: "asyncio.Future[Answered]", what: Answered | Exception
) -> None:
    def tell() -> None:
        if answer.done():
            return  # given up meanwhile
        if isinstance(what, Exception):
            answer.set_exception(what)
        else:
            answer.set_result(what)

    loop.call_soon_threadsafe(tell)
