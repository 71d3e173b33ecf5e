import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mpbert.commands import rerank, retrieve
from mpbert.corpus.queries import qrels_name
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import matrices_of_run, read_qrels, read_run
from mpbert.evaluation.evaluate import judge, num_gold
from mpbert.evaluation.measures import measure
from mpbert.foundation.errors import ConfigError, CorpusError, VectorsError
from mpbert.methods.paper_parts import read_parts
from mpbert.methods.rankings import Ranking
from mpbert.methods.sbert_subref import greedy
from mpbert.methods.sbert_subref.greedy import StepValues, lazy_greedy
from mpbert.methods.sbert_subref.reranker import FUNCTIONS, Submodular, _Known
from mpbert.methods.sbert_subref.terms import (
    author_history,
    cosines,
    paper_vectors,
    per_year,
    unit_relevance,
)
from mpbert.methods.training_citations import training_citations
from mpbert.vectors.store import VectorStore

NONE = -np.inf


@pytest.fixture(scope="module")
def bm25(rfc_corpus, tmp_path_factory):
    """Run of whole papers, by title and abstract."""
    path = tmp_path_factory.mktemp("runs") / "bm25"
    retrieve.run(retrieve.Config(rfc_corpus, path, lexical="bm25", task="global", top=80))
    return path


@pytest.fixture(scope="module")
def queries(store):
    return store.manuscripts("test")


@pytest.fixture(scope="module")
def ranking(store, queries, bm25):
    run = read_run(bm25 / "test.run")
    return Ranking(*matrices_of_run(run, queries.query_ids, store.paper_ids, "bm25"))


def without(store, column, place):
    """The same corpus without this metadata."""
    path = Path(shutil.copytree(store.path, place / "rfc"))
    table = pq.read_table(path / "papers.parquet")
    nothing = [[] if column == "authors" else ""] * table.num_rows
    at = table.column_names.index(column)
    empty = pa.array(nothing, table.schema.field(column).type)
    pq.write_table(table.set_column(at, column, empty), path / "papers.parquet")
    (path / "manifest.json").unlink()  # it holds the checksums from before
    return CorpusStore(path)


def plain_greedy(steps, budget):
    """By the definition: the step values of all candidates from S alone, at every step."""
    n = len(steps.modular)
    of = [set(steps.parts[a:b]) for a, b in zip(steps.part_offsets, steps.part_offsets[1:])]  # noqa: B905
    chosen, values = [], []
    while len(chosen) < min(budget, n):
        step = steps.modular.copy()
        for k in range(n):
            for part in of[k]:
                before = sum(steps.relevance[j] for j in chosen if part in of[j])
                gain = np.sqrt(before + steps.relevance[k]) - np.sqrt(before)
                step[k] += steps.diversity * gain
            if chosen and len(steps.penalty):
                paid = steps.penalty[k, chosen]
                step[k] -= paid.max() if steps.by_maximum else paid.sum()
        step[chosen] = NONE
        best = int(np.argmax(step))
        if step[best] < 0:
            break
        chosen.append(best)
        values.append(step[best])
    return chosen, values


