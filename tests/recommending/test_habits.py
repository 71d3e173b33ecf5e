r"""Manuscripts as people write them: each row is a habit, with what is read and what cite writes.

A row is (habit, name of the file, text, places as "keys | clause", number of the place that K1 and
K2 are written at, what the text is then). ``docs/manuscripts.md`` shows the habits.
"""

import io
import json
import zipfile

import pytest

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.insertion import text_change
from mpbert.recommending.manuscripts.files import read_manuscript_file
from mpbert.recommending.manuscripts.project import root_of
from mpbert.recommending.undoing import keep, last_insertion

TEX, MD, TXT = "a.tex", "a.md", "a.txt"

# 2: placeholders among keys
PLACEHOLDERS = [
    ("key and todo", TEX, r"Trees \cite{a,todo}.", ["a | Trees."], 1, r"Trees \cite{a,K1,K2}."),
    ("todo and key", TEX, r"Trees \cite{todo, a}.", ["a | Trees."], 1, r"Trees \cite{K1,K2, a}."),
    ("todo, todo2", TEX, r"Trees \cite{todo,todo2}.", [" | Trees."], 1, r"Trees \cite{K1,K2}."),
    ("todo around", TEX, r"Trees \cite{TODO,a,xx}.", ["a | Trees."], 1, r"Trees \cite{K1,K2,a}."),
    ("key?", TEX, r"Trees \cite{kumar?}.", [" | Trees."], 1, r"Trees \cite{K1,K2}."),
    ("XXX", TEX, r"Trees \citep{XXX}.", [" | Trees."], 1, r"Trees \citep{K1,K2}."),
    ("?", TEX, r"Trees \cite{?}.", [" | Trees."], 1, r"Trees \cite{K1,K2}."),
    ("empty", TEX, r"Trees \cite{}.", [" | Trees."], 1, r"Trees \cite{K1,K2}."),
    ("trailing comma", TEX, r"Trees \cite{a,}.", ["a | Trees."], 1, r"Trees \cite{a,K1,K2}."),
    ("citation-needed", TEX, r"Trees \cite{citation-needed}.", [" | Trees."], 1,
     r"Trees \cite{K1,K2}."),
    ("Todorov is a name", TEX, r"Trees \cite{todorov2004}.", ["todorov2004 | Trees."], 1,
     r"Trees \cite{todorov2004,K1,K2}."),
    ("citet of todo", TEX, r"As \citet{todo} say, so.", [" | As they say, so."], 1,
     r"As \citet{K1,K2} say, so."),
    ("own command", TEX, "\\newcommand{\\my}[1]{\\cite{x,#1}}Trees \\my{todo}.", ["x | Trees."], 1,
     "\\newcommand{\\my}[1]{\\cite{x,#1}}Trees \\my{K1,K2}."),
    ("group", MD, "Trees [@todo; @a].", ["a | Trees."], 1, "Trees [@K1; @K2; @a]."),
    ("group, behind", MD, "Trees [@a; @todo].", ["a | Trees."], 1, "Trees [@a; @K1; @K2]."),
    ("year alone", MD, "Trees [-@todo].", [" | Trees."], 1, "Trees [-@K1; @K2]."),
    ("two of them", MD, "Trees [@todo; @todo2].", [" | Trees."], 1, "Trees [@K1; @K2]."),
    ("with a page", MD, "Trees [see @todo, p. 3].", [" | Trees."], 1,
     "Trees [see @K1; @K2, p. 3]."),
    ("@???", MD, "Trees [@???].", [" | Trees."], 1, "Trees [@K1; @K2]."),
    ("in text", MD, "As @todo say, so.", [" | As they say, so."], 1, "As @K1 and @K2 say, so."),
]  # fmt: skip

# 3 and 4: several in a sentence, and citations that are words of it
CLAUSES = [
    ("two todo", TEX, r"Senses are induced \cite{todo}, names are found \cite{todo}.",
     [" | Senses are induced", " | names are found."], 2,
     r"Senses are induced \cite{todo}, names are found \cite{K1,K2}."),
    ("a list of systems", TEX, r"We use BERT \cite{a}, GPT-2 \cite{b} and T5 \cite{c}.",
     ["a | We use BERT", "b | GPT-2", "c | and T5."], None, ""),
    ("no word between", TEX, r"Trees grow \cite{a}, \cite{b}.",
     ["a | Trees grow.", "b | Trees grow."], None, ""),
    ("several keys are one", TEX, r"Trees grow \cite{a,b}.", ["a,b | Trees grow."], None, ""),
    ("author and year", TEX, r"As \citeauthor{a} (\citeyear{a}) say, so.",
     ["a | As they say, so."], None, ""),
    ("textcite", TEX, r"We align pairs \parencite{todo}. \textcite{todo} describe models.",
     [" | We align pairs.", " | They describe models."], 2,
     r"We align pairs \parencite{todo}. \textcite{K1,K2} describe models."),
    ("citet", TEX, r"Trees grow. \citet{a} minimise loss. So do we.", ["a | They minimise loss."],
     None, ""),
    ("cite begins", TEX, r"Trees grow \cite{a}. \cite{b} minimise loss.",
     ["a | Trees grow.", "b | They minimise loss."], None, ""),
    ("cite behind a stop", TEX, r"Trees grow. \cite{a} Loss is minimal.", ["a | Trees grow."],
     None, ""),
    ("et al.", TEX, r"Brown et al. \cite{a} describe trees.", ["a | describe trees."], None, ""),
    ("noun and clause", TEX, r"Trees were seen by \citet{a}, while \citet{b} saw oaks.",
     ["a | Trees were seen by they, while", "b | they saw oaks."], None, ""),
    ("@key says", MD, "Trees grow [@a]. @b says so.", ["a | Trees grow.", "b | They says so."],
     None, ""),
    ("@key [p. 3]", MD, "As @a [p. 33] says, so.", ["a | As they says, so."], None, ""),
    ("\\cite behind @key", MD, r"As @a [\cite{b2}] say.", ["a | As they say.", "b2 | As they say."],
     2, r"As @a [\cite{b2,K1,K2}] say."),
    ("names in print", TXT, "Trees grow (Och, 2003). Och and Ney (2003) say so [?].",
     [" | say so."], None, ""),
]  # fmt: skip

