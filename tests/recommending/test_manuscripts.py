"""Tests of manuscripts with marked places."""

import json
from pathlib import Path

import pytest

from mpbert.corpus.text import find_marker_like
from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.files import read_manuscript_file
from mpbert.recommending.manuscripts.sentences import check_places, manuscript_at
from tests.recommending.texts import read_manuscript

TEXT = (
    "Parsing is solved (Koo et al., 2008). We use trees [CITATION] as usual. Nothing here.\n\n"
    "A second paragraph [12] follows RFC 2119. Two in one [CITATION], really [CITATION]."
)


def test_each_place_is_the_number_of_its_sentence():
    manuscript = read_manuscript(TEXT, Path("text"))
    assert manuscript.places.tolist() == [1, 4, 5]
    assert manuscript.sentences[1] == "We use trees as usual."


def test_marks_and_markers_of_other_papers_are_gone():
    manuscript = read_manuscript(TEXT, Path("text"))
    joined = " ".join(manuscript.sentences)
    assert "CITATION" not in joined and "\ue000" not in joined
    assert "Koo" not in joined and "2008" not in joined and "2119" not in joined
    assert not any(find_marker_like(sentence) for sentence in manuscript.sentences)


def test_title_and_abstract_of_json_stand_before_the_text():
    content = {"title": "On trees", "abstract": "We study trees.", "text": "See [CITATION]."}
    manuscript = read_manuscript(json.dumps(content), Path("x.json"))
    assert manuscript.sentences[:2] == ["On trees", "We study trees."]
    assert manuscript.places.tolist() == [2]


def test_a_text_without_a_place_is_refused_with_the_remedy():
    with pytest.raises(ManuscriptError, match=r"x\.txt: found no \[CITATION\]; put \[CITATION\]"):
        check_places(read_manuscript("Nothing to cite.", Path("x.txt")), "x.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"title": 3, "text": "[CITATION]"}', "'title' is a int; expected a string"),
        ('{"title": "x"', "x.json: is no JSON"),
    ],
)
def test_wrong_json_gives_one_line(text, message):
    with pytest.raises(ManuscriptError, match=message):
        read_manuscript(text, Path("x.json"))


def test_broken_utf8_and_missing_files_give_one_line(tmp_path: Path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"caf\xe9 [CITATION]")
    with pytest.raises(ManuscriptError, match="byte 3 is not UTF-8"):
        read_manuscript_file(path)
    with pytest.raises(ManuscriptError, match="No such file or directory; expected a manuscript"):
        read_manuscript_file(tmp_path / "absent.txt")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Koo, Carreras, and Collins (2008) parse well [CITATION].", "parse well."),
        ("We follow Koo et al. here [CITATION].", "We follow here."),
        ("This was shown by van der Plas and Tiedemann (2006) [CITATION].", "This was shown by."),
    ],
)
def test_all_names_of_a_citation_in_the_sentence_are_gone(text, expected):
    assert read_manuscript(text, Path("text")).sentences == [expected]


def sentence_at(text, place):
    manuscript = manuscript_at(text, place)
    return manuscript.sentences[manuscript.places[0]]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("We parse. We use trees", " here.", "We use trees here."),
        ("We use trees.", " Next one.", "We use trees."),  # behind the full stop
        ("We use trees. ", "Next one.", "Next one."),  # at the start of a sentence
        ("We use trees.", "", "We use trees."),
        ("", "We use trees. Next one.", "We use trees."),
        ("We use tr", "ees. Next one.", "We use trees."),  # within a word
        ("We use trees (Koo et", " al., 2008). Next one.", "We use trees."),  # within a marker
        (r"We use trees \cite{a,", "b}. Next one.", "We use trees."),
        ("One.\n\nWe use trees", "\n\nNext one.", "We use trees"),
        ("One paragraph.\n\n", "\n\nNext one.", "One paragraph."),  # in an empty line
    ],
)
def test_a_cursor_belongs_to_the_sentence_it_stands_in(before, after, expected):
    assert sentence_at(before + after, len(before)) == expected


def test_title_and_abstract_stand_before_the_text_and_are_cleaned():
    manuscript = manuscript_at("We parse.", None, r"On \cite{x} trees", "As [7] shows. So be it.")
    assert manuscript.sentences == ["On trees", "As shows.", "So be it.", "We parse."]
    assert manuscript.places.tolist() == [3]


def test_of_a_long_text_what_stands_around_the_place_is_read():
    text = "".join(f"Sentence number {i} is here. " for i in range(2000))
    place = text.index("1500 is")
    sentences = manuscript_at(text, place).sentences
    assert "Sentence number 1500 is here." in sentences and len(sentences) < 450
    assert "Sentence number 1200 is here." in sentences
    assert "Sentence number 1520 is here." in sentences
    assert "Sentence number 10 is here." not in sentences
    assert all(s.startswith("Sentence number") and s.endswith("here.") for s in sentences[1:-1])


