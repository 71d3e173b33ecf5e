"""The readers of exports of reference managers: BibTeX, CSL JSON, RIS."""

import json
from collections import Counter

import pytest

from mpbert.cli import main
from mpbert.corpus.clean import clean_paper
from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.bibtex import BibtexReader
from mpbert.corpus.records import RawPaper
from mpbert.foundation.errors import CorpusError

SUFFIXES = {
    "bibtex": ".bib",
    "csl": ".json",
    "ris": ".ris",
    "endnote": ".xml",
    "pubmed": ".nbib",
    "wos": ".txt",
}


def read(reader: str, text: str | bytes, tmp_path) -> list[RawPaper]:
    path = tmp_path / f"library{SUFFIXES[reader]}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(READERS[reader]().read(path))


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (
            r"{\"U}ber Gr{\"o}{\ss}e, \'etude, Erd\H{o}s, {\aa}, {\'\i}",
            "Über Größe, étude, Erdős, å, í",
        ),
        (r"R{\&}D, 50% of $5 and 50\% & #1", "R&D, 50% of $5 and 50% & #1"),
        (r"{\textless}i{\textgreater}p{\textless}/i{\textgreater} {\textless} 0.05", "p < 0.05"),
        (r"{{NASA}} -- ``quoted'' $\alpha_1^2$", "NASA – “quoted” $\\alpha_1^2$"),
        ("plain_text with a_b^c", "plain_text with a_b^c"),
        (r"{\texttt{p4est}}: \textsf{octrees} of \LaTeX\ users", "p4est: octrees of LaTeX users"),
        (r"\{\vphantom{\}}HardFails\vphantom\{\}: on it", "{HardFails}: on it"),
        (r"\href{http://a.b}{Notes} I/O, GNU \texttt{diff}", "Notes I/O, GNU diff"),
    ],
)
def test_latex_becomes_text(latex, expected, tmp_path):
    (paper,) = read("bibtex", f"@misc{{a, title = {{{latex}}}}}", tmp_path)
    assert paper.title == expected


def test_a_doi_is_as_publishers_register_it(tmp_path):
    text = "@misc{a, title={On it}, doi={10.1007/\n  978-3-319-24574-4\\_28}}"
    (paper,) = read("bibtex", text, tmp_path)
    assert paper.published.doi == "10.1007/978-3-319-24574-4_28"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("Knuth, Donald E. and Ada Lovelace", ("Donald E. Knuth", "Ada Lovelace")),
        ("van der Berg, Jr., Jan and others", ("Jan van der Berg Jr.",)),
        ('{Barnes and Noble, Inc.} and M{\\"a}rker, D.', ("Barnes and Noble, Inc.", "D. Märker")),
        ("Rada Mihalcea and\n               Dan Moldovan", ("Rada Mihalcea", "Dan Moldovan")),
        ("Rada Mihalcea and\tDan\r\n Moldovan", ("Rada Mihalcea", "Dan Moldovan")),
        ("Rada Mihalcea\u00a0and Dan Moldovan AND\nOthers", ("Rada Mihalcea", "Dan Moldovan")),
        ("Rada Mihalcea and and Dan Moldovan and", ("Rada Mihalcea", "Dan Moldovan")),
        ("Research, Center for Drugs and", ("Center for Drugs and Research",)),
        ("Rada\n  Mihalcea and\nothers", ("Rada Mihalcea",)),
    ],
)
def test_names_are_in_the_order_of_speech(names, expected, tmp_path):
    (paper,) = read("bibtex", f"@misc{{a, title = {{On it}}, author = {{{names}}}}}", tmp_path)
    assert paper.authors == expected


@pytest.mark.parametrize(
    ("printed", "spoken"),
    [
        ("Eberth D A", "D A Eberth"),
        ("van Dijk JP", "JP van Dijk"),
        ("Postel J.-B.", "J.-B. Postel"),
        ("J. Timmons Roberts", "J. Timmons Roberts"),
        ("World Bank Group US", "World Bank Group US"),
        ("Ivanov II", "II Ivanov"),
        ("John Smith III", "John Smith III"),
        ("Martin Luther King Jr.", "Martin Luther King Jr."),
    ],
)
def test_initials_behind_a_name_without_a_comma_are_given_names(printed, spoken, tmp_path):
    for reader, text in (
        ("ris", "TY  - JOUR\nTI  - On it\nAU  - {}\n"),
        (
            "endnote",
            "<xml><record><titles><title>On it</title></titles><contributors><authors>"
            "<author>{}</author></authors></contributors></record></xml>",
        ),
        ("pubmed", "PMID- 7\nTI  - On it\nAU  - {}\n"),
        ("wos", "PT J\nTI On it\nAU {}\nER\n"),
    ):
        (paper,) = read(reader, text.format(printed), tmp_path)
        assert paper.authors == (spoken,)


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        ("bibtex", "@misc{a,title={On\n  the\tline},author={Rada\nMihalcea and\n Dan Moldovan}}"),
        ("ris", "TY  - JOUR\nTI  - On\n  the line\nAU  - Rada Mihalcea and\n  Dan Moldovan\nER  -"),
        ("ris", "TY\t-\tJOUR\nTI\t-\tOn the line\nAU  - Mihalcea, Rada and Moldovan, Dan\nER  -"),
        ("ris", "TY  - JOUR\nTI  - On the line\nAU  - Mihalcea, Rada; Moldovan, Dan\nER  - "),
        (
            "endnote",
            "<xml><records><record><titles><title>On\n the line</title></titles><contributors>"
            "<authors><author>Mihalcea,\n Rada and\n Moldovan, Dan</author></authors>"
            "</contributors></record></records></xml>",
        ),
        (
            "csl",
            '[{"id":1,"title":"On\\nthe line",'
            '"author":[{"literal":"Rada Mihalcea and\\n Dan Moldovan"}]}]',
        ),
    ],
)
def test_white_space_in_a_field_is_one_space_and_persons_are_apart(reader, text, tmp_path):
    (raw,) = read(reader, text, tmp_path)
    paper = clean_paper(raw, Counter(), needs_year=False)
    assert paper.title == "On the line"
    assert paper.authors == ["Rada Mihalcea", "Dan Moldovan"]