# 5: Markdown of pandoc, Quarto and bookdown
MARKDOWN = [
    ("cross-references", MD, "As @fig-a and [@tbl-b] show [@sec-c; @d], so.",
     ["d | As Figure and show, so."], None, ""),
    ("of pandoc-crossref", MD, "As @fig:a shows [@d].", ["d | As Figure shows."], None, ""),
    ("of bookdown", MD, r"As \@ref(fig:a) shows [@d].", ["d | As shows."], None, ""),
    ("caption", MD, "![A caption [@todo]](x.png){#fig-a}", [" | A caption"], 1,
     "![A caption [@K1; @K2]](x.png){#fig-a}"),
    ("caption as attribute", MD, '![](x.png){#fig-a fig-cap="A caption [@a]"}', ["a | A caption"],
     None, ""),
    ("fences of divs", MD, "::: {.note}\nTrees grow [@a].\n:::\n", ["a | Trees grow."], None, ""),
    ("caption of a table", MD, "|a|b|\n|-|-|\n|1|2|\n\n: Trees [@a] {#tbl-one}\n", ["a | Trees"],
     None, ""),
    ("inline note", MD, "Trees^[A note [@todo].] grow.", [" | A note."], 1,
     "Trees^[A note [@K1; @K2].] grow."),
    ("note", MD, "Trees[^1] grow.\n\n[^1]: [@a] shows it.", ["a | They shows it."], None, ""),
    ("formula", MD, "So $x_{[?]}$ is [@a].", ["a | So x_{[?]} is."], None, ""),
    ("e-mail, address", MD, "Write to me@x.org, <https://x.org/@me> or https://x.org/@me [@a].",
     ["a | Write to me@x.org, https://x.org/@me or https://x.org/@me."], None, ""),
    ("chunk", "a.Rmd", "```{r, fig.cap='Oaks [@b]'}\ny <- '[@no]'\n```\nTrees [@a].",
     ["a | Trees.", "b | Oaks"], None, ""),
    ("decorator", "a.qmd", "```python\n@property\ndef f(): ...\n```\nTrees [@a].", ["a | Trees."],
     None, ""),
    ("HTML", MD, "<figure>\n<figcaption>A <b>tree</b> [@a]</figcaption>\n</figure>",
     ["a | A tree"], None, ""),
    ("comment", MD, "<!-- [@no] -->Trees [@a].", ["a | Trees."], None, ""),
]  # fmt: skip

# 7: what people type
TYPED = [
    (typed, name, f"Trees grow {typed}.", [" | Trees grow."], 1, f"Trees grow {written}.")
    for typed in (
        "[citation]", "[citation needed]", "[CITE]", "[CITATION?]", "(REF)", "[@?]", "[?]",
        "[TODO: cite Smith]", "[add citation]", "(citation needed)", "(cite?)",
    )
    for name, written in ((MD, "[@K1; @K2]"), (TXT, "[@K1; @K2]"), (TEX, r"\cite{K1,K2}"))
    if not (name == TEX and "@" in typed)
]  # fmt: skip
TYPED += [
    ("todo note", TEX, r"Trees grow \todo{cite}.", [" | Trees grow."], 1,
     r"Trees grow \cite{K1,K2}."),
    ("other note", TEX, r"Trees \todo{rewrite} grow \cite{a}.", ["a | Trees grow."], None, ""),
    ("option", TEX, r"\usepackage[cite]{x}\begin{thm}[ref] Trees \cite{a}.\end{thm}",
     ["a | Trees."], None, ""),
    ("formula", TEX, r"So $x_{[?]}$ is \cite{a}.", ["a | So x_ is."], None, ""),
    ("link", MD, "Trees [citation](x.html) grow [@a].", ["a | Trees citation grow."], None, ""),
]  # fmt: skip
TYPED += [
    (typed, TXT, f"Trees grow {typed}.", [" | Trees grow."], 1, "Trees grow [@K1; @K2].")
    for typed in (
        "(citation)", "(cite Smith 2004)", "[citation: Smith]", "[cit.]", "[source?]", "[REF1]",
        "[cn]", "{{citation needed}}", "(add ref)", "[insert citation]", "==CITE==",
    )
] + [
    (typed, TXT, f"Trees grow {typed}.", [], None, "")
    for typed in ("(cite as: Smith)", "[Ref. 3]", "[source]", "**REFERENCES**")
]  # fmt: skip

# TeX of real theses
THESES = [
    ("sidecite of a class", TEX, r"Trees grow \sidecite{a}.", ["a | Trees grow."], 1,
     r"Trees grow \sidecite{a,K1,K2}."),
    ("theorem's option", TEX, r"\begin{definition}[Oak \cite{a}] It grows.\end{definition}",
     ["a | Oak It grows."], 1, r"\begin{definition}[Oak \cite{a,K1,K2}] It grows.\end{definition}"),
    ("texorpdfstring", TEX, r"Trees \texorpdfstring{grow \cite{a}}{grow}.", ["a | Trees grow."],
     None, ""),
    ("R of knitr", TEX,
     "Trees \\cite{a}.\n\\begin{alltt}\nx$y\n\\end{alltt}\nOaks \\cite{b}. So $x$.",
     ["a | Trees.", "b | Oaks."], None, ""),
    ("R in a command", TEX,
     "See \\code{a$b}, so trees grow fast in all of our woods \\cite{a}. So $x$ is \\cite{b}.",
     ["a | See ab, so trees grow fast in all of our woods.", "b | So x is."], None, ""),
    ("sidenote", TEX, r"Trees grow\sidenote{So says \citet{a}.} fast.", ["a | So says they."],
     None, ""),
]  # fmt: skip

