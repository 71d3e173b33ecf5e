"""The reader of PDF files: what is told of a paper, and files that tell of none."""

import importlib.util
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.corpus.formats.pdf.file_name import named
from mpbert.corpus.formats.pdf.front import front_of, names_in
from mpbert.corpus.formats.pdf.lines import SOFT_HYPHEN, Line, PdfError, Printed, read_pdf
from mpbert.corpus.formats.pdf.reader import PdfReader
from mpbert.corpus.formats.pdf.text import before_references, joined, mended, words_of
from mpbert.foundation.errors import CorpusError
from mpbert.recommending.bodies import pages_of
from mpbert.recommending.directory import read_index

FIXTURES = Path(__file__).parents[2] / "fixtures" / "pdf"


@pytest.fixture(scope="module")
def make():
    """The writer of the fixtures."""
    spec = importlib.util.spec_from_file_location("make_pdf", FIXTURES / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def printed(*lines, about=()):
    return Printed(dict(about), [[Line(text, size) for text, size in lines]], 1)


def test_the_fixtures_are_what_their_writer_writes(make):
    for name, data in make.files().items():
        assert (FIXTURES / name).read_bytes() == data


def test_files_that_cannot_be_read_are_named_and_counted(caplog):
    reader = PdfReader()
    assert [paper.paper_id for paper in reader.read(FIXTURES)] == ["names", "queues"]
    kinds = ("broken", "encrypted", "scanned")
    assert [reader.counts[f"files_left_out_as_{kind}"] for kind in kinds] == [1, 1, 1]
    told = {message.split(": ")[1]: message for message in caplog.messages}
    assert set(told) == {str(FIXTURES / "odd" / f"{n}.pdf") for n in ("broken", "secret", "scan")}
    assert "needs a password" in told[str(FIXTURES / "odd" / "secret.pdf")]
    assert "needs OCR first" in told[str(FIXTURES / "odd" / "scan.pdf")]


def test_a_folder_of_unreadable_files_is_refused_with_the_first_problem():
    with pytest.raises(CorpusError, match=r"broken.pdf: unreadable .* no other of 3 files can be"):
        list(PdfReader().read(FIXTURES / "odd"))


def test_pdf_files_become_an_index(tmp_path, capsys):
    assert main(["index", str(FIXTURES), str(tmp_path / "index")]) == 0
    out = capsys.readouterr().out
    assert "2 papers read as pdf" in out
    for line in ("as broken: 1", "as encrypted: 1", "as scanned: 1"):
        assert f"left out {line}\n" in out
    assert "texts of 2" in out and "abstracts of 1" in out


def test_an_index_knows_the_pages_of_sentences_also_where_papers_came_later(tmp_path):
    for name in ("names", "queues"):
        shutil.copy(FIXTURES / f"{name}.pdf", tmp_path / f"{name}.pdf")
    whole, index = tmp_path / "whole", tmp_path / "index"
    (tmp_path / "first").mkdir()
    shutil.copy(FIXTURES / "names.pdf", tmp_path / "first")
    assert main(["index", str(FIXTURES), str(whole)]) == 0
    assert main(["index", str(tmp_path / "first"), str(index)]) == 0
    assert main(["add", str(index), str(tmp_path / "queues.pdf")]) == 0
    for path in (whole, index):
        bodies = read_index(path).tables.bodies["body"].tolist()
        assert list(map(pages_of, bodies)) == [(1,) * 4, (1,) * 5 + (2,) * 5]


@pytest.mark.parametrize(
    ("lines", "title", "expected"),
    [
        # what the file says of itself, where it is printed
        ([("Letters", 20), ("Routing of Letters", 9)], "Routing of letters", "Routing of letters"),
        # the name of a document is not printed
        (
            [("Routing of Letters", 18), ("By Ann", 9)],
            "Microsoft Word - x.doc",
            "Routing of Letters",
        ),
        # several lines of one size, without the mark of a footnote
        (
            [("Routing of", 18), ("Letters by Queue ∗", 18.2), ("Ann", 9)],
            "",
            "Routing of Letters by Queue",
        ),
        # banners, initials and formulas are none
        (
            [("Journal of Letters", 25), ("L", 40), ("A Study of Queues", 18)],
            "",
            "A Study of Queues",
        ),
        ([("x^2 + (3 - 4) / 7 = 0", 25), ("A Study of Queues", 18)], "", "A Study of Queues"),
        ([("A line of text like all others", 9)] * 3, "", ""),
    ],
)
def test_the_title_is_what_print_and_file_agree_on(lines, title, expected):
    body = ("Letters wait in queues until a router has read their names.", 9)
    assert front_of(printed(*lines, body, about={"Title": title}.items())).title == expected


def test_the_stamp_of_arxiv_is_no_title_and_tells_the_year_and_the_id():
    front = front_of(read_pdf(FIXTURES / "queues.pdf"))
    assert front.title == "Routing Letters by the Shortest Queue*".rstrip("*")
    assert (front.year, front.is_dated, front.identifiers.arxiv) == (2011, True, "1107.01234")


@pytest.mark.parametrize(
    ("lines", "made", "name", "expected"),
    [
        (["Copyright 2004 by Post", "In November 2003 it rained."], "D:2005", "", (2004, True)),
        (["Vol. 3, May 1998", "Abstract", "As of January 1990."], "", "", (1998, True)),
        (["Nothing is dated here."], "D:20260203", "", (None, False)),
        (["In 1066 and 2071234 letters were lost."], "", "", (None, False)),
        (["Nothing is dated here."], "D:20260203", "Bee - 2000 - Letters", (2000, False)),
        (["November 27, 2026", "It is so."], "D:20261127", "Bee - 2000 - Letters", (2000, False)),
        (["November 27, 2026", "It is so."], "D:20261127", "", (2026, True)),
        (["Post 1999, and 2000"], "", "Bee_2000_Letters", (2000, True)),
        (["c 2001 Association for Letters"], "", "letters", (2001, True)),
        (["In NAACL-HLT 2013, pages 1-9"], "", "P00-1001", (2013, True)),
        (["Nothing is dated here."], "D:2026", "1706.03762v5", (2017, False)),
        (["Nothing is dated here."], "D:2026", "scan 2019-05-03", (None, False)),
    ],
)
def test_the_year_is_printed_or_in_the_name_and_never_that_of_the_file(lines, made, name, expected):
    page = printed(*((line, 9) for line in lines), about={"CreationDate": made}.items())
    front = front_of(page, named(name))
    assert (front.year, front.is_dated) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Marcu et al. - 2000 - Title of it", ("Marcu others", 2000, "Title of it")),
        (
            "Marcu and Wong - 2002 - A Joint, Good Model",
            ("Marcu Wong", 2002, "A Joint, Good Model"),
        ),
        ("2000 - van der Berg - Title of it", ("van der Berg", 2000, "Title of it")),
        ("Marcu_2000_Title_of_it", ("Marcu", 2000, "Title of it")),
        ("Marcu (2000) Title of it", ("Marcu", 2000, "Title of it")),
        ("marcu2000title", ("", 2000, "")),
        ("report 2019", ("", None, "")),
        ("2001 A Space Odyssey", ("", None, "")),
    ],
)
def test_the_name_of_a_file_tells_of_its_paper(name, expected):
    found = named(name)
    assert (" ".join(found.authors), found.year, found.title) == expected


