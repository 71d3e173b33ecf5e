"""Tests of ``cite``: what it writes, and that nothing else changes."""

import io
import os
import stat
import sys
import zipfile

import pytest

from mpbert.cli import main

BIB = "@misc{q, title={Routing letters by the shortest queue}}\r\n% the end"
TEX = (
    "\\newcommand{\\mc}[1]{\\citep{#1}}\\newcommand{\\needed}{[CITATION]}\r\n"
    "Letters wait [CITATION] for long \\mc{q} hours. % [CITATION]\n"
    "Boxes are \\needed{} large~\\cite{todo}. Postage \\cite[p.~3]{q, w} costs. "
    "As \\citeauthor{w} says, so. Done \\cite{a %, b\n}. \\bibliography{refs}"
)
HEAD = "---\nbibliography: refs.bib\n---\n"
QUEUE, BOXES, POSTAGE = "queue2001routing", "maerker2005groesse", "nodate"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def cite(library_index, tmp_path, capsys, monkeypatch):
    def run(*flags, name="a.tex", text=TEX, bib=BIB, stdin=None):
        if text is not None:
            (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        if bib is not None:
            (tmp_path / "refs.bib").write_bytes(bib.encode())
        monkeypatch.setattr(sys, "stdin", stdin or io.StringIO(""))
        code = main(["cite", str(library_index), str(tmp_path / name), *flags])
        out, error = capsys.readouterr()
        found = (tmp_path / name).read_bytes().decode()
        assert {file.name for file in tmp_path.glob(".*")} <= {f".{name}.cited"}
        assert not list(tmp_path.glob("tmp*"))
        return code, found, (tmp_path / "refs.bib").read_bytes().decode() if bib else "", out, error

    return run


@pytest.mark.parametrize(
    ("place", "old", "new"),
    [
        ("1", "wait [CITATION]", f"wait \\cite{{{BOXES}}}"),
        ("2", "\\mc{q} hours", f"\\mc{{q,{BOXES}}} hours"),
        ("3", "\\needed{} large", f"\\cite{{{BOXES}}}{{}} large"),
        ("4", "\\cite{todo}", f"\\cite{{{BOXES}}}"),
        ("5", "{q, w}", f"{{q, w,{BOXES}}}"),
    ],
)
def test_keys_stand_at_the_place_and_no_other_byte_changes(cite, place, old, new):
    code, text, bib, out, _ = cite("--place", place, "--papers", BOXES, "--yes")
    assert code == 0
    assert text == TEX.replace(old, new, 1) != TEX
    assert bib.startswith(BIB + "\r\n\r\n@inproceedings{maerker2005groesse,\r\n") and bib.endswith(
        "}\r\n"
    )
    assert f"+@inproceedings{{{BOXES}," in out and out.count("\n--- ") + out.startswith("--- ") == 2


def test_a_paper_of_the_bibliography_keeps_its_key_and_gets_no_entry(cite):
    code, text, bib, out, _ = cite("--place", "4", "--papers", QUEUE, "--yes")
    assert code == 0 and bib == BIB and "large~\\cite{q}." in text
    code, again, _, out, _ = cite("--place", "2", "--papers", QUEUE, "--yes")
    assert code == 0 and again == TEX and "nothing to write" in out


def test_several_papers_are_one_citation_and_a_taken_key_gets_a_number(cite):
    bib = "@misc{NODATE, title={Quite another thing}}\n"
    code, text, after, _, _ = cite(
        "--place=1", "--papers", POSTAGE, BOXES, POSTAGE, "--yes", bib=bib
    )
    assert code == 0 and f"wait \\cite{{nodate-2,{BOXES}}} for" in text
    assert after.startswith(bib + "\n@article{nodate-2,\n")


def test_an_entry_that_is_broken_is_not_written_twice(cite):
    bib = "@misc{nodate,\n title={Postage}\n"
    code, text, after, _, _ = cite("--place=1", "--papers", POSTAGE, "--yes", bib=bib)
    assert code == 0 and after == bib and "wait \\cite{nodate} for" in text


@pytest.mark.parametrize(
    ("name", "text", "flags", "expected"),
    [
        ("a.md", f"{HEAD}Boxes [CITATION].", (), f"Boxes [@{BOXES}]."),
        ("a.md", f"{HEAD}A [see @b, p. 3].", (), f"b, p. 3; @{BOXES}]."),
        ("a.md", f"{HEAD}A [@todo].", (), f"A [@{BOXES}]."),
        (
            "a.md",
            "---\nbibliography: refs.bib\n---\nA `[?]` \\cite{b}.",
            (),
            f"\\cite{{b,{BOXES}}}.",
        ),
        ("a.txt", "Boxes [?]", ("--bib", "refs.bib"), f"Boxes [@{BOXES}]"),
    ],
)
def test_markdown_and_text_are_cited_as_pandoc_reads_them(
    cite, name, text, flags, expected, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    code, after, bib, _, _ = cite("--papers", BOXES, "--yes", *flags, name=name, text=text)
    assert code == 0 and after.endswith(expected) and BOXES in bib


def test_an_included_file_of_another_encoding_is_written_to(cite, tmp_path):
    main_tex = "\\usepackage[latin1]{inputenc}\n\\input{part}\\bibliography{refs}"
    part = "Größe zählt [CITATION] sehr.".encode("latin-1")
    (tmp_path / "part.tex").write_bytes(part)
    (tmp_path / "part.tex").chmod(0o640)
    code, text, _, out, _ = cite("--papers", BOXES, "--yes", text=main_tex)
    assert code == 0 and text == main_tex and "+Größe zählt \\cite" in out
    written = b"\\cite{" + BOXES.encode() + b"}"
    assert (tmp_path / "part.tex").read_bytes() == part.replace(b"[CITATION]", written)
    assert stat.S_IMODE((tmp_path / "part.tex").stat().st_mode) == 0o640


@pytest.mark.parametrize("is_new", [False, True])
def test_the_last_insertion_is_taken_back_byte_for_byte(cite, tmp_path, is_new):
    bib = None if is_new else BIB
    cite("--place=1", "--papers", BOXES, "--yes", bib=bib)
    once = (tmp_path / "a.tex").read_bytes(), (tmp_path / "refs.bib").read_bytes()
    cite("--place=4", "--papers", POSTAGE, "--yes", text=None, bib=None)
    code, _, _, out, _ = cite("--undo", "--yes", text=None, bib=None)
    assert code == 0 and f"-@article{{{POSTAGE}," in out
    assert once == ((tmp_path / "a.tex").read_bytes(), (tmp_path / "refs.bib").read_bytes())
    code, _, _, _, error = cite("--undo", text=None, bib=None)
    assert code == 2 and "nobody to ask on a terminal, nothing was written" in error
    code, text, _, _, _ = cite("--undo", "--yes", text=None, bib=None)
    assert code == 0 and text == TEX and (tmp_path / "refs.bib").exists() is not is_new
    assert is_new or (tmp_path / "refs.bib").read_bytes() == BIB.encode()
    code, _, _, _, error = cite("--undo", "--yes", text=None, bib=None)
    assert code == 2 and "found no insertion to take back" in error


def test_what_was_edited_since_stays_when_an_insertion_is_taken_back(cite, tmp_path):
    cite("--place=1", "--papers", BOXES, "--yes")
    path = tmp_path / "a.tex"
    edited = path.read_bytes() + b" More."
    path.write_bytes(edited)
    code, text, _, _, _ = cite("--undo", "--yes", text=None, bib=None)
    assert code == 0 and text == TEX + " More."
    cite("--place=1", "--papers", BOXES, "--yes")
    path.write_text("Quite another text.")
    bib = (tmp_path / "refs.bib").read_bytes()
    code, text, _, _, error = cite("--undo", "--yes", text=None, bib=None)
    assert code == 2 and "was edited where the last insertion stands" in error
    assert text == "Quite another text." and (tmp_path / "refs.bib").read_bytes() == bib


def test_a_document_of_word_names_authors_and_year_and_is_taken_back(library_index, tmp_path):
    body = "<w:p><w:r><w:t>Boxes wait [CITATION].</w:t></w:r></w:p>"
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr("word/document.xml", body)
    before = (tmp_path / "a.docx").read_bytes()

    def run(*flags):
        return main(["cite", str(library_index), str(tmp_path / "a.docx"), "--yes", *flags])

    assert run("--papers", BOXES) == 0
    with zipfile.ZipFile(tmp_path / "a.docx") as archive:
        assert "2005)" in archive.read("word/document.xml").decode()
    assert run("--undo") == 0 and (tmp_path / "a.docx").read_bytes() == before


def test_a_link_stays_a_link_and_a_new_bib_is_made(cite, tmp_path):
    (tmp_path / "real.tex").write_text("\ufeffBoxes [?].\\bibliography{refs}", encoding="utf-8")
    (tmp_path / "a.tex").symlink_to("real.tex")
    code, text, _, out, _ = cite("--papers", BOXES, "--yes", text=None, bib=None)
    assert code == 0 and (tmp_path / "a.tex").is_symlink() and "--- /dev/null" in out
    assert text == f"\ufeffBoxes \\cite{{{BOXES}}}.\\bibliography{{refs}}"
    assert (tmp_path / "refs.bib").read_text().startswith(f"@inproceedings{{{BOXES},")


def test_a_terminal_is_asked_for_papers_and_for_leave(cite):
    code, text, bib, out, error = cite("--place=1", stdin=Terminal("7\nx\n1\nn\n"))
    assert code == 0 and (text, bib) == (TEX, BIB) and "nothing was written" in error
    assert error.count("Papers to cite, by rank") == 3 and "place 1: Letters wait" in out
    code, text, _, _, _ = cite("--place=1", stdin=Terminal("1, 2\nyes\n"))
    assert code == 0 and "wait \\cite{" in text and text.count(",") == TEX.count(",") + 1


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--place=9",), "found no place 9; expected one of 1 to 7, as recommend prints them"),
        (("--place=x",), "found no place x; expected one of 1 to 7"),
        (("--place=1.2",), "found no place 1.2; expected one of 1 to 7"),
        ((), "found 7 places, 3 of them open; expected --place with one of them"),
        (("--place=6",), "a.tex:3: \\citeauthor names one paper; put [CITATION] where"),
        (("--place=7",), "a comment stands among its keys; put [CITATION] where"),
    ],
)
def test_a_place_that_is_not_there_or_takes_no_key_is_refused_in_one_line(cite, flags, message):
    code, text, bib, out, error = cite(*flags, "--papers", BOXES, "--yes")
    assert code == 2 and (text, bib, out) == (TEX, BIB, "")
    assert message in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "text", "flags", "message"),
    [
        (
            "a.tex",
            "A \\cite{a} b \\cite{c}.",
            ("--papers", BOXES),
            "found 2 places, 0 of them open",
        ),
        ("a.tex", "A [?].", ("--papers", BOXES), "names no .bib for new entries; expected --bib"),
        ("a.tex", "A [?].", ("--papers", "zzz"), "no paper 'zzz' among the 5 of the index"),
        ("a.tex", "A [?].", (), "found no --papers; expected ids of papers"),
        ("a.tex", "A [?].", ("--papers", BOXES, "--bib", "/no/x.bib"), "nobody to ask on a term"),
        ("a.tex", "A.", ("--papers", BOXES), "found no \\cite{todo}"),
        ("a.tex", r"\newcommand{\k}{so \cite{k}} A \k.", ("--papers", BOXES), "is in no text of"),
        ("a.md", "As @a says.", ("--papers", BOXES), "a.md:1: @a is a part of its sentence; put"),
        ("a.json", '{"text": "A [?]."}', ("--papers", BOXES), "is in no text of a file (but in"),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_line(cite, name, text, flags, message):
    code, after, _, _, error = cite(*flags, name=name, text=text, bib=None)
    assert code == 2 and after == text
    assert message in error and error.count("\n") == 1


def test_a_disk_that_refuses_leaves_files_as_they_were(cite, monkeypatch):
    def refuse(file):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", refuse)
    code, text, bib, _, error = cite("--place=1", "--papers", BOXES, "--yes")
    assert code == 2 and (text, bib) == (TEX, BIB)
    assert "refs.bib: cannot be written (No space left on device); it is as it was" in error


def test_a_file_that_changes_while_one_is_asked_is_not_overwritten(cite, tmp_path):
    class Editor(Terminal):
        def readline(self):
            (tmp_path / "a.tex").write_text("Changed.")
            return "y\n"

    code, text, _, _, error = cite("--place=4", "--papers", QUEUE, stdin=Editor())
    assert code == 2 and text == "Changed." and "has changed since it was read" in error