# other forms
FORMS = [
    ("Org", "a.org",
     "* Head\nTrees [cite:@a; see @todo p. 3].\n#+begin_src x\n[cite:@no]\n#+end_src",
     ["a | Trees."], 1,
     "* Head\nTrees [cite:@a; see @K1;@K2 p. 3].\n#+begin_src x\n[cite:@no]\n#+end_src"),
    ("Org, text", "a.org", "[cite/t:@a] grow /trees/ [?].", ["a | They grow trees.",
     " | They grow trees."], 2, "[cite/t:@a] grow /trees/ [cite:@K1;@K2]."),
    ("org-ref", "a.org", "Trees citep:a,todo fall.", ["a | Trees fall."], 1,
     "Trees citep:a,K1,K2 fall."),
    ("org-ref, comma behind", "a.org", "Trees fall cite:a, which [[cite:b, c]] say; cite:d; so.",
     ["a | Trees fall, which", "b,c | Trees fall, which", "d | say; so."], 2,
     "Trees fall cite:a, which [[cite:b, c,K1,K2]] say; cite:d; so."),
    ("Org, not exported", "a.org",
     "* A :noexport:\nNo cite:no.\n** B\ncite:no\n* C\nTrees cite:a.\n** COMMENT D\ncite:no\n"
     "*** E\ncite:no\n** TODO F\nOaks cite:b.",
     ["a | Trees.", "b | Oaks."], None, ""),
    ("Org, tags not exported", "a.org",
     "#+EXCLUDE_TAGS: old x\n* A :old:\ncite:no\n* B :noexport:\nTrees cite:a.",
     ["a | Trees."], None, ""),
    ("Org, TeX of a line", "a.org",
     "The\n#+latex: tree\\footcitet{a}\ngrows. Oaks @@latex:fall~\\cite{c}@@.\n"
     "@@html:<br>@@\n#+latex: \\newpage",
     ["a | The tree grows.", "c | Oaks fall."], 1,
     "The\n#+latex: tree\\footcitet{a,K1,K2}\ngrows. Oaks @@latex:fall~\\cite{c}@@.\n"
     "@@html:<br>@@\n#+latex: \\newpage"),
    ("org-ref 3", "a.org", "Trees [[cite:See &a p. 3;&b][x]] fall.", ["a,b | Trees fall."], 1,
     "Trees [[cite:See &a p. 3;&b;&K1;&K2][x]] fall."),
    ("rst", "a.rst", "Head\n====\n\nTrees :cite:p:`a,todo` fall. ``:cite:`no```",
     ["a | Trees fall."], 1, "Head\n====\n\nTrees :cite:p:`a,K1,K2` fall. ``:cite:`no```"),
    ("rst, text", "a.rst", ":cite:t:`a` say so. Trees [CITATION].", ["a | They say so.",
     " | Trees."], 2, ":cite:t:`a` say so. Trees :cite:p:`K1,K2`."),
    ("rst, docutils", "a.rst", "Trees [Smith2004]_ fall.\n\n.. [Smith2004] J. Smith. Trees.",
     ["Smith2004 | Trees fall."], 1,
     "Trees [Smith2004]_ [K1]_ [K2]_ fall.\n\n.. [Smith2004] J. Smith. Trees."),
    ("rst, code", "a.rst",
     ".. code::\n\n   :cite:`no`\n\nSo::\n\n   :cite:`no`\n\nIt is :cite:`a`.",
     ["a | It is."], None, ""),
    ("Typst", "a.typ", "= Head <h>\nAs @h says, trees @a[p. 3] fall. // @no",
     ["a | As This says, trees fall."], 1,
     "= Head <h>\nAs @h says, trees @a[p. 3] @K1 @K2 fall. // @no"),
    ("Typst, cite", "a.typ", '#cite(<a>, form: "prose") say so. Trees @todo.',
     ["a | They say so.", " | Trees."], 2, '#cite(<a>, form: "prose") say so. Trees @K1 @K2.'),
    ("Typst, no space", "a.typ", "Trees fall@a:x@b-2.c@todo. Oaks stand.@d Mail a.b@x.org @e.",
     ["a:x | Trees fall.", "b-2.c | Trees fall.", " | Trees fall.", "d | Oaks stand.",
      "e | Mail."], 3,
     "Trees fall@a:x@b-2.c@K1 @K2. Oaks stand.@d Mail a.b@x.org @e."),
    ("Typst, cite in any order", "a.typ",
     '#cite(form: "prose", <a>) say so. #citet(supplement: [p. (3)], label("b")) too. Oaks @a.',
     ["a | They say so.", "b | They too.", "a | Oaks."], 1,
     '#cite(form: "prose", <a>) @K1 @K2 say so. #citet(supplement: [p. (3)], label("b")) too. '
     'Oaks @a.'),
    ("Typst, labels", "a.typ",
     '= Head <1-ü>\n#link(<a>)[Trees] @1-ü @a. #figure([x]) #label("f") @f',
     ["a | Trees This."], None, ""),
    ("Typst, a dollar in a formula", "a.typ", 'Trees $f("$a")$ fall @a. Oaks $x$ @b.',
     ["a | Trees fall.", "b | Oaks."], None, ""),
    ("Typst, caption", "a.typ", '#figure(image("x.png"), caption: [Oaks @a]) <f>', ["a | Oaks"],
     None, ""),
    ("notebook", "a.ipynb", json.dumps({"cells": [
        {"cell_type": "code", "source": ["'[@no]'"]},
        {"cell_type": "markdown", "source": ["Trees \"é\"\n", "fall [@todo]."]}]}),
     [' | Trees "é" fall.'], 1, json.dumps({"cells": [
        {"cell_type": "code", "source": ["'[@no]'"]},
        {"cell_type": "markdown", "source": ["Trees \"é\"\n", "fall [@K1; @K2]."]}]})),
    ("LyX", "a.lyx", "\\begin_body\n\\begin_layout Standard\nTrees\n\\begin_inset CommandInset "
     "citation\nLatexCommand citep\nkey \"a,todo\"\nliteral \"false\"\n\n\\end_inset\n\n fall.\n"
     "\\end_layout\n\\end_body\n", ["a | Trees fall."], 1,
     "\\begin_body\n\\begin_layout Standard\nTrees\n\\begin_inset CommandInset "
     "citation\nLatexCommand citep\nkey \"a,K1,K2\"\nliteral \"false\"\n\n\\end_inset\n\n fall.\n"
     "\\end_layout\n\\end_body\n"),
    ("LyX, paragraph begins", "a.lyx", "\\begin_body\n\\begin_layout Standard\n\\begin_inset "
     "CommandInset citation\nLatexCommand citet\nkey \"a\"\n\n\\end_inset\n\n say so. Oaks\n"
     "\\begin_inset CommandInset citation\nLatexCommand cite\nkey \"todo\"\n\\end_inset\n"
     "\\end_layout\n\\end_body\n", ["a | They say so.", " | Oaks"], 2,
     "\\begin_body\n\\begin_layout Standard\n\\begin_inset "
     "CommandInset citation\nLatexCommand citet\nkey \"a\"\n\n\\end_inset\n\n say so. Oaks\n"
     "\\begin_inset CommandInset citation\nLatexCommand cite\nkey \"K1,K2\"\n\\end_inset\n"
     "\\end_layout\n\\end_body\n"),
    ("braces begin a text", TXT, "{Trees} grow [?].", [" | {Trees} grow."], 1,
     "{Trees} grow [@K1; @K2]."),
]  # fmt: skip

