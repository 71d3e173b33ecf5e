"""Tests of sentences that need a citation and have none."""

import json
import math
from collections import Counter

import numpy as np
import pytest

from mpbert.citations.records import Marker, RawSentence
from mpbert.cli import main
from mpbert.corpus.clean import clean_paper
from mpbert.corpus.formats.rfc.reader import RfcReader
from mpbert.corpus.records import RawPaper, RawSection
from mpbert.evaluation.reliability import auroc
from mpbert.recommending.manuscripts.marks import Marks
from mpbert.recommending.manuscripts.sentences import Draft, manuscript_of
from mpbert.recommending.recommender import Recommender
from mpbert.recommending.unmarked.features import DIMENSIONS, columns_of
from mpbert.recommending.unmarked.labels import labelled
from mpbert.recommending.unmarked.learning import learn, scored
from mpbert.recommending.unmarked.locating import locate
from mpbert.recommending.unmarked.measuring import told
from mpbert.recommending.unmarked.papers import learning_papers
from mpbert.recommending.unmarked.worthiness import Worthiness, read_worthiness

TEX = r"""\title{Mail for everyone}
\begin{document}
\begin{abstract}Earlier work has been shown to relay mail faster.\end{abstract}
\section{Introduction}
Names are resolved by servers of the domain name system \cite{dns}.
It has been shown that \emph{path MTU discovery}
avoids the fragmentation of packets in many networks.
We now say what we did and when it was done.
Mail is relayed by hosts, as others have proposed before us (Postel, 1982).
\begin{figure}\caption{It has been shown that hosts relay mail to other hosts.}\end{figure}
\par Mail, hosts, relays that have been shown to work
\section*{Acknowledgments}
We thank those who proposed the methods that have been shown to work.
\end{document}
"""


def labels_of(raw):
    return labelled(raw, clean_paper(raw, Counter()))


def paper_of(paper_id, sentences, heading="Introduction"):
    sections = (RawSection(heading, tuple(sentences)),)
    return RawPaper(paper_id, "Mail", 2000, (RawSentence("We relay."),), sections)


def check_label(label, text="Hosts relay the mail of others", markers=(), heading="Introduction"):
    raw = paper_of("a", [RawSentence(text, markers)], heading)
    assert labels_of(raw).labels == [label]


def test_a_sentence_that_cites_is_known_though_its_paper_is_not():
    text = "Hosts relay the mail of others [3]."
    check_label(True, text, (Marker(31, 34),))
    check_label(True, text, (Marker(31, 34, ("x",)),))
    check_label(False)


def test_ruins_short_sentences_and_thanks_have_no_label():
    check_label(None, "Hosts relay mail, as is shown in [3].", (Marker(33, 36),))
    check_label(None, "Postel (1982) relays the mail of hosts.", (Marker(0, 13),))
    check_label(None, "Hosts relay the mail of others, RFC 821.")
    check_label(None, "Hosts relay mail.")
    check_label(None, heading="Acknowledgements")


def test_what_a_citation_leaves_is_no_feature():
    clean, ruin = (
        columns_of([text]) for text in ("Mail is relayed.", "Mail is ( ) [ , ] relayed .")
    )
    np.testing.assert_array_equal(clean[0], ruin[0])


def test_columns_by_pencil():
    columns, of = columns_of(["Mail is mail", "", "Mail in 1982"])
    sizes = np.bincount(of)
    # two words; start-mail, mail-is, is-mail, mail-end; six of the shape
    assert sizes.tolist() == [2 + 4 + 6, 0 + 1 + 6, 3 + 4 + 6]
    other, _ = columns_of(["Mail in 7777"])
    assert set(other) == set(columns_of(["Mail in 1982"])[0])
    assert columns.max() < DIMENSIONS and len(columns_of([])[0]) == 0


def test_a_probability_by_pencil():
    weights = np.zeros(DIMENSIONS, dtype=np.float16)
    columns, _ = columns_of(["Mail is relayed"])
    weights[columns[:2]] = 0.5, 0.25
    found = Worthiness(weights, -1.0).probabilities(["Mail is relayed"])
    assert found.tolist() == [pytest.approx(1 / (1 + math.exp(0.25)))]


def test_the_shipped_coefficients_know_a_claim_from_thanks():
    claims = [
        "Neural parsers have been shown to improve the accuracy of many systems.",
        "Recently, several approaches have been proposed for word sense disambiguation.",
        "We thank the reviewers for their comments.",
        "The rest of this paper is organized as follows.",
    ]
    found = read_worthiness().probabilities(claims)
    assert found[:2].min() > 4 * found[2:].max()


def test_they_find_the_citing_sentences_of_later_rfcs(rfc_archive):
    reader = RfcReader()
    papers = [paper for paper in reader.read(rfc_archive) if paper.year >= 2011]
    late = [labels_of(paper) for paper in papers]
    scores, labels = scored(read_worthiness(), late)
    assert labels.sum() > 50
    assert auroc(scores, labels) > 0.65


