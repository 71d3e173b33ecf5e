"""The passage of a paper that supports a place: by pencil, by direction, and where none does."""

import dataclasses
import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.foundation.manifest import read_manifest, replace_manifest
from mpbert.recommending import passage_scores, sentence_codes
from mpbert.recommending.columns import ColumnTable, TextColumn
from mpbert.recommending.directory import read_index
from mpbert.recommending.encoders import encoder_of_index
from mpbert.recommending.recommender import Recommender
from tests.recommending.given import GivenRecommender

PDF = Path(__file__).parents[1] / "fixtures" / "pdf"
SUPPORTS = "Routers bound the queue of letters by backpressure."
PAPERS = {
    "letters": (
        ["We study the post.", "Letters wait.", SUPPORTS, "It is the end of it."],
        ["The post of towns is slow.", "Queues of the post grow and grow."],
    ),
    "names": (["Names of the hosts are the theme.", "It is the resolver that asks."], []),
    "größe": ([], ["Die ÜBERTRAGUNG der Größe „Ω“ ist teuer.", "Es ist gut."]),
    "mail": (["Mail is the theme of it.", "The rest is of no use."], ["It is the post of it."]),
}
ASKED = "The queues of letters are bound by backpressure"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """An index of four papers."""
    folder = tmp_path_factory.mktemp("evidence")
    lines = [
        json.dumps(
            {
                **{"paper_id": paper_id, "title": f"On {paper_id}", "year": 2001},
                "abstract": abstract,
                "sections": [{"sentences": body}] if body else [],
            }
        )
        for paper_id, (abstract, body) in PAPERS.items()
    ]
    (folder / "papers.jsonl").write_text("\n".join(lines))
    assert main(["index", str(folder / "papers.jsonl"), str(folder / "index")]) == 0
    return folder / "index"


def with_bodies(path, change):
    data = read_index(path)
    bodies = data.tables.bodies
    if change is not None:
        texts = [change(text) for text in bodies["body"].tolist()]
        bodies = ColumnTable({"body": TextColumn.of(texts)})
    tables = dataclasses.replace(data.tables, bodies=None if change is None else bodies)
    return GivenRecommender(dataclasses.replace(data, tables=tables), encoder_of_index(path, data))


def passage(recommender, text, paper_id="letters"):
    found = {paper.paper_id: paper for paper in recommender.recommend(text)}
    return found[paper_id].why.evidence


def test_the_third_sentence_of_an_abstract_supports_the_place(index):
    found = passage(Recommender(index), ASKED)
    assert (found.text, found.where, found.page) == (SUPPORTS, "abstract", None)
    assert found.words == ("bound", "queue", "letters", "by", "backpressure")
    # one of four papers holds each, "the" and "of" three; three times in the question, once here
    one, three = math.log(1 + 3.5 / 1.5), math.log(1 + 1.5 / 3.5)
    score = (1 + math.log(3)) * (5 * one + 2 * three) / (1 + 8 / 20)
    assert found.score == pytest.approx(score)
    (paper,) = Recommender(index).recommend(ASKED, top=1)
    assert paper.reasons[0] == f"it says, abstract: {SUPPORTS}"


def test_a_sentence_that_shares_more_is_preferred_and_one_shared_word_is_not_enough(index):
    recommender = Recommender(index)
    assert passage(recommender, "Queues of towns grow").text == "Queues of the post grow and grow."
    assert passage(recommender, "The backpressure of hosts and names") is None
    assert passage(recommender, "Backpressure").text == SUPPORTS  # the place has one
    assert passage(recommender, "It is the backpressure of it").text == SUPPORTS


def test_small_words_support_nothing(index):
    found = Recommender(index).recommend("It is the end and it is of no use")
    passages = {paper.paper_id: paper.why.evidence for paper in found}
    assert passages["letters"] is None  # which shares "end" alone
    assert passages["mail"].words == ("no", "use")


def test_words_of_any_script_are_found(index):
    found = passage(Recommender(index), "Die Größe der übertragung von ω", "größe")
    assert found.text == "Die ÜBERTRAGUNG der Größe „Ω“ ist teuer." and found.where == "body"
    assert found.words == ("die", "übertragung", "der", "größe", "ω")


def test_an_older_index_gives_the_same_and_one_without_bodies_those_of_abstracts(index):
    new, asked = Recommender(index), ["Queues of towns grow", ASKED]
    old = with_bodies(index, lambda text: text.replace("\n", " "))
    for text in asked:
        assert passage(old, text) == passage(new, text)
    bare = with_bodies(index, None)
    assert passage(bare, asked[0]) is None
    assert passage(bare, ASKED).text == SUPPORTS


