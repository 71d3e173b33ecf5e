"""Tests of how well cited papers fit: by pencil, by direction, and measured by exchange."""

import json

import numpy as np
import pytest

from mpbert import Recommender
from mpbert.cli import main
from mpbert.recommending.checking.checking import check_file, check_text
from mpbert.recommending.checking.doubt import Doubt, read_doubts, write_doubts
from mpbert.recommending.checking.learning import examples_of, learn, told
from mpbert.recommending.checking.standing import COLUMNS, FEATURES, TEXTS, TITLES, standing
from mpbert.recommending.named_authors import NamedAuthors

CLOCK = "Clocks of hosts are synchronised by the precision time protocol PTP of IEEE 1588"
CIPHER = "The advanced encryption standard is the cipher algorithm of the user security model"
PAUSE = "This was said. We now turn to something else. It is said as follows."


@pytest.fixture(scope="module")
def words_index(rfc_archive, tmp_path_factory):
    """Index of 120 RFCs by words."""
    path = tmp_path_factory.mktemp("checked") / "index"
    assert main(["index", str(rfc_archive), str(path), "--reader", "rfc"]) == 0
    return path


@pytest.fixture(scope="module")
def recommender(words_index):
    return Recommender(words_index)


def fit_of(recommender, sentence, key, **wanted):
    text = f"We begin here. {sentence} \\cite{{{key}}}. We end there."
    (found,) = check_text(recommender, text, **wanted).citations
    return found


def test_places_shares_and_heights_by_pencil():
    words = np.array([4.0, 1.0, 2.0, 2.0, 0.0])
    evidence = {
        "words": words,
        "around": words[::-1],
        "named": np.array([0.0, 1.0, 0.0, 0.0, 0.0]),
        "cosine": np.array([0.1, 0.3, 0.5, 0.7, 0.9], dtype=np.float32),
    }
    pool = np.array([True, False, True, True, True])  # paper 1 is cited
    cited, other = standing(evidence, pool, np.array([1, 2]))
    found = dict(zip(COLUMNS, cited, strict=True))
    assert found["place by words"] == pytest.approx(np.log(4 / 5))  # three of four are better
    assert found["share of words"] == pytest.approx(1 / 4)
    assert found["ln pool"] == pytest.approx(np.log(4))
    assert found["place around"] == pytest.approx(np.log((1 + 1 / 2 + 1) / 5))
    assert found["place by cosine"] == pytest.approx(np.log(4 / 5))
    heights = np.array([0.1, 0.5, 0.7, 0.9])
    height = (0.3 - heights.mean()) / heights.std()
    assert found["height of cosine"] == pytest.approx(height, rel=1e-4)
    assert found["author named"] == 1 and other[-1] == 0
    # one is better, one is as good, and itself does not count
    assert other[0] == pytest.approx(np.log((1 + 1 / 2 + 1) / 5))


def test_without_vectors_and_without_others_there_are_numbers_too():
    evidence = dict.fromkeys(("words", "around", "named"), np.zeros(2))
    found = standing(evidence, np.array([False, False]), np.array([0]))
    assert found.shape == (1, len(COLUMNS)) and np.isfinite(found).all()


def test_a_doubt_by_pencil_and_its_file(tmp_path):
    doubt = Doubt(TEXTS, np.array([1.0, -2.0, 0.5, 0.25]), -1.0)
    features = np.arange(8.0)[None]  # columns 0, 1, 2 and 7 count
    assert doubt.probabilities(features)[0] == pytest.approx(1 / (1 + np.exp(0.25)))
    write_doubts(tmp_path / "doubt.json", {TEXTS: doubt})
    again = read_doubts(tmp_path / "doubt.json")[TEXTS]
    assert again.bias == -1.0 and again.weights.tolist() == [1.0, -2.0, 0.5, 0.25]


def test_the_shipped_coefficients_doubt_a_paper_that_is_worse():
    doubts = read_doubts()
    assert set(doubts) == set(FEATURES)
    good = np.array([[-6.0, 1.0, 6.0, -6.0, 1.0, -6.0, 4.0, 1.0]])
    bad = np.array([[-0.3, 0.0, 6.0, -0.3, 0.0, -0.3, -1.0, 0.0]])
    for doubt in doubts.values():
        assert doubt.probabilities(bad) > 3 * doubt.probabilities(good)


