"""How sure an answer is: by pencil, by direction, and in files."""

import json

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.evaluation.reliability import COVERAGES
from mpbert.foundation.errors import IndexFormatError
from mpbert.recommending.confidence.coefficients import (
    PARTS,
    SHIPPED,
    Confidence,
    Logistic,
    read_confidence,
)
from mpbert.recommending.confidence.learning import (
    WHOLE,
    WITHOUT_CITED,
    KnownAnswers,
    learn_confidence,
)
from mpbert.recommending.confidence.measuring import measured
from mpbert.recommending.confidence.signs import NAMES, NAMES_OF_ANSWER, signs_of_answer
from mpbert.recommending.learnt import PLACES, WHOLES
from mpbert.recommending.options import Options
from mpbert.recommending.recommender import Recommender

TITLES = {
    "mtu": "Path MTU discovery",
    "names": "Domain names and their servers",
    "mail": "A protocol for the transfer of mail",
    "routers": "Requirements for routers of packets",
    "time": "Network time and clocks",
    "web": "Hypertext transfer",
    **{f"other{n}": f"Something about topic number {n}" for n in range(20)},
}
ABSTRACTS = {
    "mtu": "Packets that are too large are dropped; discovery of the path finds the largest size.",
    "names": "Names of hosts are resolved by servers of a hierarchy.",
    "mail": "Mail is relayed from host to host.",
    "routers": "Routers forward packets along the best path.",
    "time": "Clocks of hosts are kept in step.",
    "web": "Pages are fetched by requests.",
}
ELSEWHERE = "Photosynthesis in marine algae depends on light and nutrients of it"
NEEDS = "Path MTU discovery finds the largest size of packets"


ENTRIES = [
    f"@misc{{{name}, title={{{title}}}, abstract={{{ABSTRACTS.get(name, title + '.')}}}}}"
    for name, title in TITLES.items()
]


def library_of(root, entries):
    (root / "papers.bib").write_text("\n".join(entries), encoding="utf-8")
    assert main(["index", str(root / "papers.bib"), str(root / "index")]) == 0
    return Recommender(root / "index")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return library_of(tmp_path_factory.mktemp("confidence"), ENTRIES)


def test_the_signs_of_an_answer_by_pencil(library):
    asked = library.asked(NEEDS)
    scores = np.array([4.0, 2.0, 1.0])
    rows = np.array(list(map(library.row_of, ("mtu", "names", "mail"))))
    found = library.signs(asked.questions, rows, scores, is_learnt=True)
    signs = {name: found[:, place] for place, name in enumerate(NAMES)}
    np.testing.assert_allclose(signs["share"][0], 4 - np.log(np.exp(2) + np.exp(1)))
    np.testing.assert_allclose(signs["lead"], [2, 1, 0])
    np.testing.assert_allclose(signs["depth"], [3, 1, 0])
    np.testing.assert_allclose(signs["rank"], np.log([1, 2, 3]))
    np.testing.assert_allclose(signs["score"], scores)
    assert signs["title"][0] == signs["title_here"][0] == 1  # all of it is in the sentence
    assert signs["rarest"][0] > 0 and not signs["citing"].any()
    assert signs["known"][0] == 1
    unlearnt = library.signs(asked.questions, rows, scores)
    np.testing.assert_allclose(unlearnt[:, 1], [10, 5, 0])  # the best of them is 20
    of_answer = signs_of_answer(found)
    assert of_answer[: len(NAMES)].tolist() == found[0].tolist()
    assert of_answer[len(NAMES) :].tolist() == [0, 1, 1, signs["rarest"].max()]


def test_near_copies_of_a_paper_share_their_odds_and_are_not_next_to_it(library):
    asked = library.asked(NEEDS)
    rows = np.array(list(map(library.row_of, ("mtu", "mtu", "names", "mail"))))
    scores = np.array([4.0, 3.0, 2.0, 1.0])
    found = library.signs(asked.questions, rows, scores, is_learnt=True)
    signs = {name: found[:, place] for place, name in enumerate(NAMES)}
    both, others = np.log(np.exp(4) + np.exp(3)), np.log(np.exp(2) + np.exp(1))
    np.testing.assert_allclose(signs["share"][:2], both - others)
    np.testing.assert_allclose(signs["lead"], [2, 1, 1, 0])


