"""The API: what it answers, and how it refuses what is wrong."""

import json

import pytest
from starlette.testclient import TestClient

from mpbert.foundation.errors import CorpusError
from mpbert.recommending.recommender import IndexRecommender
from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits


def ask(client, **question):
    return client.post("/api/recommend", json={"text": "Some text.", **question})


def test_a_question_reaches_the_recommender_with_its_defaults(client, recommender):
    answer = ask(client, place=4, year=2010, accepted=["b/1"])
    assert answer.status_code == 200
    assert recommender.questions == [
        {
            **{"text": "Some text.", "place": 4, "title": "", "abstract": "", "top": 10},
            **{"year": 2010, "accepted": ["b/1"], "ranker": "both"},
        }
    ]
    (paper,) = answer.json()["papers"]
    why = {"citing": [], "companions": []}
    expected = {"paper_id": "a", "title": "Title a", "authors": ["A. Author"], "year": None}
    assert paper == {**expected, "score": 0.5, "why": why}
    assert answer.json()["milliseconds"] >= 0


def test_an_index_with_exact_matches_is_served(matching):
    recommender = IndexRecommender.open(matching.index)
    with TestClient(create_app(recommender, Limits(seconds=60))) as client:
        answer = ask(client, text="Hosts relay mail. Names are resolved.", place=17, year=2005)
    assert answer.status_code == 200
    expected = recommender.recommend("Hosts relay mail. Names are resolved.", 17, year=2005)
    found = answer.json()["papers"]
    assert [paper["paper_id"] for paper in found] == [paper.paper_id for paper in expected]
    # another thread may sum up float32 in another order
    scores = pytest.approx([paper.score for paper in expected], rel=1e-6)
    assert [paper["score"] for paper in found] == scores and len(found) == 10


def test_the_place_is_counted_in_characters(client, recommender):
    assert ask(client, text="\N{GRINNING FACE}", place=1).status_code == 200
    refused = ask(client, text="\N{GRINNING FACE}", place=2)
    assert refused.status_code == 422
    assert refused.json() == {"error": "place is 2, beyond the text's 1 characters"}


NEGATIVE = "place: Input should be greater than or equal to 0; found -1"
INTEGER = "Input should be a valid integer"
RANKER = "Input should be 'dense', 'words' or 'both'"
OBJECT = "Input should be a valid dictionary or object to extract fields from"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({}, "text: Field required"),
        ({"text": 3}, "text: Input should be a valid string; found 3"),
        ({"text": "t", "top": "5"}, f"top: {INTEGER}; found '5'"),
        ({"text": "t", "top": 5.0}, f"top: {INTEGER}; found 5.0"),
        ({"text": "t", "top": True}, f"top: {INTEGER}; found True"),
        ({"text": "t", "top": 0}, "top: Input should be greater than or equal to 1; found 0"),
        ({"text": "t", "top": 101}, "top: Input should be less than or equal to 100; found 101"),
        ({"text": "t", "place": -1}, NEGATIVE),
        ({"text": "t", "top": 0, "place": -1}, f"{NEGATIVE} (and 1 more)"),
        ({"text": "t", "year": "x" * 99}, f"year: {INTEGER}; found '{'x' * 40}'..."),
        ({"text": "t", "ranker": "a"}, f"ranker: {RANKER}; found 'a'"),
        ({"text": "t", "accepted": "a"}, "accepted: Input should be a valid list; found 'a'"),
        ({"text": "t", "accepted": ["d"]}, "no paper 'd' among 3"),
        ({"text": "t", "tpo": 5}, "tpo: Extra inputs are not permitted; found 5"),
        ({"text": "t", "\n\x9bé": 5}, "\\n\\x9b\\xe9: Extra inputs are not permitted; found 5"),
        ({"text": "a\0"}, "text: expected text; found '\\x00' at offset 1"),
        ({"text": "t", "title": "\0"}, "title: expected text; found '\\x00' at offset 0"),
        (["text"], f"{OBJECT}; found a list"),
        (7, f"{OBJECT}; found 7"),
    ],
)
def test_a_wrong_body_is_refused_in_one_line(client, recommender, body, line):
    refused = client.post("/api/recommend", json=body)
    assert (refused.status_code, refused.json()) == (422, {"error": line})
    assert recommender.questions == []


def test_a_body_without_its_type_is_refused_with_what_to_send(client):
    refused = client.post("/api/recommend", content=b'{"text": "t"}')
    line = "the body is not said to be JSON; send content-type: application/json"
    assert (refused.status_code, refused.json()) == (422, {"error": line})


