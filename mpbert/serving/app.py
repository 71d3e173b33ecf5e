"""The HTTP API: one recommender, asked by several clients."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, TypeVar

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.types import ASGIApp

import mpbert
from mpbert.foundation.errors import MpbertError
from mpbert.recommending.recommender import IndexRecommender
from mpbert.serving.guard import Guard
from mpbert.serving.limits import Limits, RequestLimits
from mpbert.serving.live import Edition, LiveIndex
from mpbert.serving.messages import (
    Answer,
    Index,
    PaperMessage,
    Positions,
    Problem,
    Question,
    RecommendationMessage,
    Text,
    Titles,
    Top,
    one_line,
)

STATIC = Path(__file__).parent / "static"
_PROBLEMS = {
    code: {"model": Problem, "description": description}
    for code, description in {
        400: "the body is unreadable, or the host name is wrong",
        401: "the token is missing or wrong",
        404: "no such paper",
        413: "the body is too large",
        422: "a field is missing or wrong",
        503: "too many requests, or this one took too long",
    }.items()
}
# of an answer in another format: FastAPI would say that the problems come in that format too
_JSON_PROBLEMS = {
    code: {
        "description": problem["description"],
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for code, problem in _PROBLEMS.items()
}
T = TypeVar("T")


def create_app(
    index: LiveIndex | IndexRecommender,
    limits: Limits,
    token: str = "",
    hosts: frozenset[str] | None = None,
) -> ASGIApp:
    """Return the application: API, page and what protects them.

    :param index: a live one is read again when it was changed.
    :param token: see :class:`Guard`, as is ``hosts``.
    """
    app = FastAPI(
        title="mpbert",
        summary="Which papers belong at this place in my text?",
        description="With --token, send the header Authorization: Bearer TOKEN. Problems are JSON "
        "with one line, error.",
        version=mpbert.__version__,
        docs_url=None,  # these pages would load scripts from elsewhere
        redoc_url=None,
        max_body_size=limits.max_bytes,
        responses=_PROBLEMS,
    )
    _add_errors(app, limits)
    _add_api(app, index if isinstance(index, LiveIndex) else LiveIndex(Edition(index)))
    app.mount("/static", StaticFiles(directory=STATIC))
    app.add_api_route("/", lambda: FileResponse(STATIC / "index.html"), include_in_schema=False)
    return Guard(RequestLimits(app, limits), token, hosts)


class _Queue:
    """Questions to a recommender, one after another.

    One thread: a single question uses all cores, and one whose time is over leaves the queue before
    it is computed.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)

    async def run(self, function: Callable[..., T], *args: object) -> T:
        """Return what a function returns when its turn has come."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *args)


def _check_known(edition: Edition, paper_ids: list[str], code: int) -> None:
    """Refuse a question about papers that are not in the index.

    :raises HTTPException: with this code, where there is one.
    """
    for paper_id in paper_ids:
        if paper_id not in edition.known:
            raise HTTPException(code, f"no paper {paper_id[:80]!a} among {len(edition.known)}")


def _add_api(app: FastAPI, live: LiveIndex) -> None:
    queue = _Queue()

    @app.get("/api/index")
    async def index() -> Index:
        """Return what is served."""
        num_papers, dim = (await live.edition()).recommender.vectors.shape
        return Index(num_papers=num_papers, dim=dim, version=mpbert.__version__)

    @app.post("/api/recommend")
    async def recommend(question: Question) -> Answer:
        """Return papers to cite at a place of a text, best first, and why."""
        edition = await live.edition()
        _check_known(edition, question.accepted, 422)
        return await queue.run(_answer, edition.recommender, question)

    @app.get("/api/papers")
    async def search(query: Annotated[Text, Query(max_length=500)], top: Top = 10) -> Titles:
        """Return the papers whose titles match best."""
        recommender = (await live.edition()).recommender
        found = await queue.run(recommender.search_titles, query, top)
        return Titles(papers=[PaperMessage.model_validate(paper) for paper in found])

    @app.get("/api/bibtex", response_class=PlainTextResponse, responses=_JSON_PROBLEMS)
    async def bibtex(
        paper_id: Annotated[list[Text], Query(description="once or several times", max_length=500)],
    ) -> str:
        """Return papers as BibTeX entries, in the order asked for."""
        edition = await live.edition()
        _check_known(edition, paper_id, 404)
        entries = [await queue.run(edition.recommender.bibtex, name) for name in paper_id]
        return "\n".join(entry.strip() + "\n" for entry in entries)

    @app.get("/api/map", response_model=Positions)
    async def positions_of_papers() -> Response:
        """Return where papers lie on a flat map of their vectors."""
        edition = await live.edition()
        found = await queue.run(lambda: edition.positions)
        return Response(found, media_type="application/json")


def _answer(recommender: IndexRecommender, question: Question) -> Answer:
    start = time.perf_counter()
    found = recommender.recommend(**question.model_dump())
    milliseconds = 1000 * (time.perf_counter() - start)
    papers = [RecommendationMessage.model_validate(paper) for paper in found]
    return Answer(papers=papers, milliseconds=round(milliseconds, 1))


def _add_errors(app: FastAPI, limits: Limits) -> None:
    def problem(code: int, line: str, headers: dict[str, str] | None = None) -> JSONResponse:
        return JSONResponse({"error": line}, code, headers)

    @app.exception_handler(AnyHTTPException)
    async def refused(request: Request, error: AnyHTTPException) -> JSONResponse:
        path = ascii(request.url.path[:80])
        lines = {
            405: f"{path} does not take {request.method}; see /openapi.json",
            413: limits.too_large,
        }
        is_unknown_address = error.status_code == 404 and error.detail == "Not Found"
        line = f"no such address: {path}; see /openapi.json" if is_unknown_address else error.detail
        return problem(error.status_code, lines.get(error.status_code, line), error.headers)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        return problem(422, one_line(error.errors()))

    @app.exception_handler(MpbertError)
    async def wrong_input(request: Request, error: MpbertError) -> JSONResponse:
        return problem(422, str(error))

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        # the server's log has the traceback: Starlette raises the error again after this answer
        return problem(500, "the server failed; its log says why")