@pytest.mark.parametrize(
    ("below", "name", "expected"),
    [
        ("D. Marcu*, K. Knight1 and Eduard Hovy2,3", "", ("D. Marcu", "K. Knight", "Eduard Hovy")),
        ("Daniel Marcu", "Wong - 2000 - A Study", ("Daniel Marcu",)),
        (
            "Daniel Marcu William Wong",
            "Marcu et al. - 2002 - A Study",
            ("Marcu", "others"),
        ),  # 2 columns
        ("University of Southern California", "Marcu - 2000 - A Study", ("Marcu",)),
        ("Technical Report", "", ()),
        ("February 8, 1988", "", ()),
    ],
)
def test_authors_stand_below_the_title_or_in_the_name(below, name, expected):
    page = printed(("A Study of Queues", 18), (below, 12), ("Letters wait in queues of it.", 9))
    front = front_of(page, named(name))
    assert (front.title, front.authors) == ("A Study of Queues", expected)


def test_a_title_that_the_name_cuts_is_whole_in_print():
    lines = [("ACTA", 30), ("Letters and their", 14), ("Queues Again", 14), ("It is so. " * 9, 9)]
    cut, other = "Bee - 2000 - Letters and their Que", "Bee - 2000 - Something not printed"
    assert front_of(printed(*lines), named(cut)).title == "Letters and their Queues Again"
    assert front_of(printed(*lines), named(other)).title == "Letters and their Queues Again"
    assert front_of(printed(*[("It is so.", 9)] * 4), named(other)).title == "Something not printed"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann B. Postel; Märker, Jon", ("Ann B. Postel", "Jon Märker")),
        ("Ann Postel and Jon Märker", ("Ann Postel", "Jon Märker")),
        ("Ann Postel, Jon Märker", ("Ann Postel", "Jon Märker")),
        ("Postel, Ann", ("Ann Postel",)),
        ("ibm", ()),
        ("", ()),
        ("ann postel@post.org", ()),
    ],
)
def test_authors_are_names_of_two_parts(text, expected):
    assert names_in(text) == expected


