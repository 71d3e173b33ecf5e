from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mpbert.commands import rerank, retrieve
from mpbert.corpus.records import UNKNOWN_YEAR
from mpbert.corpus.store import CorpusStore, Queries
from mpbert.corpus.trec import matrices_of_run, read_run
from mpbert.foundation.config import from_settings
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.ragged import offsets_of
from mpbert.methods.navigation.reranker import CitationGraph, Navigation, cited_by, expand, scored
from mpbert.methods.rankings import Ranking

NONE = -np.inf


def graph_of(years, *cited):
    flat = np.array([row for rows in cited for row in rows], dtype=np.int64)
    offsets, is_training = offsets_of([len(rows) for rows in cited]), np.ones(len(years), bool)
    return CitationGraph(offsets, flat, np.array(years), is_training)


# Fig. 1 of the paper: d1 cites d3, d4; d2 cites d5, d6; kd = 2 and kc = 3, so d6 is discarded
FIGURE = graph_of([2000] * 8, [7], [3, 4], [4, 5, 6], [7], [], [], [], [])


def queries_of(*own, year=2001):
    return Queries(
        ["q"] * len(own), np.array(own), np.zeros(len(own) + 1, int), np.zeros(0, int),
        np.full(len(own), year), np.zeros(len(own), bool),
    )  # fmt: skip


QUERY = queries_of(0)


def test_figure_1_of_the_paper_by_pencil():
    ranking = Ranking(np.array([[1, 2, 7]]), np.array([[9.0, 5.0, 4.0]]))
    found = expand(FIGURE, QUERY, ranking, keep=2, add=3)
    assert found.rows.tolist() == [[1, 2, 3, 4, 5]]
    assert found.scores.tolist() == [[9, 5, 1, -3, -7]]  # on with the step from 9 to 5


def test_a_second_round_starts_from_what_the_first_found():
    ranking = Ranking(np.array([[1]]), np.array([[9.0]]))
    once = expand(FIGURE, QUERY, ranking, keep=1, add=1)
    assert once.rows.tolist() == [[1, 3]]
    twice = expand(FIGURE, QUERY, once, keep=2, add=9)
    assert twice.rows.tolist() == [[1, 3, 4, 7]]
    assert (np.diff(twice.scores) < 0).all()


def test_later_documents_and_the_querys_own_paper_lend_nothing_and_it_is_not_found():
    graph = graph_of([2000, 2005, 1990, 1990, 1990], [2], [3], [0, 4], [], [])
    found = cited_by(graph, queries_of(0, year=2000), np.array([[0, 1, 2, -1]]), 9)
    assert [x.tolist() for x in found] == [[4], [1]]


def test_to_a_query_of_unknown_year_all_papers_lend_their_citations():
    graph = graph_of([UNKNOWN_YEAR, 2005, 1990, 1990], [], [2], [3], [])
    found = cited_by(graph, queries_of(0, year=UNKNOWN_YEAR), np.array([[1, 2]]), 9)
    assert [x.tolist() for x in found] == [[3], [1]]  # 2 is a document itself


def test_a_paper_of_unknown_year_may_cite_all_papers(store):
    years = store.years.copy()
    citing, cited = store.citations()
    years[citing[0]] = UNKNOWN_YEAR
    made = SimpleNamespace(
        citations=store.citations,
        years=years,
        num_papers=store.num_papers,
        paper_splits=store.paper_splits,
    )
    graph = CitationGraph.of(made)
    start, end = graph.offsets[citing[0] : citing[0] + 2]
    assert sorted(graph.cited[start:end]) == sorted(cited[citing == citing[0]])


def test_papers_lend_their_citations_only_if_they_are_for_training():
    graph = graph_of([2001, 2001, 2000, 1990, 1991, 1992], [], [3], [4], [], [], [])
    for is_training, found in ((True, [3, 4]), (False, [])):
        graph = replace(graph, is_training=np.full(6, is_training))
        rows, _ = cited_by(graph, QUERY, np.array([[1, 2]]), 9)
        assert rows.tolist() == found


def test_a_share_of_being_cited_ranks_all_candidates_by_pencil():
    # d1 (8) and d2 (2) lend: 3 is cited by d1; 4 by both; 5, which is ranked, by d2
    ranking = Ranking(np.array([[1, 2, 5]]), np.array([[8.0, 2.0, 1.0]]))
    found = scored(FIGURE, QUERY, ranking, keep=2, add=9, share=0.5)
    expected = {1: 1, 2: 0.25, 3: 1 / 8 + 0.4, 4: 1 / 8 + 0.5, 5: 1 / 8 + 0.1, 6: 1 / 8 + 0.1}
    by_score = sorted(expected, key=lambda row: (-expected[row], row))
    assert found.rows.tolist() == [by_score]
    assert found.scores[0] == pytest.approx([expected[row] for row in by_score])


