"""Tests of a manuscript's own references: which papers of an index they are."""

import logging
from pathlib import Path

import pytest

from mpbert.recommending.bibliography import cited_papers, read_bibliography
from mpbert.recommending.manuscripts.files import read_manuscript_file
from mpbert.recommending.options import Options
from mpbert.recommending.places import ELSEWHERE, HERE, LISTED, PlaceRecommender, lines_of
from mpbert.recommending.recommender import Recommender

QUEUE, BOXES = "queue2001routing", "maerker2005groesse"
BIB = r"""@string{x = {y}}
@article{same_title, title = {{ROUTING} letters, by the shortest \emph{Queue}}, year = 2002}
@article{other_year, title = {Routing Letters by the Shortest Queue}, year = 1990}
@article{nodate, title = {Another paper that has the key of one}}
@article{umlauts, title = {{\"U}ber die Gr{\"o}{\ss}e von Briefk{\"a}sten: How Large a Mailbox Must
  Be}, date = {2005-03}}
"""


@pytest.fixture(scope="module")
def recommender(library_index):
    return Recommender(library_index)


@pytest.fixture
def known(recommender, tmp_path):
    def read(name, text, **files):
        for file, content in files.items():
            (tmp_path / file.replace("_", ".")).write_text(content)
        (tmp_path / name).write_text(text)
        manuscript = read_manuscript_file(tmp_path / name)
        keys = [key for place in manuscript.keys for key in place]
        bibliography = read_bibliography(manuscript.about, tmp_path / name, keys)
        return manuscript, cited_papers(recommender, bibliography, keys)

    return read


def test_references_are_known_by_title_and_year(known):
    _, found = known("a.tex", r"Letters \cite{same_title}. \bibliography{refs}", refs_bib=BIB)
    assert found == {"same_title": QUEUE, "umlauts": BOXES}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tex", r"\addbibresource[label=x]{refs.bib} \begin{document}L \cite{a}.\end{document}"),
        ("a.tex", r"% \bibliography{no}" + "\n" + r"L \cite{a}. \bibliography{none, refs}"),
        ("a.md", "---\nbibliography: refs.bib\n---\nLetters [@a]."),
        ("a.md", "---\nbibliography: [none.bib, refs.bib]\n---\nLetters [@a]."),
    ],
)
def test_each_way_to_name_a_file_is_known(known, name, text, caplog):
    _, found = known(name, text, refs_bib="@misc{umlauts, title={Proceedings of the Post 2005}}")
    assert found == {"umlauts": "proc05"}
    assert ("names" in caplog.text and "no such file" in caplog.text) == ("none" in text)


@pytest.mark.parametrize(
    "text",
    [
        r"\begin{thebibliography}{9}\bibitem[Q{\"u} (2001)]{a} J.~Queue. \newblock Routing "
        "{Letters}\nby the shortest queue. 2001.\\end{thebibliography}",
        r"\begin{thebibliography}{9}\bibitem{b} Nothing. \bibitem{a} doi:10.9/x. \emph{Routing "
        r"letters by the shortest queue}, 2000.",
    ],
)
def test_printed_references_are_known_by_the_title_they_hold(known, text):
    assert known("a.tex", f"Letters \\cite{{a}}.\n{text}")[1] == {"a": QUEUE}


def test_a_bbl_of_biber_or_bibtex_stands_in_where_there_is_no_bib(known, caplog):
    caplog.set_level(logging.INFO)
    entry = r"\entry{a}{article}{}\field{title}{Routing letters by the shortest queue}\endentry"
    assert known("a.tex", r"L \cite{a}. \printbibliography", a_bbl=entry)[1] == {"a": QUEUE}
    bibtex = r"\bibitem{b} Queue, Routing letters by the shortest queue, 1950."
    assert known("a.tex", r"L \cite{b}.", a_bbl=bibtex)[1] == {}  # of another year
    whole = "\\begin{thebibliography}{9}\n" + bibtex.replace("1950", "2001") + "\n\n"
    whole += "\\end{thebibliography}\n"
    assert known("a.tex", r"L \cite{b}.", a_bbl=whole)[1] == {"b": QUEUE}
    assert not caplog.records  # pylatexenc tells of an end without a beginning


def test_a_key_that_is_an_id_is_that_paper_unless_a_reference_says_otherwise(known):
    assert known("a.txt", "Letters \\cite{nodate}.")[1] == {"nodate": "nodate"}
    _, found = known("a.tex", r"L \cite{nodate}. \bibliography{refs}", refs_bib=BIB)
    assert "nodate" not in found


def test_of_a_large_file_the_cited_entries_are_read_and_lines_are_told(known, caplog):
    many = "".join(f"@misc{{k{n},\n title = {{Paper number {n}}}}}\n" for n in range(30_000))
    text = r"L \cite{umlauts,nodate}. \bibliography{refs}"
    assert known("a.tex", text, refs_bib=many + BIB)[1] == {"umlauts": BOXES}
    broken = BIB + "@misc{nodate,\n title = {It"
    assert known("a.tex", text, refs_bib=many + broken)[1] == {"umlauts": BOXES}
    assert "broken entry, which begins on line 60007" in caplog.text


def test_a_broken_file_is_one_warning(known, caplog):
    _, found = known("a.tex", r"L \cite{umlauts}. \bibliography{refs}", refs_bib=BIB + "@misc{x")
    (record,) = caplog.records
    assert "broken entry" in record.message and "not matched to papers" in record.message
    assert found["umlauts"] == BOXES  # what stands before and behind is read


def test_papers_say_where_the_manuscript_cites_them(known, recommender):
    text = (
        r"Letters wait in a queue \cite{a,b}. Letters cost postage by weight [?]. "
        r"\bibliography{refs}"
    )
    bib = (
        "@misc{a, title={Routing letters by the shortest queue}}"
        "@misc{c, title={Postage by Distance -- or by Weight?}}"
    )
    manuscript, found = known("a.tex", text, refs_bib=bib)
    places = PlaceRecommender(recommender, manuscript, found, keeps_cited=True)
    first, second = places.answer(0, Options(5)), places.answer(1, Options(5))
    assert first.known(QUEUE).cited == HERE and first.known("nodate").cited == LISTED
    assert second.known(QUEUE).cited == ELSEWHERE
    assert "        already cited here as a" in lines_of(first, None)
    assert "        cited elsewhere as a" in lines_of(second, None)
    cited = {paper["paper_id"]: paper["cited"] for paper in second.as_json()["papers"]}
    assert cited[QUEUE] == ELSEWHERE and cited["nodate"] == LISTED
    # otherwise what is cited here is no news, and stands above the list
    lines = lines_of(PlaceRecommender(recommender, manuscript, found).answer(0, Options(5)), None)
    assert lines[1] == f"  already cited here: {QUEUE} as a"
    assert not any(line.split()[2:3] == [QUEUE] for line in lines[2:])


def test_a_manuscript_without_a_file_has_no_references():
    from mpbert.recommending.manuscripts.sentences import About

    assert read_bibliography(About(), Path("-")).references == {}
