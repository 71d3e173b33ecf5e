"""The API: what it answers, and how it refuses what is wrong."""

import html
import json
import re
import shlex
import threading

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

import mpbert
from mpbert.foundation.errors import CorpusError
from mpbert.recommending.recommender import Recommender
from mpbert.serving.app import create_app
from mpbert.serving.checks import CheckQuestion
from mpbert.serving.guard import Access
from mpbert.serving.limits import Limits
from mpbert.serving.manuscript_messages import BibliographyText, ManuscriptQuestion, WholeQuestion
from mpbert.serving.messages import Answer, Problem, Question, Questions
from mpbert.serving.missing import UnmarkedQuestion

SECRET = {"Authorization": "Bearer secret"}


def ask(client, **question):
    return client.post("/api/recommend", json={"text": "Some text.", **question})


def test_a_question_reaches_the_recommender_with_its_defaults(client, recommender):
    answer = ask(client, place=4, year=2010, accepted=["b/1"])
    assert answer.status_code == 200
    assert recommender.questions == [
        {
            **{"text": "Some text.", "place": 4, "title": "", "abstract": "", "top": 10},
            **{"year": 2010, "accepted": ["b/1"], "ranker": "both"},
            **{"since": None, "filters": []},
        }
    ]
    (paper,) = answer.json()["papers"]
    why = {"evidence": None, "citing": [], "companions": []}
    expected = {"paper_id": "a", "title": "Title a", "authors": ["A. Author"], "year": None}
    assert paper == {**expected, "doi": None, "score": 0.5, "probability": None, "why": why}
    assert answer.json()["milliseconds"] >= 0


def test_an_index_with_exact_matches_is_served(matching):
    recommender = Recommender(matching.index)
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
SMALL = "top: Input should be greater than or equal to 1; found 0"
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
        ({"text": "t", "top": 0}, SMALL),
        ({"text": "t", "top": 101}, "top: Input should be less than or equal to 100; found 101"),
        ({"text": "t", "place": -1}, NEGATIVE),
        ({"text": "t", "top": 0, "place": -1}, f"{SMALL} (and 1 more)"),
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
    assert places["topics"] == []
    assert max(map(abs, places["x"] + places["y"])) == 1


def test_an_unknown_address_and_a_wrong_method_say_so(client):
    refused = client.get("/api/pape\N{LATIN SMALL LETTER R WITH CARON}")
    assert refused.status_code == 404
    assert refused.json() == {"error": "no such address: '/api/pape\\u0159'; see /docs"}
    refused = client.get("/api/recommend")
    assert refused.status_code == 405
    assert refused.json() == {"error": "'/api/recommend' does not take GET; see /docs"}


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
    names = ("index", "recommend", "recommend-places", "papers", "bibtex", "map")
    names += ("manuscript", "paper", "bibliography", "document", "unmarked", "check")
    assert set(described["paths"]) == {"/health", *(f"/api/{name}" for name in names)}
    for path in described["paths"].values():
        for operation in path.values():
            responses = operation["responses"]
            assert {"200", "400", "401", "405", "413", "422", "500", "503"} <= set(responses)
            for code in set(responses) - {"200"}:
                (problem,) = responses[code]["content"].items()
                assert problem[0] == "application/json"
                assert problem[1]["schema"] == {"$ref": "#/components/schemas/Problem"}
                assert Problem.model_validate(problem[1]["example"])
    bibtex = described["paths"]["/api/bibtex"]["get"]["responses"]
    assert list(bibtex["200"]["content"]) == ["text/plain"] and "404" in bibtex
    assert "HTTPValidationError" not in json.dumps(described)
    assert "securitySchemes" not in described["components"] and "servers" not in described


def test_what_the_api_gives_as_examples_is_right(client):
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    models = {model.__name__: model for model in (Question, Questions, Answer)}
    models |= {"ManuscriptQuestion": ManuscriptQuestion, "BibliographyText": BibliographyText}
    models |= {"WholeQuestion": WholeQuestion, "UnmarkedQuestion": UnmarkedQuestion}
    models["CheckQuestion"] = CheckQuestion
    assert {name for name, schema in schemas.items() if "examples" in schema} == set(models)
    for name, model in models.items():
        for example in schemas[name]["examples"]:
            model.model_validate(example)
    for address, model in (
        *(("recommend", "Question"), ("recommend-places", "Questions")),
        *(("manuscript", "ManuscriptQuestion"), ("bibliography", "BibliographyText")),
        ("paper", "WholeQuestion"),
        *(("unmarked", "UnmarkedQuestion"), ("check", "CheckQuestion")),
    ):
        asked = {**schemas[model]["examples"][0]}
        assert client.post(f"/api/{address}", json=asked).status_code == 200


def test_the_api_says_that_it_wants_a_token(recommender):
    app = create_app(recommender, Limits(), Access(token="secret", base="/x"))
    described = TestClient(app).get("/openapi.json", headers=SECRET).json()
    (scheme,) = described["components"]["securitySchemes"].values()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert described["security"] == [{"token": []}]
    assert described["paths"]["/health"]["get"]["security"] == []
    assert "security" not in described["paths"]["/api/index"]["get"]
    assert described["servers"] == [{"url": "/x"}]


