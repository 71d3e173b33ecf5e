"""Tests of TeX that defines commands of its own, of encodings, and of tables."""

from pathlib import Path

import pytest

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.files import read_manuscript_file
from tests.recommending.texts import read_manuscript


def read(tex):
    return read_manuscript(tex, Path("x.tex"))


@pytest.mark.parametrize(
    ("tex", "sentence", "keys"),
    [
        (r"\newcommand{\mycite}[1]{\citep{#1}} Trees~\mycite{a,b} grow.",
         "Trees grow.", ("a", "b")),
        (r"\newcommand*\us{We} \us\ grow trees \cite{a}.", "We grow trees.", ("a",)),
        (r"\newcommand{\see}[2][p. 1]{\emph{so} \cite[#1]{#2}} Trees \see{a} grow \see[x]{b}.",
         "Trees so grow so.", ("a", "b")),
        (r"\renewcommand{\emph}[1]{<#1>} Trees \emph{grow} \cite{a}.", "Trees <grow>.", ("a",)),
        (r"\newcommand{\t}{elms}\providecommand{\t}{oaks} The \t grow \cite{a}.",
         "The elms grow.", ("a",)),
        (r"\def\both#1#2{#2 and #1} Oaks \both{elms}{ashes} grow \cite{a}.",
         "Oaks ashes and elms grow.", ("a",)),
        (r"\let\quote\citep \let\old=\emph Trees \old{do} grow \quote{a}.",
         "Trees do grow.", ("a",)),
        (r"\DeclareMathOperator*{\argmax}{arg\,max} We take $\argmax x$ \cite{a}.",
         "We take arg max x.", ("a",)),
        (r"\newcommand{\ie}{i.e.\xspace} Trees, \ie elms and \ie, oaks grow \cite{a}.",
         "Trees, i.e. elms and i.e., oaks grow.", ("a",)),
        (r"\newcommand{\bert}{BERT\xspace} We use \bert\cite{a} here.",
         "We use BERT here.", ("a",)),
        (r"\newcommand{\a}[1]{\b{#1}}\newcommand{\b}[1]{[#1]} Trees \a{\a{x}} \cite{a}.",
         "Trees [[x]].", ("a",)),
        (r"\newcommand{\be}{\begin{equation}}\def\ee{\end{equation}} So \be y \ee it is \cite{a}.",
         "So it is.", ("a",)),
        (r"\newenvironment{note}[1]{#1:}{Done \cite{b}.} \begin{note}{Well} it is \end{note}",
         "Well: it is Done.", ("b",)),
        (r"\newcommand{\note}[1]{\todo{#1}} Trees \note{\cite{x}}grow\todo[inline]{what} \cite{a}.",
         "Trees grow.", ("a",)),
        (r"Trees \missingfigure{a tree}\iffalse are \cite{b} \fi grow \cite{a}.",
         "Trees grow.", ("a",)),
        (r"\newcommand{\needed}{[CITATION]} Trees grow \needed.", "Trees grow.", ()),
        (r"\newcommand{\x}{y} Verbs \verb|\x| stay, \url{a%b} too \cite{a}.",
         "Verbs stay, too.", ("a",)),
        (r"\newcommand{\cite}[1]{(#1)} Commands of citing keep their meaning \cite{a}.",
         "Commands of citing keep their meaning.", ("a",)),
        (r"\NewDocumentCommand{\mycite}{s O{p. 1} +m}"
         r"{\IfBooleanTF{#1}{\citet[#2]{#3}}{\citep{#3}}} "
         r"Trees \mycite{a} grow \mycite*[p. 2]{b}, as \mycite*{c} do.",
         "Trees grow they, as they do.", ("a", "b", "c")),
        (r"\NewDocumentCommand{\see}{O{\emph{so}} m}{#1 \cite{#2}} Trees grow \see{a}.",
         "Trees grow so.", ("a",)),
        (r"\DeclareDocumentCommand\see{m o}{\emph{#1}\IfValueT{#2}{ \cite{#2}}} "
         r"Trees \see{grow}[a] and \see{fall}.", "Trees grow and fall.", ("a",)),
        (r"\newcommandx{\see}[3][1=p. 1, 3={so, too}]{\cite[#1]{#2} #3} "
         r"Trees grow \see{a} \see[x]{b}[on].",
         "Trees grow so, too on.", ("a", "b")),
        (r"\NewDocumentCommand{\odd}{d<> m}{\cite{#2}} \newunknown{\x}[1]{\cite{#1}} "
         r"Trees grow \cite{a}.",
         "Trees grow.", ("a",)),
        (r"\newenvironment{claim}{\textbf{Claim}}{So it is.} "
         r"\begin{claim}Trees grow \cite{a}\end{claim}",
         "Claim Trees grow So it is.", ("a",)),
        (r"The \href{https://a.org/b%c_d}{page of trees} shows \href{x} growth \cite{a}.",
         "The page of trees shows growth.", ("a",)),
        (r"Trees grow in $a + b + c + d + e + f \text{\cite{a}}$ steps.",
         "Trees grow in steps.", ("a",)),
        (r"\makeatletter\def\my@cite{\citep}\makeatother Trees \my@cite{a} grow.",
         "Trees grow.", ("a",)),
    ],
)  # fmt: skip
def test_commands_of_its_own_are_expanded(tex, sentence, keys):
    manuscript = read(tex)
    assert " ".join(manuscript.sentences) == sentence
    assert [key for place in manuscript.keys for key in place] == list(keys)