def test_a_library_of_near_copies_fits_as_one_with_the_paper_once(library, tmp_path):
    copies = [
        f"@misc{{copy{n}, title={{{TITLES['mtu']}}}, year={2000 + 3 * n}, "
        f"abstract={{{ABSTRACTS['mtu']} Edition {n}.}}}}"
        for n in range(6)  # one of which is merged
    ]
    copied = library_of(tmp_path, [*ENTRIES, *copies])
    once, often = library.recommend(NEEDS), copied.recommend(NEEDS)
    assert len(copied.papers) == len(library.papers) + 5 and often.fits
    assert {paper.title for paper in often[:6]} == {TITLES["mtu"]}
    assert often.holds > once.holds - 0.1
    assert copied.recommend(ELSEWHERE).fits is False


def test_fused_ranks_are_judged_by_the_words_of_the_same_papers(library):
    plain, asked = library.recommend(NEEDS), library.asked(NEEDS, accepted=["time"])
    found = library.answer(asked)
    assert found[0].paper_id == "mtu" and found.fits
    assert found[0].probability == pytest.approx(plain[0].probability, abs=0.02)
    rows = np.array(list(map(library.row_of, ("mtu", "names", "mail"))))
    one, other = (library.sure(asked.questions, rows, np.array(s)) for s in ([3, 2, 1], [9, 1, 1]))
    assert one.holds == other.holds and one.papers.tolist() == other.papers.tolist()
    swapped = library.sure(asked.questions, rows[[1, 0, 2]], np.array([3, 2, 1]))
    assert swapped.papers[0] < one.papers[0]


def test_probabilities_change_no_ranking_and_depend_on_no_length(library):
    asked = library.asked(NEEDS, top=20)
    ranking = library.rank(asked.questions, asked.allowed, 20)
    answer = library.answer(asked)
    ids = [library.paper_ids[row] for row in ranking.rows[0][ranking.rows[0] >= 0][:20]]
    assert [paper.paper_id for paper in answer] == ids
    assert all(0 <= paper.probability <= 1 for paper in answer)
    short = library.recommend(NEEDS, top=2)
    assert [p.probability for p in short] == [p.probability for p in answer[:2]]
    assert (short.holds, short.fits) == (answer.holds, answer.fits)


def test_confidence_falls_where_the_library_lacks_the_paper(library):
    with_it = library.recommend(NEEDS)
    asked = library.asked(NEEDS)
    asked.allowed[library.row_of("mtu")] = False
    without = library.answer(asked)
    assert with_it[0].paper_id == "mtu" and with_it.fits
    assert with_it[0].probability > without[0].probability
    assert with_it.holds > without.holds
    nothing = library.recommend(ELSEWHERE)
    assert nothing.fits is False and nothing.holds < with_it.holds / 2
    assert nothing[0].probability < with_it[0].probability / 2
    assert "nothing in this library fits well" in repr(nothing)
    assert "fits well" not in repr(with_it)
    assert nothing.to_pandas().attrs["fits"] is False


def test_a_whole_paper_has_probabilities_and_a_single_ranker_of_two_has_none(library):
    whole = library.recommend_whole("Discovery of the path MTU", "Packets have a largest size.")
    assert whole[0].paper_id == "mtu" and whole[0].probability > whole[1].probability > 0
    words = library.recommend(NEEDS, ranker="words")
    assert words[0].probability is words.holds is words.fits is None
    assert words.cautions() == [] and " - " in repr(words)
    none = library.answer(library.asked("zzz qqq xxx yyy"))
    assert len(none) == 0 and none.holds is None


def test_answers_of_the_command_line_say_it(library, tmp_path, capsys):
    (tmp_path / "fits.txt").write_text(f"{NEEDS} [CITATION].")
    (tmp_path / "not.txt").write_text(f"{ELSEWHERE} [CITATION].")
    said, found = [], []
    for name in ("fits.txt", "not.txt"):
        words = ["recommend", str(library.path), str(tmp_path / name), "--top", "2"]
        assert main(words) == 0
        said.append(capsys.readouterr().out)
        assert main([*words, "--format", "json"]) == 0
        found += json.loads(capsys.readouterr().out)
    assert " %  mtu  Path MTU discovery" in said[0] and "fits well" not in said[0]
    assert "\n  nothing in this library fits well: " in said[1]
    assert [place["fits"] for place in found] == [True, False]
    assert found[0]["papers"][0]["probability"] > found[1]["papers"][0]["probability"]


