"""Held-out parts of training: what is in them, and the lists that are made of them."""

import numpy as np
import pytest

from mpbert import cli
from mpbert.corpus.parts import parts_of_training
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import matrices_of_run, read_run

PARTS = 3


@pytest.fixture(scope="module")
def parts(rfc_corpus, tmp_path_factory):
    place = tmp_path_factory.mktemp("parts")
    for part in range(1, PARTS + 1):
        words = ["hold-out", str(rfc_corpus), str(place / f"corpus-{part}")]
        assert cli.main([*words, f"--part={part}", f"--parts={PARTS}"]) == 0
    return place


@pytest.fixture(scope="module")
def lists(rfc_corpus, parts):
    for part in range(1, PARTS + 1):
        words = ["retrieve", str(parts / f"corpus-{part}"), str(parts / f"run-{part}")]
        flags = ["--lexical=bm25", "--settings", "fields=abstract+citing"]
        assert cli.main([*words, *flags, "--splits", "test", "--top=5", "--add-cited"]) == 0
    runs = [str(parts / f"run-{part}") for part in range(1, PARTS + 1)]
    assert cli.main(["join-parts", str(rfc_corpus), str(parts / "lists"), "--runs", *runs]) == 0
    return parts / "lists"


def test_every_training_paper_is_held_out_once(store, parts):
    dealt = parts_of_training(store, PARTS)
    is_training = store.paper_splits == "train"
    assert np.array_equal(dealt > 0, is_training)
    assert np.ptp(np.bincount(dealt)[1:]) <= 1
    for part in range(1, PARTS + 1):
        held = CorpusStore(parts / f"corpus-{part}")
        assert held.paper_ids == store.paper_ids
        expected = np.where(dealt == part, "test", store.paper_splits)
        assert np.array_equal(held.paper_splits, expected)


@pytest.mark.parametrize("task", ["local", "global"])
def test_queries_of_the_parts_are_the_training_queries_and_no_test_query_is_left(
    store, parts, task
):
    training = store.queries("train", task)
    tested = set(store.queries("test", task).query_ids)
    found = []
    for part in range(1, PARTS + 1):
        held = CorpusStore(parts / f"corpus-{part}")
        queries, left = held.queries("test", task), held.queries("train", task)
        assert not set(queries.query_ids) & set(left.query_ids)
        assert sorted(queries.query_ids + left.query_ids) == sorted(training.query_ids)
        assert not tested & set(queries.query_ids + left.query_ids)
        assert held.queries("valid", task).query_ids == store.queries("valid", task).query_ids
        found += queries.query_ids
    assert sorted(found) == sorted(training.query_ids)
    citing, _ = CorpusStore(parts / "corpus-1").citations()
    assert not (store.paper_splits[citing] == "test").any()


def test_lists_hold_the_first_papers_and_all_that_is_cited_with_its_score(store, lists, parts):
    queries = store.queries("train", "local")
    run = read_run(lists / "train.run")
    rows, scores = matrices_of_run(run, queries.query_ids, store.paper_ids, "lists")
    lengths = (rows >= 0).sum(axis=1)
    assert lengths.min() > 0 and lengths.max() > 5
    assert (np.diff(np.where(rows >= 0, scores, -1e9), axis=1) <= 0).all()
    assert (store.paper_splits[rows[rows >= 0]] == "train").all()
    is_training = store.paper_splits == "train"
    for i in range(0, len(queries), 7):
        cited = queries.cited(i)
        candidates = is_training[cited] & (store.years[cited] <= queries.years[i])
        assert set(cited[candidates]) <= set(rows[i])
    deep = parts / "deep"
    words = ["retrieve", str(parts / "corpus-1"), str(deep), "--lexical=bm25", "--splits", "test"]
    assert cli.main([*words, "--settings", "fields=abstract+citing", "--top=200"]) == 0
    held = CorpusStore(parts / "corpus-1").queries("test", "local")
    all_rows, all_scores = matrices_of_run(
        read_run(deep / "test.run"), held.query_ids, store.paper_ids, "deep"
    )
    place = {query: i for i, query in enumerate(queries.query_ids)}
    for i in range(0, len(held), 7):
        mine = place[held.query_ids[i]]
        of = dict(zip(all_rows[i].tolist(), all_scores[i].tolist(), strict=True))
        expected = [of[row] for row in rows[mine][rows[mine] >= 0]]
        assert scores[mine][rows[mine] >= 0].tolist() == expected


def test_what_is_cited_is_added_to_held_out_lists_alone(rfc_corpus, tmp_path, capsys):
    words = ["retrieve", str(rfc_corpus), str(tmp_path / "run"), "--lexical=bm25", "--add-cited"]
    assert cli.main(words) == 2
    assert "--add-cited: " in (error := capsys.readouterr().err)
    assert "expected a corpus of mpbert hold-out" in error
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("part", "parts"), [(0, 3), (4, 3), (1, 1)])
def test_parts_that_are_none_are_refused(rfc_corpus, tmp_path, capsys, part, parts):
    words = ["hold-out", str(rfc_corpus), str(tmp_path / "x")]
    assert cli.main([*words, f"--part={part}", f"--parts={parts}"]) == 2
    assert "expected 2 parts or more" in capsys.readouterr().err


def test_lists_of_one_part_twice_are_refused(rfc_corpus, lists, parts, tmp_path, capsys):
    runs = [str(parts / "run-1")] * 2
    assert cli.main(["join-parts", str(rfc_corpus), str(tmp_path / "x"), "--runs", *runs]) == 2
    assert "is ranked for in 2 of these runs" in capsys.readouterr().err
