"""Limits of size, time and number of requests."""

import asyncio

import httpx2
import pytest

from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits

HEADERS = {"Content-Type": "application/json"}


def run(recommender, limits, use):
    """Run a coroutine function of a client."""

    async def main():
        transport = httpx2.ASGITransport(create_app(recommender, limits))
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
            return await use(client)

    return asyncio.run(main())


def ask(client):
    return client.post("/api/recommend", json={"text": "t"})


async def until(event):
    await asyncio.get_running_loop().run_in_executor(None, event.wait, 300)


@pytest.mark.parametrize("is_announced", [True, False])
def test_a_body_above_the_limit_is_refused(recommender, is_announced):
    body = b'{"text": "' + b"x" * 10_000_000 + b'"}'

    async def pieces():
        for start in range(0, len(body), 65536):
            yield body[start : start + 65536]

    async def use(client):
        content = body if is_announced else pieces()
        return await client.post("/api/recommend", content=content, headers=HEADERS)

    refused = run(recommender, Limits(max_bytes=1000), use)
    assert refused.status_code == 413
    line = "the body is larger than 1000 bytes; send a part of the text"
    assert refused.json() == {"error": line}
    assert recommender.questions == []


def test_a_body_at_the_limit_is_read(recommender):
    body = b'{"text": "t"}'

    async def use(client):
        return await client.post("/api/recommend", content=body, headers=HEADERS)

    assert run(recommender, Limits(max_bytes=len(body)), use).status_code == 200
    assert run(recommender, Limits(max_bytes=len(body) - 1), use).status_code == 413


def test_a_request_that_takes_too_long_is_given_up_and_the_next_one_is_answered(recommender):
    recommender.may_answer.clear()

    async def use(client):
        late = await ask(client)
        recommender.may_answer.set()
        return late, await ask(client)

    late, next_one = run(recommender, Limits(seconds=5), use)
    assert late.status_code == 503
    assert late.json() == {"error": "not finished after 5 s; try again"}
    assert late.headers["retry-after"] == "1"
    assert next_one.status_code == 200


def test_what_waited_too_long_is_never_computed(recommender):
    recommender.may_answer.clear()

    async def use(client):
        answers = await asyncio.gather(*(ask(client) for _ in range(5)))
        recommender.may_answer.set()
        return [*answers, await ask(client)]

    answers = run(recommender, Limits(seconds=5), use)
    assert [answer.status_code for answer in answers] == [503] * 5 + [200]
    assert len(recommender.questions) == 2


def test_a_body_that_does_not_come_is_given_up(recommender):
    async def pieces():
        yield b'{"text": '
        await asyncio.sleep(300)

    async def use(client):
        return await client.post("/api/recommend", content=pieces(), headers=HEADERS)

    assert run(recommender, Limits(seconds=0.2), use).status_code == 503


def test_more_requests_at_once_than_allowed_are_refused_and_later_ones_answered(recommender):
    recommender.may_answer.clear()

    async def use(client):
        first = [asyncio.create_task(ask(client)) for _ in range(2)]
        await until(recommender.has_begun)
        refused = await client.get("/api/index")
        recommender.may_answer.set()
        return refused, [await task for task in first], await client.get("/api/index")

    refused, first, later = run(recommender, Limits(max_requests=2, seconds=60), use)
    assert refused.status_code == 503
    assert refused.json() == {"error": "2 requests are running, the most at once; try again"}
    assert refused.headers["retry-after"] == "1"
    assert [answer.status_code for answer in first] == [200, 200]
    assert later.status_code == 200
