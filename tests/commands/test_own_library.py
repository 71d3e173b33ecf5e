"""Tests of a library that grows: its DOIs, keys and types of entries, and its later exports."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from mpbert.foundation.engines import OwnProcesses
from mpbert.foundation.errors import CorpusError
from mpbert.recommending.arrivals import arrivals
from mpbert.recommending.changes import removed, with_arrivals
from mpbert.recommending.directory import read_index
from mpbert.recommending.encoders import encoder_of_index
from mpbert.recommending.library import read_library
from mpbert.recommending.published import published_of
from mpbert.recommending.recommender import Recommender
from mpbert.serving.app import create_app
from mpbert.serving.limits import Limits

FIXTURES = Path(__file__).parents[1] / "fixtures"
ATTENTION = """@inproceedings{vaswani2017,
  title = {Attention is All you Need},
  author = {Vaswani, Ashish and Shazeer, Noam},
  booktitle = {Advances in Neural Processing \\& Systems},
  year = {2017}, volume = {30}, pages = {5998--6008}, publisher = {Curran},
  doi = {https://doi.org/10.5555/Att_1},
  abstract = {The transformer relies on attention alone.},
}
"""
LETTERS = """@article{letters,
  title = {Routing Letters by the Shortest Queue},
  author = {Queue, Jonathan}, journal = {Journal of Posts}, year = 2001, number = 4,
  abstract = {A letter takes the shortest queue.},
}
"""


@pytest.fixture
def index(tmp_path, run):
    """Function of texts of BibTeX, and works of OpenAlex: an index of them."""

    def make(bibtex="", works=()):
        library = tmp_path / "library"
        library.mkdir()
        if bibtex:
            (library / "refs.bib").write_text(bibtex)
        if works:
            (library / "works.json").write_text(json.dumps({"results": list(works)}))
        assert run("index", library, tmp_path / "index")[0] == 0
        return tmp_path / "index"

    return make


def work(number, title, **more):
    return {
        "id": f"https://openalex.org/W{number}",
        "title": title,
        "publication_year": 2019,
        "abstract_inverted_index": {"Words": [0], "of": [1], "it": [2]},
        "authorships": [{"author": {"display_name": "Jacob Dévlin"}}],
        **more,
    }


def test_an_entry_keeps_its_key_type_and_fields(index):
    recommender = Recommender(index(ATTENTION + LETTERS))
    assert recommender.bibtex("vaswani2017") == (
        "@inproceedings{vaswani2017,\n  title = {{Attention is All you Need}},\n"
        "  author = {Ashish Vaswani and Noam Shazeer},\n  year = {2017},\n"
        "  booktitle = {Advances in Neural Processing {\\&} Systems},\n  volume = {30},\n"
        "  pages = {5998--6008},\n  publisher = {Curran},\n  doi = {10.5555/Att_1},\n}"
    )
    assert recommender.bibtex("letters") == (
        "@article{letters,\n  title = {{Routing Letters by the Shortest Queue}},\n"
        "  author = {Jonathan Queue},\n  year = {2001},\n  journal = {Journal of Posts},\n"
        "  number = {4},\n}"
    )


def added(tables, papers, encoder, counts, updates=False, merges=False):
    return with_arrivals(tables, arrivals(tables, papers, counts, updates, merges), encoder, counts)


def test_keys_stay_when_papers_come_and_go(index, tmp_path, run):
    path = index(ATTENTION + LETTERS.replace("{letters,", "{P00,"))
    data = read_index(path)
    (tmp_path / "new.jsonl").write_text(
        json.dumps({"paper_id": "p00", "title": "Of it", "year": 2000, "abstract": ["It is."]})
    )
    new = read_library(tmp_path / "new.jsonl", "jsonl", OwnProcesses(), Counter(), "")
    both = added(data.tables, new, encoder_of_index(path, data), Counter())
    keys = dict(zip(both.papers["paper_id"].tolist(), both.papers["key"].tolist(), strict=True))
    assert keys == {"P00": "P00", "p00": "p00-2", "vaswani2017": "vaswani2017"}
    left = removed(both, ["P00"], Counter())
    assert left.papers["key"].tolist() == ["p00-2", "vaswani2017"]


def test_numbers_of_a_database_are_no_keys(index):
    source = {"display_name": "Proc", "type": "conference", "host_organization_name": "ACL"}
    works = [
        work(101, "On the BERT of it", doi="https://doi.org/10.1234/b"),
        work(102, "BERT again", primary_location={"source": source}, type="article"),
        work(103, "To Bert", biblio={"volume": "7", "first_page": "1", "last_page": "9"}),
    ]
    recommender = Recommender(index("@misc{Devlin2019bert, title={Of it}}", works))
    entries = {paper_id: recommender.bibtex(paper_id) for paper_id in recommender.paper_ids}
    keys = {paper_id: re.match(r"@\w+\{(.*),", e)[1] for paper_id, e in entries.items()}
    assert keys == {
        "Devlin2019bert": "Devlin2019bert",
        "W101": "devlin2019bert-2",
        "W102": "devlin2019bert-3",
        "W103": "devlin2019bert-4",
    }
    assert "doi = {10.1234/b}" in entries["W101"]
    assert entries["W102"].startswith("@inproceedings{") and "publisher = {ACL}" in entries["W102"]
    assert "volume = {7}" in entries["W103"] and "pages = {1--9}" in entries["W103"]


def test_a_doi_is_told_by_the_page_json_and_the_map_of_titles(index, tmp_path, run):
    path = index(ATTENTION + LETTERS)
    app = create_app(Recommender(path), Limits(1 << 20, 10.0, 10))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        asked = {"text": "Attention alone \\cite{}.", "format": "tex"}
        (place,) = client.post("/api/manuscript", json=asked).json()["places"]
        found = {paper["paper_id"]: paper for paper in place["papers"]}["vaswani2017"]
        assert found["doi"] == "10.5555/Att_1"
        assert found["url"] == "https://doi.org/10.5555/Att_1"
        (told,) = client.get("/api/papers?query=attention").json()["papers"]
        assert told["doi"] == "10.5555/Att_1"
    (tmp_path / "a.txt").write_text("The transformer of letters [CITATION].")
    code, out, _ = run("recommend", path, tmp_path / "a.txt", "--format", "json")
    dois = {paper["paper_id"]: paper["doi"] for paper in json.loads(out)[0]["papers"]}
    assert code == 0 and dois == {"vaswani2017": "10.5555/Att_1", "letters": None}


def test_an_own_entry_with_the_doi_is_the_paper_under_any_title(index, tmp_path, run):
    own = "@misc{vas, title = {Attention: all one needs}, year = 1999, doi = {10.5555/ATT_1}}\n"
    (tmp_path / "own.bib").write_text(own)
    text = "---\nbibliography: own.bib\n---\nIt is known [CITATION]. So it is [@vas]."
    (tmp_path / "a.md").write_text(text)
    words = "cite", index(ATTENTION), tmp_path / "a.md", "--place", "1", "--papers", "vaswani2017"
    assert run(*words, "--yes")[0] == 0
    assert (tmp_path / "a.md").read_text() == text.replace("[CITATION]", "[@vas]")
    assert (tmp_path / "own.bib").read_text() == own


def test_a_doi_that_two_papers_share_tells_neither(index, tmp_path, run):
    book = "@incollection{%s, title = {Chapter %s of it}, doi = {10.1234/book}}\n"
    path = index(book % ("one", "one") + book % ("two", "two"))
    (tmp_path / "own.bib").write_text(book.replace("%s", "mine", 1) % "two")
    (tmp_path / "a.md").write_text("---\nbibliography: own.bib\n---\nSo it is [@mine].")
    out = run("recommend", path, tmp_path / "a.md", "--format", "json")[1]
    assert [cited["paper_id"] for cited in json.loads(out)[0]["cited"]] == ["two"]


def test_a_library_that_is_exported_again_is_updated(index, tmp_path, run):
    path = index(ATTENTION + LETTERS)
    new = "@misc{new, title = {A newer one of mail}, abstract = {It cites nothing.}}\n"
    changed = ATTENTION.replace("attention alone", "zebrafish").replace("Curran", "Springer")
    (tmp_path / "again.bib").write_text(changed + LETTERS + new)
    code, _, error = run("add", path, tmp_path / "again.bib")
    assert code == 2 and "pass --update" in error and "'vaswani2017' is in the index" in error
    assert Recommender(path).paper_ids == ["letters", "vaswani2017"]
    code, out, _ = run("add", path, tmp_path / "again.bib", "--update")
    assert code == 0
    assert "3 papers, 1 of them new, 1 replaced, 1 given were there already" in out
    recommender = Recommender(path)
    assert [p.paper_id for p in recommender.recommend("Zebrafish")] == ["vaswani2017"]
    assert "Springer" in recommender.bibtex("vaswani2017")
    assert recommender.recommend("It relies on attention")[0].paper_id == "vaswani2017"
    assert run("check", path)[0] == 0
    out = run("add", path, tmp_path / "again.bib", "--update")[1]
    assert "3 papers, 0 of them new, 0 replaced, 3 given were there already" in out


def test_a_changed_doi_alone_is_a_changed_record(index, tmp_path, run):
    path = index(ATTENTION)
    (tmp_path / "again.bib").write_text(ATTENTION.replace("Att_1", "Att_2"))
    assert run("add", path, tmp_path / "again.bib")[0] == 2
    assert "1 replaced" in run("add", path, tmp_path / "again.bib", "--update")[1]
    assert Recommender(path).paper("vaswani2017").doi == "10.5555/Att_2"


def test_citations_of_a_replaced_paper_stay_and_its_own_are_new(tmp_path, run):
    def record(paper_id, title, *sentences):
        return {
            "paper_id": paper_id,
            "title": title,
            "year": 2001,
            "abstract": [f"{title} is it."],
            "sections": [{"sentences": list(sentences)}] if sentences else [],
        }

    def cites(paper_id):
        marker = {"start": 12, "end": 15, "cited_ids": [paper_id]}
        return {"text": "As is known [1] now.", "markers": [marker]}

    def write(name, *records):
        (tmp_path / name).write_text("".join(json.dumps(each) + "\n" for each in records))
        return tmp_path / name

    a, b = record("a", "Mail", cites("b")), record("b", "Post", cites("a"))
    c = record("c", "Letters")
    path = tmp_path / "index"
    assert run("index", write("one.jsonl", a, b, c), path)[0] == 0
    other = record("a", "Mail again", cites("c"))
    assert run("add", path, write("two.jsonl", other), "--update")[0] == 0
    tables = read_index(path).tables
    ids = tables.papers["paper_id"].tolist()
    contexts = rows_of(tables.contexts)
    found = {(ids[c["citing_row"]], ids[row]) for c in contexts for row in c["cited_rows"]}
    assert found == {("b", "a"), ("a", "c")}


def rows_of(table):
    return [table.row(row) for row in range(table.num_rows)]


def cites(text, *paper_ids):
    """A sentence that ends in a marker of papers."""
    marker = {"start": len(text) + 1, "end": len(text) + 4, "cited_ids": list(paper_ids)}
    return {"text": f"{text} [1]", "markers": [marker]}


def record(paper_id, title, abstract, *body, **more):
    sections = [{"sentences": list(body)}] if body else []
    about = {"paper_id": paper_id, "title": title, "year": 2001, "abstract": abstract}
    return {**about, "sections": sections, **more}


@pytest.fixture
def library(tmp_path, run):
    """Function of records: the papers of them, as an index reads them; and tables with them."""

    def read(*records):
        path = tmp_path / "records.jsonl"
        path.write_text("".join(json.dumps(each) + "\n" for each in records))
        return read_library(path, "jsonl", OwnProcesses(), Counter(), "")

    def make(*records):
        read(*records)
        assert run("index", tmp_path / "records.jsonl", tmp_path / "index")[0] == 0
        data = read_index(tmp_path / "index")
        encoder = encoder_of_index(tmp_path / "index", data)

        def add(*records, **options):
            return added(data.tables, read(*records), encoder, Counter(), **options)

        return add

    return make


def sentences_of(tables, paper_id):
    """Which papers a paper cites, by sentence."""
    ids = tables.papers["paper_id"].tolist()
    return [
        (context["text"], [ids[row] for row in context["cited_rows"]])
        for context in rows_of(tables.contexts)
        if ids[context["citing_row"]] == paper_id
    ]


X, Y = record("x", "Mail", ["Mail is it."]), record("y", "Post", ["Post is it."])
OLD = record("z", "Letters", [cites("Old words", "x")], cites("A body", "x"))


def test_citations_of_a_replaced_abstract_go_and_those_of_a_kept_body_stay(library):
    add = library(X, Y, OLD)
    tables = add(record("z", "Letters", [cites("New words", "y")]), updates=True)
    assert sentences_of(tables, "z") == [("New words", ["y"]), ("A body", ["x"])]
    again = add(record("z", "Letters", [cites("Old words", "x", "x")], year=1999), updates=True)
    assert sentences_of(again, "z") == [("Old words", ["x"]), ("A body", ["x"])]
    untold = add(record("z", "Letters", ["Letters"], cites("Other body", "y")), updates=True)
    assert sentences_of(untold, "z") == [("Old words", ["x"]), ("Other body", ["y"])]


def test_what_the_abstract_of_a_copy_cites_is_of_its_own_sentence(library):
    add = library(X, Y, record("z", "Letters by hand", [], cites("A body", "x")))
    copy = record("copy", "Letters by hand", [cites("An abstract", "y")])
    found = dict(sentences_of(add(copy, merges=True), "z"))
    assert found == {"A body": ["x"], "An abstract": ["y"]}


def test_two_records_that_replace_one_paper_are_refused(library):
    add = library(X, Y)
    new = [{**X, "year": 1999}, {**X, "year": 1998}]
    with pytest.raises(CorpusError, match="'x' occurs twice"):
        add(*new, updates=True)


@pytest.mark.parametrize("updates", [False, True])
def test_a_record_as_it_was_beside_one_that_changed_is_refused(library, updates):
    add = library(X, Y)
    for batch in ([X, {**X, "year": 1999}], [{**X, "year": 1999}, X]):
        with pytest.raises(CorpusError, match="'x' occurs twice"):
            add(*batch, updates=updates)


def test_a_copy_beside_the_new_record_of_its_paper_is_no_new_paper(library):
    add = library(X, Y, record("z", "Letters by hand", [cites("Old words", "x")]))
    new = record("z", "Letters by foot", [cites("New words", "y")])
    copies = [
        record(name, title, ["Another."], cites(f"Body of {name}", "x"), venue="Posts")
        for name, title in (("one", "Letters by foot"), ("two", "Letters by hand"))
    ]
    for batch in ([copies[0], new], [new, copies[0]]):
        tables = add(*batch, updates=True, merges=True)
        paper = tables.papers.row(2)
        assert tables.papers["paper_id"].tolist() == ["x", "y", "z"]
        assert (paper["title"], paper["venue"]) == ("Letters by foot", "Posts")
        assert sentences_of(tables, "z") == [("New words", ["y"]), ("Body of one", ["x"])]
    tables = add(new, copies[1], updates=True, merges=True)  # what has the old title is another
    assert tables.papers["paper_id"].tolist() == ["two", "x", "y", "z"]


@pytest.mark.parametrize(
    "other",
    [
        {"title": "Chapter two of letters", "doi": "10.1234/book"},
        {"title": "Chapter one of letters", "doi": "10.1234/other"},
    ],
)
def test_papers_that_one_library_tells_apart_are_two(library, other):
    one = record("one", "Chapter one of letters", ["It is one."], doi="10.1234/book")
    add = library(X, Y, one)
    two = {**record("two", "", ["It is two."]), **other}
    tables = add(one, two, merges=True)
    assert tables.papers["paper_id"].tolist() == ["one", "two", "x", "y"]
    tables = add(two, merges=True)  # alone, it may be the same paper of another source
    assert tables.papers["paper_id"].tolist() == ["one", "x", "y"]


def test_a_second_copy_fills_what_the_first_lacks(library):
    add = library(X, Y, record("z", "Letters by hand", ["Letters by hand"]))
    one = record("one", "Letters by hand", [cites("An abstract", "x")])
    two = record("two", "Letters by hand", ["Another."], cites("A body", "y"), venue="Posts")
    tables = add(one, two, merges=True)
    paper = tables.papers.row(2)
    assert (paper["abstract"], paper["venue"]) == ("An abstract", "Posts")
    assert tables.bodies["body"].tolist()[2] == "A body"
    assert sentences_of(tables, "z") == [("An abstract", ["x"]), ("A body", ["y"])]


def test_a_copy_without_text_tells_where_a_paper_appeared(library):
    add = library(X, Y, {**OLD, "title": "Letters by hand"})
    copy = record("copy", "Letters by hand", ["Letters by hand"], doi="10.1234/z", venue="Posts")
    tables = add({**copy, "authors": ["Ann Bee"]}, merges=True)
    paper = tables.papers.row(2)
    assert (paper["venue"], paper["authors"]) == ("Posts", ["Ann Bee"])
    assert published_of(paper["published"]).doi == "10.1234/z" and paper["abstract"] == "Old words"
    assert sentences_of(tables, "z") == [("Old words", ["x"]), ("A body", ["x"])]


@pytest.mark.parametrize(
    "entry",
    [
        ATTENTION.replace("{vaswani2017,", "{other,").replace("Attention is All", "Of"),  # DOI
        ATTENTION.replace("{vaswani2017,", "{other,").replace("Att_1", "Att_9"),  # title
    ],
)
def test_the_same_paper_under_another_key_is_no_new_one(entry, index, tmp_path, run):
    path = index(ATTENTION + LETTERS)
    (tmp_path / "more.bib").write_text(entry)
    code, out, _ = run("add", path, tmp_path / "more.bib")
    assert code == 0 and ": 2 papers, 0 of them new" in out
    assert "copies of papers of the index, merged with them: 1\n" in out


def test_the_pdf_of_a_paper_gives_it_its_text(index, tmp_path, run):
    title = "Routing Letters by the Shortest Queue"
    path = index(LETTERS)
    tei = (FIXTURES / "mixed" / "paper.tei.xml").read_text()
    printed = re.search(r"<titleStmt>\s*<title[^>]*>([^<]*)<", tei)[1]
    folder = tmp_path / "tei"
    folder.mkdir()
    (folder / "paper.tei.xml").write_text(tei.replace(printed, title))
    code, out, _ = run("add", path, folder)
    assert code == 0 and ": 1 papers, 0 of them new" in out
    tables = read_index(path).tables
    assert tables.bodies["body"].tolist() != [""]
    (paper,) = rows_of(tables.papers)
    assert paper["abstract"] == "A letter takes the shortest queue." and paper["key"] == "letters"
    (tmp_path / "again.bib").write_text(LETTERS)
    assert "1 given were there already" in run("add", path, tmp_path / "again.bib")[1]
    (tmp_path / "again.bib").write_text(LETTERS.replace("shortest queue.", "zebrafish."))
    assert "1 replaced" in run("add", path, tmp_path / "again.bib", "--update")[1]
    changed = read_index(path).tables
    assert changed.bodies["body"].tolist() == tables.bodies["body"].tolist()
    assert changed.papers["abstract"].tolist() == ["A letter takes the zebrafish."]


def test_a_broken_entry_is_left_out_and_told(tmp_path, run):
    broken = "@article{bad,\n  title = {Never {closed,\n  year = 2000,\n}\n"
    (tmp_path / "refs.bib").write_text(ATTENTION + broken + LETTERS)
    code, out, error = run("index", tmp_path / "refs.bib", tmp_path / "index")
    assert code == 0 and ": 2 papers read as bibtex" in out
    assert "records left out as broken: 1\n" in out
    (line,) = [line for line in error.splitlines() if "broken" in line]
    assert "refs.bib:" in line and "begins on line 9 (" in line
    assert Recommender(tmp_path / "index").paper_ids == ["letters", "vaswani2017"]


def test_files_of_no_known_format_are_told(index, tmp_path, run):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "refs.bib").write_text(ATTENTION)
    (folder / "a.docx").write_text("?")
    (folder / "misc.json").write_text('{"colour": "red"}')
    code, out, error = run("index", folder, tmp_path / "index")
    assert code == 0 and "files left out, of no known format: 2\n" in out
    assert "left out, of no known format: a.docx, misc.json" in error
    shutil.rmtree(tmp_path / "index")
    assert "no known format" not in run("index", folder / "refs.bib", tmp_path / "index")[1]


def test_an_unknown_json_beside_an_export_is_not_read_as_one(tmp_path, run):
    folder = tmp_path / "mine"
    shutil.copytree(FIXTURES / "csl", folder)
    (folder / "misc.json").write_text('{"colour": "red"}')
    code, out, error = run("index", folder, tmp_path / "index")
    assert code == 0, error
    assert "files left out, of no known format: 1\n" in out


def test_papers_that_an_export_lacks_are_told_and_removed_when_asked(index, tmp_path, run):
    more = "@misc{gone, title={Letters that nobody wrote}, author={A. Bee}}\n"
    path, export = index(ATTENTION + LETTERS + more), tmp_path / "export.bib"
    export.write_text(LETTERS)
    code, out, error = run("index", export, path)
    assert code == 2 and f"up to date: mpbert add {path} {export} --update" in error
    assert "of the index" not in run("add", path, export)[1]
    code, out, _ = run("add", path, export, "--update")
    told = f"2 of the index not in {export}, --prune removes them: gone, vaswani2017\n"
    assert code == 0 and told in out and ": 3 papers" in out
    export.write_text(f"{LETTERS}@misc{{broken, title = {{No end\n")
    code, out, error = run("add", path, export, "--update", "--prune")
    assert code == 2 and "left out as broken: 1; nothing was changed" in error
    export.write_text(LETTERS + "@misc{new, title={On letters and their queues}}")
    code, out, _ = run("add", path, export, "--update", "--prune")
    assert code == 0 and f"2 of the index not in {export}, removed: gone, vaswani2017\n" in out
    assert ": 2 papers, 1 of them new" in out
    assert Recommender(path).paper_ids == ["letters", "new"]
    assert "of the index not in" not in run("add", path, export, "--update", "--prune")[1]


COPIES = (
    "@inproceedings{first, title={Routing of Letters by Queues}, author={A. Bee and B. Cee}, "
    "year=2001, doi={10.1234/a}}\n"
    "@article{second, title={Routing of letters by queues.}, author={Bee, Anna}, year=2002, "
    "abstract={Letters wait in queues.}, journal={Posts}}\n"
    "@book{third, title={Something about another thing}, author={C. Dee}}\n"
    "@article{third, title={What the key of another entry has}, year=1999}\n"
    "@misc{fourth, title={Routing of letters}, doi={https://doi.org/10.1234/A}}\n"
)


def test_entries_of_one_paper_are_merged_and_both_keys_name_it(tmp_path, run):
    (tmp_path / "refs.bib").write_text(COPIES + "@misc{untitled, year=2001}")
    code, out, error = run("index", tmp_path / "refs.bib", tmp_path / "index")
    assert code == 0 and ": 2 papers of 6 records read" in out
    assert "copies of a paper in the same library, merged with it: 2\n" in out
    assert "kept with a title alone: 1\n" in out and "kept without a year: 1\n" in out  # the third
    assert "merged: 'second' with 'first', 'fourth' with 'first'\n" in error
    assert f"earlier record: 'third' at {tmp_path / 'refs.bib'}:4" in error
    assert f"without a title: 'untitled' at {tmp_path / 'refs.bib'}:6" in error
    recommender = Recommender(tmp_path / "index")
    paper = recommender.paper("second")
    assert paper == recommender.paper("first") == recommender.paper("fourth")
    assert (paper.abstract, paper.venue, paper.doi) == (
        "Letters wait in queues.",
        "Posts",
        "10.1234/a",
    )
    (tmp_path / "own.tex").write_text(r"Letters wait \cite{second}. They are routed \cite{todo}.")
    code, out, _ = run("recommend", tmp_path / "index", tmp_path / "own.tex", "--format", "json")
    cited = [paper["paper_id"] for place in json.loads(out) for paper in place["cited"]]
    assert code == 0 and set(cited) == {"first"}
    cited = ("cite", tmp_path / "index", tmp_path / "own.tex", "--papers", "second", "--yes")
    assert run(*cited, "--bib", tmp_path / "own.bib")[0] == 0
    code, out, _ = run("add", tmp_path / "index", tmp_path / "refs.bib", "--update")
    assert code == 0 and "2 given were there already" in out and " 0 replaced" in out
    assert run("remove", tmp_path / "index", "fourth")[0] == 0
    assert Recommender(tmp_path / "index").paper_ids == ["third"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("title={Routing of letters}, year=2001", "title={Routing of letters}, year=2005"),
        ("title={Letters}, author={A. Bee}", "title={Letters}, author={A. Bee}"),
        (
            "title={Introduction to this special issue}, author={A. Bee}, year=2001",
            "title={Introduction to this special issue}, author={B. Cee}, year=2001",
        ),
        ("title={On letters}, doi={10.1234/b}", "title={On letters II}, doi={10.1234/b}"),
        (
            "title={Letters}, author={A. Bee and B. Cee}, year=2001",
            "title={Letters}, author={A. Bee}, year=2001",
        ),
        ("title={First chapter}, doi={10.1234/b}", "title={Another part}, doi={10.1234/b}"),
        ("title={Two works of one}, doi={10.1234/a}", "title={Two works of one}, doi={10.1234/b}"),
    ],
)  # fmt: skip
def test_other_papers_of_one_title_or_one_doi_stay_apart(one, other, tmp_path, run):
    (tmp_path / "refs.bib").write_text(f"@misc{{a, {one}}}\n@misc{{b, {other}}}\n")
    code, out, _ = run("index", tmp_path / "refs.bib", tmp_path / "index")
    assert code == 0 and ": 2 papers read" in out
