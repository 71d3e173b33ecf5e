"""Tests of what a check says of keys and entries: undefined, unused, twice, too new."""

import json
from datetime import date
from pathlib import Path

import pytest

from mpbert.recommending.checking.bibliography_checks import year_of_manuscript
from mpbert.recommending.checking.checking import check_bibliography
from mpbert.recommending.checking.findings import KINDS

BIB = """@string{ietf = "IETF"}
@article{mogul, title={Path MTU discovery}, author={Mogul, J. and Deering, S.}, year=1990}
@misc{Postel, title={Simple mail transfer protocol}, author={Postel, Jon}, year=1982,
  ids={smtp}}
@inproceedings{child, title={A part of the meeting}, author={Doe, Jane}, crossref={meeting}}
@proceedings{meeting, title={Proceedings of the meeting on mail}, year=1984}
@article{deering, title={Path {MTU} Discovery}, author={J. Mogul}, year=1991}
@misc{later, title={Mail of tomorrow and what follows}, author={Roe, Richard}, year=2012}
@article{unused, title={What nobody cites in any text}, author={Poe, Edgar}, year=1999}
@IEEEtranBSTCTL{control, CTLuse_alt_spacing = "yes"}
"""
TEX = r"""\documentclass{article}
\date{May 2010}
\begin{document}
Packets are sized by discovery \cite{mogul}. % \cite{gone}
Mail is relayed~\citep[see][p. 3]{smtp,
  deering}. Its parts \cite{child} are later~\cite{later}.
\begin{equation} a = b \quad\text{by~\cite{mogol}} \end{equation}
Mail is relayed by \textcite{postel}, and \verb|\cite{code}| shows it \cite{todo}.
\bibliography{refs}
\end{document} \cite{behind}
"""


@pytest.fixture
def found(tmp_path):
    def check(tex=TEX, bib=BIB, name="paper.tex", **wanted):
        (tmp_path / name).write_text(tex)
        if bib is not None:
            (tmp_path / "refs.bib").write_text(bib)
        findings = check_bibliography(tmp_path / name, **wanted)
        assert all(each.kind in KINDS and "\n" not in str(each) for each in findings)
        return {(f.kind, f.key): (Path(f.path).name, f.line, f.other_key) for f in findings}

    return check


def test_all_that_is_wrong_with_a_bibliography_is_found_on_its_line(found):
    assert found() == {
        ("undefined-key", "mogol"): ("paper.tex", 7, "mogul"),
        ("undefined-key", "postel"): ("paper.tex", 8, "Postel"),
        ("same-work", "deering"): ("refs.bib", 7, "mogul"),
        ("newer-than-manuscript", "later"): ("paper.tex", 6, ""),
        ("unused-entry", "unused"): ("refs.bib", 9, ""),
    }


def test_a_year_that_is_given_counts(found):
    assert ("newer-than-manuscript", "later") not in found(year=2012)
    assert ("newer-than-manuscript", "mogul") in found(year=1985)
    assert year_of_manuscript("no date") == date.today().year
    assert year_of_manuscript("---\ntitle: a\ndate: 3 May 2011\n---") == 2011


def test_one_key_twice_and_in_another_case(found):
    again = BIB + "@misc{Mogul, title={Another title of another work}, year=1985}\n"
    assert found(bib=again)[("repeated-key", "Mogul")] == ("refs.bib", 11, "mogul")


def test_nocite_of_all_leaves_nothing_unused(found):
    kinds = {kind for kind, _ in found(tex=TEX.replace("Mail is", r"\nocite{*} Mail is", 1))}
    assert "unused-entry" not in kinds and "undefined-key" in kinds
    assert ("unused-entry", "unused") not in found(
        tex=TEX.replace("Mail is", r"\nocite{x,unused} Mail is", 1)
    )


def test_files_that_are_not_there_or_broken_are_told(found):
    missing = found(bib=None)
    assert missing == {("missing-bibliography", ""): ("paper.tex", None, "")}
    broken = found(bib=BIB + "@misc{open, title={Never closed\n\n@misc{last, title={The last}}\n")
    assert broken[("broken-entry", "")][:2] == ("refs.bib", 13)
    assert ("undefined-key", "open") not in found(
        tex=TEX.replace("mogol", "open"), bib=BIB + "@misc{open, title={Never closed\n"
    )


def test_a_bibliography_that_cannot_be_read_is_an_error(found, tmp_path):
    (tmp_path / "refs.json").write_text("[{")
    (tmp_path / "more.bib").write_text("@misc{smtp, title={Simple mail}}")
    named = [tmp_path / "refs.json", tmp_path / "more.bib"]
    assert found(bib=None, bibliographies=named)[("unread-bibliography", "")][0] == "refs.json"
    assert KINDS["unread-bibliography"][0] == "error"
    (finding,) = (f for f in check_bibliography(tmp_path / "paper.tex", named) if f.key == "mogol")
    assert "defined in no bibliography of those that could be read" in finding.message


