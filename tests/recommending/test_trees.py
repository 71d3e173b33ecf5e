"""The trees of an index: as arrays, learnt by the code that answers, and kept by changes."""

import dataclasses
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from mpbert.cli import main
from mpbert.commands import build_index
from mpbert.corpus.fields import paper_counts
from mpbert.foundation.errors import IndexFormatError
from mpbert.methods.lambdamart import trees as growing
from mpbert.methods.lambdamart.features import (
    candidates_of,
    features_in,
    features_of,
    relation_features,
)
from mpbert.methods.lambdamart.related import KnownCitations
from mpbert.methods.lambdamart.tree_arrays import ARRAYS, arrays_of, typed_arrays
from mpbert.methods.lambdamart.tree_masks import TreeMasks
from mpbert.methods.lambdamart.trees import Lists, TreeSettings, cross_validated, precisions
from mpbert.methods.lexical.bm25 import Bm25
from mpbert.methods.lexical.bm25_contexts import Bm25Contexts
from mpbert.methods.lexical.index import LexicalIndex
from mpbert.methods.rankings import sorted_ranking
from mpbert.recommending import directory, learning, learnt_trees, rankers, tree_learning
from mpbert.recommending.contexts import manuscripts_of
from mpbert.recommending.directory import read_index
from mpbert.recommending.examples import Examples
from mpbert.recommending.learnt import LearntWeights
from mpbert.recommending.learnt_trees import FILE
from mpbert.recommending.manuscripts.sentences import manuscript_at
from mpbert.recommending.matching import cosines
from mpbert.recommending.recommender import Recommender
from mpbert.recommending.signals import DEPTH, RELATED, of_the_question, signal_names
from tests.recommending.given import GivenRecommender
from tests.recommending.texts import NEW, TEXT, TEXTS, questions


@pytest.fixture(scope="module")
def words(rfc_corpus, plain_matching, tmp_path_factory):
    """Arguments of build-index, but for the output."""
    return rfc_corpus, plain_matching.encoder, plain_matching.vectors


@pytest.fixture(scope="module")
def grown(words, tmp_path_factory):
    """An index of the small corpus with trees, which would be too few to learn from."""
    out = tmp_path_factory.mktemp("grown") / "index"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_learning, "LEAST", 10)
        patch.setattr(learning, "LEAST", 10)  # of the papers, too
        patch.setattr(tree_learning, "_SETTINGS", (TreeSettings(6, 5, 0.1, 20),))
        patch.setattr(tree_learning, "ERRORS", -99.0)  # keep them
        build_index.run(build_index.Config(*words, out))
    return out


@pytest.fixture
def index(grown, tmp_path):
    return shutil.copytree(grown, tmp_path / "index")


