import numpy as np
import pytest

from mpbert.corpus.trec import read_qrels, read_run, run_of_matrix, write_run
from mpbert.foundation.errors import RunError


def _file(tmp_path, text):
    path = tmp_path / "file.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def _ranked(run, query):
    start, end = run.offsets[query : query + 2]
    return [run.paper_ids[code] for code in run.codes[start:end]]


def _gold(qrels, query):
    start, end = qrels.offsets[query : query + 2]
    return [qrels.paper_ids[code] for code in qrels.codes[start:end]]


def test_a_run_is_ordered_by_score_and_then_by_the_smaller_paper_id(tmp_path):
    path = _file(
        tmp_path,
        "q1 Q0 c 1 0.5 x\nq2 Q0 a 1 7 x\nq1 Q0 b 2 0.5 x\nq1 Q0 z 3 2e0 x\nq1 Q0 B 4 0.5 x\n",
    )
    run = read_run(path)
    assert run.query_ids == ["q1", "q2"]
    assert _ranked(run, 0) == ["z", "B", "b", "c"]  # code points: capitals first
    assert _ranked(run, 1) == ["a"]
    assert run.scores.tolist() == [2.0, 0.5, 0.5, 0.5, 7.0]


def test_ties_in_a_run_that_is_already_sorted_by_score_are_ordered_too(tmp_path):
    assert _ranked(read_run(_file(tmp_path, "q Q0 b 1 1 x\nq Q0 a 2 1 x\n")), 0) == ["a", "b"]


def test_a_written_run_reads_back_to_the_same_numbers_and_bytes(tmp_path):
    rng = np.random.default_rng(1)
    paper_ids = [f'p"{i},' for i in range(50)]
    rows = np.argsort(rng.random((20, 50)), axis=1)[:, :10]
    scores = -np.sort(-rng.standard_normal((20, 10)) * 1e-7, axis=1)
    run = run_of_matrix([f"é#{i}" for i in range(20)], paper_ids, rows, scores)
    write_run(tmp_path / "a", run, "tag")
    again = read_run(tmp_path / "a")
    assert again.query_ids == run.query_ids
    assert np.array_equal(again.scores, scores.ravel())
    assert [_ranked(again, i) for i in range(20)] == [_ranked(run, i) for i in range(20)]
    write_run(tmp_path / "b", again, "tag")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_text("utf-8").splitlines()[0].split(" ")[1::2] == [
        "Q0",
        "1",
        "tag",
    ]


def test_qrels_gather_the_lines_of_a_query_and_leave_out_relevance_0(tmp_path):
    qrels = read_qrels(_file(tmp_path, "q2 0 a 1\nq1 0 b 1\nq2 0 c 0\nq2 0 b 1\n"))
    assert qrels.query_ids == ["q2", "q1"]
    assert _gold(qrels, 0) == ["a", "b"]
    assert _gold(qrels, 1) == ["b"]


def test_tabs_runs_of_spaces_and_blank_lines_are_read_as_trec_eval_does(tmp_path):
    run = read_run(_file(tmp_path, "  q\tQ0  a 1\t2 x \r\n\nq Q0 b 2 3 x"))
    assert _ranked(run, 0) == ["b", "a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found no lines; expected 'query id Q0 paper id rank score tag'"),
        ("q Q0 a 1 1 x\n\nq Q0 b 2 x\n", ":3: found 5 fields; expected 6 of a run: query id, Q0"),
        ("q Q0 a 1 1 x\nq Q0 b 2 high x\n", ":2: found score 'high'; expected a number"),
        ("q Q0 a 1 1 x\n\nq Q0 b 2 nan x\n", ":3: found score nan; expected a finite number"),
        ("q Q0 a 1 -inf x\n", ":1: found score -inf; expected a finite number"),
        (
            "q Q0 a 1 3 x\nr Q0 a 1 2 x\nq Q0 a 2 1 x\n",
            ":3: paper 'a' stands a second time under query 'q'; expected each paper once",
        ),
        (b"q Q0 a 1 1 x\nq Q0 \xff 2 1 x\n", ":2: found bytes that are not UTF-8"),
    ],
)
def test_a_broken_run_is_refused_with_its_line(tmp_path, text, message):
    path = _file(tmp_path, text)
    with pytest.raises(RunError) as error:
        read_run(path)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 0 a 1\nq 0 b 2\n", ":2: found relevance 2; expected 0 or 1"),
        ("q 0 a 1\nq 0 b 0.5\n", ":2: found relevance '0.5'; expected 0 or 1"),
        ("q 0 a 1\nq 0 a 1\n", ":2: paper 'a' stands a second time under query 'q'"),
        ("q 0 a 1\nr 0 a 0\n", "query 'r' has no relevant paper"),
        ("q a 1\n", ":1: found 3 fields; expected 4 of qrels: query id, 0, paper id, relevance"),
    ],
)
def test_broken_qrels_are_refused_with_their_line(tmp_path, text, message):
    with pytest.raises(RunError) as error:
        read_qrels(_file(tmp_path, text))
    assert message in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(RunError, match="nowhere: cannot be read"):
        read_run(tmp_path / "nowhere")


def test_a_folder_is_refused_with_the_run_that_it_holds(tmp_path):
    (tmp_path / "test.run").write_text("q Q0 a 1 1 x\n")
    with pytest.raises(RunError, match=r"a TREC file, such as .*/test\.run in this folder"):
        read_run(tmp_path)


def test_ids_with_spaces_and_scores_that_are_no_numbers_are_not_written(tmp_path):
    rows, scores = np.array([[0]]), np.array([[1.0]])
    with pytest.raises(RunError, match="the paper id 'a b' is empty or holds white space"):
        write_run(tmp_path / "r", run_of_matrix(["q"], ["a b"], rows, scores), "x")
    with pytest.raises(RunError, match="query 'q' has the score nan"):
        write_run(tmp_path / "r", run_of_matrix(["q"], ["a"], rows, scores * np.nan), "x")