def answers(rng, number):
    """Answers whose first sign tells what is cited, and whether the library holds it."""
    made = KnownAnswers()
    for _ in range(number):
        signs = rng.normal(size=(10, len(NAMES)))
        signs[:, NAMES.index("rank")] = np.log(np.arange(10) + 1)
        chance = 1 / (1 + np.exp(-2 * signs[:, 0]))
        made.add_whole(signs, rng.random(10) < chance)
        lacking = rng.normal(size=(10, len(NAMES)))
        lacking[:, 1] -= 2
        made.add(lacking, WITHOUT_CITED)
    return made


def test_coefficients_are_those_of_the_chances_that_made_the_answers():
    rng = np.random.default_rng(1)
    confidence = learn_confidence(answers(rng, 1500))
    for part in (confidence.first, confidence.others):
        assert part.weights["share"] == pytest.approx(2, rel=0.15)
        assert all(
            abs(w) < 0.3 for name, w in part.weights.items() if name not in ("share", "rank")
        )
    assert confidence.library.weights["lead"] > 1
    found = measured(confidence, answers(rng, 1000))
    assert found.first.auroc > 0.8 and found.first.error < 0.06
    assert found.of_library(WITHOUT_CITED) > 0.85
    assert 0.9 < found.fits(WHOLE) < 1 and found.fits(WITHOUT_CITED) < 0.8
    risks = list(map(found.first.risk_at, COVERAGES))
    assert risks == sorted(risks) and risks[-1] == pytest.approx(1 - found.first.right)
    assert learn_confidence(KnownAnswers()) is None


def test_files_come_back_as_they_were(tmp_path):
    logistic = Logistic({"share": 1.5, "known": -2.0}, 0.25)
    confidence = Confidence(logistic, logistic, Logistic({"best_title": 1.0}, 0.0), 0.2, 77)
    confidence.write(tmp_path, PLACES)
    assert read_confidence(tmp_path, PLACES) == confidence
    assert read_confidence(tmp_path, WHOLES) is None
    signs = np.zeros((2, len(NAMES)))
    signs[:, [0, -1]] = 2, 0.5
    expected = 1 / (1 + np.exp(-(0.25 + 1.5 * 2 - 2.0 * 0.5)))
    np.testing.assert_allclose(confidence.of_papers(signs, 0.3), expected)
    # below the threshold, a paper is less probable by as much as the library is below
    np.testing.assert_allclose(confidence.of_papers(signs, 0.1), expected / 2)


@pytest.mark.parametrize("of", [PLACES, WHOLES])
def test_what_comes_with_the_package_knows_its_signs(of):
    shipped = read_confidence(SHIPPED, of)
    for name, names in PARTS.items():
        assert set(getattr(shipped, name).weights) == set(names)
    assert shipped.queries > 1000 and 0 < shipped.threshold < 0.5
    assert shipped.first.weights["share"] > 0 and shipped.library.weights["known"] > 0
    assert len(NAMES_OF_ANSWER) == 17


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.pop("first"),
        lambda found: found["library"]["weights"].update(nothing=1.0),
        lambda found: found["others"]["weights"].update(share=float("nan")),
        lambda found: found.update(threshold="high"),
    ],
)
def test_a_damaged_file_is_told_in_one_line(tmp_path, change):
    found = json.loads((SHIPPED / "confidence.json").read_text(encoding="utf-8"))
    change(found)
    (tmp_path / "confidence.json").write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(IndexFormatError, match=r"found no coefficients .* build the index again"):
        read_confidence(tmp_path, PLACES)


def test_an_answer_of_few_papers_has_signs(library):
    asked = library.asked(NEEDS, **{"top": 1})
    asked.allowed[:] = False
    asked.allowed[library.row_of("mtu")] = True
    (only,) = library.answer(asked)
    assert only.paper_id == "mtu" and 0 < only.probability <= 1
    assert Options().top == 10