def test_characters_that_look_like_marks_are_no_places():
    text = "We \U000f0000 use \U000f0001 trees [CITATION]."
    assert read_manuscript(text, Path("x.txt")).places.tolist() == [0]
    assert sentence_at(text, len(text)) == "We use trees."


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (r"Trees \cite{a} grow", [("a",)]),
        (r"Trees~\citep*[see][p. 3]{a, b} grow", [("a", "b")]),
        (r"Trees \parencites(see)()[1]{a}[2]{b} grow", [("a", "b")]),
        (r"Trees \cite{} grow", [()]),
        (r"Trees \nocite{a} and \citestyle{b} grow", []),
        ("Trees [?] grow [??]", [(), ()]),
        ("Trees [see @a, p. 3; -@b:c/d.] grow", [("a", "b:c/d")]),
        ("Trees [@{https://x.org/a}] grow", [("https://x.org/a",)]),
        ("Mail [to me@x.org] or @name", []),
        ("Trees [CITATION] \\cite{a} grow", [(), ("a",)]),
    ],
)
def test_places_of_a_plain_text(text, keys):
    manuscript = read_manuscript(text, Path("x.txt"))
    assert manuscript.keys == keys
    assert not any(c in "".join(manuscript.sentences) for c in ("\\cite{", "[?", "@a", "CITATION"))


TEX_BODY = r"""
\documentclass[11pt]{article}
\usepackage{natbib} % \cite{preamble}
\title[Short]{On \emph{Trees}\thanks{Nobody}}
\author{A. Bee \and C. Dee}
\begin{document}
\maketitle
\begin{abstract}We grow \textbf{trees}, 100\% of them.\end{abstract}
\section{Introduction}\label{sec:one}
Names are resolved~\citep[see][]{dns,
  names}. As \citet*{mx} shows, mail \% works.
% \cite{comment}
\citeauthor{koo} (\citeyear{koo}) parse $x_1$ but not
$\alpha+\beta+\gamma+\delta+\epsilon+\zeta+\eta
+\alpha+\beta+\gamma+\delta$ so far.\footnote{A note \cite{note}.}
\begin{equation} y = \cite{formula} \end{equation}
Volumes \volcite[x]{2}[3]{vol} are na\"ive.
\begin{itemize}\item First \cite{}. \item Second [CITATION].\end{itemize}
\begin{table}\caption{A table \cite{cap}.}\begin{tabular}{c}1 \cite{cell}\end{tabular}\end{table}
\begin{verbatim}
\cite{verbatim}
\end{verbatim}
\input{part}
\section{On \cite{head}}
\nocite{*}\bibliographystyle{plain}\bibliography{refs}
\end{document}
\cite{behind}
"""


def test_tex_is_read_as_text_with_its_places(tmp_path):
    (tmp_path / "part.tex").write_text(r"From a part \autocite{part}. \input{paper}")
    (tmp_path / "paper.tex").write_text(TEX_BODY)
    manuscript = read_manuscript_file(tmp_path / "paper.tex")
    keys = [keys for keys in manuscript.keys if keys[:1] != ("dns",)]
    assert manuscript.sentences[:3] == [
        "On Trees",
        "We grow trees, 100% of them.",
        "Names are resolved.",
    ]
    assert ("dns", "names") in manuscript.keys
    found = {key for place in keys for key in place}
    assert found == {"mx", "koo", "vol", "cap", "cell", "part", "head", "note"}
    assert keys.count(()) >= 2
    text = " ".join(manuscript.sentences)
    assert "mail % works" in text and "parse x_1 but not so far." in text and "naïve" in text
    for dropped in ("Introduction", "Nobody", "Bee", "plain", "refs", "α", "formula", "cell"):
        assert dropped not in text


@pytest.mark.parametrize(
    "tex",
    [
        r"Trees \cite",
        r"Trees \cite[",
        r"Trees \cite{a",
        r"\begin{document} Trees \cite{a}",
        r"Trees \cites(a",
        r"{{{{ Trees $x \cite{a}",
        r"Trees \end{document} \cite{a}",
        r"\input{../../etc/passwd} Trees \cite{a} \input{}",
        r"\title Trees \cite{a} \title",
        *(r"Trees \verb", r"Trees \footnote\cite{a} \section\cite", "Trees \\input{a\0b}"),
        *(r"Trees \href{}", r"Trees \emph\href", r"Trees \sqrt", r"$\begin{array}$ Trees"),
    ],
)
def test_broken_tex_is_read_as_far_as_it_goes_or_refused_in_one_line(tex):
    try:
        assert "rees" in " ".join(read_manuscript(tex, Path("x.tex")).sentences)
    except ManuscriptError as error:
        assert str(error).startswith("x.tex: cannot be read as TeX") and "\n" not in str(error)


def test_what_commands_lack_takes_nothing_else_from_the_text():
    tex = r"\title \emph\href Trees \cite{a} grow. $\begin{array}\end{array}$ Well \sqrt"
    manuscript = read_manuscript(tex, Path("x.tex"))
    assert manuscript.sentences == ["Trees grow.", "Well"]
    assert manuscript.keys == [("a",)]