# what strangers to this table write in TeX
STRANGE_TEX = [
    ("notes in round brackets", TEX, r"Trees \parencites(cf.)(so)[1]{a}[2][3]{todo} grow.",
     ["a | Trees grow."], 1, r"Trees \parencites(cf.)(so)[1]{a}[2][3]{K1,K2} grow."),
    ("footnote behind a stop", TEX, r"Trees grow.\autocite*[12]{a} Oaks too.\footcites{b}{todo}",
     ["a | Trees grow.", "b | Oaks too."], 2,
     r"Trees grow.\autocite*[12]{a} Oaks too.\footcites{b}{K1,K2}"),
    ("notes of apacite", TEX, r"Trees \cite<e.g.,>[p.~3]{a} grow, \citeA<see>{b} say.",
     ["a | Trees grow,", "b | they say."], 1,
     r"Trees \cite<e.g.,>[p.~3]{a,K1,K2} grow, \citeA<see>{b} say."),
    ("a note that cites", TEX, r"Trees \citep[see][and \citealp{b}]{a} grow.",
     ["a | Trees grow."], 1, r"Trees \citep[see][and \citealp{b}]{a,K1,K2} grow."),
    ("nocite", TEX, r"\nocite{*}Trees \cite{a}. \nocite{b}", ["a | Trees."], None, ""),
    ("quotations of csquotes", TEX,
     r"Trees. \textcquote[12]{a}{Oaks are old}. \blockcquote{b}{Elms die.}",
     ["a | Oaks are old.", "b | Elms die."], 1,
     r"Trees. \textcquote[12]{a,K1,K2}{Oaks are old}. \blockcquote{b}{Elms die.}"),
    ("label of an item", TEX,
     r"\begin{description}\item[Oaks \cite{a}] are trees.\end{description}",
     ["a | Oaks are trees."], 1,
     r"\begin{description}\item[Oaks \cite{a,K1,K2}] are trees.\end{description}"),
    ("options of lists and boxes", TEX,
     r"\begin{multicols}{2}\begin{enumerate}[label=(\alph*)]\item Oaks "
     r"\cite{a}.\end{enumerate}\end{multicols}",
     ["a | Oaks."], 1, r"\begin{multicols}{2}\begin{enumerate}[label=(\alph*)]\item Oaks "
     r"\cite{a,K1,K2}.\end{enumerate}\end{multicols}"),
    ("environments stand apart", TEX,
     r"\begin{lemma}Trees grow\end{lemma}\begin{proof}[Proof of \cite{a}] Easy.\end{proof}",
     ["a | Proof of Easy."], None, ""),
    ("tabularray", TEX,
     r"\begin{tblr}{colspec={ll}} BERT \cite{a} & 3\\ T5 \cite{b} & 4 \end{tblr}",
     ["a | BERT, 3", "b | T5, 4"], 2,
     r"\begin{tblr}{colspec={ll}} BERT \cite{a} & 3\\ T5 \cite{b,K1,K2} & 4 \end{tblr}"),
    ("block of beamer", TEX, r"\begin{block}{Oaks}They grow \cite{a}.\end{block}",
     ["a | They grow."], 1, r"\begin{block}{Oaks}They grow \cite{a,K1,K2}.\end{block}"),
    ("raised", TEX, r"Trees grow$^{\cite{a}}$ and fall\textsuperscript{\cite{todo}}.",
     ["a | Trees grow", " | and fall."], 2,
     r"Trees grow$^{\cite{a}}$ and fall\textsuperscript{\cite{K1,K2}}."),
    ("tracked changes", TEX,
     r"\deleted{Oaks \cite{no}.} We \replaced{see \cite{a}}{saw \cite{no}} it.", ["a | We see it."],
     1, r"\deleted{Oaks \cite{no}.} We \replaced{see \cite{a,K1,K2}}{saw \cite{no}} it."),
    ("link to a section", TEX, r"Trees \hyperref[sec:a]{grow} \cite{a}.",
     ["a | Trees grow."], None, ""),
    ("code within a line", TEX, r"Use \mintinline{python}{x[a$b]} for trees \cite{a}. So $x$.",
     ["a | Use for trees."], 1,
     r"Use \mintinline{python}{x[a$b]} for trees \cite{a,K1,K2}. So $x$."),
    ("cross-reference begins", TEX, r"Trees grow \cite{a}. \Cref{fig:x} shows it.",
     ["a | Trees grow."], 1, r"Trees grow \cite{a,K1,K2}. \Cref{fig:x} shows it."),
    ("abbreviation in front", TEX, r"In the U.S. \cite{a} trees grow. Oaks, etc.\ \cite{b} fall.",
     ["a | In the U.S. trees grow.", "b | Oaks, etc. fall."], 1,
     r"In the U.S. \cite{a,K1,K2} trees grow. Oaks, etc.\ \cite{b} fall."),
    ("abbreviation in German", TEX, r"Der Baum z.\,B. \cite{a} fällt, d.h.\ er stirbt.",
     ["a | Der Baum z. B. fällt, d.h. er stirbt."], 1,
     r"Der Baum z.\,B. \cite{a,K1,K2} fällt, d.h.\ er stirbt."),
    ("quotes of German", TEX,
     'Der Baum "`wächst"\' \\parencite[vgl.][S.~3]{a}. ,,Eiche`` fällt \\cite{b}.',
     ["a | Der Baum „wächst“.", "b | „Eiche“ fällt."], 1,
     'Der Baum "`wächst"\' \\parencite[vgl.][S.~3]{a,K1,K2}. ,,Eiche`` fällt \\cite{b}.'),
    ("possessive", TEX, r"\citeauthor{a}'s model \citeyearpar{a} and \citet{b}'s oak grow.",
     ["a | Their model and", "b | their oak grow."], 2,
     r"\citeauthor{a}'s model \citeyearpar{a} and \citet{b,K1,K2}'s oak grow."),
    ("in round brackets", TEX, r"Trees grow (\citealt{a}), oaks (e.g.~\citealt{b}) fall.",
     ["a | Trees grow", "b | oaks fall."], 1,
     r"Trees grow (\citealt{a,K1,K2}), oaks (e.g.~\citealt{b}) fall."),
    ("loud and coloured", TEX, r"Trees grow \textcolor{red}{CITE}. Oaks \hl{CITATION NEEDED}.",
     [" | Trees grow.", " | Oaks."], 1, r"Trees grow \cite{K1,K2}. Oaks \hl{CITATION NEEDED}."),
    ("note with a name", TEX, r"Trees grow \todo[inline]{cite Smith 2004}. Oaks \todo{rewrite}.",
     [" | Trees grow."], 1, r"Trees grow \cite{K1,K2}. Oaks \todo{rewrite}."),
    ("needed, with a reason", TEX, r"Trees grow \citationneeded[by Smith].",
     [" | Trees grow."], 1, r"Trees grow \cite{K1,K2}."),
    ("comment among keys", TEX, 'Trees \\cite{a,% x\n  todo} grow.', ["a | Trees grow."], None, ""),
    ("code", TEX, '\\begin{lstlisting}\nx = "\\cite{no}" % 1\n\\end{lstlisting}\nTrees \\cite{a}.',
     ["a | Trees."], 1,
     '\\begin{lstlisting}\nx = "\\cite{no}" % 1\n\\end{lstlisting}\nTrees \\cite{a,K1,K2}.'),
    ("keys over lines", TEX, 'Trees \\cite{a,\n  todo,\n  b} grow.',
     ["a,b | Trees grow."], 1, 'Trees \\cite{a,\n  K1,K2,\n  b} grow.'),
]  # fmt: skip

