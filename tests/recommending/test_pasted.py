"""Texts without files: their places, that of the cursor, and where keys go."""

import pytest

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.pasted import read_pasted, site_of

TEX = r"""\documentclass{article}
\title{Sizing packets}
\newcommand{\mycite}[1]{\citep{#1}}
\begin{document}
% a comment \cite{left}
Packets vanish \mycite{a}. Paths are probed \cite{todo} and measured. The rest is lost.
\input{/etc/passwd}
\end{document}
"""


def written(text, site, *keys):
    return text[: site.start] + site.written(keys) + text[site.end :]


def at(text, form, place):
    pasted = read_pasted(text, form, cursor=place)
    return pasted, site_of(pasted, pasted.at_cursor)


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("text", "Packets| vanish.", r"Packets\cite{k,l} vanish."),
        ("text", "Packets vanish [CITA|TION].", r"Packets vanish \cite{k,l}."),
        ("text", r"Packets vanish |\cite{x}.", r"Packets vanish \cite{x,k,l}."),
        ("text", "Packets vanish [@x|].", "Packets vanish [@x; @k; @l]."),
        ("markdown", "# Head\n\nPackets| *vanish*.", "# Head\n\nPackets[@k; @l] *vanish*."),
        ("markdown", "Packets vanish [see @x, p. 3]|.", "Packets vanish [see @x, p. 3; @k; @l]."),
        ("tex", r"Packets \emph{vanish|} on paths.", r"Packets \emph{vanish\cite{k,l}} on paths."),
        ("tex", r"Packets vanish \citep[see][]{x|}.", r"Packets vanish \citep[see][]{x,k,l}."),
        ("tex", "One \\cite{x} and |two.", r"One \cite{x} and \cite{k,l}two."),
        ("tex", "One |and \\cite{x} two.", r"One \cite{k,l}and \cite{x} two."),
    ],
)
def test_keys_go_where_the_cursor_stands(form, text, expected):
    place = text.index("|")
    text = text.replace("|", "")
    _, site = at(text, form, place)
    assert written(text, site, "k", "l") == expected


def test_the_clause_in_front_of_the_cursor_is_its_place():
    text = "Packets vanish [@x]. Paths are probed [@y] and measured. The rest is lost."
    pasted, _ = at(text, "text", text.index(". The"))
    manuscript = pasted.manuscript
    assert pasted.at_cursor == 2 and manuscript.keys[1:] == [("y",), ()]
    sentences = [manuscript.sentences[number] for number in manuscript.places]
    assert sentences == ["Packets vanish.", "Paths are probed", "and measured."]


def test_tex_is_read_as_from_a_file_but_includes_none(caplog):
    pasted = read_pasted(TEX, "tex", title="Another", abstract="Of packets.")
    assert pasted.title == "Sizing packets"
    sentences = pasted.manuscript.sentences
    assert sentences[:2] == ["Sizing packets", "Of packets."]
    assert pasted.manuscript.keys == [("a",), ()]
    assert not any("root" in sentence for sentence in sentences) and "/etc" not in caplog.text
    assert site_of(pasted, 0).written(["k"]) == ",k"
    assert TEX[: site_of(pasted, 0).end].endswith(r"\mycite{a")


@pytest.mark.parametrize("place", [0, TEX.index("a comment"), TEX.index("title") + 2, len(TEX)])
def test_a_cursor_outside_of_what_is_read_is_refused(place):
    with pytest.raises(ManuscriptError, match="stands in no text that is read"):
        read_pasted(TEX, "tex", cursor=place)


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("text", "Hosts send. Packets vanish. ", "Hosts send. Packets vanish.\\cite{k} "),
        ("tex", "Packets vanish\n\\end{document}", "Packets vanish\\cite{k}\n\\end{document}"),
        ("typst", "Packets vanish.", "Packets vanish.@k"),
        ("markdown", "Packets vanish.\n\n```\nx\n```", None),
    ],
)
def test_a_text_without_marks_is_asked_at_its_end(form, text, expected):
    pasted = read_pasted(text, form)
    assert pasted.manuscript.sentences[pasted.manuscript.places[0]].startswith("Packets vanish")
    assert pasted.at_cursor == 0 and len(pasted.manuscript.places) == 1
    site = site_of(pasted, 0)
    assert (site and written(text, site, "k")) == expected


def test_a_text_over_the_network_names_no_file_of_ours(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.typ").write_text("Oaks @no.")
    (tmp_path / "secret.tex").write_text("Oaks \\cite{no}.")
    (tmp_path / "secret.sty").write_text("\\newcommand{\\no}{\\cite{no}}")
    (tmp_path / "_secret.qmd").write_text("Oaks [@no].")
    for form, text in {
        "typst": '#include "secret.typ"\n\nTrees @a.',
        "tex": "\\usepackage{secret}\\input{secret} Trees \\no{} \\cite{a}.",
        "markdown": "{{< include _secret.qmd >}}\n\nTrees [@a].",
    }.items():
        assert read_pasted(text, form).manuscript.keys == [("a",)]


def test_a_text_without_words_is_refused():
    with pytest.raises(ManuscriptError, match=r"the text: found no \[CITATION\]"):
        read_pasted("12.", "text")
    with pytest.raises(ManuscriptError, match="holds no word"):
        read_pasted(" 12 ", "text", cursor=2)


def test_characters_that_stand_for_places_are_no_places():
    text = "Packets \U000f0000 vanish on paths."
    pasted, site = at(text, "text", len(text) - 1)
    assert len(pasted.manuscript.places) == 1
    assert written(text, site, "k") == text[:-1] + r"\cite{k}."
    read_pasted("Packets vanish [?].", "text", title="\U000f0000", abstract="\U000f0001")
