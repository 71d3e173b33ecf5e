"""Properties of what is written into a manuscript: a citation where it was asked for, no more."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.insertion import text_change
from mpbert.recommending.manuscripts.files import read_manuscript_file


def pieces(lines):
    """Return a piece of a manuscript for each line; signs stand for white space."""
    signs = str.maketrans({"⏎": "\n", "␍": "\r", "␣": " "})
    return [line.translate(signs) for line in lines.strip("\n").split("\n")]


COMMON = pieces(r"""
Trees grow.␣
Öfter␣
the end.⏎⏎
[CITATION]
[?]
[??]
\cite{a}
~\citep[see][p.~3]{a, b}
\cite{todo}
\cite{}
\citeauthor{a}
␍⏎
␍
⏎
␣
""")
TEX = pieces(r"""
\mc{a}
\mc{}
\mc a
\needed
\needed{}
\spaced
\both{[?]}
\both{\cite{a}}
\wide{b}
\wide{}
% no [?]⏎
\emph{so [CITATION]}
\footnote{It is \cite{f}.}
$x$
{
}
\\
\verb|[?]|
\begin{tabular}{l}It \cite{c} & is \\ so\end{tabular}
\cite{a % b⏎}
\cite{a,}
\section{On \cite{h}}
\input{part}
\cites{a}[2]{b}
\volcite{2}{v}
\todo{[?]}
\cite[?]{d}
\newcommand{\new}[2][x]{#2 \cite{#1}}
\new[k]{It}
\let\needed\mc␣
\iffalse [?] \fi
#
&
%
[
]
\
""")
MARKDOWN = pieces(r"""
[@a]
[see @a, p. 3; @b]
@a␣
[@todo]
`[?]`
*so [@c]*
# On [@h]⏎⏎
<!--␣
-->
| a [@t] | b |⏎|---|---|⏎| [?] | c |⏎⏎
[x](http://x.org/[@u])
⏎```⏎
$
[a @b](c)
[^1]
>␣
*␣
---⏎
\
[
]
_
title: [?]⏎
""")
OWN = "\\newcommand{\\mc}[1]{\\citep{#1}}\\newcommand{\\needed}{[CITATION]}" + (
    "\\newcommand{\\spaced}{ [CITATION] }"
    "\\newcommand{\\both}[1]{#1 and #1}\\newcommand{\\wide}[1]{\\cite{koo,#1}}\n"
)
WRITTEN = {*("\\cite{k1,k2}", "k1,k2", ",k1,k2", "[@k1; @k2]", "; @k1; @k2", "@k1; @k2")}
REPLACED = {b"", b"[CITATION]", b"[?]", b"[??]", b"todo", b"@todo", b"\\needed"}


def texts(found, name):
    bodies = st.lists(st.sampled_from(COMMON + found), max_size=12).map("".join)
    heads = {
        "a.tex": [OWN, OWN + "\\usepackage[latin1]{inputenc}\n", "\ufeff" + OWN],
        "a.md": ["", "---\ntitle: It\n---\n", "\ufeff"],
        "a.txt": ["", "\ufeff"],
    }
    return st.tuples(st.just(name), st.sampled_from(heads[name]), bodies)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.one_of(texts(TEX, "a.tex"), texts(MARKDOWN, "a.md"), texts(MARKDOWN + TEX, "a.txt")),
    st.data(),
)
def test_a_citation_is_written_where_it_was_asked_for_and_no_other_byte_changes(given, data):
    name, head, body = given
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes((head + body).encode("latin-1" if "latin1" in head else "utf-8"))
        (Path(folder) / "part.tex").write_bytes(b"A part \\cite{p} of it [?].\r\n")
        files = {file: file.read_bytes() for file in Path(folder).iterdir()}
        try:
            manuscript = read_manuscript_file(path)
        except ManuscriptError:
            return
        sites = [m.site for m in manuscript.mentions if not m.is_fixed]
        if not sites:
            return
        number = data.draw(st.integers(0, len(sites) - 1))
        change = text_change(sites[number], ["k1", "k2"])
        before, after = files[change.path], change.after
        written = sites[number].written(["k1", "k2"])
        assert change.before == before and written in WRITTEN
        start = sites[number].source.byte_at(sites[number].start)
        end = start + len(before) + len(written) - len(after)
        assert before[start:end] in REPLACED
        assert after == before[:start] + written.encode() + before[end:]
        change.write()
        assert {f: f.read_bytes() for f in Path(folder).iterdir()} == {**files, change.path: after}
        again = read_manuscript_file(path)
        assert again.sentences == manuscript.sentences
        assert set(again.places.tolist()) >= set(manuscript.places.tolist())
        keys = [m.keys for m in again.mentions]
        assert any(found[-2:] == ("k1", "k2") for found in keys)


@pytest.mark.parametrize(("call", "number"), [("\\both{[?]}", 1), ("\\needed and [?]", 2)])
def test_a_place_that_a_command_leaves_behind_a_line_end_is_no_length_of_it(tmp_path, call, number):
    path = tmp_path / "a.tex"
    path.write_text(OWN + "It is so \\\\[2pt] and \\\\" + call)
    manuscript = read_manuscript_file(path)
    assert len(manuscript.mentions) == number
    assert "2pt" not in " ".join(manuscript.sentences)


@pytest.mark.parametrize(
    ("call", "end"),
    [
        ("\\mc a}", None),
        ("\\wide b}", None),
        ("\\mc{a}", "\\mc{a,k}."),
        ("\\wide{b}", "\\wide{b,k}."),
        ("\\cite{a, b}", "\\cite{a, b,k}."),
    ],
)
def test_keys_are_written_into_braces_alone(tmp_path, call, end):
    path = tmp_path / "a.tex"
    path.write_text(f"{OWN}It is so {call}.")
    (mention,) = read_manuscript_file(path).mentions
    assert (mention.site is None) == (end is None)
    if end:
        assert text_change(mention.site, ["k"]).after.decode().endswith(f"so {end}")


def test_a_file_that_has_changed_is_not_written_to(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Trees grow [?].")
    (mention,) = read_manuscript_file(path).mentions
    path.write_text("Oaks do not grow [?].")
    with pytest.raises(ManuscriptError, match="has changed since it was read; try again"):
        text_change(mention.site, ["k"])
