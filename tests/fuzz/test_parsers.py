"""Files that are read one at a time: runs, qrels, vectors, manuscripts, options, JSON Lines."""

import io
import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from mutations import mutate

from mpbert.commands import validate
from mpbert.corpus.trec import read_qrels, read_run
from mpbert.foundation.config import parse_config
from mpbert.foundation.manifest import read_manifest
from mpbert.recommending.manuscripts.files import read_manuscript_file
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
MARKDOWN = """---
title: On citing
abstract: We cite [@koo2005; @li, p. 3] much.
date: 2020-01-01
---
# One

As @li say, $x^2$ is so[^1]. [CITATION]

| a | b |
|---|---|
| 1 | 2 |

> Quoted **text** (Smith, 2004) and [1]. <b>HTML</b> `code` ![x](y.png)
"""
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


# file -> its good content and who reads it
FILES: dict[str, tuple[str | bytes, Callable[[Path], object]]] = {
    "a.run": (RUN, read_run),
    "a.qrels": (QRELS, read_qrels),
    "papers.npy": (npy(), read_vectors),
    "papers.ids.txt": ("a\nb\nc\nd\n", read_vector_ids),
    "a.tex": (TEX, read_manuscript_file),
    "a.md": (MARKDOWN, read_manuscript_file),
    "a.json": (JSON, read_manuscript_file),
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