def test_definitions_of_an_included_file_count(tmp_path):
    (tmp_path / "own.tex").write_text("\\newcommand{\\us}{We}\n\\newcommand{\\ours}[1]{\\cite{#1}}")
    tex = "\\input{own}\n\\begin{document}\\us\\ grow trees \\ours{a}.\\end{document}"
    (tmp_path / "a.tex").write_text(tex)
    manuscript = read_manuscript_file(tmp_path / "a.tex")
    assert manuscript.sentences == ["We grow trees."] and manuscript.keys == [("a",)]


@pytest.mark.parametrize(
    ("tex", "said"),
    [
        (r"\newcommand*{\x}{up \ifnumequal{\value{page}}{1}{}{\afterpage{\x}}} \x", "up page1"),
        (r"\newcommand{\x}[1]{\ifnum#1>0 up \x{\numexpr#1-1}\fi} \x{3}", "3>0 up"),
        (r"\newcommand{\x}{up \later{\y}}\newcommand{\y}{high \x} \x", "up high"),
        (r"\newcommand{\x}[1]{\textbf{#1}} \x{up \x{high \x{far}}}", "up high far"),
        (r"\newcommand{\x}[1]{\textbf{#1}}\newcommand{\y}[1]{\x{#1}} \x{up \y{far}}", "up far"),
        (r"\newcommand{\x}[1]{\textbf{#1}}\newcommand{\y}{\x{up \x{far}}} \y", "up far"),
        (r"\NewDocumentCommand{\x}{sm}{{\IfBooleanTF{#1}{\x{#2}}{#2}}} \x*{far}", "far"),
    ],
)
def test_a_command_may_call_itself_where_a_condition_ends_it(tex, said):
    found = read(f"Trees grow {tex} high \\cite{{a}}.")
    assert found.keys == [("a",)] and found.sentences == [f"Trees grow {said} high."]


@pytest.mark.parametrize(
    "tex",
    [
        r"\def\x{\x} \x",
        r"\def\x{\x\x} \x",
        r"\def\x#1{\x{#1#1}} \x{a}",
        r"\newcommand{\x}{\y a}\newcommand{\y}{\x b} \x",
        r"\let\x\y \def\y{\x\y} \y",
        r"\NewDocumentCommand{\x}{o}{\IfNoValueTF{#1}{\x}{b}} \x",
        "\\def\\a{" + "b" * 1000 + "}" + "".join(
            f"\\def\\{new}{{\\{old}\\{old}\\{old}\\{old}}}"
            for old, new in zip("abcdefgh", "bcdefghi", strict=True)
        ) + r"\i",
    ],
)  # fmt: skip
def test_commands_without_an_end_are_refused_in_one_line(tex, limited):
    with limited(2), pytest.raises(ManuscriptError, match=r"leave .* characters.*go on") as caught:
        read(tex)
    assert str(caught.value).startswith("x.tex: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "tex",
    [
        *(r"\NewDocumentCommand", r"\NewDocumentCommand{\x}{s", r"\IfValueTF{a}", r"\newcommandx"),
        *(r"\newcommand", r"\newcommand{", r"\newcommand{\x", r"\newcommand{\x}[", r"\let"),
        *(r"\newcommand{\x}[99]{a}", r"\newcommand{x}{a}", r"\def\x", r"\def\x#1.#2{a}", r"\let\x"),
        *(r"\newenvironment{a}", r"\DeclareMathOperator{\x}", r"\def\x#1{#2#9} \x", r"\xspace"),
        *(r"\begin", r"\end{", r"\def", r"\url", r"\input", r"\input{", r"\iffalse", "\\"),
    ],
)  # fmt: skip
def test_broken_definitions_take_nothing_else_from_the_text(tex):
    found = read(f"Trees grow \\cite{{a}}.\n\n{tex}")
    assert found.sentences[0] == "Trees grow." and ("a",) in found.keys