def test_an_entry_takes_what_it_lacks_from_its_crossref(tmp_path):
    text = "@inproceedings{a, title={On it}, crossref={P}}\n"
    text += "@proceedings{p, title={Notes}, date={2003-05}}"
    found = read("bibtex", text, tmp_path)
    assert [(paper.title, paper.venue, paper.year) for paper in found] == [
        ("On it", "Notes", 2003),
        ("Notes", "", 2003),
    ]


def test_a_volume_has_the_author_of_its_book_and_no_word_to_sort_by(tmp_path):
    text = "@inbook{a, title={On it}, crossref={ b\n}}\n"
    text += '@book{b, title={All}, author={A. Bee}, year="{\\noopsort{1973b}}1981"}'
    assert [(p.authors, p.year) for p in read("bibtex", text, tmp_path)] == [
        (("A. Bee",), 1981),
        (("A. Bee",), 1981),
    ]


def test_the_same_library_has_the_same_ids_however_it_is_sorted(tmp_path):
    one, other = (
        f"TY  - JOUR\nTI  - {title}\nAU  - Ŝmith, A\nPY  - 2001\nER  -\n"
        for title in ("Routing of letters", "Sorting of letters")
    )
    expected = {"Routing of letters": "smith2001routing", "Sorting of letters": "smith2001sorting"}
    for text in (one + other, other + one, one + other + one):
        found = read("ris", text, tmp_path)
        assert {paper.title: paper.paper_id for paper in found} == expected
    assert [paper.paper_id for paper in read("ris", "TY  - JOUR\nTI  - 中\n", tmp_path)] == [
        "record"
    ]


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (
            "bibtex",
            "\n@misc{a,\n title = {On {it},\n}\n",
            r"\.bib:\d: broken entry, .* on line 2 \(",
        ),
        ("bibtex", "@misc{a, title {On it}}", r"\.bib:1: broken entry, .*'=' expected"),
        ("bibtex", b"\xff\xfe@", r"\.bib: found broken UTF-16; expected a file in UTF-8"),
        ("csl", '{"a": 1}', r"\.json: found an object without a list of items; expected CSL JSON"),
        (
            "csl",
            '[{"title": 1}]',
            r"\.json: item 1: broken record \(TypeError: found 1, expected a t",
        ),
        ("csl", '[{"title": "a"}, 7]', r"\.json: item 2: broken record"),
        ("csl", "[", r"\.json"),
        ("ris", "TI  - On it\n", r"\.ris:1: found 'TI  - On it' outside of a record; expected 'TY"),
        ("ris", "<html>\n", r"\.ris:1: found '<html>' outside of a record"),
        (
            "ris",
            "TY  - BOOK\nER  -\nTI  - On it\n",
            r"\.ris:3: found 'TI  - On it' outside of a re",
        ),
    ],
)
def test_what_is_broken_is_told_with_its_place(reader, text, message, tmp_path):
    with pytest.raises(CorpusError, match=message) as caught:
        read(reader, text, tmp_path)
    assert "\n" not in str(caught.value)