def test_a_paper_that_fits_is_first_and_another_is_doubtful(recommender):
    right, wrong = fit_of(recommender, CLOCK, "RFC8575"), fit_of(recommender, CLOCK, "RFC3826")
    assert right.rank <= 2 and right.verdict == "fits" and right.better is None
    assert wrong.rank > 20 and wrong.verdict == "doubtful"
    assert wrong.probability < 0.2 < 0.8 < right.probability
    assert wrong.better.paper_id in ("RFC8575", "RFC8173") and wrong.better.probability > 0.5
    assert fit_of(recommender, CIPHER, "RFC3826").verdict == "fits"


def test_papers_that_are_cited_beside_are_no_better_ones(recommender):
    found = check_text(recommender, f"{CLOCK} \\cite{{RFC8575,RFC8173,RFC3826}}.").citations
    assert {one.key: one.rank for one in found if one.verdict == "fits"} == {
        "RFC8575": 1,
        "RFC8173": 1,
    }
    assert found[0].key == "RFC3826" and {one.papers for one in found} == {118}
    assert found[0].better is None or found[0].better.key not in ("RFC8575", "RFC8173")


def test_later_papers_are_no_better_ones(recommender):
    early = fit_of(recommender, CLOCK, "RFC3826", year=2018)
    assert early.better.paper_id == "RFC8173" and early.papers < 120
    # one that is later itself is checked all the same
    assert fit_of(recommender, CLOCK, "RFC8575", year=2018).rank == 1


def test_authors_are_named_by_their_last_names():
    papers = [
        ["L. Gr. Ixaru"],
        ["Schrödinger, Erwin"],
        ["X. Li", "van der Berg, J."],
        ["Knuth (Ed.)"],
    ]
    authors = NamedAuthors(papers)
    assert authors.named("In Ixaru's book and by Schrodinger.").tolist() == [1, 1, 0, 0]
    assert authors.named("Li and ixaru go to the Berg with Knuth.").tolist() == [0, 0, 1, 1]
    assert authors.named("Bergen, Erwin, Ed").tolist() == [0, 0, 0, 0]


def test_a_sentence_that_names_an_author_is_less_doubtful(recommender):
    plain = fit_of(recommender, CLOCK, "RFC3826")
    (name,) = {author.split()[-1] for author in recommender.paper("RFC3826").authors[:1]}
    named = fit_of(recommender, f"{name} says that clocks of hosts are synchronised", "RFC3826")
    assert named.probability > plain.probability


def test_a_manuscript_is_checked_in_parts(recommender):
    text = f"{CLOCK} \\cite{{RFC8575}}. {PAUSE} {CIPHER} \\cite{{RFC3826}}."
    whole = check_text(recommender, text)
    parts = [check_text(recommender, text, places=slice(n, n + 1)) for n in range(2)]
    assert {part.num_places for part in parts} == {2}
    found = [one for part in parts for one in part.citations]
    assert sorted(found, key=lambda one: one.probability) == whole.citations
    assert [one.key for one in found] == ["RFC8575", "RFC3826"]


def test_what_cannot_be_judged_is_not(recommender):
    text = "Жжжж аааа \\cite{RFC3826}. Жжжж \\cite{none}."
    found = check_text(recommender, text)
    assert found.citations == [] and found.unchecked == ["none"]


