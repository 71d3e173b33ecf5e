"""A recommender whose answers a test decides, and clients of an application around it."""

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from starlette.testclient import TestClient

from mpbert.recommending.records import IndexedPaper, Recommendation
from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits


class ScriptedRecommender:
    """Three papers; ``recommend`` waits until ``may_answer`` is set, and notes the questions."""

    def __init__(self) -> None:
        self.paper_ids = ["a", "b/1", "c"]
        self.vectors = np.eye(3, dtype=np.float32)
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.has_begun = threading.Event()
        self.questions: list[dict] = []
        self.error: Exception | None = None

    def paper(self, paper_id: str) -> IndexedPaper:
        return IndexedPaper(paper_id, f"Title {paper_id}", ("A. Author",), 2001, "", "")

    def search_titles(self, query: str, top: int) -> list[IndexedPaper]:
        return [self.paper(paper_id) for paper_id in self.paper_ids][:top]

    def bibtex(self, paper_id: str) -> str:
        return f"@article{{{paper_id}}}\n"

    def recommend(self, **question) -> list[Recommendation]:
        self.questions.append(question)
        self.has_begun.set()
        assert self.may_answer.wait(30)
        if self.error is not None:
            raise self.error
        return [Recommendation("a", "Title a", ("A. Author",), None, 0.5)]


@pytest.fixture
def recommender() -> ScriptedRecommender:
    return ScriptedRecommender()


@pytest.fixture
def client(recommender: ScriptedRecommender) -> Iterator[TestClient]:
    """Client of an application with the usual limits."""
    with TestClient(create_app(recommender, Limits()), raise_server_exceptions=False) as client:
        yield client