class TestArrays:
    @pytest.fixture(params=[{}, {"zero_as_missing": True}, {"use_missing": False}])
    def booster(self, request):
        import lightgbm

        rng = np.random.default_rng(3)
        self.features = rng.normal(size=(900, 6)).round(2)
        self.features[rng.random((900, 6)) < 0.2] = np.nan
        self.features[rng.random((900, 6)) < 0.2] = 0
        self.features[:, 5] = np.abs(rng.normal(size=900))  # always known
        labels = (np.nan_to_num(self.features) @ [2, -1, 1, 0, 1, 1] > 1).astype(int)
        settings = TreeSettings(9, 10, 0.1, 0).parameters() | request.param
        data = lightgbm.Dataset(self.features, labels, group=[30] * 30, params=request.param)
        return lightgbm.train(settings, data, 25)

    def test_scores_are_those_of_lightgbm(self, booster):
        trees = arrays_of(booster)
        assert len(trees) == 25 and trees.num_features == 6
        trees.check(6)
        expected = booster.predict(self.features)
        assert np.ptp(expected) > 0.5
        masks = TreeMasks(trees)
        np.testing.assert_allclose(masks.scores(self.features), expected, atol=1e-6, rtol=0)
        assert len(masks.scores(self.features[:0])) == 0

    def test_a_tree_without_a_split_is_one_leaf(self):
        import lightgbm

        data = lightgbm.Dataset(np.zeros((40, 2)), [0, 1] * 20, group=[40])
        booster = lightgbm.train(TreeSettings(4, 100, 0.1, 0).parameters(), data, 1)
        found = TreeMasks(arrays_of(booster)).scores(np.zeros((3, 2)))
        np.testing.assert_allclose(found, booster.predict(np.zeros((3, 2))))

    @pytest.mark.parametrize(
        ("name", "values", "message"),
        [
            ("left", [0, -1], "before its parent"),
            ("right", [7, -3], "no leaf and no inner node"),
            ("right", [-9, -3], "no leaf and no inner node"),
            ("right", [-3, -1], "has no parent, or several"),
            ("values", [1.0, 2.0, 3.0, 4.0], "has no parent, or several"),
            ("features", [0, 0], "take different values for unknown"),
            ("features", [0, 4], "reads none of 4"),
            ("features", [0], "different lengths"),
            ("values", [1.0, np.nan, 0.0], "no finite number"),
        ],
    )
    def test_arrays_that_lead_nowhere_are_refused(self, name, values, message):
        good = {
            **{"roots": [0], "features": [0, 3], "thresholds": [0.5, 0.1], "left": [1, -1]},
            **{"right": [-3, -2], "unknown": [0, 2], "unknown_left": [True, False]},
            "values": [1.0, 2.0, 3.0],
        }
        typed_arrays(good).check(4)
        with pytest.raises(ValueError, match=message):
            typed_arrays({**good, name: values}).check(4)


@pytest.mark.parametrize("leaves", [32, 33, 64, 65])
def test_a_tree_has_at_most_64_leaves(leaves):
    nodes = np.arange(leaves - 1)
    right = np.append(nodes[1:], -leaves)
    columns = dict.fromkeys(("features", "unknown", "unknown_left"), np.zeros_like(nodes))
    columns |= {"roots": [0], "thresholds": nodes, "left": -1 - nodes, "right": right}
    trees = typed_arrays({**columns, "values": np.arange(leaves)})
    trees.check(1)
    if leaves == 65:
        with pytest.raises(ValueError, match="more than 64 leaves"):
            TreeMasks(trees)
        return
    at = np.array([[-1.0], [0.0], [0.5], [leaves - 2.0], [leaves - 1.5], [np.nan]])
    assert TreeMasks(trees).scores(at).tolist() == [0, 0, 1, leaves - 2, leaves - 1, 0]


def test_precisions_are_those_of_lightgbm():
    import lightgbm

    rng = np.random.default_rng(5)
    lengths, start = np.full(40, 15), rng.normal(size=600)
    is_cited = rng.random(600) < 0.15
    lists = Lists(rng.normal(size=(600, 3)), is_cited, start, lengths, np.arange(40) % 2)
    lists = lists.that_teach()
    data = growing._dataset(lists)
    settings = TreeSettings(2, 100, 1e-300, 1)  # a tree that changes nothing
    found = lightgbm.cv(settings.parameters(), data, 1, folds=lists.splits())
    [(mean,)] = [values for name, values in found.items() if name.endswith("-mean")]
    each = precisions(lists, lists.start)
    folds = [each[lists.folds == fold].mean() for fold in (0, 1)]
    assert np.mean(folds) == pytest.approx(mean)
    number, scores = cross_validated(lists, settings)
    assert number == 1
    np.testing.assert_allclose(scores, lists.start)


