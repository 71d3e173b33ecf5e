"""Sentences that lack a citation, over the API."""

import pytest

from mpbert.recommending.recommender import Recommender
from tests.serving import conftest

CLAIM = "It has been shown that markup attacks the pages of others"
TEXT = f"{CLAIM}.\nPages have a layout {{}}. We now say what we did with it."
FORMS = {  # how a citation stands in each, and what is written before a key
    "text": ("\\cite{layout}", "\\cite{"),
    "tex": ("\\cite{layout}", "\\cite{"),
    "markdown": ("[@layout]", "["),
    "org": ("[cite:@layout]", "[cite:"),
    "typst": ("@layout", ""),
}


def ask(client, **question):
    return conftest.ask(client, "/api/unmarked", **question)["sentences"]


@pytest.mark.parametrize("form", FORMS)
def test_a_claim_comes_first_and_its_end_is_a_place(planted, form):
    cited, before = FORMS[form]
    text = TEXT.format(cited)
    first, second = ask(planted, text=text, format=form, top=3)
    assert first["sentence"].startswith(CLAIM) and first["line"] == 1
    assert first["probability"] > second["probability"] and second["line"] == 2
    assert first["site"]["start"] == first["site"]["end"] == text.index(CLAIM) + len(CLAIM)
    assert first["site"]["before"] == before and len(first["papers"]) == 3
    assert {paper["cited"] for paper in first["papers"]} <= {"elsewhere", None}


def test_it_answers_as_the_recommender_and_knows_the_keys_of_a_bibliography(planted, planted_index):
    text = f"{CLAIM} \N{GRINNING FACE} today. Faces are drawn [?]."
    (found,) = ask(planted, text=text, top=8, keys={"mine": "attack"}, title="Attacks")
    (expected,) = Recommender(planted_index).find_unmarked(text, top=8)
    assert text[: found["site"]["start"]].endswith("today")
    own = next(paper for paper in found["papers"] if paper["paper_id"] == "attack")
    assert (own["cited"], own["cited_as"]) == ("listed", "mine")
    ids = {paper.paper_id for paper in expected.answer.papers}
    assert {paper["paper_id"] for paper in found["papers"]} == ids


def test_no_key_goes_into_a_formula(planted):
    (found,) = ask(planted, text=f"{CLAIM} $a$.", format="tex")
    assert found["line"] == 1 and found["site"] is None


@pytest.mark.parametrize(
    "question", [{}, {"text": "a", "sentences": 0}, {"text": "a", "cursor": 1}]
)
def test_a_wrong_question_is_refused_in_one_line(planted, question):
    refused = planted.post("/api/unmarked", json=question)
    assert refused.status_code == 422 and "\n" not in refused.json()["error"]