def test_a_document_that_lends_nothing_is_in_neither_sum():
    ranking = Ranking(np.array([[1, 2]]), np.array([[8.0, 2.0]]))
    found = scored(FIGURE, queries_of(1), ranking, keep=2, add=9, share=1)
    assert found.scores[0].max() == pytest.approx(2 / 8 + 1)  # of 4, 5 and 6, by d2 alone
    assert found.rows[0, :3].tolist() == [4, 5, 6]


def test_queries_without_documents_stay_empty_with_a_share_too():
    ranking = Ranking(np.array([[-1, -1], [1, -1]]), np.array([[NONE, NONE], [2.0, NONE]]))
    found = scored(FIGURE, queries_of(0, 0), ranking, 2, 2, 1.0)
    assert found.rows.tolist() == [[-1, -1, -1], [3, 4, 1]]
    assert found.scores.tolist() == [[NONE] * 3, [2, 2, 1]]


def test_queries_without_documents_stay_empty():
    ranking = Ranking(np.array([[-1, -1], [1, -1]]), np.array([[NONE, NONE], [2.0, NONE]]))
    found = expand(FIGURE, queries_of(0, 0), ranking, keep=2, add=2)
    assert found.rows.tolist() == [[-1, -1, -1], [1, 3, 4]]
    assert found.scores.tolist() == [[NONE] * 3, [2, 1, 0]]


def test_it_is_the_slow_loop_of_the_paper(store):
    queries = store.contexts("test")
    rng = np.random.default_rng(1)
    lists = [rng.permutation(np.setdiff1d(np.arange(120), [own])) for own in queries.citing_rows]
    rows = np.stack([order[:30] for order in lists])
    ranking = Ranking(rows, np.tile(np.arange(30, 0, -1.0), (len(rows), 1)))
    found = Navigation(rounds="5+8").rerank(store, queries, [ranking])
    citing, cited = store.citations()
    for q in range(0, len(queries), 7):
        expected = rows[q, :5].tolist()
        for document in rows[q, :5]:
            for paper in sorted(cited[citing == document].tolist()):
                training = store.paper_splits[document] == "train"
                if (
                    store.years[paper] <= store.years[document] <= queries.years[q]
                    and training
                    and paper not in [*expected, queries.citing_rows[q]]
                    and len(expected) < 13
                ):
                    expected.append(paper)
        assert found.rows[q][found.rows[q] >= 0].tolist() == expected
    assert found.rows.shape[1] > 8


def test_of_as_many_candidates_more_are_cited_by_whole_papers(rfc_corpus, store, tmp_path):
    retrieve.run(
        retrieve.Config(rfc_corpus, tmp_path / "bm25", lexical="bm25", task="global", top=30)
    )
    settings = ["rounds=10+20"]
    config = rerank.Config(
        rfc_corpus, tmp_path / "more", [tmp_path / "bm25"], reranker="navigation",
        settings=settings, task="global",
    )  # fmt: skip
    rerank.run(config)

    def recall(name):
        queries = store.queries("valid", "global")
        run = read_run(tmp_path / name / "valid.run")
        rows, _ = matrices_of_run(run, queries.query_ids, store.paper_ids, name)
        assert rows.shape[1] == 30
        each = np.repeat(np.arange(len(queries)), np.diff(queries.cited_offsets))
        return (rows[each] == queries.cited_rows[:, None]).any(axis=1).mean()

    assert recall("more") > recall("bm25") + 0.1


@pytest.mark.parametrize("rounds", ["300", "300+", "0+10", "10+5,", "a+b", "10+5;3+3"])
def test_rounds_that_are_none_are_refused(rounds):
    with pytest.raises(ConfigError, match=r"rounds=.*expected kd\+kc, both more than 0"):
        from_settings(Navigation, [f"rounds={rounds}"], "navigation")


def test_a_corpus_without_citations_is_refused(store, tmp_path):
    for file in store.path.glob("*.parquet"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    empty = pq.read_table(store.path / "citations.parquet").slice(0, 0)
    pq.write_table(pa.table(empty), tmp_path / "citations.parquet")
    with pytest.raises(CorpusError, match="found no citation between papers"):
        Navigation().check(CorpusStore(tmp_path))