class TestGreedy:
    def test_equation_6_by_pencil(self):
        """Two authors: the second paper of one is worth less than the first of the other."""
        steps = StepValues(
            modular=np.zeros(4),
            relevance=np.array([1.0, 0.96, 0.25, 0.0625]),
            part_offsets=np.array([0, 1, 2, 3, 5]),
            parts=np.array([0, 0, 1, 0, 1]),  # the last paper has both authors
            diversity=1.0,
            penalty=np.zeros((0, 0)),
            by_maximum=False,
        )
        found = lazy_greedy(steps, 4)
        assert found.chosen.tolist() == [0, 2, 1, 3]
        expected = [1, 0.5, 1.4 - 1, 2.0225**0.5 - 1.4 + 0.3125**0.5 - 0.5]
        assert np.allclose(found.values, expected)  # √1, √.25, √(1 + .96) - √1, ...
        total = np.sqrt(1 + 0.96 + 0.0625) + np.sqrt(0.25 + 0.0625)
        assert found.values.sum() == pytest.approx(total)  # F of all four

    def test_non_monotone_functions_end_before_a_loss(self):
        similarity = np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]])
        steps = StepValues(
            np.array([0.5, 0.45, 0.1]), np.ones(3), np.zeros(4, np.int64), np.zeros(0, np.int64),
            0.0, similarity, True,
        )  # fmt: skip
        found = lazy_greedy(steps, 3)
        assert found.chosen.tolist() == [0, 2]  # 0.45 - 0.9 is a loss
        assert np.allclose(found.values, [0.5, 0.1])

    @pytest.mark.parametrize("function", FUNCTIONS)
    @pytest.mark.parametrize("of", ["authors", "venue"])
    @pytest.mark.parametrize("trade_off", [0.0, 0.3, 1.0])
    def test_lazy_equals_plain(self, function, of, trade_off, store, queries, ranking):
        if of == "venue" and not function.startswith("qai"):
            pytest.skip("has no parts")
        chooser = Submodular(
            function, of, trade_off=trade_off, relevance_weight=3.0, author_history=0.3
        )
        known = _Known(chooser, store, queries)
        lengths = set()
        for i in range(0, len(queries), 4):
            rows = ranking.rows[i, :50]
            steps = known.steps(i, rows, unit_relevance(ranking.scores[i, :50]))
            found = lazy_greedy(steps, 20)
            chosen, values = plain_greedy(steps, 20)
            assert found.chosen.tolist() == chosen
            assert np.allclose(found.values, values)
            lengths.add(len(chosen))
        assert max(lengths) > 5

    def test_lazy_computes_fewer_values(self, store, queries, ranking, monkeypatch):
        known = _Known(Submodular("qaiv2"), store, queries)
        steps = known.steps(2, ranking.rows[2], unit_relevance(ranking.scores[2]))
        expected = lazy_greedy(steps, 40).chosen
        step, computed = greedy._diversity_step, []
        monkeypatch.setattr(greedy, "_lazy_greedy", greedy._lazy_greedy.py_func)
        monkeypatch.setattr(greedy, "_diversity_step", lambda *a: computed.append(a) or step(*a))
        assert np.array_equal(lazy_greedy(steps, 40).chosen, expected) and len(expected) > 20
        plain = sum(80 - step for step in range(len(expected)))
        assert 80 < len(computed) < plain / 2

    def test_equal_candidates_are_chosen_in_the_order_of_the_run(self):
        steps = StepValues(
            np.ones(5), np.ones(5), np.zeros(6, np.int64), np.zeros(0, np.int64), 0.0,
            np.full((5, 5), 0.1), False,
        )  # fmt: skip
        assert lazy_greedy(steps, 9).chosen.tolist() == [0, 1, 2, 3, 4]

    def test_nothing_to_choose_from(self):
        nothing = np.zeros(0)
        empty = StepValues(
            nothing, nothing, np.zeros(1, np.int64), np.zeros(0, np.int64), 1.0,
            np.zeros((0, 0)), False,
        )  # fmt: skip
        assert lazy_greedy(empty, 5).chosen.tolist() == []


