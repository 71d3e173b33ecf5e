"""Tests of ``recommend``."""

import io
import json
import re
import subprocess
import sys

import pytest

from mpbert.cli import main
from mpbert.recommending.recommender import Recommender

TEX = r"""
\title{Mail for everyone}
\begin{document}
\begin{abstract}We relay mail.\end{abstract}
\section{Introduction}
Names are resolved~\citep[see][p.~2]{dns, names}. % \cite{dead}
Nothing here. Mail is routed \cite{}.
\end{document}
"""


class Stdin(io.TextIOWrapper):
    """Standard input that is, or is not, a terminal; lenient, as it is where LANG is C."""

    def __init__(self, text, is_terminal=False):
        data = text if isinstance(text, bytes) else text.encode()
        super().__init__(io.BytesIO(data), encoding="utf-8", errors="surrogateescape")
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal


@pytest.fixture
def recommend(rfc_index, tmp_path, capsys, monkeypatch):
    def run(name, text, *flags, stdin=None):
        if name != "-":
            path = tmp_path / name
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            name = str(path)
        monkeypatch.setattr(sys, "stdin", stdin or Stdin(text if name == "-" else ""))
        code = main(["recommend", str(rfc_index), name, *flags])
        return code, *capsys.readouterr()

    return run


def test_json_has_papers_and_reasons_for_each_place(recommend, rfc_index):
    code, out, _ = recommend("paper.tex", TEX, "--format", "json", "--top", "20")
    assert code == 0
    places = json.loads(out)
    assert [(p["place"], p["keys"], p["sentence"]) for p in places] == [
        (1, ["dns", "names"], "Names are resolved."),
        (2, [], "Mail is routed."),
    ]
    known = set(Recommender(rfc_index).paper_ids)
    for place in places:
        assert [set(paper) for paper in place["papers"]] == [
            {"paper_id", "title", "authors", "year", "doi", "score", "why", "probability"}
            | {"cited", "cited_as"}
        ] * 20
        assert {paper["paper_id"] for paper in place["papers"]} <= known
    reasons = [reason for paper in places[0]["papers"] for reason in paper["why"]["citing"]]
    assert {"text", "citing_id", "citing_title", "citing_year", "similarity"} == set(reasons[0])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("paper.md", "# Mail for everyone\n\nNames are resolved [@dns; @names].\n"),
        ("paper.txt", "Names are resolved [CITATION]."),
        ("paper.json", json.dumps({"title": "Mail", "text": "Names are resolved [?]."})),
        ("-", "Names are resolved \\cite{dns}."),
        ("-", json.dumps({"text": "Names are resolved [?]."})),
    ],
)
def test_every_kind_of_manuscript_is_answered(recommend, name, text):
    code, out, _ = recommend(name, text, "--format=json", "--top=2")
    assert code == 0
    (place,) = json.loads(out)
    assert place["sentence"] == "Names are resolved." and len(place["papers"]) == 2


def test_text_shows_ranks_keys_and_reasons(recommend, rfc_index):
    code, out, _ = recommend("paper.tex", TEX)
    assert code == 0
    assert "place 1 [dns, names]: Names are resolved." in out
    assert re.search(r"^  10  -?\d+\.\d{4}  +\d+ %  RFC\d", out, re.MULTILINE)
    assert "\nplace 2: Mail is routed." in out
    assert "cited together with RFC" in recommend("paper.tex", TEX, "--ranker", "words")[1]
    best = Recommender(rfc_index).paper(re.search(r"%  (RFC\d+)", out)[1])
    assert f"{best.title} ({best.authors[0]}" in out


def test_bibtex_has_each_paper_once(recommend):
    twice = "Names are resolved [CITATION]. Names are resolved [CITATION]."
    code, out, _ = recommend("paper.txt", twice, "--format", "bibtex", "--top", "4")
    assert code == 0
    keys = [line for line in out.splitlines() if line.startswith("@misc{")]
    assert len(keys) == len(set(keys)) >= 4
    first, second = out.splitlines()[:2]
    assert first.startswith("% place 1: RFC") and second.startswith("% place 2: RFC")


