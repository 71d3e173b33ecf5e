"""An index that is changed while it is served."""

import logging
import shutil
import threading

import pytest
from starlette.testclient import TestClient

from mpbert.cli import main
from mpbert.foundation.checksums import fingerprint
from mpbert.foundation.errors import StoreUnavailableError
from mpbert.recommending.recommender import Recommender
from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits
from mpbert.serving.live import LiveIndex


@pytest.fixture
def live(library_index):
    """Client of an application that serves the index."""
    app = create_app(LiveIndex.open(library_index), Limits(seconds=60))
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def found(client, text="Hosts relay mail"):
    answer = client.post("/api/recommend", json={"text": text})
    assert answer.status_code == 200
    return {paper["paper_id"] for paper in answer.json()["papers"]}


def test_the_next_answer_knows_what_was_added_and_what_was_removed(live, library_index, mail):
    assert found(live) == set()
    before = live.get("/health").json()
    assert before["index_id"] == fingerprint(library_index) and before["status"] == "ok"
    assert main(["add", str(library_index), mail]) == 0
    assert found(live) == {"mail"}
    assert live.get("/api/index").json()["num_papers"] == 3
    assert live.get("/api/map").json()["num_papers"] == 3
    assert live.get("/health").json() == {
        **before,
        **{"papers": 3, "index_id": fingerprint(library_index)},
    }
    titles = live.get("/api/papers", params={"query": "mail"}).json()["papers"]
    assert [paper["paper_id"] for paper in titles] == ["mail"]
    accepted = {"text": "Mail", "accepted": ["mail"]}
    assert live.post("/api/recommend", json=accepted).status_code == 200
    assert main(["remove", str(library_index), "mail"]) == 0
    assert found(live) == set()
    assert live.get("/api/bibtex", params={"paper_id": "mail"}).status_code == 404
    refused = live.post("/api/recommend", json=accepted)
    assert refused.json() == {"error": "no paper 'mail' among 2"}
    assert live.get("/api/map").json()["num_papers"] == 2


def test_answers_that_are_running_finish_on_the_old_index(live, library_index, mail, monkeypatch):
    has_begun, may_answer = threading.Event(), threading.Event()
    asked = Recommender.asked

    def slow(self, text, *args, **question):
        if text.startswith("Slow"):
            has_begun.set()
            assert may_answer.wait(300)
        return asked(self, text, *args, **question)

    monkeypatch.setattr(Recommender, "asked", slow)
    answers = []
    first = threading.Thread(target=lambda: answers.append(found(live, "Slow mail and names")))
    first.start()
    assert has_begun.wait(300)
    assert main(["add", str(library_index), mail]) == 0
    assert live.get("/api/index").json()["num_papers"] == 3  # read while the answer runs
    may_answer.set()
    first.join(300)
    assert answers == [{"names"}]
    assert found(live, "Slow mail and names") == {"mail", "names"}


def test_a_damaged_index_leaves_the_old_one_in_force_and_the_log_says_so(
    live, library_index, mail, tmp_path, caplog
):
    shutil.copytree(library_index, tmp_path / "copy")
    assert main(["add", str(library_index), mail]) == 0
    spoiled = library_index / "data.2" / "papers.digest.npy"
    spoiled.write_bytes(spoiled.read_bytes()[:-9])
    with caplog.at_level(logging.ERROR):
        assert found(live) == set() and found(live, "Servers") == {"names"}
    errors = [found for found in caplog.records if found.levelno == logging.ERROR]
    (line,) = [error.getMessage() for error in errors]  # once, not for each request
    assert "the old one is served on" in line and "papers.digest.npy: found other bytes" in line
    shutil.rmtree(library_index)
    health = live.get("/health").json()
    assert (health["status"], health["papers"]) == ("stale", 2)
    assert "found no readable manifest.json" in health["problem"]
    (tmp_path / "copy").rename(library_index)
    assert main(["add", str(library_index), mail]) == 0
    assert found(live) == {"mail"}


def test_a_store_that_is_away_when_the_index_was_changed_is_unavailable(
    live, library_index, mail, monkeypatch
):
    def away(*_):
        raise StoreUnavailableError("milvus://here: the store is unavailable")

    assert main(["add", str(library_index), mail]) == 0
    with monkeypatch.context() as without_store:
        without_store.setattr(Recommender, "__init__", away)
        refused = live.post("/api/recommend", json={"text": "Hosts relay mail"})
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
        assert "the store is unavailable" in refused.json()["error"]
    assert found(live) == {"mail"}
