from dataclasses import replace

import numpy as np

from mpbert import cli
from mpbert.corpus.trec import run_of_matrix, write_run
from mpbert.evaluation.misses import CAUSES, find_misses


def ranking(contexts, store, first_of_each):
    """Each context ranks one paper that it cites, then the first papers that it does not."""
    rows = np.full((len(contexts), 4), -1)
    for i in range(len(contexts)):
        others = np.setdiff1d(np.arange(8), contexts.cited(i))[:3]
        rows[i, : len(others)] = others
        if first_of_each:
            rows[i] = [contexts.cited(i)[0], *rows[i, :3]]
    return rows


def test_all_but_the_found_citations_are_misses(store):
    contexts = store.contexts("test")
    num_cited = np.diff(contexts.cited_offsets)
    misses = find_misses(store, contexts, ranking(contexts, store, True), 3)
    assert misses.num_citations == num_cited.sum()
    assert len(misses.ranks) == (num_cited - 1).sum()
    assert (misses.ranks == 0).all()
    firsts = {(i, int(contexts.cited(i)[0])) for i in range(len(contexts))}
    found = set(zip(misses.contexts.tolist(), misses.cited_rows.tolist(), strict=True))
    assert not firsts & found


def test_a_paper_below_the_cutoff_is_a_miss_with_its_rank(store):
    contexts = store.contexts("test")
    rows = ranking(contexts, store, False)
    rows[0] = [*np.setdiff1d(np.arange(8), contexts.cited(0))[:3], contexts.cited(0)[0]]
    misses = find_misses(store, contexts, rows, 3)
    assert misses.ranks[0] == 4
    assert (misses.ranks[1:] == 0).all()


def test_causes_say_what_is_true_of_the_cited_paper(store):
    contexts = store.contexts("test")
    misses = find_misses(store, contexts, ranking(contexts, store, False), 3)
    ever_cited = set(store.contexts("train").cited_rows.tolist())
    is_new = np.array([row not in ever_cited for row in misses.cited_rows.tolist()])
    assert not (misses.causes == 0).any()  # no RFC of the tests cites a newer one
    assert ((misses.causes < 3) == is_new).all()
    assert len(np.unique(misses.causes)) >= 3


def test_a_paper_that_is_newer_than_the_manuscript_is_told_first(store):
    contexts = store.contexts("test")
    newest = int(np.argmax(store.years))
    older = np.flatnonzero(store.years[contexts.citing_rows] < store.years[newest])[:1]
    one = contexts.take(older)
    newer = replace(one, cited_rows=np.full_like(one.cited_rows, newest))
    misses = find_misses(store, newer, np.full((1, 3), -1), 3)
    assert len(misses.causes) and (misses.causes == 0).all()
    assert "newer than the manuscript" in CAUSES[0]


def test_the_command_prints_counts_and_examples(store, rfc_corpus, tmp_path, capsys):
    contexts = store.contexts("test")
    rows = ranking(contexts, store, True)
    scores = np.tile([4.0, 3, 2, 1], (len(rows), 1))
    rows, scores = rows[:, :2], scores[:, :2]
    run = run_of_matrix(contexts.query_ids, store.paper_ids, rows, scores)
    write_run(tmp_path / "test.run", run, "x")
    assert cli.main(["misses", str(rfc_corpus), str(tmp_path / "test.run"), "--number=2"]) == 0
    out = capsys.readouterr().out
    distinct = contexts.distinct()
    assert f"of {len(distinct.cited_rows):,} citations missed at 10" in out
    repeats = len(contexts) - len(distinct)
    assert f"{repeats:,} of {len(contexts):,} queries repeat another and are left out\n" in out
    assert all(f"| {cause} |" in out for cause in CAUSES)
    assert out.count("- missed (not in the list): ") == 2
    assert out.count(", cited too") >= 2
    assert cli.main(["misses", str(rfc_corpus), str(tmp_path / "none.run")]) == 2


def _write_run(path, store, split, number):
    contexts = store.contexts(split)
    rows = np.zeros((number, 1), dtype=np.int64)
    queries = contexts.query_ids[:number]
    write_run(path, run_of_matrix(queries, store.paper_ids, rows, np.ones((number, 1))), "x")
    return len(contexts)


def test_a_run_of_another_split_is_told_to_name_it(store, rfc_corpus, tmp_path, capsys):
    path = tmp_path / "a.run"
    _write_run(path, store, "valid", 3)
    assert cli.main(["misses", str(rfc_corpus), str(path)]) == 2
    message = "its queries are those of the split valid; expected the split test, give --split"
    error = capsys.readouterr().err
    assert f"{path}: {message} valid\n" in error and error.count("\n") == 1


def test_queries_that_are_missing_in_the_run_are_counted(store, rfc_corpus, tmp_path, capsys):
    path = tmp_path / "test.run"
    _write_run(path, store, "test", 3)
    contexts = store.contexts("test")
    queries, found = len(contexts.distinct()), int((~contexts.is_repeat[:3]).sum())
    assert cli.main(["misses", str(rfc_corpus), str(path), "--number=0"]) == 0
    line = f"\n{queries - found:,} of {queries:,} queries are missing in the run\n"
    assert line in capsys.readouterr().out