def test_each_citation_of_a_sentence_gets_a_list_for_its_clause(recommend):
    text = "Names are resolved \\cite{todo}, mail is routed \\cite{b,a}. Mail is sent [?]."
    code, out, _ = recommend("paper.txt", text, "--top", "3")
    assert code == 0 and out.startswith("place 1: Names are resolved\n")
    assert "\nplace 2 [b, a]: mail is routed.\n" in out
    _, out, _ = recommend("paper.txt", text, "--top", "3", "--format", "json")
    found = [(place["place"], place["keys"], len(place["papers"])) for place in json.loads(out)]
    assert found == [(1, [], 3), (2, ["b", "a"], 3), (3, [], 3)]
    _, out, _ = recommend("paper.txt", text, "--top", "3", "--format", "bibtex")
    assert out.startswith("% place 1: RFC")


def test_papers_that_a_place_cites_help_to_rank_or_are_marked(recommend):
    every = ("--format", "json", "--top", "120")
    _, out, _ = recommend("paper.txt", "Names are resolved [CITATION].", *every)
    (place,) = json.loads(out)
    own = next(p["paper_id"] for p in place["papers"] if p["why"]["companions"])
    text = f"Names are resolved \\cite{{{own}}}."
    _, out, _ = recommend("paper.txt", text, *every)
    (place,) = json.loads(out)
    assert place["cited"] == [{"key": own, "paper_id": own, "cited": "here"}]
    assert own not in [paper["paper_id"] for paper in place["papers"]]
    companions = [c for paper in place["papers"] for c in paper["why"]["companions"]]
    assert any(c["paper_id"] == own and c["is_accepted"] for c in companions)
    (place,) = json.loads(recommend("paper.txt", text, *every, "--keep-cited")[1])
    cited = {paper["paper_id"]: (paper["cited"], paper["cited_as"]) for paper in place["papers"]}
    assert cited[own] == ("here", own)
    assert set(cited.values()) == {("here", own), (None, None)}


def test_papers_that_a_whole_manuscript_cites_are_not_what_to_read(recommend, tmp_path):
    every = ("--whole", "--format", "json", "--top", "120")

    def papers(cited, *flags, head=""):
        text = f"---\ntitle: Routing of mail\n{head}---\nNames are resolved{cited}.\n"
        (answer,) = json.loads(recommend("paper.md", text, *every, *flags)[1])
        return {paper["paper_id"]: paper["title"] for paper in answer["papers"]}

    plain = papers("")
    first = next(iter(plain))
    assert len(plain) == 120 and papers(f" [@{first}]").keys() == plain.keys() - {first}
    assert list(papers(f" [@{first}]", "--keep-cited")) == list(plain)
    keys = {"a": plain[first], "b": plain[list(plain)[1]]}
    entries = [f"@misc{{{key}, title = {{{title}}}}}\n" for key, title in keys.items()]
    (tmp_path / "all.bib").write_text("".join(entries))
    found = papers(" [@a]", head="bibliography: all.bib\n")
    assert found.keys() == plain.keys() - {first}  # what no sentence cites stays


def test_years_and_rankers_are_choices(recommend):
    flags = ("--ranker", "dense", "--year", "1990", "--format", "json", "--top", "99")
    _, out, _ = recommend("paper.txt", "Names are resolved [CITATION].", *flags)
    years = [paper["year"] for paper in json.loads(out)[0]["papers"]]
    assert years and max(years) <= 1990
    _, out, _ = recommend("p.txt", "Qzxw vvkq [CITATION].", "--ranker", "words")
    assert "no paper of the index shares a word with this place" in out
    _, out, _ = recommend("p.txt", "Names are resolved [CITATION].", "--year", "1900")
    assert "no paper of the index up to 1900 matches this place" in out