# what strangers to this table write in other forms
STRANGE = [
    ("paragraphs of a note", MD,
     'Trees grow.[^n]\n\n[^n]: See @a, who\n    agree.\n\n    So does it [@todo].\n',
     ["a | See they, who agree.", " | So does it."], 2,
     'Trees grow.[^n]\n\n[^n]: See @a, who\n    agree.\n\n    So does it [@K1; @K2].\n'),
    ("key in braces", MD, "Oaks [@{https://x.org/a?b=1}, p. 3].",
     ["https://x.org/a?b=1 | Oaks."], 1, "Oaks [@{https://x.org/a?b=1}, p. 3; @K1; @K2]."),
    ("address as a key", MD, "Oaks [@{url:https://x.org/a}; @todo]. Elms [@url:https://x.org/b].",
     ["url:https://x.org/a | Oaks.", "url:https://x.org/b | Elms."], 1,
     "Oaks [@{url:https://x.org/a}; @K1; @K2]. Elms [@url:https://x.org/b]."),
    ("dash behind a key", MD, "Trees by @a---so [@b.c--; @a_b:c/d#e].",
     ["a | Trees by they ---so.", "b.c,a_b:c/d#e | Trees by they ---so."], None, ""),
    ("two dashes in a key", "a.org", "Trees [cite:@a--b].", ["a--b | Trees."], 1,
     "Trees [cite:@a--b;@K1;@K2]."),
    ("stray dollars", MD, "Trees $$ grow [@a].\n\nOaks [@b] $$ too.",
     ["a | Trees grow.", "b | Oaks too."], None, ""),
    ("stray dollars", "a.org", "Trees $$ grow [cite:@a].\n\nOaks [cite:@b] $$ too.",
     ["a | Trees grow.", "b | Oaks too."], None, ""),
    ("stray bracket", "a.org", "Trees \\[ grow [cite:@a].\n\nOaks [cite:@b] \\] too.",
     ["a | Trees \\[grow.", "b | Oaks \\] too."], None, ""),
    ("prices", MD, r"Trees cost \$5 and $6 [@a]. See \$x\$ [@b].",
     ["a | Trees cost $5 and $6.", "b | See x."], 1,
     r"Trees cost \$5 and $6 [@a; @K1; @K2]. See \$x\$ [@b]."),
    ("defined links", MD,
     'Trees [cite] grow [@a]. Oaks [ref][x].\n\n[cite]: http://x.org\n[x]: http://y.org\n',
     ["a | Trees cite grow."], None, ""),
    ("note that is a place", MD, "Trees grow^[citation needed].",
     [" | Trees grow."], 1, "Trees grow^[@K1; @K2]."),
    ("list of references", MD,
     'Trees [@a].\n\n# References\n\n- Smith, J. (2004). Trees. Journal.\n',
     ["a | Trees."], None, ""),
    ("caption of a chunk", "a.Rmd", '```{r, fig.cap="Trees [@a]"}\nx@y\n```\n',
     ["a | Trees"], 1, '```{r, fig.cap="Trees [@a; @K1; @K2]"}\nx@y\n```\n'),
    ("caption of a cell", "a.qmd", '```{python}\n#| fig-cap: "Trees [@todo]"\n@dec\n```\n',
     [" | Trees"], 1, '```{python}\n#| fig-cap: "Trees [@K1; @K2]"\n@dec\n```\n'),
    ("roles of MyST", MD,
     'Trees {cite:p}`a,todo` and {cite:t}`b` grow.\n\n```{note}\nOaks {cite}`c`.\n```\n',
     ["a | Trees and", "b | they grow.", "c | Oaks."], 1,
     'Trees {cite:p}`a,K1,K2` and {cite:t}`b` grow.\n\n```{note}\nOaks {cite}`c`.\n```\n'),
    ("figure of MyST", MD, '```{figure} x.png\n:name: f\n\nOaks {cite}`a`\n```\n',
     ["a | Oaks"], None, ""),
    ("environment of LaTeX", MD, '\\begin{table}\n\\caption{Oaks \\cite{a}}\n\\end{table}\n',
     ["a | Oaks"], 1, '\\begin{table}\n\\caption{Oaks \\cite{a,K1,K2}}\n\\end{table}\n'),
    ("abbreviation in front", MD, "In the U.S. [@a] trees grow. Oaks, etc. [@b] fall.",
     ["a | In the U.S. trees grow.", "b | Oaks, etc. fall."], 1,
     "In the U.S. [@a; @K1; @K2] trees grow. Oaks, etc. [@b] fall."),
    ("possessive", MD, "@a's model grows.", ["a | Their model grows."], None, ""),
    ("locators", MD, "Trees [see @a, pp. 33-35 and *passim*; @todo, chap. 1].",
     ["a | Trees."], 1, "Trees [see @a, pp. 33-35 and *passim*; @K1; @K2, chap. 1]."),
    ("command of a package", MD, "Trees grow\\sidecite{a}. Oaks\\footcitet[3]{todo}.",
     ["a | Trees grow.", " | Oaks."], 2, "Trees grow\\sidecite{a}. Oaks\\footcitet[3]{K1,K2}."),
    ("definition of a command", MD, "\\newcommand{\\x}[1]{\\cite{#1}}\n\nTrees \\cite{a}.",
     ["a | Trees."], None, ""),
    ("commands of TeX", MD,
     "Use \\textsf{lmtest} of {\\em old} \\x\\ oaks at \\SI{56}{\\degreeCelsius}, $\\alpha$ [@a].",
     ["a | Use lmtest of old oaks at 56, α."], None, ""),
    ("footnote of TeX", MD, "Trees\\footnote{Oaks \\emph{fall} [@todo].} grow.",
     [" | Oaks fall."], 1, "Trees\\footnote{Oaks \\emph{fall} [@K1; @K2].} grow."),
    ("label in a caption", MD,
     "\\begin{table}{ll}\n\\caption[Short]{Oaks\\label{t} of \\textbf{old \\emph{woods}} \\cite{a}}"
     "\n\\end{table}\n", ["a | Oaks of old woods"], None, ""),
    ("equation of TeX", MD, "Trees\n\\begin{align*}\nx &= y\n\\end{align*}\n[@a].",
     ["a | Trees"], None, ""),
    ("commands of TeX", "a.org",
     "Many \\acrshort{gps} of 6 \\AA\\label{x} grow [cite:@a].\n"
     "#+caption: Oaks \\label{f} [cite:@b]",
     ["a | Many gps of 6 Å grow.", "b | Oaks"], None, ""),
    ("macros", "a.org",
     "* A :noexport:\n#+MACRO: of $2 of @@latex:L\\\"{o}f \\textsc{$1}@@@@html:<i>$1</i>@@\n"
     "#+macro: twice {{{OF($1,big\\, old)}}}\n* B\nA {{{twice(oak)}}} [cite:@a]{{{none}}} grows.",
     ["a | A big, old of Löf oak grows."], None, ""),
    ("macro of a citation", "a.org",
     "#+MACRO: c [cite:@$1]\nTrees {{{c(a)}}} and {{{c(b)}}} fall. Oaks [cite:@todo].",
     ["a | Trees", "b | and fall.", " | Oaks."], 3,
     "#+MACRO: c [cite:@$1]\nTrees {{{c(a)}}} and {{{c(b)}}} fall. Oaks [cite:@K1;@K2]."),
    ("formula in a line of TeX", "a.org", "#+latex: \\[ a = b \\] Trees \\cite{a}.\n",
     ["a | Trees."], None, ""),
    ("group behind a citation", MD, r"Trees grow \cite{a} {\em very} fast.",
     ["a | Trees grow very fast."], None, ""),
    ("TeX that breaks a line", "a.org", "#+latex: Old trees \\cite{a}. \\\\\n",
     ["a | Old trees."], None, ""),
    ("command without arguments", MD, r"The rate \frac of trees \cite{a}.",
     ["a | The rate of trees."], None, ""),
    ("command of a font", TEX, r"The \textsf{lmtest} \mbox{U.S. trees} \cite{a}.",
     ["a | The lmtest U.S. trees."], None, ""),
    ("double brackets", MD, "Trees [[@a]] and oaks [[@b]] grow.",
     ["a | Trees", "b | and oaks grow."], 2, "Trees [[@a]] and oaks [[@b; @K1; @K2]] grow."),
    ("tables of HTML", MD, "<table><tr><td>Oak [@a]</td></tr></table>",
     ["a | Oak"], 1, "<table><tr><td>Oak [@a; @K1; @K2]</td></tr></table>"),
    ("definition", MD, 'Oak\n:   A tree [@todo].\n',
     [" | Oak A tree."], 1, 'Oak\n:   A tree [@K1; @K2].\n'),
    ("quotation", MD, '> Trees grow [@a]\n> and fall.',
     ["a | Trees grow and fall."], 1, '> Trees grow [@a; @K1; @K2]\n> and fall.'),
    ("indented code", MD, 'So:\n\n    @no\n    [@no]\n\nTrees [@a].', ["a | Trees."], None, ""),
    ("raw block", MD, '```{=latex}\n\\cite{no}\n```\nTrees [@a].', ["a | Trees."], None, ""),
    ("over lines", MD, 'Trees [@a;\n@b;\n @todo] grow.',
     ["a,b | Trees grow."], 1, 'Trees [@a;\n@b;\n @K1; @K2] grow.'),
    ("source within a line", "a.org", "Use src_python{x[@no]} or =[cite:@no]= for trees [cite:@a].",
     ["a | Use or for trees."], 1,
     "Use src_python{x[@no]} or =[cite:@no]= for trees [cite:@a;@K1;@K2]."),
    ("list of references", "a.org", 'Trees [cite:@a].\n* References\n1. Smith. Trees.\n',
     ["a | Trees."], None, ""),
    ("note", "a.typ", "Trees#footnote[See @a.] grow. Oaks #todo[cite].",
     [" | Oaks.", "a | See."], 2, "Trees#footnote[See @a @K1 @K2.] grow. Oaks #todo[cite]."),
    ("content", "a.typ", "Trees #text(red)[cite] grow.",
     [" | Trees grow."], 1, "Trees #text(red)[@K1 @K2] grow."),
    ("table, note", "a.rst",
     'Trees [#f]_.\n\n.. [#f] See :cite:t:`a`.\n\n.. list-table::\n\n   * - x '
     ':cite:`{see}b{p. 3},todo`\n', ["a | See they.", "b | x"], 2,
     'Trees [#f]_.\n\n.. [#f] See :cite:t:`a`.\n\n.. list-table::\n\n   * - x '
     ':cite:`{see}b{p. 3},K1,K2`\n'),
    ("tag of a citation", "a.ipynb", '{"cells": [{"cell_type": "markdown", "source": "Trees <cite '
     'data-cite=\\"a\\">(Smith)</cite>."}]}',
     ["a | Trees."], 1, '{"cells": [{"cell_type": "markdown", "source": "Trees <cite '
     'data-cite=\\"a,K1,K2\\">(Smith)</cite>."}]}'),
]  # fmt: skip
ROWS = [*PLACEHOLDERS, *CLAUSES, *MARKDOWN, *TYPED, *THESES, *FORMS, *STRANGE_TEX, *STRANGE]


