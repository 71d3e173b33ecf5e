"""Exports of databases and interfaces: one oddity a row, as their files have it."""

import json
import tempfile
import zipfile
from pathlib import Path

import pytest

from mpbert.cli import main
from mpbert.corpus.formats import archive
from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.guess import guess_reader
from mpbert.corpus.formats.spreadsheet import authors_of
from mpbert.corpus.records import RawPaper
from mpbert.foundation.errors import CorpusError

FIXTURES = Path(__file__).parents[2] / "fixtures"
ENDNOTE = "<xml><records><record><ref-type name='X'>1</ref-type>{}</record></records></xml>"
PUBMED = (
    "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID>{}</MedlineCitation>"
    "</PubmedArticle></PubmedArticleSet>"
)
DBLP = '<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE dblp SYSTEM "dblp.dtd"><dblp>{}</dblp>'
ARTICLE = "<Article><ArticleTitle>{}</ArticleTitle></Article>"


def read(name: str, text: str | bytes, tmp_path) -> list[RawPaper]:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(READERS[guess_reader(path, READERS.names())]().read(path))


def s2(**fields):
    return json.dumps({"paperId": "a", "title": "On it", **fields})


def arxiv(**fields):
    return json.dumps({"id": "2101.00001", "authors_parsed": [], "title": "On it", **fields})