def test_the_description_is_a_page_that_loads_nothing_from_elsewhere(recommender):
    app = create_app(recommender, Limits(), Access(token="secret", base="/x"))
    answer = TestClient(app).get("/x/docs")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/html")
    assert set(re.findall(r'(?:src|href)="([^"#]*)"', answer.text)) == {
        *("static/icon.svg", "static/style.css", ".", "openapi.json")
    }
    assert not re.search(r"<script|<style|\sstyle=|\son\w+=", answer.text)
    found = re.findall(r"<h2>(.*?)</h2>.*?<pre>(.*?)</pre>", answer.text, re.DOTALL)
    commands = {name: shlex.split(html.unescape(command)) for name, command in found}
    assert commands["GET /api/papers"][:3] == [
        *("curl", "-s", "http://testserver/x/api/papers?query=mtu")
    ]
    words = commands["POST /api/recommend-places"]
    assert "Authorization: Bearer TOKEN" in words
    assert Questions.model_validate_json(words[-1]).places == [20, 63]
    assert "Authorization: Bearer TOKEN" not in commands["GET /health"]


def test_health_tells_what_is_served_to_anybody_and_always(recommender):
    app = create_app(recommender, Limits(max_requests=1), Access(token="secret"))
    with TestClient(app) as client:
        recommender.may_answer.clear()
        asking = threading.Thread(
            target=lambda: client.post("/api/recommend", json={"text": "t"}, headers=SECRET)
        )
        asking.start()
        assert recommender.has_begun.wait(300)
        assert client.get("/api/index", headers=SECRET).status_code == 503
        health = client.get("/health")
        recommender.may_answer.set()
        asking.join(300)
    assert health.status_code == 200
    expected = {"status": "ok", "problem": "", "papers": 3, "index_id": ""}
    assert health.json() == {**expected, "version": mpbert.__version__}


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/docs", "/health", "/openapi.json", "/static/app.js", "/api/index", "/api/map"),
        *("/api/papers?query=title", "/api/bibtex?paper_id=a", "/api/nothing"),
    ],
)
def test_head_answers_as_get_without_the_body(client, path):
    head, get = client.head(path), client.get(path)
    assert head.status_code == get.status_code and head.headers == get.headers
    assert head.content == b"" and int(head.headers["content-length"]) == len(get.content) > 0


def test_what_a_get_address_takes_is_told(client):
    refused = client.post("/api/index")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")


def test_several_places_are_asked_at_once_in_their_order(client, recommender):
    asked = {"text": "Some text.", "places": [4, 10, 0], "top": 2, "year": 2001}
    answer = client.post("/api/recommend-places", json=asked)
    assert answer.status_code == 200
    assert [found["place"] for found in answer.json()["places"]] == [4, 10, 0]
    assert all(found["papers"][0]["paper_id"] == "a" for found in answer.json()["places"])
    assert [question["place"] for question in recommender.questions] == [4, 10, 0]
    assert all(question["top"] == 2 for question in recommender.questions)


@pytest.mark.parametrize(
    ("places", "line"),
    [
        (
            [0] * 51,
            "places: found 51 places; expected 1 to 50, send more in a request of their own",
        ),
        ([], "places: found 0 places; expected 1 to 50, send more in a request of their own"),
        ([0, 11], "place is 11, beyond the text's 10 characters"),
        ([0, -1], "places.1: Input should be greater than or equal to 0; found -1"),
    ],
)
def test_too_many_places_are_refused_in_one_line(client, recommender, places, line):
    asked = {"text": "Some text.", "places": places}
    refused = client.post("/api/recommend-places", json=asked)
    assert (refused.status_code, refused.json()) == (422, {"error": line})
    assert recommender.questions == []


@pytest.mark.parametrize("prefix", ["/papers/x", ""])
def test_all_addresses_stand_below_the_base_path_and_a_proxy_may_cut_it_off(recommender, prefix):
    client = TestClient(create_app(recommender, Limits(), Access(base="/papers/x")))
    for path in ("/", "/docs", "/health", "/static/app.js", "/api/index", "/openapi.json"):
        assert client.get(prefix + path).status_code == 200, path
    refused = client.get(f"{prefix}/api/nothing")
    assert refused.json() == {"error": "no such address: '/api/nothing'; see /papers/x/docs"}


def test_the_base_path_alone_leads_to_the_page(recommender):
    client = TestClient(create_app(recommender, Limits(), Access(base="/x")))
    answer = client.get("/x", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "/x/")
    assert client.get("/xy").status_code == 404


def test_answers_past_the_framework_equal_those_through_it(client, recommender):
    asked = {"text": "Path MTU discovery", "place": 4, "top": 2, "accepted": ["a"], "year": 2015}
    straight = client.post("/api/recommend", json=asked)
    headers = {"content-type": "application/json; charset=utf-8"}  # unusual, so not straight
    through = client.post("/api/recommend", content=straight.request.content, headers=headers)
    answers = [answer.json() | {"milliseconds": 0} for answer in (straight, through)]
    assert straight.status_code == through.status_code == 200
    assert answers[0] == answers[1]
    headers = [{**answer.headers, "content-length": ""} for answer in (straight, through)]
    assert headers[0] == headers[1]
    assert recommender.questions[0] == recommender.questions[1]


def test_a_question_takes_the_straight_way(client, monkeypatch):
    monkeypatch.setattr(FastAPI, "__call__", lambda *_: pytest.fail("through the framework"))
    assert client.post("/api/recommend", json={"text": "t"}).status_code == 200
