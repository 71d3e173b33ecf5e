import numpy as np
import pytest

from mpbert.commands import evaluate
from mpbert.corpus.trec import Qrels, read_qrels, read_run
from mpbert.evaluation.evaluate import (
    citing_papers,
    judge,
    num_gold,
    part_in_qrels,
    times_citing_paper_ranked,
)
from mpbert.foundation.errors import RunError

QRELS = "a#1 0 x 1\na#1 0 y 1\nb#2 0 x 1\nb#9 0 z 1\n"
RUN = "b#2 Q0 w 1 9 t\nb#2 Q0 x 2 8 t\na#1 Q0 y 1 9 t\na#1 Q0 b 2 8 t\na#1 Q0 x 3 7 t\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path


def test_hits_stand_in_the_order_of_the_qrels_and_a_missing_query_has_none(files):
    judged = judge(read_run(files / "run"), read_qrels(files / "qrels"), 3)
    assert judged.hits.astype(int).tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 0]]
    assert judged.depths.tolist() == [3, 2, 0]
    assert judged.num_missing == 1


def test_ranks_beyond_the_depth_are_not_looked_at(files):
    judged = judge(read_run(files / "run"), read_qrels(files / "qrels"), 1)
    assert judged.hits.astype(int).tolist() == [[1], [0], [0]]
    assert judged.depths.tolist() == [1, 1, 0]


def test_hits_equal_a_slow_double_loop(tmp_path):
    rng = np.random.default_rng(3)
    lines = [
        f"q{q} Q0 p{p} 0 {s} t\n"
        for q in range(30)
        for p, s in zip(rng.permutation(40)[:20], rng.integers(0, 9, 20), strict=True)
    ]
    gold = {q: set(rng.choice(40, rng.integers(1, 6), replace=False).tolist()) for q in range(30)}
    offsets = np.cumsum([0, *(len(gold[q]) for q in range(30))])
    codes = np.array([p for q in range(30) for p in gold[q]])
    qrels = Qrels([f"q{q}" for q in range(30)], offsets, [f"p{p}" for p in range(40)], codes)
    order = rng.permutation(len(lines))
    (tmp_path / "run").write_text("".join(lines[i] for i in order))
    judged = judge(read_run(tmp_path / "run"), qrels, 10)
    for q in range(30):
        fields = [line.split() for line in lines if line.startswith(f"q{q} ")]
        ranked = sorted((-float(f[4]), f[2]) for f in fields)
        assert judged.hits[q].tolist() == [int(p[1:]) in gold[q] for _, p in ranked[:10]]


def test_queries_that_the_qrels_lack_are_left_out(files):
    run, qrels = read_run(files / "run"), read_qrels(files / "qrels")
    (files / "more").write_text(RUN.replace("a#1", "c#7 Q0 x 1 9 t\na#1", 1) + "d#1 Q0 z 1 1 t\n")
    more = read_run(files / "more")
    assert part_in_qrels(more, qrels).query_ids == run.query_ids != more.query_ids
    judged, expected = judge(more, qrels, 3), judge(run, qrels, 3)
    assert judged.hits.tolist() == expected.hits.tolist()
    assert judged.depths.tolist() == expected.depths.tolist()


def test_the_command_tells_how_many_queries_it_left_out(files, capsys):
    (files / "more").write_text(RUN + "d#1 Q0 z 1 1 t\n")
    for name in ("run", "more"):
        evaluate.run(evaluate.Config(files / "qrels", files / name, ["Recall@1", "MRR@2"]))
    out = capsys.readouterr().out.splitlines()
    assert out[5:] == [*out[:5], "left out 1 queries of the run that the qrels lack"]


def test_a_run_of_none_of_the_queries_is_refused_and_some_are_named(files):
    (files / "run").write_text("".join(f"c#{i} Q0 x 1 1 t\n" for i in range(5)))
    with pytest.raises(RunError) as error:
        judge(read_run(files / "run"), read_qrels(files / "qrels"), 3, "some.run")
    assert str(error.value).startswith(
        "some.run: found none of the 3 queries of the qrels, but 'c#0', 'c#1', 'c#2' and 2 more; "
        "expected a run of the same corpus and split"
    )


