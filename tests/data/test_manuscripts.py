"""Tests of manuscripts with marked places."""

import json
from pathlib import Path

import pytest

from mpbert.data.manuscripts.files import read_manuscript, read_manuscript_file
from mpbert.data.manuscripts.sentences import check_places
from mpbert.data.text import find_marker_like
from mpbert.errors import ManuscriptError

TEXT = (
    "Parsing is solved (Koo et al., 2008). We use trees [CITATION] as usual. Nothing here.\n\n"
    "A second paragraph [12] follows RFC 2119. Two in one [CITATION], really [CITATION]."
)


def test_each_place_is_the_number_of_its_sentence():
    manuscript = read_manuscript(TEXT, Path("text"))
    assert manuscript.places.tolist() == [1, 4, 4]
    assert manuscript.sentences[1] == "We use trees as usual."


def test_marks_and_markers_of_other_papers_are_gone():
    manuscript = read_manuscript(TEXT, Path("text"))
    joined = " ".join(manuscript.sentences)
    assert "CITATION" not in joined and "\ue000" not in joined
    assert "Koo" not in joined and "2008" not in joined and "2119" not in joined
    assert not any(find_marker_like(sentence) for sentence in manuscript.sentences)


def test_title_and_abstract_of_json_stand_before_the_text():
    content = {"title": "On trees", "abstract": "We study trees.", "text": "See [CITATION]."}
    manuscript = read_manuscript(json.dumps(content), Path("x.json"))
    assert manuscript.sentences[:2] == ["On trees", "We study trees."]
    assert manuscript.places.tolist() == [2]


def test_a_text_without_a_place_is_refused_with_the_remedy():
    with pytest.raises(ManuscriptError, match=r"x\.txt: found no \[CITATION\]; put \[CITATION\]"):
        check_places(read_manuscript("Nothing to cite.", Path("x.txt")), "x.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"title": 3, "text": "[CITATION]"}', "'title' is a int; expected a string"),
        ('{"title": "x"', "x.json: is no JSON"),
    ],
)
def test_wrong_json_gives_one_line(text, message):
    with pytest.raises(ManuscriptError, match=message):
        read_manuscript(text, Path("x.json"))


def test_broken_utf8_and_missing_files_give_one_line(tmp_path: Path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"caf\xe9 [CITATION]")
    with pytest.raises(ManuscriptError, match="byte 3 is not UTF-8"):
        read_manuscript_file(path)
    with pytest.raises(ManuscriptError, match="No such file or directory; expected a manuscript"):
        read_manuscript_file(tmp_path / "absent.txt")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Koo, Carreras, and Collins (2008) parse well [CITATION].", "parse well."),
        ("We follow Koo et al. here [CITATION].", "We follow here."),
        ("This was shown by van der Plas and Tiedemann (2006) [CITATION].", "This was shown by."),
    ],
)
def test_all_names_of_a_citation_in_the_sentence_are_gone(text, expected):
    assert read_manuscript(text, Path("text")).sentences == [expected]
