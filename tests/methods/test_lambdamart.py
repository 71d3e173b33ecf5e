import dataclasses
import json
import shutil
from pathlib import Path

import lightgbm
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mpbert.cli import main
from mpbert.commands import build_corpus, rerank, retrieve
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.config import from_settings
from mpbert.foundation.errors import ConfigError, CorpusError, RunError
from mpbert.foundation.seeding import named_rng
from mpbert.methods.lambdamart.features import (
    RELATIONS,
    candidates_of,
    feature_names,
    features_of,
    metadata_features,
    relation_features,
)
from mpbert.methods.lambdamart.reranker import held_out_scores
from mpbert.methods.lambdamart.trees import (
    Lists,
    TreeSettings,
    folds_by_paper,
    gains_of,
    grown,
    learn_trees,
    scores_by,
)
from mpbert.methods.learnt_features import FILE
from mpbert.methods.lexical.method import LEXICAL
from mpbert.methods.lexical.search import LexicalSearch
from mpbert.methods.linear_fusion import LinearFusion, found_gold
from mpbert.methods.rankings import Ranking
from mpbert.methods.reranking import RERANKERS
from tests.methods.conftest import Spy, fitted_reranker

NONE = -np.inf
SETTINGS = TreeSettings(leaves=7, smallest_leaf=5, learning_rate=0.2, most_trees=30)


@pytest.fixture(scope="module")
def rankings(store):
    """Function of a split: its contexts, and rankings of two lexical methods."""
    searches = [
        LexicalSearch(store, from_settings(LEXICAL["bm25"], [f"fields={fields}"], "bm25"))
        for fields in ("abstract", "citing")
    ]

    def of(split):
        queries = store.contexts(split)
        return queries, [Ranking(*search.search(queries, split, 40)) for search in searches]

    return of


def fitted(store, rankings, *settings):
    settings = ["most_trees=15", "leaves=7", "depth=12", *settings]
    return fitted_reranker("lambdamart", store, *rankings("valid"), *settings)


@pytest.fixture(scope="module")
def learnt(store, rankings):
    return fitted(store, rankings)


