"""The HTTP API: one recommender, asked by several clients."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from fastapi.staticfiles import StaticFiles
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.types import ASGIApp

import mpbert
from mpbert.foundation.errors import MpbertError, StoreUnavailableError
from mpbert.recommending.recommender import Recommender
from mpbert.retrieval.stores.base import RETRY_SECONDS
from mpbert.serving.checks import add_checks_of_citations
from mpbert.serving.description import DESCRIPTION, SUMMARY, describe, problems
from mpbert.serving.direct import ADDRESS, DirectQuestions
from mpbert.serving.docs_page import docs_page
from mpbert.serving.guard import Access, Guard
from mpbert.serving.limits import Limits, RequestLimits
from mpbert.serving.live import Edition, LiveIndex
from mpbert.serving.manuscripts import add_manuscripts
from mpbert.serving.messages import (
    Answer,
    Answers,
    Health,
    Index,
    PaperMessage,
    Positions,
    Question,
    Questions,
    Text,
    Titles,
    Top,
)
from mpbert.serving.missing import add_missing
from mpbert.serving.paths import Paths
from mpbert.serving.refusals import ascii_line, one_line
from mpbert.serving.uploads import add_uploads
from mpbert.serving.waiting import Queue

STATIC = Path(__file__).parent / "static"
_JSON: TypeAdapter[Any] = TypeAdapter(Any)


def create_app(
    index: LiveIndex | Recommender,
    limits: Limits,
    access: Access = Access(),  # noqa: B008 (it is frozen)
) -> ASGIApp:
    """Return the application: API, pages and what protects them.

    :param index: a live one is read again when it was changed.
    """
    app = FastAPI(
        title="mpbert",
        summary=SUMMARY,
        description=DESCRIPTION,
        version=mpbert.__version__,
        docs_url=None,  # these pages would load scripts from elsewhere
        redoc_url=None,
        max_body_size=max(limits.max_bytes, limits.max_pdf_bytes),
        generate_unique_id_function=lambda route: route.name,
    )
    _add_errors(app, limits, access.base)
    queue, live = Queue(), index if isinstance(index, LiveIndex) else LiveIndex(Edition(index))
    _add_api(app, live, queue)
    add_manuscripts(app, live, queue.run)
    add_missing(app, live, queue.run)
    add_checks_of_citations(app, live, queue.run)
    add_uploads(app, limits)
    _add_pages(app, access.base)
    describe(app, bool(access.token), access.base)
    direct = DirectQuestions(app, partial(_answer_directly, live, queue))
    guarded = Paths(Guard(RequestLimits(direct, limits), access), access.base)
    if not access.origins:
        return guarded
    return CORSMiddleware(
        guarded,
        allow_origins=access.origins,
        allow_methods=["GET", "HEAD", "POST"],
        allow_headers=["Authorization", "Content-Type"],
        expose_headers=["Retry-After"],
    )


def _add_pages(app: FastAPI, base: str) -> None:
    app.mount("/static", StaticFiles(directory=STATIC))

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> HTMLResponse:
        url = request.url
        return HTMLResponse(docs_page(app.openapi(), f"{url.scheme}://{url.netloc}{base}"))

    if base:  # links of the page are relative to base and a slash
        app.add_api_route(base, lambda: RedirectResponse(f"{base}/"), include_in_schema=False)


def _check_known(edition: Edition, paper_ids: list[str], code: int) -> None:
    """Refuse a question about papers that are not in the index.

    :raises HTTPException: with this code, where there is one.
    """
    for paper_id in paper_ids:
        if paper_id not in edition.known:
            raise HTTPException(code, f"no paper {paper_id[:80]!a} among {len(edition.known)}")


def _add_api(app: FastAPI, live: LiveIndex, queue: Queue) -> None:
    @app.get("/health", responses=problems())
    async def health() -> Health:
        """Return whether the server answers, and with what. It asks for no token."""
        edition = await live.edition()
        return Health(
            status="stale" if live.problem else "ok",
            problem=live.problem,
            papers=len(edition.recommender),
            version=mpbert.__version__,
            index_id=edition.index_id,
        )

    @app.get("/api/index", responses=problems())
    async def index() -> Index:
        """Return what is served."""
        num_papers, dim = (await live.edition()).recommender.vectors.shape
        return Index(num_papers=num_papers, dim=dim, version=mpbert.__version__)

    @app.post(ADDRESS, response_model=Answer, responses=problems())
    async def recommend(question: Question) -> Response:
        """Return papers to cite at a place of a text, best first, and why."""
        edition = await live.edition()
        _check_known(edition, question.accepted, 422)
        return await _answer(edition, queue, question)

    @app.post("/api/recommend-places", response_model=Answers, responses=problems())
    async def recommend_places(questions: Questions) -> Response:
        """Return papers to cite at several places of a text, in the order of the places."""
        recommender = (await live.edition()).recommender
        asked, found, total = questions.model_dump(exclude={"places"}), [], 0.0
        for place in questions.places:  # other requests have their turn in between
            one = {**asked, "place": place}
            answer, milliseconds = await queue.recommend(recommender, one)
            found.append({"place": place, "papers": list(answer), **answer.judgement()})
            total += milliseconds
        return _as_json({"places": found, "milliseconds": round(total, 1)})

    @app.get("/api/papers", responses=problems())
    async def search(
        query: Annotated[
            Text, Query(max_length=500, description="words of the title", examples=["mtu"])
        ],
        top: Top = 10,
    ) -> Titles:
        """Return the papers whose titles match best."""
        recommender = (await live.edition()).recommender
        found = await queue.run(recommender.search_titles, query, top)
        return Titles(papers=[PaperMessage.model_validate(paper) for paper in found])

    @app.get(
        "/api/bibtex", response_class=PlainTextResponse, responses=problems(404, as_json=False)
    )
    async def bibtex(
        paper_id: Annotated[
            list[Text],
            Query(description="once or several times", max_length=500, examples=[["RFC1191"]]),
        ],
    ) -> str:
        """Return papers as BibTeX entries, in the order asked for."""
        edition = await live.edition()
        _check_known(edition, paper_id, 404)
        entries = [await queue.run(edition.recommender.bibtex, name) for name in paper_id]
        return "\n".join(entry.strip() + "\n" for entry in entries)

    @app.get("/api/map", response_model=Positions, responses=problems())
    async def positions_of_papers() -> Response:
        """Return where papers lie on a flat map of their vectors, or else of their words."""
        edition = await live.edition()
        found = await queue.run(lambda: edition.positions)
        return Response(found, media_type="application/json")


async def _answer(edition: Edition, queue: Queue, question: Question) -> Response:
    asked = question.model_dump()
    answer, milliseconds = await queue.recommend(edition.recommender, asked)
    found = {"papers": list(answer), **answer.judgement()}
    return _as_json({**found, "milliseconds": round(milliseconds, 1)})


async def _answer_directly(live: LiveIndex, queue: Queue, question: Question) -> Response | None:
    """Return an answer; None where there is none, and the framework must say so."""
    try:
        edition = await live.edition()
        if not edition.known.issuperset(question.accepted):
            return None
        return await _answer(edition, queue, question)
    except Exception:  # asked again, it fails again, and is worded and logged
        return None


def _as_json(answer: object) -> Response:
    """Return what was found as JSON: records have the names and types of the messages.

    To make messages of them, to check these and to write them took as long as a third of ranking.
    """
    return Response(_JSON.dump_json(answer), media_type="application/json")


def _add_errors(app: FastAPI, limits: Limits, base: str) -> None:
    def problem(code: int, line: str, headers: dict[str, str] | None = None) -> JSONResponse:
        return JSONResponse({"error": line}, code, headers)

    @app.exception_handler(AnyHTTPException)
    async def refused(request: Request, error: AnyHTTPException) -> JSONResponse:
        path, see = ascii(request.url.path[:80]), f"see {base}/docs"
        lines = {405: f"{path} does not take {request.method}; {see}", 413: limits.too_large}
        is_unknown_address = error.status_code == 404 and error.detail == "Not Found"
        line = f"no such address: {path}; {see}" if is_unknown_address else error.detail
        headers = dict(error.headers or {})
        if headers.get("Allow") == "GET":
            headers["Allow"] = "GET, HEAD"
        return problem(error.status_code, lines.get(error.status_code, line), headers)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        return problem(422, one_line(error.errors()))

    @app.exception_handler(StoreUnavailableError)
    async def unavailable(request: Request, error: StoreUnavailableError) -> JSONResponse:
        return problem(503, ascii_line(str(error)), {"Retry-After": str(RETRY_SECONDS)})

    @app.exception_handler(MpbertError)
    async def wrong_input(request: Request, error: MpbertError) -> JSONResponse:
        return problem(422, ascii_line(str(error)))

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        # the server's log has the traceback: Starlette raises the error again after this answer
        return problem(500, "the server failed; its log says why")