@pytest.mark.parametrize(
    ("name", "text", "field", "expected"),
    [
        # PubMed
        ("a.nbib", "PMID- 7\nTI  - On it:\n      and more.\n", "title", "On it: and more"),
        ("a.nbib", "\n\nPMID- 7\nTI  - [On it].\nTT  - Davon.\n", "title", "On it"),
        ("a.nbib", "PMID- 7\nTI  - [Not Available].\nTT  - Davon.\n", "title", "Davon"),
        ("a.nbib", "PMID- 7\nTI  - A?\nFAU - Q, J Jr\nCN  - G\n", "authors", ("J Q Jr", "G")),
        ("a.nbib", "PMID- 7\nTI  - A?\nAU  - Q J\nPT  - Preprint\n", "kind", "misc"),
        (
            "a.nbib",
            "PMID- 7\r\nTI  - A.\r\nLID - 1 [pii]\r\nAID - 10.1234/a [doi]\r\n",
            "doi",
            "10.1234/a",
        ),
        ("a.xml", PUBMED.format(ARTICLE.format("H<sub>2</sub>O &lt; 5.")), "title", "H2O < 5"),
        ("a.xml", PUBMED.format(ARTICLE.format("A.") + "<!-- c -->"), "paper_id", "pmid:7"),
        # EndNote
        (
            "a.xml",
            ENDNOTE.format("<titles><title><style>On </style><style>it</style></title></titles>"),
            "title",
            "On it",
        ),
        (
            "a.xml",
            ENDNOTE.format("<titles><title>A</title></titles><label>Label 1</label>"),
            "paper_id",
            "record",
        ),
        (
            "a.xml",
            ENDNOTE.format("<titles><title>A</title></titles><label>q2001</label>"),
            "paper_id",
            "q2001",
        ),
        (
            "a.xml",
            ENDNOTE.format(
                "<titles><title>A</title></titles><contributors><authors>"
                "<author>Q, J.&#xD;B, D.</author></authors></contributors>"
            ),
            "authors",
            ("J. Q", "D. B"),
        ),
        ("a.enw", "%0 Book\n%T On it\n%A Q, J.\n%A D B\n%R 10.1234/a", "authors", ("J. Q", "D B")),
        ("a.enw", "%0 Conference Paper\n%T On it\n%B Post\n%D 2001\n", "kind", "inproceedings"),
        ("a.enw", "%0 Journal Article\n%T On it\n%X One\n\ntwo.\n%J P\n", "abstract", "One two."),
        # Web of Science
        ("a.txt", "FN Clarivate\nPT J\nTI On\n   it\nER\nEF\n", "title", "On it"),
        ("a.txt", b"\xef\xbb\xbfPT J\nAF Q, J\n   B, D\nTI A\nER\n", "authors", ("J Q", "D B")),
        (
            "a.ciw",
            "FN Clarivate\nPT J\nTI A\nAR e7\nDT Article; Proceedings Paper\nER\n",
            "pages",
            "e7",
        ),
        ("a.txt", "PT C\nTI A\nDT Proceedings Paper\nER\n", "kind", "inproceedings"),
        ("a.txt", "PT J\nTI A\nEA MAR 2024\nER\n", "year", 2024),
        # tables
        ("papers-2024.csv", "paper_id,title\nk,A\n", "paper_id", "k"),
        ("a.csv", "Titel;title;Year\nx;A;2001\n", "year", 2001),
        ("a.csv", '"About the data: Exported"\nRank,Title,PubYear\n1,A,2001\n', "year", 2001),
        ("a.csv", 'Title,Authors,PMID\nA,"Q J, B D.",7\n', "authors", ("J Q", "D. B")),
        (
            "a.csv",
            'Document Title,Authors,Start Page,End Page\nA,"J. Q; D. B",1,9\n',
            "pages",
            "1-9",
        ),
        ("a.csv", "Title,Abstract\nA,[No abstract available]\n", "abstract", "A"),
        ("savedrecs.txt", "PT\tAF\tTI\nJ\tQ, J; B, D\tA\n", "authors", ("J Q", "D B")),
        ("a.tsv", "title\tyear\nG\u00f6del\t2001\n".encode("utf-16"), "title", "G\u00f6del"),
        ("a.txt", "FN Clarivate\nPT J\nTI \u00dcber\nER\n".encode("utf-16"), "title", "\u00dcber"),
        # DBLP
        (
            "a.xml",
            DBLP.format(
                '<book key="k"><author>J\xf6 &Ouml; 0002</author><title>A.</title></book>'
            ).encode("latin-1"),
            "authors",
            ("J\u00f6 \u00d6",),
        ),
        (
            "a.xml",
            '<dblp><book key="books/k"><title>A &uuml; b.</title></book></dblp>',
            "title",
            "A \u00fc b",
        ),
        (
            "a.xml",
            '<dblp><book key="books/k"><title>A</title></book></dblp>',
            "paper_id",
            "DBLP:books/k",
        ),
        # arXiv
        (
            "a.json",
            arxiv(versions=[{"created": "Mon, 2 Apr 2007 19:18:42 GMT"}], update_date="2015-01-01"),
            "year",
            2007,
        ),
        ("a.json", arxiv(title="On\n  G\\\"odel's $x^2$"), "title", "On G\u00f6del's $x^2$"),
        ("a.jsonl", arxiv(doi=None), "doi", "10.48550/arXiv.2101.00001"),
        ("a.json", arxiv(authors_parsed=[["Q", "J.", "Jr", "Post"]]), "authors", ("J. Q Jr",)),
        (
            "a.json",
            json.dumps(
                [
                    {
                        "id": "1",
                        "title": "A",
                        "categories": "a",
                        "abstract": "",
                        "authors": "C. B, E. L. Berger (MSU), and J. van Q",
                    }
                ]
            ),
            "authors",
            ("C. B", "E. L. Berger", "J. van Q"),
        ),
        # Semantic Scholar
        ("a.json", f"[null, {s2(year=2001)}]", "year", 2001),
        ("a.json", '{"data": [{"citedPaper": ' + s2(venue="Post") + "}]}", "venue", "Post"),
        ("a.json", s2(journal={"pages": "\n  1-\n 9 "}), "pages", "1- 9"),
        ("a.json", s2(externalIds={"DOI": "10.1234/A"}), "doi", "10.1234/A"),
        (
            "a.json",
            '{"recommendedPapers": [' + s2(publicationTypes=["Conference"]) + "]}",
            "kind",
            "inproceedings",
        ),
    ],
)
def test_a_record_as_people_have_it(name, text, field, expected, tmp_path):
    (paper,) = read(name, text, tmp_path)
    found = paper.published if field in ("kind", "doi", "pages") else paper
    value = getattr(found, field)
    assert (value[0].text if field == "abstract" else value) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("Smith, John; Doe, Jane", ["John Smith", "Jane Doe"]),
        ("Smith, John A. (570); Doe, J.-P. (571)", ["John A. Smith", "J.-P. Doe"]),
        ("Smith J., van Dijk A.B.", ["J. Smith", "A.B. van Dijk"]),
        ("Smith, J., Sudarwan, Doe, A.-B.", ["J. Smith", "Sudarwan", "A.-B. Doe"]),
        ("Nurbo, Smith J.A., Doe K.", ["Nurbo", "J.A. Smith", "K. Doe"]),
        ("Smith JA, Doe K", ["JA Smith", "K Doe"]),
        ("John Smith, Jane van Doe", ["John Smith", "Jane van Doe"]),
        ("John Smith and Jane Doe", ["John Smith", "Jane Doe"]),
        ("Barnes and Noble", ["Barnes and Noble"]),
        ("Smith, John", ["John Smith"]),
        ("World Postal Union", ["World Postal Union"]),
        ("Ann Postel|Jonathan Queue", ["Ann Postel", "Jonathan Queue"]),
        ("[No author name available]", []),
        ("", []),
    ],
)
def test_authors_of_a_cell(cell, expected):
    assert authors_of(cell) == expected


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        ("pubmed", "TI  - A\n", r":1: found 'TI  - A' outside of a record; expected 'PMID- ' and"),
        ("wos", "PT J\nTI A\nER\nTI B\n", r":4: found 'TI B' outside of a record"),
        ("pubmed", "<PubmedArticleSet>\n<PubmedArticle>", r":2: broken XML \(no element found\)"),
        ("dblp", '<!DOCTYPE a [<!ENTITY b "c">]>\n<dblp/>', r"declares the entity 'b'; expected"),
        ("dblp", '<?xml version="1.0" encoding="x"?><dblp/>', r":1: broken XML \(unknown encoding"),
        ("endnote", "<xml><record>" + "<a>" * 300, r"more than 200 elements in one another"),
        ("spreadsheet", "name,size\na,1\n", r":1: found no column of titles; expected one called"),
        ("semantic_scholar", '{"data": [7]}', r"broken record"),
        ("arxiv", '{"title": "A"}', r"broken record \(KeyError"),
        ("zotero", "no database", r"cannot be read \(file is not a database\); expected"),
    ],
)
def test_what_is_broken_is_told_with_its_place(reader, text, message, tmp_path):
    path = tmp_path / ("zotero.sqlite" if reader == "zotero" else "a.xml")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(CorpusError, match=message) as caught:
        list(READERS[reader]().read(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lens.csv", "Title,Date Published,Author/s,Issue Number\nOn it,2001,Ann Postel;J Q,4"),
        ("cochrane.csv", 'Author(s),Title,Year,Issue\n"Postel, Ann; J Q",On it,2001,4'),
        ("covidence.csv", 'Title,Authors,Published Year,Issue\nOn it,"Postel, Ann; J Q",2001,4'),
        (
            "embase.csv",
            '"SEARCH QUERY","mail:ti"\n-----\n\n"Title","Author Names","Publication Year","Issue"\n'
            '"On it","Postel, Ann; J Q","2001","4"',
        ),
        (
            "refworks.tsv",
            "Reference Type\tAuthors, Primary\tTitle Primary\tPub Year\tIssue\n"
            "Book\tPostel,Ann;J Q\tOn it\t2001\t4",
        ),
        (
            "openalex.csv",
            "title,publication_year,authorships.author.display_name,biblio.issue\n"
            "On it,2001,Ann Postel|J Q,4",
        ),
    ],
)
def test_tables_of_review_tools_keep_authors_and_years(name, text, tmp_path):
    (paper,) = read(name, text, tmp_path)
    assert (paper.title, paper.year, paper.published.number) == ("On it", 2001, "4")
    assert paper.authors == ("Ann Postel", "Q J")