class TestFeatures:
    def test_by_pencil(self, store):
        training = store.contexts("train")
        paper = int(np.bincount(training.cited_rows).argmax())
        years = np.repeat(training.years, np.diff(training.cited_offsets))
        other = (paper + 1) % store.num_papers
        queries = store.contexts("test")
        queries = dataclasses.replace(queries, years=np.full(len(queries), years.max()))
        one = Ranking(np.array([[other, paper], [other, -1]]), np.array([[8.0, 2.0], [4.0, NONE]]))
        two = Ranking(np.array([[other], [paper]]), np.array([[-0.5], [-0.25]]))
        fused = Ranking(np.array([[paper, other], [other, paper]]), np.array([[3.0, 1.0], [0, 0]]))
        found = features_of(store, queries, [one, two], fused)
        age = np.log1p(max(int(years.max()) - int(store.years[paper]), 0))
        cited = np.log1p((training.cited_rows == paper).sum())
        unknown = np.nan
        expected = [2, 0.25, 1 / 2, unknown, unknown, 0, 3, 1, 1, cited, age]
        assert np.allclose(found[0], expected, equal_nan=True)
        expected = [8, 1, 1, -0.5, unknown, 1, 1, np.exp(-2), 1 / 2]  # no share of a best below 0
        assert np.allclose(found[1, :9], expected, equal_nan=True)
        expected = [unknown, unknown, 0, -0.25, unknown, 1, 0, 1, 1 / 2]
        assert np.allclose(found[3, :9], expected, equal_nan=True)
        names = feature_names(["one", "two"])
        assert len(names) == found.shape[1]
        assert (names[1], names[6], names[-2]) == (
            *("one share_of_best", "fusion score", "citations"),
        )

    def test_citations_after_the_year_of_the_query_are_not_counted(self, store):
        training = store.contexts("train")
        paper = int(np.bincount(training.cited_rows).argmax())
        years = np.repeat(training.years, np.diff(training.cited_offsets))
        of_paper = years[training.cited_rows == paper]
        queries = store.contexts("test")
        for year in (of_paper.min() - 1, of_paper.min(), of_paper.max()):
            of_year = dataclasses.replace(queries, years=np.full(len(queries), year))
            ranking = Ranking(np.array([[paper]]), np.ones((1, 1)))
            found = features_of(store, of_year, [ranking, ranking], ranking)
            assert np.expm1(found[0, -2]) == pytest.approx((of_paper <= year).sum())

    def test_metadata_by_pencil(self, store, tmp_path):
        path = Path(shutil.copytree(store.path, tmp_path / "rfc"))
        known = store.manuscripts("train")
        places = np.lexsort((known.years, -np.diff(known.cited_offsets)))
        citing = int(known.citing_rows[places[0]])
        cited, _ = (int(row) for row in known.cited(places[0])[:2])
        newer = int(known.citing_rows[known.years > store.years[citing]][0])
        mine = int(store.contexts("test").citing_rows[0])
        authors = [[f"author {row}"] for row in range(store.num_papers)]
        venues = [f"venue {row}" for row in range(store.num_papers)]
        authors[mine], authors[citing], authors[newer] = ["A", "B"], ["a ", "B", "C"], ["A"]
        venues[mine] = venues[cited] = "Letters"
        venues[newer] = venues[citing] = ""
        years = store.years.copy()
        years[mine] = years[citing]  # what they wrote later is not known
        with_columns(path, authors=authors, venue=venues, year=years)
        other = CorpusStore(path)
        papers = np.array([citing, newer, cited, mine])
        manuscript = np.full(4, mine)
        together, before = metadata_features(other, "authors", manuscript, papers)
        assert together.tolist() == [2, 1, 0, 2]
        cites = {int(row): known.cited(i) for i, row in enumerate(known.citing_rows)}
        assert before.tolist() == [float(paper in cites[citing]) for paper in papers]
        assert before[2] == 1
        [venue] = metadata_features(other, "venue", manuscript, papers)
        assert venue.tolist() == [0, 0, 1, 1]
        [venue] = metadata_features(other, "venue", np.array([newer]), np.array([citing]))
        assert venue.tolist() == [0]  # both without a venue


