"""Which reader is told from the files of a library."""

from pathlib import Path

import pytest

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.guess import guess_reader
from mpbert.foundation.errors import CorpusError

FIXTURES = Path(__file__).parents[2] / "fixtures"
OF_FOLDER = {
    "s2orc_2020": "s2orc",
    "s2orc_api": "s2orc",
    **{name: name for name in ("doc2json", "unarxive", "citeomatic", "contexts", "csv", "beir")},
    **{name: name for name in ("tei", "jats", "bibtex", "csl", "ris")},
}
OF_TEXT = {
    "papers.jsonl": ('{"paper_id": "a", "title": "A", "year": 2000}\n', "jsonl"),
    "broken.jsonl": ("{\n", "jsonl"),
    "acl.jsonl": ('{"info": {}, "references": [], "sections": []}\n', "acl"),
    "rfc.tar.xz": ("", None),
}


def guess(path):
    return guess_reader(path, READERS.names())


@pytest.mark.parametrize("name", OF_FOLDER)
def test_each_fixture_is_known_by_its_files(name):
    assert guess(FIXTURES / name) == OF_FOLDER[name]


@pytest.mark.parametrize("name", OF_TEXT)
def test_a_file_is_known_by_its_name_or_its_first_keys(name, tmp_path):
    text, expected = OF_TEXT[name]
    (tmp_path / name).write_text(text)
    assert guess(tmp_path / name) == (expected or "rfc")


def test_what_cannot_be_told_is_refused_with_the_choices(tmp_path):
    with pytest.raises(CorpusError, match="no such file"):
        guess(tmp_path / "nothing")
    (tmp_path / "notes.pdf").write_text("%PDF")
    with pytest.raises(CorpusError, match=r"notes.pdf: found no file .* --reader, one of acl, "):
        guess(tmp_path / "notes.pdf")
    (tmp_path / "a.jsonl").write_text('{"paper_id": "a", "title": "A"}\n')
    assert guess(tmp_path) == "jsonl"  # what no reader reads is left alone
    (tmp_path / "a.xml").write_text('<TEI xmlns="http://www.tei-c.org/ns/1.0">')
    with pytest.raises(CorpusError, match="found files for the readers jsonl and tei; expected"):
        guess(tmp_path)