class TestFunctions:
    """Step values for the empty list and after one choice, from the formulas of the module."""

    def steps(self, store, queries, ranking, **settings):
        known = _Known(Submodular(trade_off=0.25, **settings), store, queries)
        return known.steps(2, ranking.rows[2, :30], unit_relevance(ranking.scores[2, :30]))

    def test_relevance_is_from_0_to_1(self):
        assert unit_relevance(np.array([7.0, 4.0, 3.0])).tolist() == [1, 0.25, 0]
        assert unit_relevance(np.array([3.0, 3.0])).tolist() == [1, 1]

    def test_qfr_and_mmr(self, store, queries, ranking):
        relevance = unit_relevance(ranking.scores[2, :30])
        s = cosines(paper_vectors(store, "tfidf"), ranking.rows[2, :30])
        rest = [sum(s[k, j] for j in range(30) if j != k) for k in range(30)]
        v1 = self.steps(store, queries, ranking, function="qfrv1")
        assert np.allclose(v1.modular, 50 * relevance + 0.75 * np.array(rest))
        assert np.allclose(v1.penalty, 1.75 * s) and not v1.by_maximum
        v2 = self.steps(store, queries, ranking, function="qfrv2", relevance_weight=2)
        assert np.allclose(v2.modular, 2 * relevance + np.array(rest))
        assert np.allclose(v2.penalty, 2.25 * s)
        mmr = self.steps(store, queries, ranking, function="mmr")
        assert np.allclose(mmr.modular, 0.25 * relevance)
        assert np.allclose(mmr.penalty, 0.75 * s) and mmr.by_maximum

    def test_qai(self, store, queries, ranking):
        rows = ranking.rows[2, :30]
        known = store.manuscripts("train")
        citing = {
            int(k): {int(c) for i, c in enumerate(known.citing_rows) if k in known.cited(i)}
            for k in rows
        }
        v1 = self.steps(store, queries, ranking, function="qaiv1")
        years = np.maximum(queries.years[2] - store.years[rows], 1)
        assert np.allclose(v1.modular, [0.25 * len(citing[k]) for k in rows] / years)
        v2 = self.steps(store, queries, ranking, function="qaiv2")
        among = [[float(j in citing[k]) for j in rows] for k in rows]
        assert np.allclose(v2.penalty, 0.25 * np.array(among)) and np.sum(among) > 0
        assert np.allclose(v2.modular, 0.25 * np.sum(among, axis=1))
        assert v1.diversity == v2.diversity == 0.75
        for k, row in enumerate(rows):
            mine = v2.parts[v2.part_offsets[k] : v2.part_offsets[k + 1]]
            for other, second in enumerate(rows):
                theirs = v2.parts[v2.part_offsets[other] : v2.part_offsets[other + 1]]
                shared = {a.lower() for a in store.paper(row).authors} & {
                    a.lower() for a in store.paper(second).authors
                }
                assert len(set(mine) & set(theirs)) == len(shared)

    def test_a_year_counts_at_least_once(self):
        assert per_year(np.array([6, 6, 6]), np.array([3, 0, -2])).tolist() == [2, 6, 6]

    def test_similarity_is_that_of_vectors(self, store, tmp_path):
        rng = np.random.default_rng(1)
        vectors = rng.standard_normal((store.num_papers, 5)).astype(np.float32)
        vectors[3] = 0
        VectorStore(store.paper_ids, vectors).save(tmp_path, "papers")
        rows = np.array([3, 7, 9])
        found = cosines(paper_vectors(store, str(tmp_path)), rows)
        a, b = vectors[7], vectors[9]
        assert found[1, 2] == pytest.approx(max(a @ b / np.linalg.norm(a) / np.linalg.norm(b), 0))
        assert found[0].tolist() == [0, 0, 0] and found[1, 1] == pytest.approx(1)

    def test_the_history_of_authors_by_its_definition(self, store, queries):
        found = author_history(store, queries.citing_rows).toarray()
        papers = list(store.papers())
        known = store.manuscripts("train")
        cites = {int(row): set(known.cited(i)) for i, row in enumerate(known.citing_rows)}
        assert found.any()
        for i in range(0, len(queries), 5):
            expected = np.zeros(len(papers))
            for author in {a.lower() for a in papers[queries.citing_rows[i]].authors}:
                for p, paper in enumerate(papers):
                    if author in {a.lower() for a in paper.authors}:
                        if paper.year < queries.years[i]:
                            expected[p] += 2
                            expected[list(cites.get(p, ()))] += 1
            assert np.allclose(found[i], expected)

    def test_no_citation_of_other_splits_is_read(self, store):
        cited_by = training_citations(store)
        assert set(store.paper_splits[cited_by.nonzero()[0]]) == {"train"}


class TestParts:
    def test_names_are_the_same_in_any_case_and_count_once(self, store, tmp_path):
        path = Path(shutil.copytree(store.path, tmp_path / "rfc"))
        table = pq.read_table(path / "papers.parquet").slice(0, 3)
        authors = pa.array([["A. B", "c"], [], [" a. b ", "A. B"]], pa.list_(pa.string()))
        at = table.column_names.index("authors")
        pq.write_table(table.set_column(at, "authors", authors), path / "papers.parquet")
        parts = read_parts(CorpusStore(path), "authors")
        assert parts.num_parts == 2
        assert parts.offsets.tolist() == [0, 2, 2, 3]
        assert parts.ids[2] in parts.ids[:2]

    def test_a_paper_without_authors_is_a_part_of_its_own(self, store, queries, tmp_path):
        path = Path(shutil.copytree(store.path, tmp_path / "rfc"))
        table = pq.read_table(path / "papers.parquet")
        authors = table["authors"].to_pylist()
        authors[0] = authors[1] = []
        at = table.column_names.index("authors")
        filled = pa.array(authors, table.schema.field("authors").type)
        pq.write_table(table.set_column(at, "authors", filled), path / "papers.parquet")
        known = _Known(Submodular(), CorpusStore(path), queries)
        offsets, parts = known._parts_of(np.array([0, 5, 1]))
        assert offsets[1] == 1 and offsets[3] - offsets[2] == 1
        assert len(set(parts)) == offsets[3]


