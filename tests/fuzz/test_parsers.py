"""Files that are read one at a time: runs, qrels, vectors, manuscripts, options, JSON Lines."""

import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from mutations import mutate

from mpbert.commands import validate
from mpbert.corpus.trec import read_qrels, read_run
from mpbert.foundation.config import parse_config
from mpbert.foundation.errors import ManuscriptError
from mpbert.foundation.manifest import read_manifest
from mpbert.recommending.bibliography import read_bibliography
from mpbert.recommending.insertion import site_of, text_change
from mpbert.recommending.manuscripts.files import read_manuscript_file
from mpbert.recommending.manuscripts.project import root_of
from mpbert.recommending.manuscripts.sentences import About
from mpbert.vectors.store import VectorStore

RUN = "".join(f"q{q} Q0 p{p} {p} {10 - p}.5 tag\n" for q in range(5) for p in range(1, 6))
QRELS = "".join(f"q{q} 0 p{p} {p % 2}\n" for q in range(5) for p in range(1, 6))
TEX = r"""\documentclass{article}
\title{On \emph{citing}}
\begin{document}
\begin{abstract}We cite \citep[p.~3]{koo2005,li} much.\end{abstract}
\section{One} As \citet{li} say, $x^2 + y$ is\footnote{A note \cite{a}.} so. [CITATION]
\input{part}
\begin{equation}a = b\end{equation} Text (Smith, 2004) and [1] \cites(see)()[1]{a}[2]{b}.
\begin{figure}[t]\caption{Of it}\end{figure} % a comment
\end{document}
"""
OWN = r"""\usepackage[latin1]{inputenc}\newcommand{\us}{We\xspace}\def\two#1#2{#2 #1}
\newcommand*{\see}[2][p.~1]{(see \citep[#1]{#2})}\let\old=\emph \renewcommand{\emph}[1]{\old{#1}}
\providecommand{\needed}{[?]}\DeclareMathOperator{\argmax}{arg\,max}\addbibresource{refs.bib}
\newenvironment{note}[1]{#1:}{so.}\newcommand{\mine}[1]{\todo{#1 \cite{x}}}
\begin{document}\us cite \see[x]{a,b} and \two{\emph{c}}{\see{d}} here \needed. \iffalse no \fi
\begin{note}{It} $\argmax x$ \end{note}\mine{y} \verb|\us|, \url{http://x.org/a%20b}
\begin{table}\caption{A \cite{e}}\begin{tabular}{l}\multicolumn{1}{c}{f \cite{f}} & 1 \\ 2
\end{tabular}\end{table}\bibliography{refs}\begin{thebibliography}{1}\bibitem[A]{a} B, 2001.
\end{thebibliography}\end{document}
"""
BBL = r"""\begin{thebibliography}{9}
\bibitem[Koo et~al.(2005)Koo, {O'Neil}]{koo2005} T.~Koo. \newblock On {\"u}berall \emph{it}, 2005.
\bibitem{li} Li. \newblock doi:10.1000/x. \end{thebibliography}
\entry{a}{article}{}\field{title}{On citing}\field{year}{2001}\verb{doi}\endverb\endentry
"""
BIB = """@string{x = {y}}
@article{koo2005, title = {On {\\"u}berall}, year = 2005, journal = x, author = {Koo, T. and Li}}
@misc{li, title = "It", doi = {10.1000/x}, crossref = {koo2005}}
"""
MARKDOWN = """---
title: On citing
abstract: We cite [@koo2005; @li, p. 3] much.
date: 2020-01-01
bibliography: [refs.bib]
---
# One

As @li say, $x^2$ is so[^1]. [CITATION]

| a | b |
|---|---|
| 1 | 2 |

> Quoted **text** (Smith, 2004) and [1]. <b>HTML</b> `code` ![x](y.png)
"""
QUARTO = """---
title: On citing
---
See @fig-a [@koo2005; @todo]^[A note [-@li].]. ![Cap [@a]](x.png){#fig-a fig-cap="b [@b]"}

::: {.note}
$x_{[?]}$ @li [p. 3] says [citation needed] `[@no]` me@x.org \\@ref(fig:a) <b>it</b>
:::
"""
ORG = """#+title: On citing
#+bibliography: refs.bib
* One :tag:
It is [cite/t:@koo2005; see @todo p. 3] so cite:li,a [[citep:see &b][x]] =code= [fn:1] \\cite{c}.
#+begin_src x
[cite:@no]
#+end_src
#+caption: Cap [?]
| a | b [cite:@d] |
[fn:1] A note [cite:@e].
"""
RST = """One
===

It is :cite:p:`koo2005,todo` so [Li2004]_ [?] ``x`` `a <b>`_ and :cite:t:`li`::

   code

.. note:: Well :footcite:`a`.

.. [Li2004] Li: On it. 2004.
.. bibliography:: refs.bib
"""
TYPST = """#set document(title: "On citing")
= One <one>
It is @koo2005[p. 3] so @todo, #cite(<li>, form: "prose") [?] $x_1$ `raw` // no
#figure(image("x.png"), caption: [Cap @a]) <fig>
#let x = { [@no] }
#footnote[A note @b.] #include "part.typ"
#bibliography("refs.bib")
"""
NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "code", "source": ["[@no]"], "outputs": [{"text": ["x"]}]},
            {"cell_type": "markdown", "source": ['# On "it" \u00e9\n', "So [@koo2005; @todo]."]},
            {"cell_type": "markdown", "source": "And [?] \U0001f600 \\\\cite{a}."},
        ],
        "nbformat": 4,
    }
)
LYX = r"""\lyxformat 544
\begin_body
\begin_layout Title
On citing
\end_layout
\begin_layout Standard
It is
\begin_inset CommandInset citation
LatexCommand citet
key "koo2005,todo"
literal "false"

\end_inset

 so [?]
\begin_inset Foot
status open
\begin_layout Plain Layout
A note.
\end_layout
\end_inset
.
\end_layout
\end_body
"""
DOCX_BODY = (
    '<w:body><w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>On &amp; so</w:t></w:r></w:p>'
    '<w:p><w:r><w:t>It is [?] so</w:t></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r>'
    "<w:r><w:instrText> ADDIN ZOTERO_ITEM CSL_CITATION {&quot;citationItems&quot;:[{&quot;itemData"
    "&quot;:{&quot;title&quot;:&quot;T&quot;}}]}</w:instrText></w:r><w:r><w:fldChar w:fldCharType="
    '"separate"/></w:r><w:r><w:t>(1)</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    '<w:p><w:r><w:t>Well</w:t></w:r><w:commentRangeEnd w:id="0"/></w:p></w:body>'
)
COMMENTS = '<w:comment w:id="0"><w:p><w:r><w:t>cite</w:t></w:r></w:p></w:comment>'
ODT_BODY = (
    "<office:body><text:h>One</text:h><text:p>It is [?] so<text:note><text:note-citation>1"
    "</text:note-citation><text:note-body><text:p>A note &#233;.</text:p></text:note-body>"
    '</text:note><text:s/><text:bibliography-mark text:identifier="a" text:title="T">[a]'
    "</text:bibliography-mark>.</text:p></office:body>"
)


