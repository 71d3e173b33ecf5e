"""What protects the page and the API: headers, host name, token, files of our own alone."""

import re

import pytest
from starlette.testclient import TestClient

from mpbert.serving.app import STATIC, create_app
from mpbert.serving.guard import LOOPBACK, Access
from mpbert.serving.limits import Limits

ADDRESSES = [
    "/",
    "/docs",
    "/health",
    "/static/app.js",
    "/api/index",
    "/api/nothing",
    "/static/nothing",
    "/api/bibtex",
]


def client_of(recommender, **settings):
    base = settings.pop("base_url", "http://127.0.0.1:8000")
    return TestClient(
        create_app(recommender, Limits(), Access(**settings)),
        base_url=base,
        raise_server_exceptions=False,
    )


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_answer_carries_the_headers(client, address):
    headers = client.get(address).headers
    policy = headers["content-security-policy"].split("; ")
    assert "default-src 'none'" in policy and "script-src 'self'" in policy
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers


def test_a_failure_carries_the_headers_too(client, recommender):
    recommender.error = RuntimeError()
    failed = client.post("/api/recommend", json={"text": "t"})
    assert failed.status_code == 500
    assert failed.headers["x-content-type-options"] == "nosniff"


def test_pages_of_an_origin_that_is_named_may_read_the_answers(recommender):
    origin, asked = "https://example.org", "Authorization, Content-Type"
    client = client_of(recommender, token="secret", origins=(origin, "http://[::1]:3000"))
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": asked}
    allowed = client.options("/api/recommend", headers={"Origin": origin, **preflight})
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == origin
    assert "POST" in allowed.headers["access-control-allow-methods"]
    headers = {"Origin": origin, "Authorization": "Bearer secret"}
    for path, code in (("/api/index", 200), ("/api/bibtex", 422), ("/api/nothing", 404)):
        answer = client.get(path, headers=headers)
        assert answer.status_code == code
        assert answer.headers["access-control-allow-origin"] == origin
        assert "Origin" in answer.headers["vary"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    refused = client.get("/api/index", headers={"Origin": origin})
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, origin)
    for other in ("https://evil.example", "https://example.org.evil.example", "null"):
        answer = client.get("/api/index", headers={**headers, "Origin": other})
        assert "access-control-allow-origin" not in answer.headers
        refused = client.options("/api/recommend", headers={"Origin": other, **preflight})
        assert refused.status_code == 400


@pytest.mark.parametrize("name", ["127.0.0.1:8000", "localhost", "LOCALHOST:80", "[::1]:8000"])
def test_the_names_of_this_machine_are_accepted(recommender, name):
    client = client_of(recommender, hosts=LOOPBACK)
    assert client.get("/api/index", headers={"Host": name}).status_code == 200


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1.evil.example:8000", "", ":80", "[::1"])
def test_other_names_are_refused(recommender, name):
    refused = client_of(recommender, hosts=LOOPBACK).get("/api/index", headers={"Host": name})
    assert refused.status_code == 400
    line = "wrong host name; expected one of 127.0.0.1, [::1], localhost"
    assert refused.json() == {"error": line}
    assert client_of(recommender).get("/api/index", headers={"Host": name}).status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        *(None, "", "Bearer", "Bearer ", "Bearer wrong", "Bearer secre", "Bearer secrets"),
        *("secret", "Basic secret", b"Bearer \xff", "Bearer secret secret"),
    ],
)
def test_without_the_token_there_is_no_answer(recommender, sent):
    client = client_of(recommender, token="secret")
    headers = {} if sent is None else {"Authorization": sent}
    for address in ("/api/index", "/openapi.json", "/api/nothing"):
        refused = client.get(address, headers=headers)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        assert "token" in refused.json()["error"]
    refused = client.post("/api/recommend", json={"text": "t"}, headers=headers)
    assert refused.status_code == 401
    assert recommender.questions == []


def test_with_the_token_there_is_an_answer_and_the_page_needs_none(recommender):
    client = client_of(recommender, token="secret")
    for kind in ("Bearer", "bearer"):
        headers = {"Authorization": f"{kind} secret"}
        assert client.get("/api/index", headers=headers).status_code == 200
    for address in ("/", "/static/app.js", "/docs", "/health"):
        assert client.get(address).status_code == 200


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/x"]
)
def test_no_file_outside_is_given(client, path):
    refused = client.get(path)
    assert refused.status_code == 404
    assert set(refused.json()) == {"error"}


def test_the_page_loads_nothing_from_elsewhere_and_runs_nothing_inline():
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    files = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert {file for file in files if not file.startswith(("static/", "#", "docs"))} == set()
    assert not re.search(r"<script(?! type=\"module\" src=)|<style|\sstyle=|\son\w+=", page)
    for file in STATIC.iterdir():
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "//" not in re.sub(r"^\s*//.*|\s// .*", "", text, flags=re.M), file.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)


def test_every_file_that_the_page_names_exists_and_none_is_left_over():
    texts = "".join(f.read_text(encoding="utf-8") for f in STATIC.iterdir())
    named = set(re.findall(r'"(?:static|\.)/([\w.]+)"', texts))
    assert named | {"index.html"} == {file.name for file in STATIC.iterdir()}