class TestTogether:
    """Trees read where a paper stands among all by its cosine; an estimate of it may not matter."""

    @pytest.fixture
    def recommender(self, index, monkeypatch):
        monkeypatch.setattr(rankers, "_DEPTH", 12)  # some papers are left out, others no tree ranks
        monkeypatch.setattr(rankers, "DEPTH", 9)
        monkeypatch.setattr(learnt_trees, "DEPTH", 9)
        return Recommender(index)

    def test_answers_are_those_of_single_questions(self, recommender):
        asked = questions(recommender)
        read = recommender.together([recommender.asked(**one) for one in asked])
        assert {one.estimate is not None for one in read if one.options.ranker == "both"} == {True}
        found = list(map(recommender.answer, read))
        assert found == [recommender.recommend(**one) for one in asked]

    @pytest.mark.parametrize("slack", [1e-6, 1e-3, 0.2])
    def test_an_estimate_off_by_its_slack_changes_no_answer(self, recommender, slack):
        rng = np.random.default_rng(1)
        asked = [recommender.asked(text, top=20) for text in TEXTS]
        for one, read in zip(asked, recommender.together(asked), strict=True):
            exact = cosines(recommender.vectors, read.estimate.vector)
            noise = slack * rng.choice([-1, 1], len(exact)).astype(np.float32)
            estimate = read.estimate._replace(cosines=exact + noise, slack=1.01 * slack + 1e-7)
            assert recommender.answer(
                dataclasses.replace(one, estimate=estimate)
            ) == recommender.answer(one)


def test_the_error_of_a_gain_is_over_papers():
    rng = np.random.default_rng(2)
    papers = np.repeat(np.arange(50), 8)
    values = rng.normal(size=50)[papers] + 0.3
    mean, error = tree_learning.mean_and_error(values, papers)
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(values[::8].std() / np.sqrt(50))
    _, alone = tree_learning.mean_and_error(values, np.arange(400))
    assert alone == pytest.approx(error / np.sqrt(8))


@pytest.mark.parametrize("helps", [True, False])
def test_trees_are_kept_where_their_gain_is_no_chance(helps):
    """Of signals that tell nothing, or which paper is cited."""
    papers, years = np.arange(150) // 6, np.full(150, 2000)
    contexts = SimpleNamespace(citing_rows=papers, years=years)
    rng, examples = np.random.default_rng(4), Examples(has_signals=True)
    names = ["cosine", "citations", "age"]
    for _ in range(150):
        gold = np.zeros(20)
        gold[rng.integers(20)] = 1
        examples.rows.append(np.arange(20))
        examples.features.append({name: rng.random(20) for name in names})
        signals = rng.random((20, 5))
        signals[:, 1] += 0.5 * helps * gold
        examples.signals.append(signals)
        examples.gold.append(gold)
    weights = LearntWeights(dict.fromkeys(names, 1.0), 150)
    none = np.zeros(0, dtype=np.int64)
    known = KnownCitations(np.zeros(1, dtype=np.int64), none, none, none, 20)
    trees, remark, held_out = tree_learning.learn_trees(examples, weights, contexts, known)
    firsts = [gold[np.argmax(scores)] for gold, scores in zip(examples.gold, held_out, strict=True)]
    assert (np.mean(firsts) > 0.4) == helps
    assert (trees is not None) == helps
    assert remark.startswith("no trees: the gain may be chance") != helps
    assert "MAP@10 of held-out queries" in remark


def separately(store, data, recommender, manuscript, year, citing):
    """Return name to (1, N) ranking, by the methods of the report, and what is allowed."""
    sentences, place = manuscript.sentences, int(manuscript.places[0])
    around = sentences[max(place - 1, 0) : place + 2]
    question = " ".join([*around, sentences[place], sentences[place]])
    vector = recommender._encoder.embed_manuscript(sentences, place)
    asked = recommender._encoder.weigh_manuscript(sentences, place).matrix()
    fields = {
        "bm25_abstract": (Bm25(), "abstract"),
        "bm25_citing": (Bm25(), "citing"),
        "bm25_all": (Bm25(k1=16, b=0.5), "2*abstract+text+5*citing"),
    }
    scores = {
        "cosine": recommender.vectors @ vector,
        "exact_matches": (data.tables.matches.by_paper().matrix() @ asked.T).toarray()[:, 0],
    }
    indexes = {
        name: LexicalIndex(method, *paper_counts(store, of, stemmed=True))
        for name, (method, of) in fields.items()
    }
    votes = Bm25Contexts()
    indexes["votes"] = LexicalIndex(votes, *votes.count_words(store), store.num_papers)
    for name, index in indexes.items():
        rows, found = index.search([question], store.num_papers, np.array([-1]))
        scores[name] = np.zeros(store.num_papers)
        scores[name][rows[0][rows[0] >= 0]] = found[0][rows[0] >= 0]
    allowed = store.years <= year
    allowed[citing] = False
    return scores, allowed