def test_the_passage_of_a_pdf_file_has_its_page(tmp_path, capsys):
    (tmp_path / "files").mkdir()
    for name in ("names", "queues"):
        shutil.copy(PDF / f"{name}.pdf", tmp_path / "files")
    assert main(["index", str(tmp_path / "files"), str(tmp_path / "index")]) == 0
    found = passage(
        Recommender(tmp_path / "index"), "Tables are kept by reliable routers", "queues"
    )
    assert found.text == "Tables are kept by reliable routers."
    assert (found.where, found.page, found.place) == ("body", 2, "page 2")
    (tmp_path / "a.txt").write_text("Tables are kept by reliable routers [CITATION].")
    asked = ["recommend", str(tmp_path / "index"), str(tmp_path / "a.txt")]
    capsys.readouterr()
    assert main(asked) == 0
    line = "        it says, page 2: Tables are kept by reliable routers.\n"
    assert line in capsys.readouterr().out
    assert main([*asked, "--format", "json"]) == 0
    (place,) = json.loads(capsys.readouterr().out)
    told = {paper["paper_id"]: paper["why"]["evidence"] for paper in place["papers"]}
    assert told["queues"] == {**dataclasses.asdict(found), "words": list(found.words)}


def test_passages_change_neither_order_nor_scores(matching):
    recommender = Recommender(matching.index)
    text = recommender._data.tables.contexts["text"][40]
    asked = recommender.asked(text, top=10)
    ranking = recommender.rank(asked.questions, asked.allowed, 10)
    answer = recommender.answer(asked)
    rows = [recommender.row_of(paper.paper_id) for paper in answer]
    assert rows == ranking.rows[0, :10].tolist()
    assert [paper.score for paper in answer] == ranking.scores[0, :10].tolist()
    assert any(paper.why.evidence for paper in answer)
    bodies, abstracts = recommender._data.tables.bodies["body"], recommender._data.tables.papers
    for row, paper in zip(rows, answer, strict=True):
        if (found := paper.why.evidence) is not None:
            source = bodies if found.where == "body" else abstracts["abstract"]
            assert found.text in source[row]


def test_texts_decide_where_words_share_a_code(index, monkeypatch):
    asked = ["Queues of towns grow", ASKED, "It is the end and it is of no use"]
    found = [passage(Recommender(index), text) for text in asked]
    for module in (sentence_codes, passage_scores):
        monkeypatch.setattr(module, "code_of_stem", lambda of_stem: 1 + len(of_stem) % 3)
    sentence_codes._code.cache_clear()
    without_codes = with_bodies(index, lambda text: text)
    assert [passage(without_codes, text) for text in asked] == found
    sentence_codes._code.cache_clear()


def test_codes_stand_where_sentences_are_told_by_their_sizes():
    codes = sentence_codes.codes_column(
        [
            ("On it", "Häfen. Of 2.", "The ports.\n\fA port."),
            ("On it", "On it.", "Ports."),  # the abstract is the title
            ("On it", "Ports.", ""),
            ("On it", "Ports.  Of 2.", "Ports."),
            ("On it", "Ports.", "a" * 65_535),
        ]
    )
    a, port, the, of, two, hafen = map(
        sentence_codes.code_of_stem, ("a", "port", "the", "of", "2", "häfen")
    )
    first = [hafen, 0, 8, of, two, 0, 6, the, port, 0, 11, 0, 1, a, port, 0, 8]
    assert codes.tolist() == [first, [port, 0, 7], [], [], []]
    assert codes.values.dtype == np.uint16


def test_an_index_that_an_earlier_version_made_answers_the_same_and_grows(index, tmp_path):
    old = shutil.copytree(index, tmp_path / "old")
    for file in old.glob("data.1/bodies.codes.*"):
        file.unlink()
    manifest = read_manifest(old)
    replace_manifest(old, manifest["counts"], ["data.1"], {})
    assert passage(Recommender(old), ASKED) == passage(Recommender(index), ASKED)
    line = {"paper_id": "new", "title": "On new", "year": 2002, "abstract": [SUPPORTS]}
    (tmp_path / "new.jsonl").write_text(json.dumps(line))
    for each in (old, shutil.copytree(index, tmp_path / "index")):
        assert main(["add", str(each), str(tmp_path / "new.jsonl")]) == 0
    assert list((tmp_path / "index").glob("data.2/bodies.codes.*"))
    for paper_id in ("new", "letters"):
        found = [
            passage(Recommender(tmp_path / name), ASKED, paper_id) for name in ("old", "index")
        ]
        assert found[0] == found[1] and found[0].text == SUPPORTS