def test_learning_finds_the_word_that_tells():
    sentences = []
    for name in "abcdefgh":
        claim = f"It was proposed that host {name} relays "
        marker = Marker(len(claim), len(claim) + 3)
        sentences.append(RawSentence(f"We turn to the host {name} at last."))
        sentences.append(RawSentence(f"{claim}[1].", (marker,)))
    papers = [labels_of(paper_of(f"p{number}", sentences)) for number in range(4)]
    learnt = learn(papers[:3], [papers[3:]])
    found = learnt.probabilities(["We turn to it at last.", "It was proposed that we do."])
    assert found[1] > 0.5 > found[0]
    rows = told(learnt, papers)
    assert rows[0].auroc == 1 and rows[0].first == (1, 1, 1)
    assert rows[1].auroc == 1 and rows[3].auroc < 1


def test_sentences_are_located_through_commands():
    text = "We begin.\n\\emph{Path MTU} discovery \\cite{a} avoids all of it.\n% x\nIt is done now."
    spans = locate(
        ["Path MTU discovery avoids all of it.", "It is done now.", "Never said here."], text
    )
    assert text[slice(*spans[0])].startswith("Path MTU} discovery")
    assert text[slice(*spans[1])] == "It is done now" and spans[2] is None


def test_learning_refuses_what_it_could_not_write_or_read(tmp_path, capsys):
    for path, flags in (("no/a.safetensors", []), ("a.safetensors", ["--acl", "none.jsonl"])):
        assert main(["learn-unmarked", str(tmp_path / path), *flags]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and (flags or [str(tmp_path / "no")])[-1] in error
    assert main(["learn-unmarked", "a", "--share", "0"]) == 2


def test_papers_are_split_by_year_and_an_index_holds_the_older(rfc_archive):
    found = learning_papers(rfc_archive, "rfc", 1.0)
    assert (
        max(paper.year for paper in found.training) < 2016 <= min(p.year for p in found.validation)
    )
    assert len(found.index().paper_ids) == len(found.training) > 50
    known = {text for paper in found.training for text in paper.texts}
    late = [text for paper in found.test for text in paper.texts]
    measured = [paper.texts[number] for paper in found.test for number in paper.labelled]
    assert set(late) & known and not set(measured) & known
    assert len(set(measured)) == len(measured) > 1000
    fewer = learning_papers(rfc_archive, "rfc", 0.7)
    assert len(fewer.training) < len(found.training)


@pytest.fixture
def recommend(rfc_index, tmp_path, capsys):
    def run(*flags, text=TEX, name="paper.tex"):
        path = tmp_path / name
        path.write_text(text)
        code = main(["recommend", str(rfc_index), str(path), "--unmarked", *flags])
        return code, *capsys.readouterr()

    return run


def test_only_sentences_of_the_body_that_cite_nothing_are_proposed(recommend):
    code, out, _ = recommend("--format", "json", "--top", "3")
    found = json.loads(out)
    assert code == 0
    assert [(one["line"], one["sentence"][:16], len(one["papers"])) for one in found] == [
        (6, "It has been show", 3),
        (8, "We now say what ", 3),
    ]
    assert 1 > found[0]["probability"] > found[1]["probability"] > 0


def test_the_text_names_line_and_probability_and_bibtex_the_keys(recommend):
    code, out, _ = recommend("--sentences", "1", "--top", "2")
    assert code == 0 and out.startswith("1. line 6, probability 0.")
    assert len([line for line in out.splitlines() if line.startswith(("   1  ", "   2  "))]) == 2
    code, out, _ = recommend("--sentences", "1", "--format", "bibtex")
    assert code == 0 and out.startswith("% place 1: ")


def test_python_reads_a_file_as_the_command_and_a_text(rfc_index, tmp_path, recommend):
    _, out, _ = recommend("--format", "json", "--top", "3")
    recommender = Recommender(rfc_index)
    found = recommender.find_unmarked(tmp_path / "paper.tex", top=3)
    assert json.loads(json.dumps([one.as_json() for one in found])) == json.loads(out)
    text = "Mail is relayed [1]. It has been shown that hosts relay mail to others."
    (one,) = recommender.find_unmarked(text, sentences=1, top=2, year=1990)
    assert text[slice(*one.span)] == "It has been shown that hosts relay mail to others"
    assert len(one.answer.papers) == 2 and all(p.year <= 1990 for p in one.answer.papers)


def test_a_text_without_such_a_sentence_says_so(recommend):
    code, out, _ = recommend(text="Mail is relayed by hosts [CITATION].", name="a.txt")
    assert (code, out) == (0, "every sentence cites, or is none of the text\n")
    code, _, error = recommend(text="\n", name="a.txt")
    assert code == 2 and "holds no word" in error and error.count("\n") == 1


def test_what_cannot_be_together_is_refused(recommend):
    for flags in (["--whole"], ["--keep-cited"], ["--sentences", "0"]):
        code, _, error = recommend(*flags)
        assert code == 2 and error.count("\n") == 1 and flags[0] in error


def test_a_manuscript_without_its_citations_gets_them_back_above_chance(rfc_archive):
    paper = max(
        (p for p in RfcReader().read(rfc_archive) if p.year >= 2011),
        key=lambda p: sum(bool(s.markers) for section in p.sections for s in section.sentences),
    )
    made = labels_of(paper)
    body = manuscript_of(Draft("\n\n".join(made.texts), Marks())).sentences
    cites = {text for text, label in zip(made.texts, made.labels, strict=True) if label}
    probabilities = read_worthiness().probabilities(body)
    is_citing = np.array([sentence in cites for sentence in body])
    assert is_citing.sum() >= 5
    assert auroc(probabilities, is_citing) > 0.6
