"""The OpenAPI document: what FastAPI finds out, with problems, examples, token and base path."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from mpbert.serving.limits import Limits
from mpbert.serving.messages import Problem
from mpbert.serving.paths import OPEN

SUMMARY = "Which papers belong at this place in my text?"
DESCRIPTION = (
    "With --token, send the header Authorization: Bearer TOKEN. Problems are JSON with one line, "
    "error. HEAD is answered wherever GET is."
)
_TOKEN = "token"
# code -> what it means, and an example of its line
_PROBLEMS = {
    400: ("the body is unreadable, or the host name is wrong",
          "wrong host name; expected one of 127.0.0.1, [::1], localhost"),
    401: ("the token is missing or wrong",
          "token missing or wrong; send the header Authorization: Bearer TOKEN"),
    404: ("no such paper", "no paper 'RFC99999' among 593"),
    405: ("the address does not take this method", "'/api/index' does not take PUT; see /docs"),
    415: ("the body is no document",
          "the body is not said to be a document; send content-type: application/pdf or the like"),
    413: ("the body is too large", Limits().too_large),
    422: ("a field is missing or wrong", "place is 900, beyond the text's 40 characters"),
    500: ("the server failed", "the server failed; its log says why"),
    503: ("too many requests, or this one took too long", "not finished after 10 s; try again"),
}  # fmt: skip


def problems(*more: int, as_json: bool = True) -> dict[int | str, dict[str, Any]]:
    """Return the responses other than 200 of an address.

    :param more: codes that not every address answers with.
    :param as_json: whether its answer is JSON; else FastAPI would say that its problems come in the
        format of the answer, too.
    """
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    found: dict[int | str, dict[str, Any]] = {}
    for code, (description, line) in _PROBLEMS.items():
        if code == 404 and code not in more:
            continue
        content = {"example": {"error": line}, **({} if as_json else schema)}
        found[code] = {"description": description, "content": {"application/json": content}}
        if as_json:
            found[code]["model"] = Problem
    return found


def describe(app: FastAPI, has_token: bool, base: str) -> None:
    """Let an application describe itself: with the token where there is one, and the base path."""

    def description() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app, has_token, base)
        return app.openapi_schema

    app.openapi = description


def _described(app: FastAPI, has_token: bool, base: str) -> dict[str, Any]:
    found = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=app.description,
        routes=app.routes,
        servers=[{"url": base}] if base else None,
    )
    if has_token:
        scheme = {"type": "http", "scheme": "bearer", "description": "what --token of serve says"}
        found["components"]["securitySchemes"] = {_TOKEN: scheme}
        found["security"] = [{_TOKEN: []}]
        for path in found["paths"].keys() & set(OPEN):
            for operation in found["paths"][path].values():
                operation["security"] = []
    return found
