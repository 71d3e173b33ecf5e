"""Which reader is told from the files of a library."""

import json
import shutil
from pathlib import Path

import pytest

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.guess import guess_reader, units_of
from mpbert.foundation.errors import CorpusError

FIXTURES = Path(__file__).parents[2] / "fixtures"
OF_FOLDER = {
    "s2orc_2020": "s2orc",
    "s2orc_api": "s2orc",
    **{name: name for name in ("doc2json", "unarxive", "citeomatic", "contexts", "csv", "beir")},
    **{name: name for name in ("tei", "jats", "bibtex", "csl", "ris", "openalex", "crossref")},
    **{name: name for name in ("pdf", "mixed", "arxiv", "dblp", "pubmed", "semantic_scholar")},
    **{name: name for name in ("spreadsheet", "wos", "zotero", "zip")},
    "endnote": "mixed",  # a PDF file lies beside it
}
OF_TEXT = {
    "papers.jsonl": ('{"paper_id": "a", "title": "A", "year": 2000}\n', "jsonl"),
    "broken.jsonl": ("{\n", "jsonl"),
    "acl.jsonl": ('{"info": {}, "references": [], "sections": []}\n', "acl"),
    "rfc.tar.xz": ("", None),
    "papers-2024.csv": ("paper_id,title\na,A\n", "spreadsheet"),
    "savedrecs.txt": ("PT\tAU\tTI\tSO\nJ\tQueue, J\tOn it\tPost\n", "spreadsheet"),
    "pubmed-set.txt": ("PMID- 1\nTI  - On it\n", "pubmed"),
    "medline.ris": ("PMID- 1\nTI  - On it\n", "pubmed"),
    "a.ris": ("TY  - JOUR\n", "ris"),
    "cochrane.txt": ("Record #1 of 2\n\n1. TY  - JOUR\n", "ris"),
    "refs.txt": ("% of Smith\n\n@Article{a,\n  title = {On it}}\n", "bibtex"),
    "x.ciw": ("FN Thomson Reuters Web of Knowledge\nVR 1.0\nPT J\nER\nEF\n", "wos"),
    "library.xml": ("<XML><RECORDS><RECORD><REFERENCE_TYPE>0</REFERENCE_TYPE>", "endnote"),
    "batch.json": ('[null, null, {"paperId": "a", "title": "A"}]', "semantic_scholar"),
    "page.jsonl": ('{"data": [{"citedPaper": {"paperId": "a"}}]}\n', "semantic_scholar"),
    "zotero.sqlite.bak": ("SQLite format 3\0", "zotero"),
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
    (tmp_path / "notes.docx").write_text("PK")
    (tmp_path / "table.csv").write_text("name,title\na,1\n")
    with pytest.raises(CorpusError, match=r"table.csv: found no file whose format can be told"):
        guess(tmp_path / "table.csv")
    (tmp_path / "table.csv").unlink()
    with pytest.raises(CorpusError, match=r"notes.docx: found no file .* --reader, one of acl, "):
        guess(tmp_path / "notes.docx")
    (tmp_path / "a.jsonl").write_text('{"paper_id": "a", "title": "A"}\n')
    assert guess(tmp_path) == "jsonl"  # what no reader reads is left alone
    (tmp_path / "a.xml").write_text('<TEI xmlns="http://www.tei-c.org/ns/1.0">')
    assert guess(tmp_path) == "mixed"


@pytest.mark.parametrize("name", ["medline.ris", "cochrane.txt", "refs.txt"])
def test_a_file_in_a_folder_is_read_whatever_its_name(name, tmp_path):
    (tmp_path / name).write_text(OF_TEXT[name][0])
    [(reader, found)] = units_of(tmp_path)
    assert (reader, found.files) == (OF_TEXT[name][1], (tmp_path / name,))


def test_each_file_of_a_mixture_has_its_reader(tmp_path):
    for name in ("csv", "csl", "crossref", "openalex"):
        shutil.copytree(FIXTURES / name, tmp_path / name)
    (tmp_path / "b.bib").write_text("@misc{a, title = {On it}}")
    (tmp_path / "notes.txt").write_text("no paper")
    (tmp_path / "long.json").write_text(json.dumps({"id": 1, "abstract": "x" * 99_999, "type": ""}))
    units = dict(units_of(tmp_path))
    assert units.pop("csv") == tmp_path / "csv"
    names = {name: sorted(file.name for file in found.files) for name, found in units.items()}
    assert names == {
        "bibtex": ["b.bib"],
        "csl": ["library.json", "long.json"],
        "crossref": ["list.json", "work.json", "works.jsonl"],
        "openalex": ["page.json", "works.jsonl"],
    }
