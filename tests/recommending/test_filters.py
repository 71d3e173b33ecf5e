"""Answers of a part of the library: by tag, by collection, by year."""

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from mpbert.cli import main
from mpbert.corpus.formats.base import READERS
from mpbert.foundation.errors import ConfigError
from mpbert.recommending.recommender import Recommender
from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits

FIXTURES = Path(__file__).parents[1] / "fixtures"
BIB = """
@article{old, title = {Routing of letters}, year = 1990, keywords = {Mail, to read, queues}}
@article{new, title = {Routing of stamps}, year = 2010, keywords = {mail; G{\\"o}del}}
@article{undated, title = {Routing of names}, groups = {Thesis}}
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filters")
    (folder / "library.bib").write_text(BIB)
    assert main(["index", str(folder / "library.bib"), str(folder / "index")]) == 0
    return folder / "index"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, {"old", "new", "undated"}),
        ({"filters": ["tag:MAIL"]}, {"old", "new"}),
        ({"filters": ["tag:queues"]}, {"old"}),
        ({"filters": ["tag:g\u00f6del", "tag:mail"]}, {"new"}),
        ({"filters": ["tag:g\u00f6del", "tag:queues"]}, set()),
        ({"filters": ["collection:thesis"]}, {"undated"}),
        ({"since": 2000}, {"new", "undated"}),
        ({"since": 1990, "year": 1990}, {"old", "undated"}),
    ],
)
def test_papers_with_what_is_wanted_alone_are_answered(wanted, expected, index):
    recommender = Recommender(index)
    for found in (
        recommender.recommend("Routing [CITATION].", **wanted),
        recommender.recommend_whole("Routing of mail", **wanted),
    ):
        assert {paper.paper_id for paper in found} == expected


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            {"filters": ["tag:mails"]},
            r"filter 'tag:mails': no paper .* one of its 4 tags, such as tag:m",
        ),
        ({"filters": ["mail"]}, r"filter 'mail': expected tag:NAME or collection:NAME"),
        ({"filters": "tag:mail"}, r"filters is one text"),
        ({"since": "2000"}, r"since is '2000'; expected a whole number"),
    ],
)
def test_a_filter_that_is_none_is_refused_with_what_is_near(wanted, message, index):
    with pytest.raises(ConfigError, match=message):
        Recommender(index).recommend("Routing [CITATION].", **wanted)


def test_the_command_and_the_interface_take_them(index, tmp_path, capsys):
    (tmp_path / "draft.txt").write_text("Routing is hard [CITATION].")
    words = ["recommend", str(index), str(tmp_path / "draft.txt"), "--format", "json"]
    for more, expected in (
        (["--filter", "tag:mail", "tag:to read"], {"old"}),
        (["--collection", "Thesis"], {"undated"}),
        (["--since", "2005", "--filter", "tag:mail"], {"new"}),
    ):
        assert main([*words, *more]) == 0
        (place,) = json.loads(capsys.readouterr().out)
        assert {paper["paper_id"] for paper in place["papers"]} == expected
    with TestClient(create_app(Recommender(index), Limits(seconds=120))) as client:
        question = {"text": "Routing", "filters": ["collection:Thesis"], "since": 1999}
        answer = client.post("/api/recommend", json=question)
        assert [paper["paper_id"] for paper in answer.json()["papers"]] == ["undated"]
        for label in ("tag:none", "none"):
            refused = client.post("/api/recommend", json={**question, "filters": [label]})
            assert refused.status_code in (400, 422)


@pytest.mark.parametrize(
    ("fixture", "expected"),
    [
        ("zotero", {"tag:queues", "tag:to read", "collection:Thesis", "collection:Chapter 2"}),
        ("ris", {"tag:queues"}),
        ("endnote", {"tag:queues", "tag:machines", "tag:mail"}),
        ("pubmed", {"tag:queues", "tag:Mail"}),
        ("wos", {"tag:queues", "tag:letters"}),
        ("spreadsheet", {"tag:queues", "tag:letters"}),
        ("arxiv", {"tag:cs.NI", "tag:math.PR", "tag:math.GR"}),
    ],
)
def test_tags_of_each_format_are_kept(fixture, expected):
    papers = READERS[fixture]().read(FIXTURES / fixture)
    assert {label for paper in papers for label in paper.published.labels} == expected


def test_an_index_that_grows_keeps_its_labels(index, tmp_path):
    library = tmp_path / "more.bib"
    library.write_text(BIB + "@book{more, title = {Routing again}, keywords = {queues}}")
    assert main(["add", str(index), str(library)]) == 0
    found = Recommender(index).recommend("Routing [CITATION].", filters=["tag:queues"])
    assert {paper.paper_id for paper in found} == {"old", "more"}
    assert Recommender(index).paper("new").published.labels == ("tag:G\u00f6del", "tag:mail")