def test_accents_stand_on_the_first_letter_however_deep(limited):
    tex = r"Erd\H{o}s, G\"odel, \v{S}\'{\i}p, \c{c}a, \~n, $\vec{a}$ and \c{ab} agree~\cite{a}."
    manuscript = read_manuscript(tex, Path("x.tex"))
    assert manuscript.sentences == ["Erdős, Gödel, Šíp, ça, ñ, a\u20d7 and a\u0327b agree."]
    with limited(3):  # each would double the text
        deep = read_manuscript(r"\c{" * 40 + "a b" + "}" * 40 + r" is~\cite{a}.", Path("x.tex"))
    assert len(deep.sentences[0]) < 60
    cited = read_manuscript(r"So \'{\cite{a}} it is.", Path("x.tex"))
    assert cited.keys == [("a",)] and "\u0301" not in cited.sentences[0]


@pytest.mark.parametrize("name", ["../paper-of-others/b", "link", "link.tex", "../../etc/passwd"])
def test_tex_includes_no_file_outside_of_its_folder(name, tmp_path, caplog):
    for folder in ("paper", "paper-of-others"):
        (tmp_path / folder).mkdir()
    (tmp_path / "paper-of-others" / "b.tex").write_text("Secret.")
    (tmp_path / "paper" / "link.tex").symlink_to(tmp_path / "paper-of-others" / "b.tex")
    path = tmp_path / "paper" / "a.tex"
    path.write_text(f"\\input{{{name}}} Trees grow.")
    assert read_manuscript_file(path).sentences == ["Trees grow."]
    assert "left out" in caplog.text


def test_tex_that_includes_a_file_of_other_bytes_names_it(tmp_path):
    (tmp_path / "b.tex").write_bytes(b"\xff")
    (tmp_path / "a.tex").write_text(r"\input{b}")
    with pytest.raises(ManuscriptError, match=r"b\.tex: byte 0 is not UTF-8"):
        read_manuscript_file(tmp_path / "a.tex")


def test_tex_nested_beyond_all_measure_is_refused_in_one_line():
    with pytest.raises(ManuscriptError, match=r"x\.tex: cannot be read as TeX"):
        read_manuscript("{" * 5000 + "a" + "}" * 5000, Path("x.tex"))


MARKDOWN = """---
title: "On *trees*"
abstract: |
  We grow trees. As @abs says.
---
# Introduction

Names are **resolved** [see @dns, pp. 3-5; also @names]. As @mx:2009 shows, mail
works [CITATION] for a@b.org. Code `[@code]` and $a+b$ but not
$\\alpha+\\beta+\\gamma+\\delta+\\epsilon$ so far.<!-- [@comment] -->

```
[@fence]
```

* Item [?] one
* Item two \\cite{tex_key}, a [link](http://x.org/[@url])

| a | b |
|---|---|
| [@cell] | c |

## On [@head]
"""


def test_markdown_is_read_as_text_with_its_places():
    manuscript = read_manuscript(MARKDOWN, Path("x.md"))
    assert manuscript.sentences[:4] == [
        *("On trees", "We grow trees.", "As they says.", "Names are resolved.")
    ]
    assert manuscript.keys == [
        *(("abs",), ("dns", "names"), ("mx:2009",), (), (), ("tex_key",), ("cell",), ("head",))
    ]
    text = " ".join(manuscript.sentences)
    assert "mail works for a@b.org." in text and "Code and a+b but not so far." in text
    for dropped in ("Introduction", "code", "alpha", "http", "comment", "|"):
        assert dropped not in text


def test_the_only_heading_of_level_1_is_the_title_of_markdown():
    assert read_manuscript("# T\n\nText [?].", Path("x.md")).sentences == ["T", "Text."]
    assert read_manuscript("# S\n\nText [?].\n\n# S", Path("x.md")).sentences == ["Text."]


@pytest.mark.parametrize("head", ["title: [", "date: 2020-99-99", "[" * 3000, "a: !!int x"])
def test_a_head_that_is_no_yaml_is_refused_in_one_line(head):
    with pytest.raises(ManuscriptError, match=r"a\.md: the block between --- is no YAML") as caught:
        read_manuscript(f"---\n{head}\n---\nText.\n", Path("a.md"))
    assert "\n" not in str(caught.value)


def test_a_rule_at_the_head_of_markdown_is_no_yaml():
    plain = "---\njust a rule\n---\nText [?]."
    assert read_manuscript(plain, Path("x.md")).sentences == ["Text."]


def test_many_places_in_one_paragraph_take_time_in_proportion(limited):
    with limited(3):  # their square would take seven seconds
        manuscript = read_manuscript("It [CITATION] is [1] so \\cite{a}. " * 8_000, Path("x.txt"))
    assert len(manuscript.mentions) == 16_000


def test_files_that_include_others_twice_each_end(tmp_path):
    for number in range(30):
        text = f"\\input{{p{number + 1}}} \\input{{p{number + 1}}} x"
        (tmp_path / f"p{number}.tex").write_text(text)
    (tmp_path / "p30.tex").write_text("End.")
    with pytest.raises(ManuscriptError, match=r"p0\.tex: includes more than 1,000 files"):
        read_manuscript_file(tmp_path / "p0.tex")