def test_columns_of_the_web_of_science_count_before_those_that_r_has_renamed(tmp_path):
    text = "TI;AU;PY;SO;Conference.name;BP;Page.start\nOn it;POSTEL A;2001;POST;NA;4;NA\n"
    (paper,) = read("a.csv", text, tmp_path)
    assert (paper.venue, paper.published.pages) == ("POST", "4")


def test_a_record_of_endless_elements_is_refused(tmp_path, monkeypatch):
    from mpbert.corpus.raw import xml_records

    monkeypatch.setattr(xml_records, "_MOST_ELEMENTS", 99)
    monkeypatch.setattr(xml_records, "_MOST_TEXT", 99)
    for piece, what in (("<a/>", "elements"), ("text ", "characters")):
        (tmp_path / "a.xml").write_text("<dblp><book>" + piece * 200)
        with pytest.raises(CorpusError, match=f"a record of more than 99 {what}"):
            list(READERS["dblp"]().read(tmp_path / "a.xml"))


def test_a_table_that_is_given_by_its_name_becomes_an_index(tmp_path, capsys):
    table = tmp_path / "papers-2024.csv"
    table.write_text("title,authors,year\nRouting of letters,Ann Postel,2001\n")
    assert main(["index", str(table), str(tmp_path / "index")]) == 0
    assert "1 papers read as spreadsheet" in capsys.readouterr().out


def test_an_archive_is_read_as_its_folder_would_be(tmp_path, monkeypatch):
    pytest.importorskip("pypdfium2")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    reader = READERS["zip"]()
    found = {paper.paper_id for paper in reader.read(FIXTURES / "zip" / "library.zip")}
    assert {"maerker2005", "pmid:90000009", "names"} <= found
    assert not (tmp_path.parent / "names.nbib").exists()
    assert list(tmp_path.glob("mpbert-*"))
    del reader
    assert not list(tmp_path.glob("mpbert-*"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"PK\x03\x04 no archive",
            r"a.zip: cannot be unpacked \(File is not a zip file\); expected",
        ),
        (None, r"a.zip: holds 2 files of .* bytes; expected at most 100,000 of 9: unpack it"),
    ],
)
def test_an_archive_that_cannot_be_unpacked_is_refused(data, message, tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "_MOST_BYTES", 9)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        made.writestr("a.txt", "0123456789")
        made.writestr("b.txt", "")
    if data:
        (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(CorpusError, match=message):
        list(READERS["zip"]().read(tmp_path / "a.zip"))


def test_what_is_broken_in_an_archive_is_told_with_the_name_of_the_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        made.writestr("a.nbib", "PMID- 1\nTI  - On it\n")
        made.writestr("b.csl.json", '[{"id": "a", "type": "book", "title": 1}]')
    with pytest.raises(CorpusError, match=rf"{tmp_path}/a.zip/b.csl.json: item 1: broken record"):
        list(READERS["zip"]().read(tmp_path / "a.zip"))