@pytest.mark.parametrize(
    "body",
    [
        b'{"text": "\\ud800"}',  # a lone surrogate
        b'{"text": "a", "\\udfff": 1}',
        b'{"text": "\xff\xfe"}',  # no UTF-8
        b'{"text": ',
        b"",
        b"[" * 100_000,
        b'{"text": "a", "top": ' + b"9" * 5000 + b"}",
        b'{"text": "a", "top": 1e999}',
        b'{"text": "a", "top": NaN}',
        b'{"text": "a", "place": 99999999999999999999999}',
        "naïve".encode("utf-16"),
    ],
)
def test_an_unreadable_body_is_refused_in_one_line(client, recommender, body):
    headers = {"Content-Type": "application/json"}
    refused = client.post("/api/recommend", content=body, headers=headers)
    assert refused.status_code in (400, 422)
    (line,) = refused.json().values()
    assert line.isascii() and "\n" not in line and len(line) < 200
    assert recommender.questions == []


def test_a_body_that_is_not_said_to_be_json_is_refused(client, recommender):
    # a form on another site could send it without asking the browser's permission
    headers = {"Content-Type": "text/plain"}
    refused = client.post("/api/recommend", content='{"text": "t"}', headers=headers)
    assert refused.status_code == 422
    assert recommender.questions == []


def test_titles_are_searched(client):
    found = client.get("/api/papers", params={"query": "title", "top": 2}).json()
    assert [paper["paper_id"] for paper in found["papers"]] == ["a", "b/1"]
    assert client.get("/api/papers").json() == {"error": "query: Field required"}
    refused = client.get("/api/papers", params={"query": "\0"})
    assert refused.status_code == 422


def test_bibtex_of_several_papers_comes_in_the_order_asked_for(client):
    answer = client.get("/api/bibtex", params={"paper_id": ["c", "b/1"]})
    assert answer.text == "@article{c}\n\n@article{b/1}\n"
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("paper_id", ["d", "", "../a", "a\0", "\ud800", "é" * 400])
def test_bibtex_of_an_unknown_paper_is_refused(client, paper_id):
    query = paper_id.encode("utf-8", "surrogatepass")
    refused = client.get("/api/bibtex", params={"paper_id": query})
    assert refused.status_code in (404, 422)
    assert refused.json()["error"].isascii()


def test_the_index_and_the_map_are_described(client):
    index = client.get("/api/index").json()
    assert (index["num_papers"], index["dim"]) == (3, 3)
    places = client.get("/api/map").json()
    assert places["paper_ids"] == ["a", "b/1", "c"]
    assert places["titles"][1] == "Title b/1"
    assert places["years"] == [2001, None, 2003]
    assert len(places["x"]) == len(places["y"]) == 3
    assert max(map(abs, places["x"] + places["y"])) == 1


def test_an_unknown_address_and_a_wrong_method_say_so(client):
    refused = client.get("/api/pape\N{LATIN SMALL LETTER R WITH CARON}")
    assert refused.status_code == 404
    assert refused.json() == {"error": "no such address: '/api/pape\\u0159'; see /openapi.json"}
    refused = client.get("/api/recommend")
    assert refused.status_code == 405
    assert refused.json() == {"error": "'/api/recommend' does not take GET; see /openapi.json"}


def test_wrong_input_found_by_the_recommender_is_its_one_line(client, recommender):
    recommender.error = CorpusError("text: found no sentence; expected one")
    refused = ask(client)
    assert (refused.status_code, refused.json()) == (422, {"error": str(recommender.error)})


def test_a_failure_shows_no_traceback(client, recommender):
    recommender.error = RuntimeError("secret detail")
    failed = ask(client)
    assert failed.status_code == 500
    assert failed.json() == {"error": "the server failed; its log says why"}
    recommender.error = None
    assert ask(client).status_code == 200


def test_the_api_describes_every_answer_it_gives(client):
    described = client.get("/openapi.json").json()
    assert set(described["paths"]) == {
        f"/api/{name}" for name in ("index", "recommend", "papers", "bibtex", "map")
    }
    for path in described["paths"].values():
        for operation in path.values():
            responses = operation["responses"]
            assert {"200", "401", "413", "422", "503"} <= set(responses)
            (problem,) = responses["422"]["content"].items()
            schema = {"$ref": "#/components/schemas/Problem"}
            assert problem == ("application/json", {"schema": schema})
    (kind,) = described["paths"]["/api/bibtex"]["get"]["responses"]["200"]["content"]
    assert kind == "text/plain"
    assert "HTTPValidationError" not in json.dumps(described)
    for page in ("/docs", "/redoc"):  # they would load scripts from elsewhere
        assert client.get(page).status_code == 404