def as_ranking(scores, allowed):
    rows = np.flatnonzero(allowed)[None]
    return sorted_ranking(rows, scores[rows].astype(float))


def test_an_answer_is_that_of_the_pipeline_computed_separately(grown, store):
    data, recommender = read_index(grown), Recommender(grown)
    contexts, weights = store.contexts("test").distinct(), data.places.fusion.weights
    contexts = contexts.take(np.arange(0, len(contexts), max(len(contexts) // 6, 1)))
    names = of_the_question(data.features)
    changed = 0
    for number, manuscript in enumerate(manuscripts_of(store, contexts)):
        query, year = contexts.take(np.array([number])), int(contexts.years[number])
        citing = int(contexts.citing_rows[number])
        scores, allowed = separately(store, data, recommender, manuscript, year, citing)
        rankings = [as_ranking(scores[name], allowed) for name in names]
        training = store.contexts("train")
        years = np.repeat(training.years, np.diff(training.cited_offsets))
        cited = np.bincount(training.cited_rows[years <= year], minlength=store.num_papers)
        scores["citations"] = np.log1p(cited)
        scores["age"] = np.log1p(np.maximum(year - store.years, 0))
        summed = sum(w * scores[name] for name, w in weights.items() if name != "companions")
        fused = as_ranking(summed, allowed)
        first = fused.first(100)
        columns = features_of(store, query, rankings, first)
        by_rank = [features_in_first(each, first, store) for each in rankings]
        of_fusion, priors = columns[:, -5:-2], columns[:, -2:]
        related = relation_features(store, query, first)
        signals = np.column_stack([*by_rank, priors, of_fusion, *related])
        total = first.scores[0] + data.places.trees.trees.scores(signals)
        expected = sorted_ranking(first.rows, total[None])
        question = recommender.question(manuscript, 0, year)
        found = recommender.rank([question], allowed, 50)
        np.testing.assert_allclose(found.scores[0, :50], expected.scores[0, :50], atol=1e-4)
        assert len(set(found.rows[0, :50]) & set(expected.rows[0, :50])) >= 49  # equal scores
        changed += (found.rows[0, :50] != first.rows[0, :50]).any()
    assert changed


def features_in_first(ranking, first, store):
    """Return the signals of a ranking; equal scores have equal ranks, as in an index."""
    score, share, _ = features_in(candidates_of(first), ranking, store.num_papers)
    better = (ranking.scores[0][None] > score[:, None]).sum(axis=1)
    return np.column_stack([score, share, 1 / (better + 1)])


def test_trees_are_learnt_by_the_code_that_answers(grown, store):
    """What answers at a validation context reads the signals from which trees learnt."""
    recommender, data = Recommender(grown), read_index(grown)
    contexts = learning.queries_to_learn_from(store, "local")
    plain, _ = learning.examples_of(recommender, store, contexts, True)
    assert list(data.places.trees.signals) == signal_names(data.features)
    assert data.places.trees.signals[-4:] == tuple(RELATED)
    weights = [name for name in data.places.fusion.weights if name != "companions"]
    folds = np.arange(len(contexts)) % 2
    held_out = tree_learning.held_out_scores(plain, weights, folds)
    known = recommender.features.known
    lists = tree_learning._lists(plain, held_out, folds, contexts.years, known)
    assert lists.features.shape == (lists.lengths.sum(), len(data.places.trees.signals))
    learnt_elsewhere = plain.weights(weights, taught=folds == 1)
    scores = sum(w * plain.features[0][name] for name, w in learnt_elsewhere.items())
    np.testing.assert_allclose(lists.start[: lists.lengths[0]], np.sort(scores)[::-1][:100])


def test_whole_papers_have_weights_and_trees_of_their_own(grown, store):
    recommender, data = Recommender(grown), read_index(grown)
    queries = store.manuscripts("valid")
    assert data.wholes.fusion.queries == len(queries)
    assert data.wholes.fusion.accepted == (np.diff(queries.cited_offsets) > 1).sum() > 0
    assert data.wholes.fusion.weights != data.places.fusion.weights
    allowed, year, changed = store.years <= 2008, 2008, 0
    for row in queries.citing_rows[:4].tolist():
        paper = store.paper(row)
        questions = recommender.questions_of_whole([paper.title, *paper.abstract], year)
        each = [recommender.features.of(question) for question in questions]
        mean = {name: sum(found[name] / len(each) for found in each) for name in each[0]}
        scores, known = data.wholes.fusion.scores(mean), recommender.features.known
        fused = as_ranking(scores, allowed)
        first = scores[fused.first(DEPTH).rows[0]]
        expected = data.wholes.trees.rerank(mean, fused, first, allowed, known, year)
        found = recommender.rank(questions, allowed, 50)
        np.testing.assert_allclose(found.scores[0, :50], expected.scores[0, :50], atol=1e-6)
        assert len(set(found.rows[0, :50]) & set(expected.rows[0, :50])) >= 49  # equal scores
        changed += not np.array_equal(expected.rows[0, :50], fused.rows[0, :50])
    assert changed


def test_changes_keep_the_trees_and_what_is_taken_away_comes_back(index, tmp_path):
    names = "trees.safetensors", "trees.whole.safetensors", "weights.json", "weights.whole.json"
    before = [(index / "data.1" / name).read_bytes() for name in names]
    answer = Recommender(index).recommend(TEXT, top=30)
    (tmp_path / "papers.jsonl").write_text(json.dumps(NEW) + "\n")
    assert main(["add", str(index), str(tmp_path / "papers.jsonl")]) == 0
    assert [(index / "data.2" / name).read_bytes() for name in names] == before
    found = Recommender(index).recommend("Zebrafish relay zymurgy.", top=1)
    assert found[0].paper_id == "AA-NEW"
    assert main(["remove", str(index), "AA-NEW"]) == 0
    assert [(index / "data.3" / name).read_bytes() for name in names] == before
    assert Recommender(index).recommend(TEXT, top=30) == answer


def test_what_trees_add_does_not_depend_on_accepted_papers(grown, store):
    data = read_index(grown)
    weights = {**data.places.fusion.weights, "companions": 4.0}
    fusion = data.places.fusion._replace(weights=weights)
    data = dataclasses.replace(data, places=data.places._replace(fusion=fusion))
    recommender = GivenRecommender(data, Recommender(grown)._encoder)
    contexts = store.contexts("train")
    accepted = contexts.cited(int((np.diff(contexts.cited_offsets) > 1).argmax()))[:1]
    asked = recommender.question(manuscript_at(TEXT, None), 0, accepted=accepted)
    gains = 4.0 * recommender.features.of(asked)["companions"]
    assert gains.any()
    allowed = np.ones(store.num_papers, dtype=bool)
    allowed[accepted] = False
    found = recommender.rank([asked], allowed, 99)
    unaccepted = dataclasses.replace(asked, accepted=accepted[:0])
    plain = recommender.rank([unaccepted], allowed, 99)
    before = dict(zip(plain.rows[0].tolist(), plain.scores[0].tolist(), strict=True))
    both = set(found.rows[0, :99].tolist()) & set(plain.rows[0, :99].tolist())
    assert len(both) > 90
    for row, score in zip(found.rows[0, :99].tolist(), found.scores[0].tolist(), strict=False):
        if row in both:
            # the list of first papers changes a little, and with it what they tell of one another
            assert abs(score - before[row] - gains[row]) < 0.5


def test_without_lightgbm_the_weights_stay(words, grown, tmp_path, capsys, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(tree_learning, "LEAST", 10)
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "lightgbm" else find(name, *a)
    )
    build_index.run(build_index.Config(*words, tmp_path / "index"))
    assert "no trees: LightGBM is not installed" in capsys.readouterr().out
    made = read_index(tmp_path / "index")
    assert made.places.trees is None
    assert made.places.fusion == read_index(grown).places.fusion


def test_of_few_contexts_no_trees_are_learnt(plain_matching, capsys):
    assert read_index(plain_matching.index).places.trees is None
    assert tree_learning.why_not(199, "validation contexts").startswith("no trees: they need 200 v")


def with_metadata(path, signals):
    save_file(load_file(path), path, {"signals": json.dumps(signals)})


def with_array(path, name, change):
    found = load_file(path)
    save_file({**found, name: change(found[name])}, path, {"signals": signals_in(path)})


def signals_in(path):
    from safetensors import safe_open

    with safe_open(path, "np") as file:
        return file.metadata()["signals"]


DAMAGES = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "empty": lambda path: path.write_bytes(b""),
    "other signals": lambda path: with_metadata(path, ["fame"]),
    "no signals": lambda path: save_file(load_file(path), path),
    "fewer": lambda path: with_array(path, "left", lambda found: found[1:]),
    "cycle": lambda path: with_array(path, "left", lambda found: np.zeros_like(found)),
    "NaN": lambda path: with_array(path, "values", lambda found: found * np.nan),
    "lacks one": lambda path: save_file(
        {name: array for name, array in load_file(path).items() if name != "roots"},
        path,
        {"signals": signals_in(path)},
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_trees_are_refused_in_one_line(index, damage, monkeypatch):
    DAMAGES[damage](index / "data.1" / FILE.format(""))
    monkeypatch.setattr(directory, "check_inputs", lambda *_: None)
    with pytest.raises(IndexFormatError, match="found no trees") as caught:
        Recommender(index)
    assert "\n" not in str(caught.value)


def test_the_file_holds_plain_arrays(grown):
    found = load_file(grown / "data.1" / FILE.format(""))
    assert set(found) == set(ARRAYS)
    assert len(found["values"]) == len(found["features"]) + len(found["roots"])


_ANSWERS = """
import sys
from mpbert.recommending.recommender import Recommender
from tests.recommending.given import GivenRecommender
assert Recommender(sys.argv[1]).recommend("The router drops a packet")
print(*{"pandas", "lightgbm", "sklearn"} & set(sys.modules))
"""


def test_answers_load_neither_pandas_nor_lightgbm(grown):
    run = [sys.executable, "-c", _ANSWERS, str(grown)]
    found = subprocess.run(run, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert found.stdout == "\n", found.stderr[-2000:]


def test_how_sure_answers_are_is_learnt_with_the_trees_and_measured(grown, words, tmp_path, capsys):
    confidence = read_index(grown).places.confidence
    assert confidence.queries == read_index(grown).places.fusion.queries
    # its own contexts hold no unknown word, so that comes from what mpbert brings
    assert confidence.library.weights["known"] > 0
    corpus, picture = str(words[0]), tmp_path / "plot.png"
    command = ["measure-confidence", corpus, str(grown), "--foreign", corpus, "--questions", "30"]
    assert main([*command, "--plot", str(picture)]) == 0
    table = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if "|" in line]
    assert table[0][0] == "| questions" and int(table[2][0].strip("| ")) == 30
    assert all(0 <= float(cell.strip("| ")) <= 1 for cell in table[2][1:])
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main([*command, "--plot", str(tmp_path / "none" / "plot.png")]) == 2
    assert "found no folder" in capsys.readouterr().err
    assert main([*command[:-1], "0"]) == 2


def test_confidence_of_libraries_that_learnt_nothing_is_learnt(words, tmp_path, capsys):
    corpus = str(words[0])
    command = ["learn-confidence", str(tmp_path), "--acl", corpus, "--rfc", corpus]
    assert main([*command, "--questions", "40"]) == 0
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if line.startswith(("| acl", "| rfc"))]
    assert len(rows) == 2 * 16 and sum("100 papers" in row for row in rows) == 16
    for of in ("", ".whole"):
        assert set(json.loads((tmp_path / f"confidence{of}.json").read_text())["first"]["weights"])
    assert main(["learn-confidence", str(tmp_path / "none")]) == 2