def stored(members: dict[str, str]) -> bytes:
    """An archive that packs nothing, so that spoiled bytes reach the reader of its members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return buffer.getvalue()


JSON = json.dumps({"title": "On citing", "abstract": "We cite.", "text": "It is so [CITATION]."})
YAML = "reader: jsonl\nsplit: year\nvalid_year: 2010\ntest_year: 2012\nseed: 1\n"
LINES = "".join(
    json.dumps(
        {
            **{"paper_id": f"p{n}", "title": "A title", "year": 2000 + n, "references": ["p1"]},
            "sections": [{"heading": "One", "sentences": ["It is.", {"text": "So [1].",
             "markers": [{"start": 3, "end": 6, "cited_ids": ["p1"]}]}]}],
        }
    ) + "\n"
    for n in range(3)
)  # fmt: skip


def npy() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(12, dtype=np.float32).reshape(4, 3))
    return buffer.getvalue()


def read_vectors(path: Path) -> None:
    (path.parent / "papers.ids.txt").write_text("a\nb\nc\nd\n")
    VectorStore.load(path.parent, "papers")


def read_vector_ids(path: Path) -> None:
    (path.parent / "papers.npy").write_bytes(npy())
    VectorStore.load(path.parent, "papers")


def read_options(path: Path) -> None:
    from mpbert.commands import build_corpus

    parse_config(build_corpus.Config, "build-corpus", ["in", "out", "--config", str(path)])


def read_references(path: Path) -> None:
    named = () if path.suffix == ".bbl" else (path.name,)
    read_bibliography(About(named), path.with_suffix(".tex"))


def write_at_each_place(path: Path) -> None:
    """What cannot be written to is refused, too; what is written differs at one place."""
    for mention in read_manuscript_file(path).mentions:
        try:
            change = text_change(site_of(mention, str(path)), ["key"])
        except ManuscriptError as error:
            assert len(str(error).splitlines()) == 1, error
        else:
            assert b"key" in change.after or site_of(mention, str(path)).source.member


def read_project(path: Path) -> None:
    read_manuscript_file(root_of(path))


# file -> its good content and who reads it
FILES: dict[str, tuple[str | bytes, Callable[[Path], object]]] = {
    "a.run": (RUN, read_run),
    "a.qrels": (QRELS, read_qrels),
    "papers.npy": (npy(), read_vectors),
    "papers.ids.txt": ("a\nb\nc\nd\n", read_vector_ids),
    "a.tex": (TEX, read_manuscript_file),
    "own.tex": (OWN, write_at_each_place),
    "a.bbl": (BBL, read_references),
    "refs.bib": (BIB, read_references),
    "a.md": (MARKDOWN, read_manuscript_file),
    "written.md": (MARKDOWN, write_at_each_place),
    "a.json": (JSON, read_manuscript_file),
    "a.qmd": (QUARTO, write_at_each_place),
    "a.org": (ORG, write_at_each_place),
    "a.rst": (RST, write_at_each_place),
    "a.typ": (TYPST, write_at_each_place),
    "a.ipynb": (NOTEBOOK, write_at_each_place),
    "a.lyx": (LYX, write_at_each_place),
    "a.docx": (
        stored({"word/document.xml": DOCX_BODY, "word/comments.xml": COMMENTS}),
        write_at_each_place,
    ),
    "a.odt": (stored({"content.xml": ODT_BODY}), write_at_each_place),
    "a.zip": (stored({"main.tex": TEX, "refs.bib": BIB}), read_project),
    "a.txt": ("We parse (Koo et al., 2005) fast. [CITATION]\n\nSo [1].", read_manuscript_file),
    "a.yaml": (YAML, read_options),
    "a.jsonl": (LINES, lambda path: validate.run(validate.Config(path))),
    "manifest.json": ('{"command": "x", "files": {}}', lambda path: read_manifest(path.parent)),
}


@pytest.mark.parametrize(
    ("name", "number"),
    [
        *((name, 150) for name in FILES),
        *(
            pytest.param(name, None, marks=pytest.mark.exhaustive, id=f"{name}-all")
            for name in FILES
        ),
    ],
    indirect=["number"],
)
def test_a_spoiled_file_is_read_or_refused_in_one_line(name, number, tmp_path, try_all, capsys):
    content, read = FILES[name]
    good = content.encode() if isinstance(content, str) else content
    (tmp_path / "part.tex").write_text("A part \\cite{b}.")
    path = tmp_path / name
    path.write_bytes(good)
    read(path)  # as it is, it is read

    def act(rng: random.Random) -> None:
        path.write_bytes(mutate(good, rng, name))
        try:
            read(path)
        except SystemExit as end:  # argparse has printed its line
            assert end.code == 2
            capsys.readouterr()

    ends = try_all(number, act)
    assert ends["read"] > number // 50
    capsys.readouterr()