def test_papers_outside_the_pool_are_named(files):
    run, qrels = read_run(files / "run"), read_qrels(files / "qrels")
    with pytest.raises(RunError, match=r"found 1 unknown paper ids \('w'\); expected ids of the c"):
        judge(run, qrels, 3, pool=["b", "x", "y", "z"])


def test_a_run_that_ranks_the_citing_paper_is_noticed(tmp_path):
    (tmp_path / "run").write_text(
        "a#1 Q0 b 1 2 t\na#1 Q0 a 2 1 t\nb#1 Q0 a 1 1 t\nc#1 Q0 a 1 1 t\n"
    )
    assert times_citing_paper_ranked(read_run(tmp_path / "run"), "local") == 1


def test_the_query_of_a_whole_paper_is_its_id_also_with_a_hash(tmp_path):
    (tmp_path / "run").write_text("P#5 Q0 P#5 1 2 t\nP#6 Q0 P 1 1 t\n")
    assert citing_papers(["P#5", "P"], "global") == ["P#5", "P"]
    assert citing_papers(["P#5#0"], "local") == ["P#5"]
    assert times_citing_paper_ranked(read_run(tmp_path / "run"), "global") == 1


def test_num_gold_counts_the_relevant_papers(files):
    assert num_gold(read_qrels(files / "qrels")).tolist() == [2, 1, 1]


def test_the_command_prints_measures_by_subset(files, capsys):
    evaluate.run(evaluate.Config(files / "qrels", files / "run", ["Recall@1", "MRR@2"]))
    assert capsys.readouterr().out == (
        "                           P=1      P>=1      P>=2\n"
        "queries                      2         3         1\n"
        "missing in the run           1         1         0\n"
        "Recall@1                  0.00     16.67     50.00\n"
        "MRR@2                    25.00     50.00    100.00\n"
    )


def test_the_command_prints_measures_of_the_run_and_of_whole_rankings(files, capsys):
    measures = ["P@2", "F1@2", "MRR", "Recall@2000"]
    evaluate.run(evaluate.Config(files / "qrels", files / "run", measures))
    p, r = (1 / 2 + 1 / 2) / 3, (1 / 2 + 1) / 3
    table = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
    assert table["P@2"] == ["25.00", "33.33", "50.00"]
    assert table["F1@2"][1] == f"{200 * p * r / (p + r):.2f}"
    assert table["MRR"] == ["25.00", "50.00", "100.00"]
    assert table["Recall@2000"] == ["50.00", "66.67", "100.00"]


def test_a_cutoff_of_any_depth_takes_no_memory(files, capsys):
    measures = [f"{formula}@{10**17}" for formula in ("P", "F1", "Recall", "MAP", "nDCG", "MRR")]
    evaluate.run(evaluate.Config(files / "qrels", files / "run", measures))
    deep = [line.split()[1:] for line in capsys.readouterr().out.splitlines()[3:]]
    measures = [f"{formula}@3" for formula in ("Recall", "MAP", "nDCG", "MRR")]
    evaluate.run(evaluate.Config(files / "qrels", files / "run", measures))
    assert deep[:2] == [["0.00"] * 3] * 2
    assert deep[2:] == [line.split()[1:] for line in capsys.readouterr().out.splitlines()[3:]]


def test_each_citation_is_a_query_and_the_other_cited_papers_count_as_wrong(files, capsys):
    words = files / "qrels", files / "run", ["Recall@1", "Recall@3", "MRR"]
    evaluate.run(evaluate.Config(*words, each_citation=True))
    lines = {line.split()[0]: line.split()[-3:] for line in capsys.readouterr().out.splitlines()}
    # ranks: a#1 cites y at 1 and x at 3; b#2 cites x at 2; b#9 is not in the run
    assert lines["queries"] == ["2", "4", "2"]
    assert lines["missing"] == ["1", "1", "0"]
    assert lines["Recall@1"] == ["0.00", "25.00", "50.00"]
    assert lines["Recall@3"] == ["50.00", "75.00", "100.00"]
    assert lines["MRR"] == ["25.00", f"{100 * (1 + 1 / 3 + 1 / 2) / 4:.2f}", "66.67"]
