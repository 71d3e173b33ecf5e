"""Texts that were written to take a reader's time or memory."""

import gzip
import json
from collections import Counter

import pytest

from mpbert.citations.author_year import find_citations
from mpbert.citations.records import RawSentence
from mpbert.corpus.build import iter_clean_papers
from mpbert.corpus.formats.base import READERS
from mpbert.corpus.raw import files as reader_files
from mpbert.corpus.raw.spans import plain
from mpbert.corpus.raw.values import reading
from mpbert.corpus.records import RawPaper, RawSection, checked
from mpbert.corpus.text import LONGEST_PARAGRAPH, find_marker_like, split_sentences
from mpbert.foundation.engines import OwnProcesses
from mpbert.foundation.errors import CorpusError

UNITS = [
    *(
        ".",
        ". ",
        "A. ",
        "e.g. X ",
        "(",
        "[",
        " ",
        "a",
        "A'",
        "O'",
        "1999 ",
        "Smith 1999 ",
        "(Smith ",
    ),
    *("Smith and ", "1, ", "[1 ", ",", "et al. ", "van ", "\n \n", "in ", "'s "),
]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("function", [split_sentences, find_marker_like, find_citations])
def test_patterns_end_soon_on_a_text_that_repeats_itself(function, unit, limited):
    with limited(3.0):  # it took the square or the third power of the length
        for start in ("", "(A 1999 ", "Koo (1999) "):
            function(start + unit * (20_000 // len(unit)) + " 1999 x")


def test_a_sentence_of_10_megabytes_is_dropped_and_counted(tmp_path, limited):
    long = {"paper_id": "a", "title": "A", "year": 2000, "abstract": ["It is.", "(" * 10_000_000]}
    (tmp_path / "a.jsonl").write_text(json.dumps(long))
    counts = Counter()
    with limited(3.0):
        (paper,) = iter_clean_papers(
            READERS["jsonl"](), tmp_path / "a.jsonl", OwnProcesses(1), counts
        )
    assert paper.sentences == ["It is."]
    assert counts["sentences_dropped_as_too_long"] == 1


def test_a_paragraph_that_is_too_long_is_dropped_and_counted():
    counts = Counter()
    assert plain("It is. " * (LONGEST_PARAGRAPH // 7 + 1), counts) == ()
    assert counts == {"paragraphs_dropped_as_too_long": 1}


def test_a_line_and_a_file_that_never_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reader_files, "LARGEST", 1000)
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b"0" * 1001))
    with pytest.raises(CorpusError, match=r"a\.json\.gz:1: found a line of more than 1,000 bytes"):
        list(reader_files.read_lines(path))
    with pytest.raises(CorpusError, match=r"a\.json\.gz: found a file of more than 1,000 bytes"):
        reader_files.read_whole(path)


def paper(**fields) -> RawPaper:
    good = {"paper_id": "a", "title": "T", "year": 2000, "abstract": (), "sections": ()}
    return RawPaper(**{**good, **fields})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"paper_id": 7}, "paper '7': found '7' in paper_id; expected a text"),
        ({"paper_id": "a b"}, "in paper_id; expected a text without white space"),
        ({"paper_id": "\ud800"}, "in paper_id"),
        ({"title": ["T"]}, "found .* in title; expected a text"),
        ({"authors": ("A", 1)}, "found '1' in authors; expected a text"),
        ({"references": (None,)}, "in references"),
        ({"year": 99999}, "found '99999' in year; expected 1 to 9999"),
        ({"year": -5}, "found '-5' in year"),
        ({"sections": (RawSection("", ()),) * 32_768}, "found '32768' in sections"),
    ],
)
def test_what_a_table_cannot_hold_is_refused(fields, message):
    with pytest.raises(CorpusError, match=message):
        checked(paper(**fields))


def test_a_good_paper_passes():
    good = paper(
        year=None, sections=(RawSection("H", (RawSentence("It is."),)),), references=("b",)
    )
    assert checked(good) is good


DEEP = b'{"a":' * 3000


@pytest.mark.parametrize(
    ("reader", "name"),
    [
        *(("acl", "papers.jsonl"), ("jsonl", "papers.jsonl"), ("citeomatic", "papers.jsonl")),
        *(("doc2json", "papers.json"), ("unarxive", "papers.jsonl"), ("s2orc", "papers.jsonl")),
        ("contexts", "papers.json"),
    ],
)
def test_deep_json_is_refused_in_one_line(reader, name, tmp_path):
    (tmp_path / name).write_bytes(DEEP)
    source = tmp_path / name if reader in ("acl", "jsonl") else tmp_path
    with pytest.raises(CorpusError, match=r"papers\.json.*: ") as error:
        list(READERS[reader]().read(source))
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("year", ["Infinity", "1e400", "[]", '"x"'])
def test_a_year_of_the_anthology_that_is_none_is_refused(year, tmp_path):
    info = json.dumps({"info": {"id": "a", "authors": [], "title": "T", "year": "YEAR"}})
    (tmp_path / "papers.jsonl").write_text(info.replace(chr(34) + "YEAR" + chr(34), year))
    with pytest.raises(CorpusError, match=r"papers\.jsonl:1: broken record"):
        list(READERS["acl"]().read(tmp_path / "papers.jsonl"))


def test_a_place_that_holds_a_line_end_is_shown_in_one_line():
    with pytest.raises(CorpusError, match=r"a\.json: element x\\ny: broken record") as caught:
        with reading("a.json: element x\ny", "an object"):
            raise ValueError("found a number")
    assert len(str(caught.value).splitlines()) == 1
