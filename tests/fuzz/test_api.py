"""The HTTP API, asked what its own OpenAPI document allows, and what it does not."""

import itertools
from contextlib import suppress
from typing import ClassVar

import numpy as np
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.specs.openapi.checks import response_schema_conformance

from mpbert.recommending.answers import Recommendations
from mpbert.recommending.records import IndexedPaper, Recommendation
from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits


class Recommender:
    """Three papers and the same answer to each question."""

    paper_ids, titles = ["a", "b/1", "c"], ["Title a", "Title b/1", "Title c"]
    keys, dois = ["a", "b/1", "c"], [None] * 3
    row_of_other_id: ClassVar[dict[str, int]] = {}
    years, vectors = np.array([2001, 0, 2003]), np.eye(3, dtype=np.float32)

    def __len__(self) -> int:
        return 3

    def search_titles(self, query: str, top: int) -> list[IndexedPaper]:
        return [IndexedPaper("a", "Title a", ("A. Author",), 2001, "", "")][:top]

    def bibtex(self, paper_id: str) -> str:
        return f"@article{{{paper_id}}}\n"

    def paper(self, paper_id: str) -> IndexedPaper:
        return IndexedPaper(paper_id, f"Title {paper_id}", ("A. Author",), 2001, "", "")

    def asked(self, *question: object, **named: object) -> object:
        return "a question"

    asked_at = asked_whole = asked

    def together(self, asked: list[object]) -> list[object]:
        return asked

    def answer(self, asked: object) -> Recommendations:
        return Recommendations([Recommendation("a", "Title a", ("A. Author",), None, 0.5)])


APP = create_app(Recommender(), Limits(seconds=60))
SCHEMA = schemathesis.openapi.from_asgi("/openapi.json", APP)
KNOWN = {200, 400, 401, 404, 405, 413, 415, 422}


@schemathesis.serializer("application/pdf")
def as_file(_: schemathesis.SerializationContext, value: object) -> bytes:
    """Return a body that is generated as a file; none begins as a PDF file does."""
    data = getattr(value, "data", value)
    return data if isinstance(data, bytes) else str(data).encode("utf-8", "replace")


def check(case: schemathesis.Case) -> None:
    answer = case.call()
    assert answer.status_code in KNOWN, answer.text
    case.validate_response(answer, checks=[response_schema_conformance])
    if answer.status_code != 200:
        error = answer.json()["error"]
        assert error.isprintable(), error
        assert error.isascii(), error


@pytest.mark.parametrize(
    "number", [400, pytest.param(None, marks=pytest.mark.exhaustive, id="all")], indirect=True
)
def test_the_api_answers_or_refuses_in_one_line(number):
    operations = [found.ok() for found in SCHEMA.get_all_operations()]
    modes = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)
    limits = settings(
        max_examples=number // (len(operations) * len(modes)),
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    for operation, mode in itertools.product(operations, modes):
        strategy = operation.as_strategy(generation_mode=mode)
        with suppress(Unsatisfiable):  # what has no parameters cannot be asked wrongly
            limits(given(strategy)(check))()