@pytest.mark.parametrize(
    ("name", "text", "places", "place", "written"),
    [pytest.param(*row[1:], id=f"{row[1]}-{row[0]}") for row in ROWS],
)
def test_a_habit_is_read_and_written_as_its_author_means_it(
    name, text, places, place, written, tmp_path
):
    path = tmp_path / name
    path.write_text(text, newline="")
    manuscript = read_manuscript_file(path)
    clauses = [manuscript.sentences[number] for number in manuscript.places]
    keys = [",".join(keys) for keys in manuscript.keys]
    assert [f"{key} | {clause}" for key, clause in zip(keys, clauses, strict=True)] == places
    if place is not None:
        change = text_change(manuscript.mentions[place - 1].site, ["K1", "K2"])
        assert change.after.decode() == written
        keep(path, [change])
        change.write()
        (back,) = last_insertion(path)
        back.write()
        assert path.read_bytes() == text.encode()


@pytest.mark.parametrize("text", ["* {}x\n\n[cite:@a]", "# {}x\n\n[@a]", "#include{}x @a"])
def test_blanks_take_time_in_proportion(text, limited, tmp_path):
    path = tmp_path / ("a.typ" if text[1] == "i" else "a.org" if text[0] == "*" else "a.md")
    path.write_text(text.format(" " * 100_000))
    with limited(5):  # 20 s and more if in proportion to the square
        assert len(read_manuscript_file(path).places) == 1


