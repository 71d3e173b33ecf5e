"""Whole manuscripts over the API: their places, where keys go, and bibliographies."""

import pytest

from mpbert.recommending.recommender import Recommender
from tests.serving import conftest

TEXT = (
    "Pages have a layout [CITATION]. Markup attacks pages \\cite{attack} of others [?]. "
    "Faces are characters [@emoji], too."
)


def ask(client, **question):
    return conftest.ask(client, "/api/manuscript", **{"text": TEXT, **question})


def test_every_place_of_a_text_has_its_papers_and_a_site(planted):
    answer = ask(planted, top=3)
    assert answer["num_places"] == 4 and [p["place"] for p in answer["places"]] == [1, 2, 3, 4]
    first, cited, second, third = answer["places"]
    assert first["sentence"] == "Pages have a layout."
    assert TEXT[first["site"]["start"] : first["site"]["end"]] == "[CITATION]"
    frame = {key: first["site"][key] for key in ("before", "between", "behind")}
    assert frame == {"before": "\\cite{", "between": ",", "behind": "}"}
    # two in one clause: each has its site, both know what is cited there
    assert TEXT[: cited["site"]["end"]].endswith("\\cite{attack") and cited["keys"] == ["attack"]
    assert TEXT[second["site"]["start"] : second["site"]["end"]] == "[?]"
    assert second["cited"] == [{"key": "attack", "paper_id": "attack"}]
    assert "attack" not in [paper["paper_id"] for paper in second["papers"]]
    assert third["site"]["before"] == "; " and third["keys"] == ["emoji"]
    assert all(len(place["papers"]) == 3 for place in answer["places"])


def test_a_place_in_another_language_is_told_so(planted):
    text = "Пакеты часто теряются на длинных путях сети, если они слишком велики [CITATION]."
    (place,) = ask(planted, text=text)["places"]
    assert place["warning"] and place["warning"].isprintable()
    assert ask(planted, number=1)["places"][0]["warning"] == ""


def test_a_whole_paper_has_papers_to_read_as_the_recommender_answers(planted, planted_index):
    asked = {"title": "Attacks of pages", "abstract": "Markup attacks pages. Faces are drawn."}
    answer = planted.post("/api/paper", json={**asked, "top": 3, "accepted": ["attack"]}).json()
    recommender = Recommender(planted_index)
    expected = recommender.recommend_whole(**asked, top=3, accepted=["attack"])
    assert [p["paper_id"] for p in answer["papers"]] == [p.paper_id for p in expected]
    scores = [paper.score for paper in expected]
    assert [p["score"] for p in answer["papers"]] == pytest.approx(scores, rel=1e-6)
    first = recommender.paper(expected[0].paper_id)
    assert answer["papers"][0]["abstract"] == first.abstract and answer["warning"] == ""


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ({}, "the text holds no word; expected a title, an abstract, or both"),
        ({"title": "a", "text": "b"}, "text: Extra inputs are not permitted; found 'b'"),
        ({"title": "Pages", "accepted": ["none"]}, "no paper 'none' among the 8 of the index"),
    ],
)
def test_a_wrong_question_for_a_whole_paper_is_refused_in_one_line(planted, asked, line):
    refused = planted.post("/api/paper", json=asked)
    assert refused.status_code == 422 and refused.json()["error"].startswith(line)


def test_places_come_in_parts(planted):
    whole = ask(planted)["places"]
    parts = [ask(planted, first=n, number=1)["places"] for n in range(5)]
    assert [part[0] for part in parts[:4]] == whole and parts[4] == []


def test_a_paper_tells_what_is_known_of_it(planted):
    (place,) = ask(planted, number=1, keys={"my": "layout", "gone": "unknown"})["places"]
    assert all(0 <= paper["probability"] < 1 for paper in place["papers"])
    assert 0 < place["holds"] < 1
    papers = {paper["paper_id"]: paper for paper in place["papers"]}
    assert (papers["layout"]["cited"], papers["layout"]["cited_as"]) == ("listed", "my")
    assert (papers["attack"]["cited"], papers["attack"]["cited_as"]) == ("elsewhere", "attack")
    assert papers["review"]["cited"] is papers["review"]["doi"] is papers["review"]["url"] is None
    assert {"venue", "abstract", "year", "authors", "why"} <= set(papers["review"])


def test_a_list_of_references_in_the_text_is_known(planted):
    tex = (
        "\\begin{document}Pages \\cite{x} have a layout.\\begin{thebibliography}{9}"
        "\\bibitem{x} E. Five: Layout of pages. 2006.\\end{thebibliography}\\end{document}"
    )
    (place,) = ask(planted, text=tex, format="tex")["places"]
    assert place["cited"] == [{"key": "x", "paper_id": "layout"}]


def test_the_place_at_the_cursor_is_counted_in_characters(planted):
    text = "\N{GRINNING FACE} Pages have a layout. The end."
    (place,) = ask(planted, text=text, cursor=21)["places"]
    assert place["site"]["start"] == place["site"]["end"] == 21
    assert place["sentence"].endswith("Pages have a layout.")


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ({"cursor": 999}, "place is 999, beyond the text's 117 characters"),
        ({"format": "pdf"}, "format: Input should be 'text', 'tex', 'markdown', 'org', "
         "'rst' or 'typst'; found 'pdf'"),
        ({"number": 51}, "number: Input should be less than or equal to 50; found 51"),
        ({"keys": {str(n): "a" for n in range(20_001)}},
         "keys: found 20,001 keys; expected 20,000 or fewer"),
        ({"text": "12."}, "the text: found no [CITATION]; put [CITATION] where papers are to be "
         "recommended"),
    ],
)  # fmt: skip
def test_a_wrong_question_is_refused_in_one_line(planted, question, line):
    refused = planted.post("/api/manuscript", json={"text": TEXT, **question})
    assert (refused.status_code, refused.json()) == (422, {"error": line})


def test_entries_of_a_bibliography_are_matched(planted):
    entry = "@misc{{{key}, title={{{title}}}, year={year}}}\n"
    bibtex = entry.format(key="mine", title="Layout of pages", year=2006) + entry.format(
        key="attack", title="Nothing of that kind at all", year=1999
    )
    answer = planted.post("/api/bibliography", json={"bibtex": bibtex}).json()
    assert answer == {"num_entries": 2, "keys": {"mine": "layout"}, "problem": ""}
    broken = planted.post("/api/bibliography", json={"bibtex": bibtex + "@misc{x, title={"}).json()
    assert broken["keys"] == {"mine": "layout"} or broken["num_entries"] == 0
    assert "broken entry" in broken["problem"]