def test_better_bibtex_json_has_the_fields_of_zotero(tmp_path, capsys):
    people = [
        {"creatorType": "editor", "lastName": "Märker", "firstName": "Dora"},
        {"creatorType": "author", "lastName": "Queue", "firstName": "Jonathan"},
        {"creatorType": "author", "name": "Postal Union"},
    ]
    item = {"itemType": "journalArticle", "citationKey": "queue2001", "creators": people}
    item |= {"title": "On it", "date": "2001-05", "abstractNote": "It is.", "DOI": "10.1234/a"}
    item |= {"publicationTitle": "Post", "issue": "4", "tags": [{"tag": "mail"}], "version": 7}
    alone = [{"itemType": kind, "title": "x.pdf", "key": "A"} for kind in ("attachment", "note")]
    text = json.dumps({"config": {"id": "a"}, "items": [item, *alone]})
    (paper,) = read("csl", text, tmp_path)
    assert (paper.paper_id, paper.year, paper.venue) == ("queue2001", 2001, "Post")
    assert paper.authors == ("Jonathan Queue", "Postal Union")
    assert paper.abstract[0].text == "It is."
    said = paper.published
    assert (said.kind, said.doi, said.number, said.id_is_key) == ("article", "10.1234/a", "4", True)
    assert said.labels == ("tag:mail",)
    assert main(["index", str(tmp_path / "library.json"), str(tmp_path / "out")]) == 0
    assert "attachments and notes that stand alone, left out: 2\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("2. \nTY  - JOUR\nTI  - On it\nER  - \n\n47. \nTY  - JOUR\nTI  - On that\nER  - \n", 2),
        (
            "Record #3 of 18\nProvider: Post, Ltd.\n\nTY  -  JOUR\nTI  -  On it\nER  -\n"
            "TY  -  JOUR\nTI  -  On that\n",
            2,
        ),
    ],
)
def test_lines_that_number_records_are_left_out_and_counted(text, lines, tmp_path, capsys):
    (tmp_path / "a.ris").write_text(text)
    assert main(["index", str(tmp_path / "a.ris"), str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "2 papers read as ris" in said
    assert f"lines between records, left out: {lines}\n" in said


@pytest.mark.parametrize(
    "text",
    [
        "% As @article, @book\n@misc{a,\n%year = {1999},\n year=2001, % sure\n title={On it}}",
        "@misc{a, year=2001, %\r\n title={On it}}\r\n  %@misc{b,\r\n%title = {That}}\r\n",
        '@misc{a, title="On it", % no quote "\n year=2001}',
    ],
)
def test_comments_of_a_bib_are_left_out(text, tmp_path, caplog):
    (paper,) = read("bibtex", text, tmp_path)
    assert (paper.paper_id, paper.title, paper.year) == ("a", "On it", 2001)
    assert not caplog.records


def test_what_begins_with_a_percent_sign_within_a_value_is_no_comment(tmp_path):
    text = '@misc{a, title={Ten\n% of it}, abstract="Half,\n% or 5 % of\n%it."}\n@misc{'
    (paper,) = read("bibtex", text, tmp_path)
    assert (paper.title, paper.abstract[0].text) == ("Ten % of it", "Half, % or 5 % of %it.")


def test_the_line_of_a_broken_entry_counts_comments(tmp_path):
    with pytest.raises(CorpusError, match=r"\.bib:4: broken entry, which begins on line 3 "):
        read("bibtex", "% @book\n%\n@misc{a, % one\n title {On it}}", tmp_path)


def test_an_entry_without_a_key_has_a_made_one(tmp_path):
    text = "@misc{, title={Routing of it}, author={Ŝmith, A}, year=2001}\n@misc(, title={Sorting})"
    found = read("bibtex", text, tmp_path)
    assert [paper.paper_id for paper in found] == ["smith2001routing", "sorting"]
    assert not any(paper.published.id_is_key for paper in found)


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        ("bibtex", b"\n@misc{a, title={\xfcber \xc3\xbcber}, author={Ren\xe9e \x93Q\x94 \x81}}"),
        ("ris", b"TY  - JOUR\nTI  - \xfcber \xc3\xbcber\nAU  - Ren\xe9e \x93Q\x94 \x81"),
    ],
)
def test_bytes_that_are_no_utf_8_are_read_as_those_of_windows(reader, text, tmp_path, caplog):
    (paper,) = read(reader, text, tmp_path)
    assert (paper.title, paper.authors) == ("über über", ("Renée “Q” \ufffd",))
    said, file = caplog.records[0].message, tmp_path / f"library{SUFFIXES[reader]}"
    assert said.startswith(
        f"{file}:2: found bytes that are no UTF-8, read as Windows-1252; expected"
    )
    assert len(caplog.records) == 1


def test_a_corpus_of_entries_alone_is_refused_and_an_index_named(tmp_path, capsys):
    (tmp_path / "a.bib").write_text("@misc{a, title = {On it}}\n@misc{b, title = {On that}}")
    words = ["build-corpus", str(tmp_path / "a.bib"), str(tmp_path / "out")]
    assert main([*words, "--reader", "bibtex", "--split", "random"]) == 2
    error = capsys.readouterr().err
    assert "found 2 papers, of which none cites another; expected citations" in error
    assert "mpbert index needs none" in error


def test_abbreviations_of_months_and_journals_need_no_explanation(tmp_path):
    text = "@string{JP = {Post}}\n@article{a, title=ontitle, journal=jp # { Office}, month=mrz}"
    (paper,) = BibtexReader().read(write(tmp_path, text))
    assert (paper.title, paper.venue) == ("ontitle", "Post Office")


def write(tmp_path, text):
    (tmp_path / "a.bib").write_text(text)
    return tmp_path
