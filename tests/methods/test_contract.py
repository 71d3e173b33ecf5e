"""What every embedder, every lexical method and every reranker keeps: a new one is tried too."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from mpbert.commands import fit
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.config import from_settings
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.manifest import read_manifest
from mpbert.foundation.seeding import named_rng
from mpbert.methods.embedding import EMBEDDERS, make_embedder
from mpbert.methods.lexical.method import LEXICAL
from mpbert.methods.lexical.search import LexicalSearch
from mpbert.methods.rankings import Ranking
from mpbert.methods.reranking import RERANKERS
from tests.methods.conftest import Spy, fitted_embedder, taken

TELLS_LOSSES = {"dacr", "hatten", "linear_maps", "nnselect", "sbert", "transformer"}
TOP = 40


@pytest.fixture(scope="class")
def store(papers):
    return papers


@cache
def start_of(corpus):
    """Return the settings of linear maps over SIF."""
    store = CorpusStore(corpus)
    base = make_embedder("sif", EMBEDDERS["sif"].quick)
    base.fit(store, named_rng(1, "test"))
    place = Path(mkdtemp(dir=corpus.parent))
    base.embed_papers(store).save(place, "papers")
    for split in ("train", "valid", "test"):
        base.embed_queries(store, store.contexts(split)).save(place, f"contexts.{split}")
    return (f"start={place}",)


def fitted(name, store, checkpoint=None):
    settings = EMBEDDERS[name].quick
    if name == "linear_maps":  # over what another method has left
        settings = (*settings, *start_of(store.path))
    return fitted_embedder(name, store, *settings, checkpoint=checkpoint)


@pytest.fixture(scope="class")
def fit_and_asked(name, store):
    """An embedder, and the splits that its training asked for."""
    spy = Spy(store.path)
    return fitted(name, spy), set(spy.asked)


@pytest.fixture(scope="class")
def embedder(fit_and_asked):
    return fit_and_asked[0]


@pytest.mark.parametrize("name", EMBEDDERS.names(), scope="class")
class TestEmbedders:
    def test_there_is_a_vector_per_paper_and_query_in_the_order_of_the_store(self, embedder, store):
        papers = embedder.embed_papers(store)
        assert papers.ids == store.paper_ids
        for task in embedder.tasks:
            for split in ("valid", "test"):
                queries = store.queries(split, task)
                found = embedder.embed_queries(store, queries)
                assert found.ids == queries.query_ids
                assert found.dim == papers.dim
                assert np.isfinite(found.vectors).all()
                assert found.vectors.any(axis=1).mean() > 0.9

    def test_the_same_generator_gives_the_same_vectors(self, embedder, name, store, caplog):
        caplog.set_level("INFO")
        again = fitted(name, store)
        fields_of = [getattr(record, "fields", {}) for record in caplog.records]
        told = [fields for fields in fields_of if "loss" in fields]
        updates = [(fields["step"], fields["update"]) for fields in told]
        assert told or name not in TELLS_LOSSES  # gensim and numba tell of no loss
        for step in {step for step, _ in updates}:
            of_step = [update for name_of, update in updates if name_of == step]
            assert of_step == sorted(set(of_step))
        assert all(fields["loss"] > 0 for fields in told)
        assert_same_vectors(embedder, again, store)

    def test_only_the_training_split_is_learnt_from(self, fit_and_asked):
        assert fit_and_asked[1] <= {"train"}

    def test_no_word_of_other_splits_is_learnt_from(self, embedder, name, store, other_texts):
        again = fitted(name, other_texts)
        trained = store.paper_splits == "train"
        expected = embedder.embed_papers(store).vectors[trained]
        found = again.embed_papers(other_texts).vectors[trained]
        assert np.allclose(found, expected, rtol=1e-4, atol=1e-4)  # batches may differ

    def test_unknown_words_give_vectors_without_direction_or_any(
        self, embedder, name, unknown_words
    ):
        again = fitted(name, unknown_words)
        for vectors in again.vectors(unknown_words).values():
            assert np.isfinite(vectors.vectors).all()

    def test_no_queries_give_no_vectors(self, embedder, store):
        for task in embedder.tasks:
            found = embedder.embed_queries(store, taken(store.queries("test", task), 0))
            assert found.vectors.shape == (0, embedder.embed_papers(store).dim)

    def test_a_killed_training_goes_on_and_ends_in_the_same_bits(
        self, embedder, name, store, goes_on
    ):
        if not embedder.resumes:
            pytest.skip("trains for seconds at most")
        _, again = goes_on(lambda checkpoint: fitted(name, store, checkpoint))
        assert_same_vectors(embedder, again, store)


def assert_same_vectors(one, two, store):
    found, expected = two.vectors(store), one.vectors(store)
    assert found.keys() == expected.keys()
    for name, vectors in expected.items():
        assert np.array_equal(found[name].vectors, vectors.vectors), name


def assert_is_ranking(rows, scores, num_papers):
    """Best first; of equal scores the smaller row; no paper twice; nothing behind the end."""
    assert rows.shape == scores.shape and rows.dtype == np.int64
    has = rows >= 0
    assert (rows < num_papers).all() and (rows >= -1).all()
    assert (np.diff(has.astype(int), axis=1) <= 0).all(), "a gap in a list"
    assert np.isfinite(scores[has]).all() and (scores[~has] == -np.inf).all()
    both = has[:, 1:]
    before, after = scores[:, :-1][both], scores[:, 1:][both]
    assert (before >= after).all()
    tied = before == after
    assert (rows[:, :-1][both][tied] < rows[:, 1:][both][tied]).all(), "ties are not by row"
    for row in rows:
        assert len(set(row[row >= 0])) == (row >= 0).sum()


def lexical(name, store):
    return LexicalSearch(store, from_settings(LEXICAL[name], LEXICAL[name].quick, name))


@pytest.mark.parametrize("task", ["local", "global"])
@pytest.mark.parametrize("name", LEXICAL.names())
class TestLexicalMethods:
    def test_rankings_hold_every_paper_once_but_the_querys_own(self, name, task, store):
        queries = store.queries("test", task)
        rows, scores = lexical(name, store).search(queries, "test", TOP)
        assert_is_ranking(rows, scores, store.num_papers)
        assert rows.shape == (len(queries), TOP)
        assert not (rows == queries.citing_rows[:, None]).any()
        again = lexical(name, store).search(queries, "test", TOP)
        assert np.array_equal(rows, again[0]) and np.array_equal(scores, again[1])

    def test_training_queries_find_training_papers_whatever_the_others_say(
        self, name, task, store, other_texts
    ):
        if "citing" in LEXICAL[name]().fields:
            pytest.skip("it ranks by the training contexts themselves")
        queries = store.queries("train", task)
        found = [lexical(name, each).search(queries, "train", TOP) for each in (store, other_texts)]
        rows = found[0][0]
        assert (store.paper_splits[rows[rows >= 0]] == "train").all()
        newer = store.years[rows] > queries.years[:, None]
        assert not (newer & (rows >= 0)).any()
        assert np.array_equal(found[0][0], found[1][0])

    def test_unknown_words_tie_all_papers(self, name, task, unknown_words):
        queries = unknown_words.queries("test", task)
        if task == "global":  # papers are asked with, so that their words are known
            pytest.skip("a global query is a paper")
        search = lexical(name, unknown_words)
        rows, scores = search.search(queries, "test", TOP)
        assert_is_ranking(rows, scores, unknown_words.num_papers)

    def test_no_queries_have_no_rankings(self, name, task, store):
        queries = taken(store.queries("test", task), 0)
        rows, scores = lexical(name, store).search(queries, "test", TOP)
        assert rows.shape[0] == scores.shape[0] == 0


@pytest.fixture(scope="session")
def runs(papers):
    """Function of split and task: rankings of two lexical methods."""
    searches = [lexical(name, papers) for name in ("bm25", "tfidf")]

    def run(split, task):
        queries = papers.queries(split, task)
        return [Ranking(*search.search(queries, split, TOP)) for search in searches]

    return run


def reranker_of(name, store, runs, task, checkpoint=None, read=None):
    reranker = from_settings(RERANKERS[name], RERANKERS[name].quick, name)
    reranker.checkpoint = checkpoint
    reranker.check(store)
    rng = named_rng(1, "test")
    reranker.prepare(read or store, rng)
    if split := reranker.learns_from:
        inputs = runs(split, task)[: max(reranker.num_inputs[0], 1)]
        reranker.fit(read or store, store.queries(split, task), inputs, rng)
    return reranker


@pytest.fixture(scope="class")
def reranker_and_asked(name, task, store, runs):
    """A reranker, and the splits that its training asked for."""
    spy = Spy(store.path)
    return reranker_of(name, store, runs, task, read=spy), set(spy.asked)


@pytest.fixture(scope="class")
def reranker(reranker_and_asked):
    return reranker_and_asked[0]


@pytest.mark.parametrize("task", ["local", "global"], scope="class")
@pytest.mark.parametrize("name", RERANKERS.names(), scope="class")
class TestRerankers:
    @pytest.fixture
    def queries(self, store, task):
        return store.queries("test", task)

    @pytest.fixture
    def inputs(self, reranker, runs, task):
        return runs("test", task)[: max(reranker.num_inputs[0], 1)]

    def test_rankings_are_sorted_and_never_hold_the_querys_own_paper(
        self, reranker, store, queries, inputs
    ):
        found = reranker.rerank(store, queries, inputs)
        assert len(found.rows) == len(queries)
        assert_is_ranking(found.rows, found.scores, store.num_papers)
        assert not (found.rows == queries.citing_rows[:, None]).any()
        assert (found.rows >= 0).any(axis=1).all()

    def test_the_same_generator_gives_the_same_ranking(
        self, reranker, name, task, store, queries, inputs, runs
    ):
        again = reranker_of(name, store, runs, task)
        assert_same_ranking(reranker, again, store, queries, inputs)

    def test_what_the_queries_cite_is_not_looked_at(self, reranker, store, queries, inputs):
        other = type(queries)(**{**vars(queries), "cited_rows": queries.cited_rows[::-1]})
        one, two = (reranker.rerank(store, each, inputs) for each in (queries, other))
        assert np.array_equal(one.rows, two.rows) and np.array_equal(one.scores, two.scores)

    def test_only_its_split_and_training_are_learnt_from(self, reranker_and_asked):
        reranker, asked = reranker_and_asked
        assert asked <= {"train", reranker.learns_from}

    def test_papers_without_known_words_are_ranked_too(
        self, name, task, unknown_words, queries, inputs, runs
    ):
        reranker = reranker_of(name, unknown_words, runs, task)
        found = reranker.rerank(unknown_words, queries, inputs)
        assert_is_ranking(found.rows, found.scores, unknown_words.num_papers)

    def test_no_queries_and_empty_lists_give_none(self, reranker, store, queries, inputs):
        none = [ranking_of(ranking, 0) for ranking in inputs]
        found = reranker.rerank(store, taken(queries, 0), none)
        assert len(found.rows) == len(found.scores) == 0
        empty = [Ranking(np.full_like(r.rows, -1), np.full_like(r.scores, -np.inf)) for r in inputs]
        found = reranker.rerank(store, queries, empty)
        assert len(found.rows) == len(queries)
        assert (found.rows == -1).all() and (found.scores == -np.inf).all()

    def test_papers_below_the_depth_stay_behind_in_their_order(
        self, reranker, store, queries, inputs, monkeypatch
    ):
        if not hasattr(reranker, "depth") or len(inputs) > 1:
            pytest.skip("orders all that it is given")
        monkeypatch.setattr(reranker, "depth", 8)
        found, before = reranker.rerank(store, queries, inputs).rows, inputs[0].rows
        assert np.array_equal(np.sort(found[:, :8]), np.sort(before[:, :8]))
        assert np.array_equal(found[:, 8:], before[:, 8:])
        assert not np.array_equal(found, before)

    def test_ties_are_broken_by_row(self, reranker, store, queries, inputs):
        tied = [Ranking(np.sort(r.rows, axis=1), np.ones_like(r.scores)) for r in inputs]
        found = reranker.rerank(store, queries, tied)
        assert_is_ranking(found.rows, found.scores, store.num_papers)

    def test_a_killed_training_goes_on_and_ranks_the_same(
        self, reranker, name, task, store, queries, inputs, runs, goes_on
    ):
        if not reranker.resumes:
            pytest.skip("trains for seconds at most")
        _, again = goes_on(lambda checkpoint: reranker_of(name, store, runs, task, checkpoint))
        assert_same_ranking(reranker, again, store, queries, inputs)


def ranking_of(ranking, num):
    return Ranking(ranking.rows[:num], ranking.scores[:num])


def assert_same_ranking(one, two, store, queries, inputs):
    found, expected = (each.rerank(store, queries, inputs) for each in (two, one))
    assert np.array_equal(found.rows, expected.rows)
    assert np.array_equal(found.scores, expected.scores)


def test_unknown_methods_and_settings_are_refused_with_the_closest_name():
    with pytest.raises(ConfigError, match=r"unknown method 'word2vek'.*did you mean 'word2vec'"):
        make_embedder("word2vek", [])
    with pytest.raises(ConfigError, match=r"no setting 'epoch'.*did you mean 'epochs'"):
        make_embedder("word2vec", ["epoch=3"])
    with pytest.raises(ConfigError, match="found 'many'; expected int"):
        make_embedder("word2vec", ["epochs=many"])
    with pytest.raises(ConfigError, match="found 0; expected more than 0"):
        make_embedder("word2vec", ["epochs=0"])


def test_fit_writes_a_vectors_directory_and_counts_zero_vectors(rfc_corpus, tmp_path):
    output = tmp_path / "word2vec"
    fit.run(fit.Config(rfc_corpus, output, settings=list(EMBEDDERS["word2vec"].quick)))
    counts = read_manifest(output)["counts"]
    assert counts["papers_zero"] == counts["papers_never_cited_in_training"] > 0
    assert counts["papers"] == 120
    names = {"papers", "contexts.valid", "contexts.test"}
    assert {f"{n}.npy" for n in names} <= {path.name for path in output.iterdir()}
