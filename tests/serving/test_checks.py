"""A check of what a manuscript cites, over the API."""

import pytest
from starlette.testclient import TestClient

from mpbert.recommending.checking.checking import check_text
from mpbert.recommending.recommender import Recommender
from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits
from tests.serving import conftest

TEXT = "Faces are drawn from characters \\cite{attack}.\nPages have a layout \\cite{layuot}."
BIBTEX = (
    "@misc{attack, title={Markup that attacks}, year=2003}\n"
    "@misc{layout, title={Layout of pages}, year=2006}\n"
)


def ask(client, **question):
    return conftest.ask(client, "/api/check", **question)


def test_findings_name_manuscript_or_bibliography_and_the_line(planted):
    found = ask(planted, text=TEXT, format="tex", bibtex=BIBTEX, year=2010)
    places = [(one["kind"], one["key"], one["file"], one["line"]) for one in found["findings"]]
    assert places == [
        ("undefined-key", "layuot", "manuscript", 2),
        ("unused-entry", "layout", "bibliography", 2),
    ]
    assert found["findings"][0]["severity"] == "error"
    assert found["findings"][0]["other_key"] == "layout"


def test_too_few_papers_are_no_measure_and_keys_without_a_paper_are_told(planted):
    found = ask(planted, text=TEXT, bibtex=BIBTEX)
    assert found["citations"] == [] and found["unchecked"] == ["attack", "layuot"]


def test_it_answers_as_the_recommender(words_client):
    client, recommender = words_client
    text = "Packets are transmitted over Ethernet \\cite{RFC2464}. Mail is old \\cite{none}."
    found, expected = ask(client, text=text), check_text(recommender, text)
    (one,) = found["citations"]
    assert one == {
        key: value for key, value in expected.citations[0].as_json().items() if key != "path"
    }
    rest = ask(client, text=text, first=1)
    assert rest["citations"] == [] and rest["num_places"] == 2
    assert one["verdict"] in ("fits", "doubtful") and found["unchecked"] == ["none"]


@pytest.fixture(scope="module")
def words_client(rfc_index):
    recommender = Recommender(rfc_index)
    with TestClient(create_app(recommender, Limits(seconds=60))) as client:
        yield client, recommender


@pytest.mark.parametrize("question", [{}, {"text": "a", "format": "docx"}, {"text": "a", "top": 1}])
def test_a_wrong_question_is_refused_in_one_line(planted, question):
    refused = planted.post("/api/check", json=question)
    assert refused.status_code == 422 and "\n" not in refused.json()["error"]