def test_a_place_is_asked_for_on_a_terminal(recommend):
    text = "Names are resolved. Mail is routed. Mail is sent."
    stdin = Stdin("mail\nnowhere\nis ROUTED\n", is_terminal=True)
    code, out, error = recommend("paper.txt", text, "--top", "1", stdin=stdin)
    assert code == 0 and "place 1: Mail is routed." in out
    assert "2 sentences hold these words" in error and "0 sentences hold these words" in error
    code, out, error = recommend("paper.txt", text, stdin=Stdin("", is_terminal=True))
    assert code == 0 and "place 1: Mail is sent." in out
    assert "paper.txt: marks no place, so it is asked at its end" in error


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("paper.txt", "Mail is routed. Names are resolved.", "Names are resolved."),
        ("-", "Names are resolved.", "Names are resolved."),
        ("paper.txt", "{Mail} is routed [?].", "{Mail} is routed."),
        ("-", '{"it": 1} holds names [?].', '{"it": 1} holds names.'),
    ],
)
def test_a_text_without_marks_is_asked_at_its_end_and_braces_are_text(
    recommend, name, text, sentence
):
    code, out, _ = recommend(name, text, "--top=1", "--format=json")
    assert code == 0 and [place["sentence"] for place in json.loads(out)] == [sentence]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("paper.tex", "%", r"paper.tex: found no \cite{todo}; put \cite{todo} where"),
        ("-", "", "standard input: found no [CITATION]"),
        ("paper.txt", "", "paper.txt: found no [CITATION]"),
        ("paper.md", "[@key]", "paper.md holds no word; expected the sentences around"),
        ("paper.txt", b"caf\xe9 [CITATION]", "paper.txt: byte 3 is not UTF-8"),
        ("-", b"Herr M\xfcller sends [CITATION]", "standard input: byte 6 is not UTF-8"),
        ("paper.djvu", "x", "found a name that ends in '.djvu'; expected .tex, .ltx, .latex"),
        ("paper.pdf", "x", "paper.pdf: "),
        ("paper.json", "[1]", "paper.json: found a list; expected an object with title"),
    ],
)
def test_wrong_manuscripts_are_refused_in_one_line(recommend, name, text, message):
    code, out, error = recommend(name, text)
    assert code == 2 and out == "" and message in error and error.count("\n") == 1


def test_wrong_flags_and_indexes_are_refused(recommend, capsys, tmp_path):
    code, _, error = recommend("paper.txt", "Names [CITATION].", "--top", "0")
    assert code == 2 and "--top 0; expected 1 or more" in error
    path = tmp_path / "paper.txt"
    assert main(["recommend", str(tmp_path), str(path)]) == 2
    assert "expected an index" in capsys.readouterr().err


_COLD = """
import gc, sys
from mpbert.__main__ import program
sys.argv = ["mpbert", "recommend", *sys.argv[1:]]
assert program() == 0 and gc.get_freeze_count()
print("loaded", *sys.modules)
"""


def test_an_answer_by_words_imports_little(library_index, tmp_path):
    draft = tmp_path / "draft.txt"
    draft.write_text("Translation attends to words of the source [CITATION].")
    run = [sys.executable, "-c", _COLD, str(library_index), str(draft)]
    found = subprocess.run(run, capture_output=True, text=True, check=True)
    answer, _, loaded = found.stdout.partition("loaded ")
    assert answer.startswith("place 1: Translation attends")
    unasked = {"foundation.command_examples", "foundation.registry", "methods.lexical.bm25"}
    unasked = {f"mpbert.{name}" for name in (*unasked, "model.config", "recommending.reading")}
    unasked |= {"mpbert.methods.lambdamart.tree_arrays", "numpy.ma", "numpy.random"}
    unasked |= {"pandas", "pyarrow", "safetensors", "scipy", "tokenizers", "yaml"}
    assert "mpbert.recommending.answering" in loaded.split()
    assert not unasked & set(loaded.split())