def test_an_abstract_ends_before_the_next_heading():
    lines = ["A B S T R A C T", "We route letters.", "Key words: queues", "1 Introduction", "It"]
    front = front_of(printed(*((line, 9) for line in lines)))
    assert front.abstract == ("We route letters.",) and front.body_page == (0, 2)
    lines = ["Abstract—We route letters.", "They wait."]
    front = front_of(printed(*((line, 9) for line in lines)))
    assert front.abstract == ("We route letters.", "They wait.") and front.body_page == (1, 0)


def test_words_that_a_line_cuts_are_whole_again():
    cut = [f"A reli{SOFT_HYPHEN}", f"able well{SOFT_HYPHEN}", f"known pack{SOFT_HYPHEN}et"]
    words = words_of([*cut, "It is well-known."])
    assert joined(cut, words) == "A reliable well-known packet"
    assert joined([f"name{SOFT_HYPHEN}", "server"], Counter(name=1, server=2)) == "name-server"


def test_accents_and_ligatures_of_old_fonts_are_letters():
    assert mended("Gr´egory Franc¸ois ﬁnds na¨ıve caf´e") == "Grégory François finds naïve café"
    assert mended("a `quoted' word") == "a `quoted' word"


def test_the_list_of_references_is_no_text():
    lines = ["A reference is a pointer.", "It", "points.", "References", "[1] A. B."]
    assert before_references(lines) == lines[:3]
    assert before_references(["References", *"abcdefgh"]) == ["References", *"abcdefgh"]


def test_lines_of_a_file_that_matplotlib_wrote_are_found(tmp_path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 8))
    figure.text(0.1, 0.9, "Routing of Letters", size=24)
    figure.text(0.1, 0.8, "Abstract", size=10)
    prose = "We route letters by the length of their queues, and the shortest queue takes each. "
    for number in range(4):
        figure.text(0.05, 0.7 - number / 20, prose, size=8)
    figure.savefig(tmp_path / "a.pdf", metadata={"Author": "Ann Postel", "Title": "figure 1"})
    (paper,) = PdfReader().read(tmp_path)
    assert (paper.title, paper.authors) == ("Routing of Letters", ())
    assert paper.abstract[0].text == prose.strip() and len(paper.abstract) == 4


def test_pages_beyond_the_first_hundreds_are_counted(make, tmp_path, monkeypatch):
    from mpbert.corpus.formats.pdf import reader as module

    pages = [make.column(make.PROSE.replace("queue", name)) for name in ("a", "b", "c", "d", "e")]
    (tmp_path / "a.pdf").write_bytes(make.pdf(pages))
    whole = read_pdf(tmp_path / "a.pdf")
    assert (len(whole.pages), whole.num_pages) == (5, 5)
    monkeypatch.setattr(module, "read_pdf", lambda file, most=3: read_pdf(file, most))
    reader = PdfReader()
    (paper,) = reader.read(tmp_path)
    assert reader.counts["pages_left_unread"] == 2 and paper.sections


def test_a_file_cut_off_anywhere_is_read_or_refused_in_one_line(tmp_path):
    data = (FIXTURES / "queues.pdf").read_bytes()
    path, kinds = tmp_path / "a.pdf", Counter()
    for end in np.linspace(0, len(data) - 1, 25).astype(int).tolist():
        path.write_bytes(data[:end])
        try:
            kinds[bool(read_pdf(path).pages)] += 1
        except PdfError as error:
            kinds[error.kind] += 1
            assert "\n" not in str(error)
    assert kinds["broken"]