def test_citations_in_tables_captions_and_footnotes_are_places():
    manuscript = read(
        r"""Trees grow.\footnote{So it is \cite{note}.}
        \begin{table}\caption[Short]{Growth of trees \cite{cap}}
        \begin{tabular}{lr}\toprule Tree & Metres \\ \cmidrule(lr){1-2}
        Oak~\cite{oak} & 30 \\ Elm & 20 \\
        \multicolumn{2}{c}{Ash [?]} \\ \bottomrule \end{tabular}\end{table}
        \begin{longtable}{l}\caption{Far} \\ Yew \cite{yew}\\\end{longtable}"""
    )
    asked = [manuscript.sentences[place] for place in manuscript.places]
    assert asked == ["Growth of trees", "Oak, 30", "Ash", "Yew", "So it is."]
    assert manuscript.keys == [("cap",), ("oak",), (), ("yew",), ("note",)]
    assert not any("Elm" in sentence for sentence in manuscript.sentences)


def test_captions_of_algorithms_are_places_and_other_citations_are_counted(tmp_path, caplog):
    (tmp_path / "b.tex").write_text("\n\\[ x \\cite{display} \\]\n")
    (tmp_path / "a.tex").write_text(
        r"""\newcommand{\eq}[1]{\begin{equation} x \cite{#1} \end{equation}}
        Trees grow.
        \begin{algorithm}[t] \caption{A search \cite{cap}}
        \begin{algorithmic} \State x \cite{state} % \cite{comment}
        \end{algorithmic}\end{algorithm}
        \begin{align*} a &= b \cite{b} \\ c &= d \text{\citet[p. 1]{d}, [?]} \end{align*}
        \begin{lstlisting}
        x = 1  % \cite{code}
        \end{lstlisting}
        \eq{y} \input{b}
        \begin{tikzpicture} \node {\cite{node}}; \end{tikzpicture}
        \begin{verbatim} \cite{printed} \end{verbatim}
        \todo{\cite{later}}"""
    )
    manuscript = read_manuscript_file(tmp_path / "a.tex")
    assert manuscript.sentences == ["Trees grow.", "A search"]
    assert manuscript.keys == [("cap",)]
    (record,) = caplog.records
    assert record.message == (
        f"{tmp_path}/a.tex: 8 citations were left out, since no sentence is read there: algorithm, "
        f"line 4; align (3), line 6; lstlisting, line 7; equation, line 10; formula, "
        f"{tmp_path}/b.tex line 2; ...; cite in the text around"
    )


@pytest.mark.parametrize(
    "between",
    [
        "\\begin{lstlisting}[language={C}]\nint f() {\n\\end{lstlisting}",
        "\\begin{minted}{r}\na$b\n\\end{minted}",
        "\\begin{comment}\n}} $\n\\end{comment}",
        "\\begin{filecontents*}{a.sty}\n\\def\\a{\n\\end{filecontents*}",
        "\\begin{tikzpicture} \\node [label={below:$$},] {$N$}; \\end{tikzpicture}",
        "\\begin{circuitikz} \\draw (0,0) node {$$}; % \\end{circuitikz}\n\\end{circuitikz}",
        "\\begin{tikzpicture} \\node {\\begin{tikzpicture} $$ \\end{tikzpicture}}; {$$}"
        "\\end{tikzpicture}",
        "% \\begin{tikzpicture} \\verb|\\begin{minted}|\n\\verb|\\begin{minted}|\n% $ {",
        *(r"\lstinline|{|", r"\lstinline[language=C]{a$b}", r"\lstinline!\}!", r"\verb|{$|"),
        *(r"\url{https://a.org/b$c}", r"\href{https://a.org/b$c}{}", r"\path{b$c%d}"),
    ],
)
def test_listings_drawings_and_addresses_shift_nothing_behind_them(between, caplog):
    manuscript = read(
        f"\\begin{{document}} Trees grow \\cite{{a}}.\n\n{between}\n\n"
        "Elms grow \\cite{b}.\n\nAshes grow $x$ \\cite{c}.\n\\end{document}"
    )
    assert manuscript.keys == [("a",), ("b",), ("c",)]
    assert "Elms grow." in manuscript.sentences and "Ashes grow x." in manuscript.sentences
    assert "cannot be followed" not in caplog.text and "citation" not in caplog.text