def test_an_entry_without_a_key_is_told_and_one_in_a_comment_is_not(found):
    told = found(bib=BIB + "%@misc{old, title={Old}}\n@misc{, title={Queues of letters}}\n@misc{")
    assert told[("broken-entry", "")][:2] == ("refs.bib", 12)
    assert not {("unused-entry", "old"), ("unused-entry", "")} & set(told)


def test_a_bibliography_may_be_named(found, tmp_path):
    (tmp_path / "other.bib").write_text("@misc{mogul, title={Path MTU discovery}, year=1990}")
    named = found(bibliographies=[tmp_path / "other.bib"])
    assert ("undefined-key", "smtp") in named and ("undefined-key", "mogul") not in named


def test_markdown_with_a_list_of_references_in_its_head(found):
    head = "references:\n- {id: own, title: Own}\nnocite: '@unused'\nbibliography: refs.bib"
    text = (
        f"---\n{head}\n---\n"
        + "Mail is relayed [@smtp; @own]. It is late [@later].\n\nHosts do it [@Nobody]."
    )
    keys = set(found(tex=text, name="paper.md", year=2020))
    assert ("undefined-key", "Nobody") in keys and ("unused-entry", "unused") not in keys
    assert {key for kind, key in keys if kind == "unused-entry"} == {
        *("mogul", "child", "meeting", "deering")
    }


def test_in_verbatim_text_nothing_is_cited_and_many_wrong_keys_are_told(found):
    opened = "\\begin{verbatim}\\cite{code}\\end{verbatim}\\begin{comment}\\cite{old}"
    keys = ",".join(f"nobody{number}" for number in range(3000))
    entries = "".join(f"@misc{{key{n}, title={{Title {n}}}}}\n" for n in range(300))
    tex = f"Mail \\cite{{{keys}}}.\n\\bibliography{{refs}}\n{opened}"
    assert len(found(tex=tex, bib=entries)) == 3000 + 300


def test_printed_references_define_keys(found):
    tex = "Mail \\cite{a} is \\cite{b}.\n\\begin{thebibliography}{9}\\bibitem{a} A. Title. 1990."
    assert found(tex=tex + "\\end{thebibliography}", bib=None) == {
        ("undefined-key", "b"): ("paper.tex", 1, "")
    }


def test_org_and_its_citations_that_print_nothing(found):
    org = "#+bibliography: refs.bib\n\nMail [cite:@smtp] is old [cite/n:@unused;@none].\n"
    keys = found(tex=org, name="paper.org", year=2020)
    assert ("unused-entry", "unused") not in keys and ("unused-entry", "later") in keys
    assert keys[("undefined-key", "none")][:2] == ("paper.org", 3)


@pytest.mark.parametrize(
    "named",
    [
        "#+BIBLIOGRAPHY: refs alpha limit:t",
        '#+bibliography: "refs.bib"',
        "#+LATEX_HEADER: \\addbibresource{refs.bib}",
        "#+latex: \\bibliography{refs}",
        "bibliography:./refs.bib",
        "# bibliography:old.bib\n#+bibliography: refs.bib",
    ],
)
def test_org_names_its_bibliography_in_many_ways(found, named):
    keys = found(tex=f"Mail [cite:@smtp] is old.\n\n{named}\n", name="paper.org", year=2020)
    assert {kind for kind, _ in keys} == {"same-work", "unused-entry"}


def test_typst_with_references_in_yaml(found, tmp_path):
    (tmp_path / "refs.yml").write_text(
        "smtp:\n  type: article\n  title: Simple mail\n  date: 1982\nunused: {title: A, type: book}"
    )
    typst = 'Mail is relayed @smtp. It is slow @smpt.\n#bibliography("refs.yml")'
    assert found(tex=typst, name="paper.typ", bib=None) == {
        ("undefined-key", "smpt"): ("paper.typ", 1, "smtp"),
        ("unused-entry", "unused"): ("refs.yml", None, ""),
    }
    (tmp_path / "refs.yml").write_text("- a\n- b")
    assert ("unread-bibliography", "") in found(tex=typst, name="paper.typ", bib=None)


def test_a_finding_is_a_line_and_an_object_of_json(tmp_path):
    (tmp_path / "refs.bib").write_text(BIB)
    (tmp_path / "paper.tex").write_text(TEX)
    finding = next(f for f in check_bibliography(tmp_path / "paper.tex") if f.key == "mogol")
    assert str(finding).endswith(
        "paper.tex:7: error: 'mogol' is defined in no bibliography; did you mean 'mogul'? "
        "[undefined-key]"
    )
    assert json.loads(json.dumps(finding.as_json()))["severity"] == "error"