class TestReranker:
    def test_all_candidates_stay_chosen_ones_first(self, store, queries, ranking):
        short = Ranking(ranking.rows.copy(), ranking.scores.copy())
        short.rows[1, 5:], short.scores[1, 5:] = -1, NONE
        short.rows[3], short.scores[3] = -1, NONE
        found = Submodular("mmr", trade_off=0.1, budget=10).rerank(store, queries, [short])
        assert np.array_equal(np.sort(found.rows, axis=1), np.sort(short.rows, axis=1))
        assert (found.rows[3] == -1).all() and (found.scores[3] == NONE).all()
        assert (np.diff(found.scores[0]) == -1).all() and found.scores[0, 0] == 10
        assert (found.rows[1, 5:] == -1).all()
        rest = found.rows[0, 10:]
        places = [ranking.rows[0].tolist().index(row) for row in rest]
        assert places == sorted(places)

    def test_papers_beyond_the_candidates_follow_in_their_order(self, store, queries, ranking):
        reranker = Submodular("mmr", depth=5, budget=3)
        found = reranker.rerank(store, queries, [ranking])
        assert found.rows[:, 5:].tolist() == ranking.rows[:, 5:].tolist()
        for old, new in zip(ranking.rows, found.rows, strict=True):
            assert set(old[:5]) == set(new[:5])
        scores = np.where(found.rows >= 0, found.scores, np.nan)
        assert (np.diff(scores, axis=1)[~np.isnan(np.diff(scores, axis=1))] < 0).all()

    def test_relevance_alone_is_added_where_it_is_asked_for(self, store, queries, ranking):
        plain = Submodular().rerank(store, queries, [ranking])
        weighted = Submodular(relevance_weight=1e6).rerank(store, queries, [ranking])
        assert not np.array_equal(plain.rows, ranking.rows)
        for i in range(len(queries)):  # ties apart, it is the order of the run
            score = dict(zip(ranking.rows[i], unit_relevance(ranking.scores[i]), strict=True))
            assert np.diff([score[row] for row in weighted.rows[i]]).max() < 1e-4
        assert [Submodular(f).alpha for f in FUNCTIONS] == [0, 0, 0, 50, 50]

    @pytest.mark.parametrize("function", FUNCTIONS)
    def test_the_same_input_gives_the_same_ranking(self, function, store, queries, ranking):
        once = Submodular(function).rerank(store, queries, [ranking])
        again = Submodular(function).rerank(store, queries, [ranking])
        assert np.array_equal(once.rows, again.rows)
        assert not np.array_equal(once.rows, ranking.rows)

    def test_the_history_of_authors_finds_more_and_other_rankings_do_not_know_it(
        self, rfc_corpus, bm25, tmp_path
    ):
        def score(*settings):
            output = tmp_path / "-".join(settings)
            rerank.run(
                rerank.Config(
                    rfc_corpus, output, [bm25], reranker="submodular",
                    settings=["trade_off=0", *settings], task="global",
                )
            )  # fmt: skip
            qrels = read_qrels(rfc_corpus / qrels_name("global", "test"))
            judged = judge(read_run(output / "test.run"), qrels, 100)
            return measure("MAP@10", judged.hits, num_gold(qrels)).mean()

        assert score("author_history=50") > score("author_history=0") + 0.02

    def test_diversity_gives_more_authors(self, store, queries, ranking):
        def num_authors(rows):
            return np.mean([len({a for r in row for a in store.paper(r).authors}) for row in rows])

        found = Submodular("qaiv2", trade_off=0.0, budget=10).rerank(store, queries, [ranking])
        assert num_authors(found.rows[:, :10]) > num_authors(ranking.rows[:, :10]) + 1


class TestErrors:
    @pytest.mark.parametrize(
        ("column", "settings", "reader"),
        [
            ("authors", {"function": "qaiv2"}, "function=qaiv2 parts"),
            ("authors", {"function": "mmr", "author_history": 1.0}, "author_history"),
            ("venue", {"function": "qaiv1", "parts": "venue"}, "function=qaiv1 parts"),
        ],
    )
    def test_a_corpus_without_what_is_read_is_refused(
        self, column, settings, reader, store, tmp_path
    ):
        bare = without(store, column, tmp_path)
        message = rf"papers\.parquet: no paper names its {column}, which {reader} reads; expected"
        with pytest.raises(CorpusError, match=message):
            Submodular(**settings).check(bare)
        Submodular("qfrv1").check(bare)
        Submodular(**settings).check(store)

    def test_the_command_refuses_before_it_reads_runs(self, store, tmp_path):
        bare = without(store, "authors", tmp_path)
        config = rerank.Config(
            bare.path, tmp_path / "out", [tmp_path / "no-runs"], reranker="submodular"
        )
        with pytest.raises(CorpusError, match="no paper names its authors"):
            rerank.run(config)
        assert not (tmp_path / "out").exists()

    def test_wrong_settings_are_refused(self, store, tmp_path):
        with pytest.raises(ConfigError, match=r"trade_off=1.5: expected 0 to 1"):
            rerank.Config(
                store.path, tmp_path / "out", [tmp_path], reranker="submodular",
                settings=["trade_off=1.5"],
            )  # fmt: skip
        with pytest.raises(VectorsError, match="expected a vectors directory"):
            Submodular("mmr", similarity=str(tmp_path)).check(store)