def test_broken_tex_is_told_in_one_line_with_its_place(tmp_path, caplog):
    caplog.set_level("INFO")
    (tmp_path / "b.tex").write_text("\n\nElms } grow.\n\\end{odd}\n")
    (tmp_path / "a.tex").write_text(
        "} % in a preamble it shifts nothing\n\\begin{document}\nTrees grow \\cite{a}.\n"
        "\\input{b}\n\\end{document}\n"
    )
    assert read_manuscript_file(tmp_path / "a.tex").keys == [("a",)]
    (record,) = caplog.records
    assert record.message == (
        f"{tmp_path}/b.tex:3: cannot be followed as TeX: unexpected mismatching closing brace: "
        "'}', and 1 more; text around may be left out; mend it"
    )


def test_unknown_commands_are_counted_and_said_once(caplog):
    read(r"\noindent Trees \odd{grow} \odd \even \textbf{up} $\frac{1}{2}$ \cite{a}.")
    (record,) = caplog.records
    assert "x.tex: 3 uses of 2 unknown commands were left out" in record.message
    assert "\\odd (2), \\even (1);" in record.message


@pytest.mark.parametrize(
    ("option", "encoding"),
    [("latin1", "latin-1"), ("utf8", "utf-8"), ("cp1252", "cp1252"), ("utf8,latin9", "iso8859-15")],
)
def test_inputenc_says_how_bytes_are_read(option, encoding, tmp_path):
    tex = f"\\usepackage[{option}]{{inputenc}}\n% \\usepackage[ascii]{{inputenc}}\n"
    tex += "\\begin{document}Bäume wachsen \\cite{a}. \\input{b}\\end{document}"
    (tmp_path / "a.tex").write_bytes(tex.encode(encoding))
    (tmp_path / "b.tex").write_bytes("Größe zählt.".encode(encoding))
    found = read_manuscript_file(tmp_path / "a.tex").sentences
    assert found == ["Bäume wachsen.", "Größe zählt."]


def test_a_preamble_that_cannot_be_read_is_refused_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "a.tex").write_text("\\input{b}\n\\begin{document}Trees.")
    (tmp_path / "b.tex").touch()
    read_bytes = Path.read_bytes

    def refused(path):
        if path.name == "b.tex":
            raise PermissionError(13, "Permission denied", str(path))
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(ManuscriptError, match=r"b\.tex: Permission denied; expected a preamble of"):
        read_manuscript_file(tmp_path / "a.tex")


def test_inputenc_may_stand_in_what_the_preamble_includes(tmp_path):
    tex = "% \\input{other}\n\\input{set/up}\n\\input /etc/hosts\n\\begin{document}\\input{b}"
    (tmp_path / "a.tex").write_text(tex + "\\end{document}\\input{other}")
    (tmp_path / "other.tex").write_text("\\usepackage[cp437]{inputenc}")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "up.tex").write_text("\\usepackage[latin1]{inputenc}")
    (tmp_path / "b.tex").write_bytes("Bäume wachsen \\cite{a}.".encode("latin1"))
    assert read_manuscript_file(tmp_path / "a.tex").sentences == ["Bäume wachsen."]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\\usepackage[utf9]{inputenc}", "found the encoding 'utf9' of inputenc; expected one of"),
        (b"\\usepackage[ascii]{inputenc} \xe9", "byte 29 is no ascii, which inputenc names"),
        (b"caf\xe9", "byte 3 is not UTF-8; save the text as UTF-8, or name its enc"),
    ],
)
def test_bytes_of_another_encoding_are_refused_in_one_line(data, message, tmp_path):
    (tmp_path / "a.tex").write_bytes(data)
    with pytest.raises(ManuscriptError, match=r"a\.tex: ") as caught:
        read_manuscript_file(tmp_path / "a.tex")
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_definitions_that_never_end_take_time_in_proportion(limited):
    for command in ("newenvironment", "NewDocumentCommand"):
        with limited(3):  # each would double the time
            found = read("Trees grow \\cite{a}. " + f"\\{command}{{b It is so. " * 30)
        assert found.keys == [("a",)]