def test_a_file_is_checked_with_its_bibliography(recommender, tmp_path):
    (tmp_path / "refs.bib").write_text(
        "@misc{mine, title={YANG Data Model for the Precision Time Protocol (PTP)}, year=2019}\n"
        "@misc{mail, title={{AES} in the user security model}, doi={10.17487/RFC3826}, year=2004}\n"
        "@misc{more, title={Something that nobody else knows of}, year=1999}\n"
    )
    text = f"{CLOCK} \\cite{{mail}}.\n{PAUSE}\n{CIPHER} \\cite{{mail}}, \\cite{{more}}."
    (tmp_path / "paper.tex").write_text(text + "\n\\bibliography{refs}")
    found = recommender.check_citations(tmp_path / "paper.tex")
    assert [(one.key, one.line, one.verdict) for one in found.citations] == [
        ("mail", 1, "doubtful"),
        ("mail", 3, "fits"),
    ]
    assert found.citations[0].better.key == "mine"  # as the manuscript calls it
    assert found.unchecked == ["more"]
    kinds = [(one.kind, one.key, one.other_key) for one in found.findings]
    assert kinds == [("doubtful-citation", "mail", "mine"), ("unused-entry", "mine", "")]
    assert "'mine' (YANG Data Model for the Precision Time Protocol (PTP)) fits better" in str(
        found.findings[0]
    )
    named = check_file(recommender, tmp_path / "paper.tex", [tmp_path / "refs.bib"])
    assert named == found


def test_the_command_prints_lines_and_json(words_index, tmp_path, capsys):
    paper = tmp_path / "paper.tex"
    paper.write_text(f"{CLOCK} \\cite{{RFC3826}}.\n{PAUSE} It is \\cite{{none}}.")
    assert main(["check-citations", str(words_index), str(paper)]) == 0
    first, summary, unknown = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{paper}:1: warning: 'RFC3826' (") and "fits better" in first
    assert summary == "citations of papers of the index: 1, of them doubtful: 1"
    assert unknown.endswith("not checked: none")
    paper.write_text(f"{CLOCK} \\cite{{RFC8575}}.")
    assert main(["check-citations", str(words_index), str(paper), "--least-sure", "1"]) == 0
    sure, summary = capsys.readouterr().out.splitlines()
    assert sure.startswith(f"{paper}:1: fits, probability ") and "rank 1 of" in sure
    paper.write_text(f"{CLOCK} \\cite{{RFC3826}}.\n{PAUSE} It is \\cite{{none}}.")
    assert main(["check-citations", str(words_index), str(paper), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["citations"][0]["verdict"] == "doubtful" and found["unchecked"] == ["none"]
    assert main(["check-citations", str(words_index), str(paper), "--bib", "no.bib"]) == 2
    assert "no.bib: there is no such file" in capsys.readouterr().err


def test_learning_tells_exchanged_citations(store, rfc_index):
    examples = examples_of(store, Recommender(rfc_index), "valid", 100, (None, 70))
    assert {len(libraries) for libraries in examples.values()} == {2}
    for kind in (TEXTS, TITLES):
        found = told(learn(kind, [examples]), examples[kind][0])
        assert found.auroc[0] > 0.75 and found.auroc[1] > 0.75  # vectors of chance
        assert found.error < 0.05


def test_measures_by_pencil():
    doubt = Doubt(TEXTS, np.array([1.0, 0.0, 0.0, 0.0]), 0.0)
    citations = np.zeros((100, 3, len(COLUMNS)))
    citations[:, 0, 0], citations[:, 1, 0], citations[:, 2, 0] = -2.0, 2.0, -2.0
    found = told(doubt, citations)
    assert found.auroc == (1.0, 0.5)
    assert found.of_ten[0] == 0.5 and found.of_wrong[0] == 1.0  # five are wrong
    assert found.right == (1.0, 1.0) and found.found == (1.0, 0.0)
    right, wrong = 1 / (1 + np.exp(2)), 1 / (1 + np.exp(-2))
    low = 0.95 + 0.025
    assert found.error == pytest.approx(abs(low * right - 0.025) + 0.025 * (1 - wrong))


def test_the_measuring_command_writes_what_it_learnt(rfc_corpus, rfc_index, tmp_path, capsys):
    pair, file = [str(rfc_corpus), str(rfc_index)], tmp_path / "doubt.json"
    assert main(["learn-checks", *pair, "--contexts", "100", "--output", str(file)]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["corpus", "known", "library"] and len(rows) == 12
    assert set(read_doubts(file)) == set(FEATURES)
    assert main(["learn-checks", pair[0]]) == 2
    assert main(["learn-checks", *pair, "--contexts", "1"]) == 2
    assert main(["learn-checks", str(tmp_path), pair[1]]) == 2