def test_macros_of_org_that_call_themselves_are_told(tmp_path):
    path = tmp_path / "a.org"
    path.write_text("#+MACRO: a {{{a}}}{{{a}}}" + " trees" * 100 + "\n{{{a}}}")
    with pytest.raises(ManuscriptError, match=r"a.org: its macros leave .* mend those that call"):
        read_manuscript_file(path)


def archive(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in files.items():
            out.writestr(name, text)
    return buffer.getvalue()


PROJECT = {
    "main.tex": "\\documentclass{book}\n\\begin{document}\\subimport{parts/}{one}\\end{document}",
    "parts/one.tex": "Trees \\cite{a}. \\input{two}",
    "parts/two.tex": "Oaks \\cite{b}.",
    "figures/plot.tex": "\\documentclass{standalone}\\begin{document}x\\end{document}",
}


@pytest.mark.parametrize("kind", ["folder", "zip", "zip within a folder"])
def test_a_project_is_read_from_its_root(kind, tmp_path):
    path = tmp_path / "paper.zip"
    if kind == "folder":
        path = tmp_path / "paper"
        for name, text in PROJECT.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(text)
    else:
        below = "paper/" if "within" in kind else ""
        path.write_bytes(archive({below + name: text for name, text in PROJECT.items()}))
    assert root_of(path).name == "main.tex"
    assert read_manuscript_file(root_of(path)).keys == [("a",), ("b",)]


def test_a_project_without_a_root_or_with_two_is_refused_in_one_line(tmp_path):
    (tmp_path / "a.tex").write_text("Trees.")
    with pytest.raises(ManuscriptError, match=r"found no file with \\documentclass"):
        root_of(tmp_path)
    for name in ("a.tex", "b.tex"):
        (tmp_path / name).write_text(PROJECT["main.tex"])
    with pytest.raises(ManuscriptError, match=r"found 2 manuscripts \(a.tex, b.tex\); name one"):
        root_of(tmp_path)
    (tmp_path / "x.zip").write_bytes(b"PK no archive")
    with pytest.raises(ManuscriptError, match="cannot be unpacked"):
        root_of(tmp_path / "x.zip")


ITEM = json.dumps(
    {
        "citationItems": [
            {
                "itemData": {
                    "title": "On oaks",
                    "author": [{"family": "Smith"}],
                    "issued": {"date-parts": [["2004"]]},
                }
            }
        ]
    }
)
ZOTERO = (
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> ADDIN ZOTERO_ITEM '
    "CSL_CITATION " + ITEM.replace('"', "&quot;")
    + '</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>(Smith, 2004)'
    '</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
)  # fmt: skip
DOCX = {
    "word/document.xml": "<w:document><w:body><w:p><w:r><w:t>Oaks &amp; elms </w:t></w:r>"
    + ZOTERO
    + "<w:r><w:t>. Trees [cita</w:t></w:r><w:r><w:b/><w:t>tion needed] fall.</w:t></w:r></w:p>"
    '<w:p><w:commentRangeStart w:id="0"/><w:r><w:t>Leaves fall.</w:t></w:r>'
    '<w:commentRangeEnd w:id="0"/></w:p></w:body></w:document>',
    "word/comments.xml": '<w:comment w:id="0"><w:p><w:r><w:t>citation?</w:t></w:r></w:p>'
    "</w:comment>",
    "word/media/image.png": b"\x89PNG",
}
ODT = {
    "content.xml": "<office:body><text:p>Oaks &amp; elms <text:reference-mark-start text:name="
    f'"ZOTERO_ITEM CSL_CITATION {ITEM.replace(chr(34), "&quot;")} RND1"/>(Smith, 2004)'
    '<text:reference-mark-end text:name="x"/>. Trees [cita<text:span>tion needed]</text:span> '
    "fall.</text:p><text:p>Leaves<office:annotation><text:p>citation?</text:p></office:annotation>"
    " fall.</text:p></office:body>",
    "Pictures/image.png": b"\x89PNG",
}


@pytest.mark.parametrize(("name", "files"), [("a.docx", DOCX), ("a.odt", ODT)])
def test_documents_of_word_processors_have_places_in_text_fields_and_comments(
    name, files, tmp_path
):
    path = tmp_path / name
    path.write_bytes(archive(files))
    manuscript = read_manuscript_file(path)
    assert manuscript.sentences == ["Oaks & elms.", "Trees fall.", "Leaves fall."]
    assert manuscript.keys == [("Smith2004",), (), ()]
    assert manuscript.about.printed == {"Smith2004": "Smith. On oaks. 2004"}
    field, text, comment = manuscript.mentions
    assert field.site.hindrance == "a field of Zotero stands there"
    for mention, shown in ((text, "Trees (A &amp; B, 2001)"), (comment, "(A &amp; B, 2001)")):
        path.with_name(f"new-{name}").write_bytes(text_change(mention.site, ["A & B, 2001"]).after)
        with zipfile.ZipFile(path.with_name(f"new-{name}")) as changed:
            body = next(iter(files))
            assert shown in changed.read(body).decode()
            assert changed.read(list(files)[-1]) == b"\x89PNG"
            assert changed.testzip() is None


def test_a_broken_document_is_refused_with_the_way_out(tmp_path):
    (tmp_path / "a.docx").write_bytes(b"no archive")
    with pytest.raises(ManuscriptError, match=r"is no document of a word processor .* pandoc -t m"):
        read_manuscript_file(tmp_path / "a.docx")
    (tmp_path / "a.rtf").write_text("x")
    with pytest.raises(ManuscriptError, match=r"convert it: pandoc -t markdown -o paper.md a.rtf"):
        read_manuscript_file(tmp_path / "a.rtf")


def test_definitions_of_packages_and_a_class_beside_the_manuscript_count(tmp_path):
    (tmp_path / "own.cls").write_text("\\LoadClass{article}\\RequirePackage{mine}")
    (tmp_path / "mine.sty").write_text(
        "\\RequirePackage{own}\\newcommand{\\by}[1]{\\citet{#1}} % \\newcommand{\\no}{}\n"
        "\\def\\small{\\@setfontsize\\small\\@ixpt{11}}\nText \\cite{no}."
    )
    (tmp_path / "a.tex").write_text("\\documentclass{own}{\\small As \\by{a} say, trees grow.}")
    manuscript = read_manuscript_file(tmp_path / "a.tex")
    assert manuscript.sentences == ["As they say, trees grow."]
    change = text_change(manuscript.mentions[0].site, ["K1"]).after.decode()
    assert "\\by{a,K1}" in change


def test_files_that_quarto_includes_are_read_and_written_to(tmp_path):
    (tmp_path / "a.qmd").write_text("Trees [@a].\n\n{{< include _b.qmd >}}\n")
    (tmp_path / "_b.qmd").write_text("---\ntitle: x\n---\nOaks [@todo]. {{< include _b.qmd >}}")
    manuscript = read_manuscript_file(tmp_path / "a.qmd")
    assert manuscript.keys[0] == ("a",) and manuscript.sentences[:2] == ["Trees.", "Oaks."]
    change = text_change(manuscript.mentions[1].site, ["K1"])
    assert change.path.name == "_b.qmd" and b"Oaks [@K1]." in change.after


def lyx(*lines):
    body = "".join(f"\\begin_layout Standard\n{line}\n\\end_layout\n" for line in lines)
    return f"\\begin_body\n{body}\\end_body\n"


def inset(kind, words):
    return f"\\begin_inset CommandInset {kind}\n{words}\n\n\\end_inset\n\n"


def test_files_that_lyx_includes_are_read_and_written_to(tmp_path, caplog):
    include = [
        inset("include", f'LatexCommand {command}\nfilename "{name}"')
        for command, name in [
            *(("include", "one/a.lyx"), ("input", "plot.tex"), ("include", "gone.lyx")),
            ("verbatiminput", "code.lyx"),
        ]
    ]
    note = f"\\begin_inset Note Note\n{lyx(include[2])}\\end_inset"
    (tmp_path / "one").mkdir()
    (tmp_path / "main.lyx").write_text(lyx("Elms.", include[0], note, include[1], include[3]))
    inner = inset("include", 'LatexCommand include\nfilename "b.lyx"')
    (tmp_path / "one" / "a.lyx").write_text(lyx("Trees.", inner))
    back = inset("include", 'LatexCommand include\nfilename "../main.lyx"')
    todo = inset("citation", 'LatexCommand cite\nkey "todo"')
    (tmp_path / "one" / "b.lyx").write_text(lyx(f"Oaks\n{todo}", back))
    manuscript = read_manuscript_file(tmp_path / "main.lyx")
    assert manuscript.sentences == ["Elms.", "Trees.", "Oaks"] and len(manuscript.places) == 1
    change = text_change(manuscript.mentions[0].site, ["K1"])
    assert change.path.name == "b.lyx" and b'key "K1"' in change.after
    (record,) = caplog.records
    assert "1 included file was left out" in record.message and "plot.tex" in record.message
    (tmp_path / "one" / "b.lyx").write_text("Oaks.")
    assert read_manuscript_file(tmp_path / "main.lyx").sentences == ["Elms.", "Trees."]
    assert "2 included files were left out" in caplog.text and "b.lyx" in caplog.text
    with pytest.raises(ManuscriptError, match=r"b\.lyx: holds no"):
        read_manuscript_file(tmp_path / "one" / "b.lyx")


def test_files_that_typst_includes_share_their_labels(tmp_path):
    (tmp_path / "one").mkdir()
    head = '// #bibliography("b.bib")\n#import "@preview/x:1.0": y\n'
    head += '#show: y.with(bibliography: bibliography("a.yml"))\n'
    code = '#{\n  include "/one/c.typ"\n}\n'
    included = '#include "one/a.typ"\n#include("one/b.typ")\n'
    (tmp_path / "main.typ").write_text(f"{head}{included}{code}See @sec-c.")
    (tmp_path / "one" / "a.typ").write_text("= Head <sec-a>\nAs @sec-b says, trees fall @a.")
    (tmp_path / "one" / "b.typ").write_text("= Head <sec-b>\nAs @sec-a says, oaks fall @todo.")
    (tmp_path / "one" / "c.typ").write_text('= Head <sec-c>\nElms @c. #include "../main.typ"')
    manuscript = read_manuscript_file(tmp_path / "main.typ")
    assert manuscript.keys == [("a",), (), ("c",)]
    assert manuscript.about.bibliographies == ("a.yml",)
    change = text_change(manuscript.mentions[1].site, ["K1"])
    assert change.path.name == "b.typ" and b"fall @K1." in change.after


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('#let f(title: "example test") = 1\n#set document(author: "X", title: [Oak \\ trees])',
         "Oak trees"),
        ('// #show: book.with(title: "no")\n#show: book.with(\n  id: 1, title: "Oaks",\n)', "Oaks"),
        ('#show: doc => thesis(title: name, doc)\n#let name = [Oaks]', "Oaks"),
        ('#{\n  show: x.with(title: (\n    en: [Oaks], de: [Eichen]))\n}', "Oaks"),
        ('#paper(title: "Oaks", authors: ("X",))[\nElms.]', "Oaks"),
        ('#bibliography("a.bib", title: "References")\n#figure(title: "no")\n#show: x.with()', ""),
    ],
)  # fmt: skip
def test_the_title_of_typst_is_that_of_its_document_or_template(text, title, tmp_path):
    (tmp_path / "a.typ").write_text(f"{text}\nTrees @a.")
    manuscript = read_manuscript_file(tmp_path / "a.typ")
    assert (manuscript.sentences[0] == title) == bool(title)
    assert "example test" not in manuscript.sentences and "no" not in manuscript.sentences


def test_a_list_of_references_under_a_plain_heading_is_no_text_of_libreoffice(tmp_path):
    body = "Oaks [@a].|References|Smith, J. Trees. Journal.|Jones, K. Oaks [@b]."
    paragraphs = "".join(f"<text:p>{part}</text:p>" for part in body.split("|"))
    (tmp_path / "a.odt").write_bytes(archive({"content.xml": f"<office:body>{paragraphs}"}))
    manuscript = read_manuscript_file(tmp_path / "a.odt")
    assert "Journal." not in manuscript.sentences and manuscript.sentences[0] == "Oaks."