class TestRelations:
    """What candidates tell of one another, beside sums over all contexts in Python."""

    @pytest.fixture
    def candidates(self, store, rankings):
        queries, [ranking, _] = rankings("test")
        return queries, ranking.first(6)

    def by_hand(self, store, ranking, query, year):
        """Return (K, 4) of one query."""
        training = store.contexts("train")
        known = [i for i in range(len(training)) if training.years[i] <= year]
        contexts = [set(training.cited(i).tolist()) for i in known]
        by_paper = {}
        for i, cited in zip(known, contexts, strict=True):
            by_paper.setdefault(int(training.citing_rows[i]), set()).update(cited)
        cites = {(a, d): 1 for a, cited in by_paper.items() for d in cited}

        def together(units):
            return {
                (a, d): sum(a in unit and d in unit for unit in units)
                for a in rows
                for d in range(store.num_papers)
                if a != d
            }

        rows = [row for row in ranking.rows[query].tolist() if row >= 0]
        odds = np.exp(ranking.scores[query, : len(rows)])
        found = np.zeros((len(rows), 4))
        cited_by = {(d, a): 1 for a, d in cites}
        counts = [together(contexts), together(by_paper.values()), cites, cited_by]
        for column, count in enumerate(counts):
            for share, a in zip(odds / odds.sum(), rows, strict=True):
                total = sum(count.get((a, j), 0) for j in range(store.num_papers))
                for place, d in enumerate(rows):
                    found[place, column] += share * count.get((a, d), 0) / max(total, 1)
        return found

    @pytest.mark.parametrize("early", [False, True])
    def test_as_by_hand(self, store, candidates, early):
        queries, ranking = candidates
        years = queries.years.copy()
        if early:  # some know a half of the training contexts
            years[::2] = np.median(store.contexts("train").years)
        queries = dataclasses.replace(queries, years=years)
        found = np.column_stack(relation_features(store, queries, ranking))
        ends = candidates_of(ranking).offsets
        assert found.any(axis=0).all()
        for query in range(0, len(queries), max(len(queries) // 8, 1)):
            expected = self.by_hand(store, ranking, query, years[query])
            assert np.allclose(found[ends[query] : ends[query + 1]], expected)

    def test_a_list_without_papers_has_none(self, store, candidates):
        queries, _ = candidates
        none = Ranking(np.full((len(queries), 2), -1), np.full((len(queries), 2), NONE))
        assert [len(column) for column in relation_features(store, queries, none)] == [0] * 4

    def test_trees_read_them(self, store, rankings):
        reranker = fitted(store, rankings, "relations=true")
        names = reranker._feature_names()
        assert names[-4:] == RELATIONS
        assert reranker.trees.num_feature() == len(names)


def with_columns(path, **columns):
    """Replace columns of the papers of a corpus."""
    file = path / "papers.parquet"
    table = pq.read_table(file)
    for name, values in columns.items():
        kind = table.schema.field(name).type
        table = table.set_column(table.column_names.index(name), name, pa.array(list(values), kind))
    pq.write_table(table, file)
    (path / "manifest.json").unlink(missing_ok=True)


def pattern(rng, num_queries=60, length=20):
    """Lists in which a paper is cited if both of its two features are on one side of 0."""
    features = rng.normal(size=(num_queries * length, 3))
    is_cited = (features[:, 0] > 0) == (features[:, 1] > 0)
    lengths = np.full(num_queries, length)
    folds = np.arange(num_queries) // 2 % 5
    return Lists(features, is_cited, np.zeros(len(features)), lengths, folds)


class TestTrees:
    def test_papers_are_dealt_into_folds_as_a_whole_and_evenly(self):
        rng = np.random.default_rng(1)
        citing = rng.integers(40, size=400)
        teaches = rng.random(400) < 0.8
        folds = folds_by_paper(citing, teaches, 5)
        assert all(len(np.unique(folds[citing == paper])) == 1 for paper in np.unique(citing))
        counts = np.bincount(folds, weights=teaches)
        assert len(counts) == 5 and counts.max() - counts.min() <= 3
        assert np.array_equal(folds, folds_by_paper(citing, teaches, 5))

    def test_cross_validation_splits_lists_and_never_cuts_one(self):
        lists = pattern(np.random.default_rng(1))
        query = np.repeat(np.arange(60), 20)
        found = lists.splits()
        assert len(found) == 5
        for outside, inside in found:
            assert sorted([*outside, *inside]) == list(range(60 * 20))
            assert not set(query[outside]) & set(query[inside])
            assert len(np.unique(lists.folds[query[inside]])) == 1

    def test_they_learn_what_no_sum_of_features_tells(self):
        lists, fresh = (pattern(np.random.default_rng(seed)) for seed in (1, 2))
        scores = scores_by(learn_trees(lists, SETTINGS), fresh.features).reshape(60, 20)
        first = np.take_along_axis(
            fresh.is_cited.reshape(60, 20), np.argsort(-scores, axis=1)[:, :3], axis=1
        )
        assert fresh.is_cited.mean() < 0.6 and first.mean() > 0.9

    def test_the_number_of_trees_is_that_of_the_best_mean_over_folds(self):
        rng = np.random.default_rng(3)
        lists = pattern(rng)
        flipped = lists.is_cited ^ (rng.random(len(lists.is_cited)) < 0.3)
        lists = dataclasses.replace(lists, is_cited=flipped)
        means = np.zeros(SETTINGS.most_trees)
        for outside, inside in lists.splits():
            parts = [
                lightgbm.Dataset(
                    lists.features[part], flipped[part].astype(int), group=[20] * (len(part) // 20)
                )
                for part in (outside, inside)
            ]
            told = {}
            lightgbm.train(
                {**SETTINGS.parameters()},
                parts[0], SETTINGS.most_trees, [parts[1]],
                callbacks=[lightgbm.record_evaluation(told)],
            )  # fmt: skip
            means += told["valid_0"]["map@10"]
        found = learn_trees(lists, SETTINGS).num_trees()
        assert found < SETTINGS.most_trees
        assert means[found - 1] > means.max() - 0.05  # bins are of all lists there

    def test_the_same_lists_give_the_same_bytes_whatever_the_threads(self, monkeypatch):
        lists = pattern(np.random.default_rng(1))
        monkeypatch.setattr("mpbert.methods.lambdamart.trees._FEW", 0)  # else one thread
        parameters = SETTINGS.parameters()
        found = []
        for threads in (1, 2, 2):
            changed = {**parameters, "num_threads": threads}
            monkeypatch.setattr(TreeSettings, "parameters", lambda self, given=changed: given)
            text = learn_trees(lists, dataclasses.replace(SETTINGS, most_trees=5)).model_to_string()
            found.append(text.replace(f"[num_threads: {threads}]", ""))
        assert found[0] == found[1] == found[2]

    def test_few_candidates_are_learnt_by_one_thread(self):
        text = grown(pattern(np.random.default_rng(1)), SETTINGS, 1).model_to_string()
        assert "[num_threads: 1]" in text

    def test_lists_without_a_cited_paper_or_without_another_teach_nothing(self):
        lists = Lists(
            np.arange(7.0)[:, None], np.array([1, 0, 0, 0, 1, 1, 0], dtype=bool),
            np.arange(7.0), np.array([2, 2, 1, 2]), np.array([0, 1, 2, 3]),
        )  # fmt: skip
        found = lists.that_teach()
        assert found.folds.tolist() == [0, 3] and found.lengths.tolist() == [2, 2]
        assert found.features[:, 0].tolist() == found.start.tolist() == [0, 1, 5, 6]
        assert found.is_cited.tolist() == [True, False, True, False]

    def test_gains_are_shares_and_go_to_what_tells(self):
        gains = gains_of(learn_trees(pattern(np.random.default_rng(1)), SETTINGS))
        assert gains.sum() == pytest.approx(1)
        assert gains[2] < 0.2


class TestReranker:
    def test_candidates_are_the_first_of_the_fusion_and_the_rest_keeps_its_order(
        self, store, rankings, learnt
    ):
        valid, of_valid = rankings("valid")
        fusion = LinearFusion()
        found = fusion.candidates(store, valid, of_valid)
        fusion.learn(found, found_gold(found.papers, valid, store.num_papers))
        queries, inputs = rankings("test")
        found = fusion.candidates(store, queries, inputs)
        fused = found.papers.ranking(fusion.scores(found))
        ranked = learnt.rerank(store, queries, inputs)
        assert np.array_equal(ranked.rows[:, 12:], fused.rows[:, 12:])
        assert (fused.rows[:, 12:] >= 0).any()
        first = [each.rows[:, :12] for each in (ranked, fused)]
        assert np.array_equal(*(np.sort(rows, axis=1) for rows in first))
        assert not np.array_equal(*first)

    @pytest.mark.parametrize("start", ["fusion", "none"])
    def test_where_the_trees_say_nothing_the_fusion_decides(
        self, store, rankings, learnt, monkeypatch, start
    ):
        queries, inputs = rankings("test")
        monkeypatch.setattr(learnt, "start", start)
        monkeypatch.setattr(
            "mpbert.methods.lambdamart.reranker.scores_by",
            lambda trees, features: np.zeros(len(features)),
        )
        ranked = learnt.rerank(store, queries, inputs)
        found = learnt._fusion.candidates(store, queries, inputs)
        fused = found.papers.ranking(learnt._fusion.scores(found))
        assert np.array_equal(ranked.rows, fused.rows)

    def test_the_trees_add_to_the_fusion_or_begin_from_0(self, store, rankings):
        queries, inputs = rankings("test")
        ranked = {}
        for start in ("fusion", "none"):
            settings = [f"start={start}", "learning_rate=1e-7", "most_trees=1"]
            reranker = fitted(store, rankings, *settings)
            ranked[start] = reranker.rerank(store, queries, inputs).rows
            found = reranker._fusion.candidates(store, queries, inputs)
            ranked["fused"] = found.papers.ranking(reranker._fusion.scores(found)).rows
        assert np.array_equal(ranked["fusion"], ranked["fused"])
        assert not np.array_equal(ranked["none"], ranked["fused"])

    def test_it_is_better_than_the_fusion_where_it_learnt(self, store, rankings, learnt):
        queries, inputs = rankings("valid")
        found = learnt._fusion.candidates(store, queries, inputs)
        fused = found.papers.ranking(learnt._fusion.scores(found))
        each = np.repeat(np.arange(len(queries)), np.diff(queries.cited_offsets))

        def reciprocal_rank(ranking):
            hits = ranking.rows[each] == queries.cited_rows[:, None]
            return np.where(hits.any(axis=1), 1 / (hits.argmax(axis=1) + 1), 0).mean()

        assert reciprocal_rank(learnt.rerank(store, queries, inputs)) > reciprocal_rank(fused)

    def test_scores_of_a_fold_do_not_know_what_its_queries_cite(self, store, rankings):
        queries, inputs = rankings("valid")
        fusion = LinearFusion()
        found = fusion.candidates(store, queries, inputs)
        gold = found_gold(found.papers, queries, store.num_papers)
        standardised = fusion.learn(found, gold)
        folds = folds_by_paper(queries.citing_rows, np.ones(len(queries), dtype=bool), 3)
        of_each = folds[found.papers.queries]
        other = np.where(of_each == 1, np.roll(gold, 1), gold)
        before, after = (held_out_scores(standardised, found, g, folds) for g in (gold, other))
        assert np.array_equal(before[of_each == 1], after[of_each == 1])
        assert not np.array_equal(before[of_each == 0], after[of_each == 0])

    def test_it_learns_from_validation_and_training_and_the_test_split_changes_nothing(
        self, store, rankings, learnt
    ):
        assert learnt.learns_from == "valid"
        spy = Spy(store.path)
        again = fitted(spy, rankings, "metadata=authors+venue")
        assert set(spy.asked) == {"train"}
        again = fitted(store, rankings)
        assert again.trees.model_to_string() == learnt.trees.model_to_string()

    def test_metadata_are_read_where_they_are_asked_for(self, store, rankings, learnt):
        with_them = fitted(store, rankings, "metadata=authors+venue")
        queries, inputs = rankings("test")
        first = Ranking(inputs[0].rows[:, :9], inputs[0].scores[:, :9])
        names = with_them._feature_names()
        assert names[-3:] == ["authors_in_common", "cited_by_its_authors", "same_venue"]
        found = with_them._features(store, queries, inputs, first)
        assert found.shape == (len(candidates_of(first).rows), len(names))
        assert np.array_equal(
            found[:, :-3], learnt._features(store, queries, inputs, first), equal_nan=True
        )
        assert with_them.counts["trees"] == with_them.trees.num_trees() > 0

    def test_what_it_saves_can_be_read_without_it(self, store, rankings, learnt, tmp_path):
        learnt.save(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {FILE, "fusion.json", "trees.txt"}
        trees = lightgbm.Booster(model_file=tmp_path / "trees.txt")
        queries, inputs = rankings("test")
        features = learnt._features(store, queries, inputs, inputs[0])
        assert np.array_equal(trees.predict(features), scores_by(learnt.trees, features))
        gains = json.loads((tmp_path / FILE).read_text())
        assert gains["what"] == "gain"
        names, values = zip(*gains["features"], strict=True)
        assert list(names) == learnt._feature_names() and names[0] == "run 1 score"
        assert sum(values) == pytest.approx(1, abs=1e-3)
        weights = json.loads((tmp_path / "fusion.json").read_text())["features"]
        assert [value for _, value in weights] == learnt._fusion.weights.tolist()


@pytest.fixture(scope="module")
def runs(rfc_corpus, tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    for fields in ("abstract", "citing"):
        options = {"lexical": "bm25", "settings": [f"fields={fields}"], "top": 20}
        retrieve.run(retrieve.Config(rfc_corpus, place / fields, **options))
    return place


class TestWrongInput:
    def test_fewer_than_two_runs_are_refused_in_one_line(self, rfc_corpus, runs, tmp_path, capsys):
        words = ["rerank", rfc_corpus, tmp_path / "out", "--reranker", "lambdamart"]
        assert main([*map(str, words), "--runs", str(runs / "abstract")]) == 2
        assert "--runs: found 1; lambdamart takes 2 or more" in one_line(capsys)

    def test_a_corpus_without_validation_queries_is_refused_in_one_line(self, tmp_path, capsys):
        (tmp_path / "raw").mkdir()
        (tmp_path / "raw" / "papers.csv").write_text(
            "paper_id,title,split\na,On mail,train\nb,On news,train\nc,On mail and news,test\n"
        )
        cited = "citing_id,cited_id\nb,a\nc,a\nc,b\n"
        (tmp_path / "raw" / "citations.csv").write_text(cited)
        corpus = tmp_path / "corpus"
        given = {"reader": "csv", "split": "given"}
        build_corpus.run(build_corpus.Config(tmp_path / "raw", corpus, **given))
        inputs = [tmp_path / "abstract", tmp_path / "text"]
        for run in inputs:
            options = {"settings": [f"fields={run.name}"], "lexical": "bm25", "task": "global"}
            retrieve.run(retrieve.Config(corpus, run, **options))
        capsys.readouterr()
        words = ["rerank", corpus, tmp_path / "out", "--reranker", "lambdamart", "--task=global"]
        assert main([*map(str, words), "--runs", *map(str, inputs)]) == 2
        assert "corpus: has no valid queries; expected some, as lambdamart learns" in one_line(
            capsys
        )

    def test_cited_papers_of_one_validation_paper_cannot_be_cross_validated(self, store, rankings):
        queries, inputs = rankings("valid")
        alone = queries.citing_rows == queries.citing_rows[0]
        inputs = [
            Ranking(np.where(alone[:, None], r.rows, -1), np.where(alone[:, None], r.scores, NONE))
            for r in inputs
        ]
        reranker = from_settings(RERANKERS["lambdamart"], [], "lambdamart")
        with pytest.raises(RunError, match="cited papers for fewer than two validation papers; ex"):
            reranker.fit(store, queries, inputs, named_rng(1, "test"))
        nothing = [Ranking(np.full_like(r.rows, -1), np.full_like(r.scores, NONE)) for r in inputs]
        with pytest.raises(RunError, match="none of the papers that validation queries cite is in"):
            reranker.fit(store, queries, nothing, named_rng(1, "test"))

    @pytest.mark.parametrize("of", ["authors", "venue"])
    def test_a_corpus_without_the_metadata_is_refused(self, store, tmp_path, of):
        path = Path(shutil.copytree(store.path, tmp_path / "rfc"))
        empty = [] if of == "authors" else ""
        with_columns(path, **{of: [empty] * store.num_papers})
        reranker = from_settings(RERANKERS["lambdamart"], [f"metadata={of}"], "lambdamart")
        with pytest.raises(CorpusError, match=f"no paper names its {of}, which metadata={of} rea"):
            reranker.check(CorpusStore(path))
        from_settings(RERANKERS["lambdamart"], [], "lambdamart").check(CorpusStore(path))

    @pytest.mark.parametrize("setting", ["depth=1", "folds=1", "leaves=1", "metadata=titles"])
    def test_settings_that_make_no_sense_are_refused(self, setting):
        with pytest.raises(ConfigError, match="expected"):
            from_settings(RERANKERS["lambdamart"], [setting], "lambdamart")


def one_line(capsys):
    found = capsys.readouterr().err.strip()
    assert found.startswith("mpbert rerank: ") and "\n" not in found
    return found


def test_the_command_names_features_by_the_runs(rfc_corpus, runs, tmp_path, caplog):
    caplog.set_level("INFO")
    settings = ["most_trees=5", "leaves=4"]
    options = {"reranker": "lambdamart", "settings": settings}
    inputs = [runs / "abstract", runs / "citing"]
    rerank.run(rerank.Config(rfc_corpus, tmp_path / "out", inputs, **options))
    learnt = json.loads((tmp_path / "out" / FILE).read_text())["features"]
    names = [name for name, _ in learnt]
    assert names[:4:3] == ["abstract score", "citing score"]
    told = [record.fields for record in caplog.records if "gain" in getattr(record, "fields", {})]
    assert {fields["feature"] for fields in told} == {name for name, gain in learnt if gain}
    gains = [fields["gain"] for fields in told]
    assert gains == sorted(gains, reverse=True)
