"""Tests of ``compare``: files of any program, without a row file."""

import csv
import io
import json
from pathlib import Path

import pytest

from mpbert.cli import main
from mpbert.commands.compare import run_names
from mpbert.corpus.trec import read_qrels, read_run
from mpbert.evaluation.compare import compare
from mpbert.foundation.errors import ConfigError

CITED = {f"p{i // 3}#{i % 3}": ["a", "b"][: 1 + i % 2] for i in range(30)}


@pytest.fixture
def files(tmp_path):
    """Qrels, a run that is always right, and one that is right for each third query."""
    qrels = tmp_path / "qrels.txt"
    lines = [f"{query} 0 {paper} 1\n" for query, cited in CITED.items() for paper in cited]
    qrels.write_text("".join(lines))
    for name, wrong in (("good", lambda i: False), ("bad", lambda i: i % 3)):
        (tmp_path / name).mkdir()
        lines = []
        for i, (query, cited) in enumerate(CITED.items()):
            found = ["x", "y"] if wrong(i) else cited
            lines += [f"{query} Q0 {paper} {n + 1} {9 - n} t\n" for n, paper in enumerate(found)]
        (tmp_path / name / "test.run").write_text("".join(lines))
    return qrels, tmp_path / "good" / "test.run", tmp_path / "bad" / "test.run"


@pytest.fixture
def run(files, capsys):
    def call(*flags, paths=files):
        code = main(["compare", *map(str, paths), *flags])
        return code, *capsys.readouterr()

    return call


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/mine.run", "bm25/test.run", "bag/test.run"], ["mine", "bm25", "bag"]),
        (["x/a/test.run", "y/a/test.run", "mine.run"], ["x/a/test.run", "y/a/test.run", "mine"]),
        (["test/other.run", "a/x.run", "b/x.run"], ["other", "a", "b"]),
        (["a/b.run", "b/x.run", "c/x.run"], ["a/b.run", "b/x.run", "c"]),
    ],
)
def test_a_run_has_the_name_of_its_file_unless_others_have_it(paths, names):
    assert run_names(list(map(Path, paths))) == names


def test_a_run_of_unknown_papers_is_told(files, run, caplog, capsys):
    other = files[1].with_name("mine.run")
    other.write_text("".join(f"{query} Q0 zebra 1 1 t\n" for query in CITED))
    assert run(paths=[*files, other])[0] == 0
    assert (
        "mine: ranks 1 papers, none of which any query of the qrels cites: 'zebra'" in caplog.text
    )
    assert main(["evaluate", str(files[0]), str(other)]) == 0
    assert "none of which any query of the qrels cites" in capsys.readouterr().out


def test_the_text_shows_means_intervals_and_tests(run):
    code, out, _ = run("--measures", "MRR@10", "F1@2")
    assert code == 0
    blocks = out.split("\n\n")
    assert [block.splitlines()[0] for block in blocks[:3]] == [
        "P=1: 15 queries",
        "P>=1: 30 queries",
        "P>=2: 15 queries",
    ]
    head, good, bad = blocks[1].splitlines()[1:]
    assert head.split() == ["run", "missing", "MRR@10", "F1@2"]
    assert good.startswith("good  0        100.00 [100.00, 100.00] p=0.0")
    assert bad.startswith("bad   0        33.33 [")
    assert good.split()[-1] == "85.71"  # 2 · 0.75 · 1 / 1.75: no interval, no test


def test_markdown_has_a_table_for_each_subset(run):
    _, out, _ = run("--format", "markdown", "--measures", "MRR@10")
    assert out.count("| run | missing | MRR@10 |\n| --- | --- | --- |\n| good | 0 | 100.00 [") == 3


def test_csv_and_json_hold_what_the_library_finds(run, files):
    runs = {name: read_run(path) for name, path in zip(["good", "bad"], files[1:], strict=True)}
    flags = ("--measures", "MAP@10", "F1@5", "--seed", "4", "--cluster", "query")
    expected = compare(read_qrels(files[0]), runs, ["MAP@10", "F1@5"], 4, "query")
    found = json.loads(run(*flags, "--format", "json")[1])
    lines = list(csv.DictReader(io.StringIO(run(*flags, "--format", "csv")[1])))
    assert len(found) == len(lines) == len(expected) == 12
    for score, record, line in zip(expected, found, lines, strict=True):
        assert (record["run"], record["measure"]) == (score.run, score.measure)
        assert float(line["mean"]) == record["mean"] == score.mean
        if score.measure == "F1@5":
            assert record["low"] is None and line["p_t_test"] == "" and record["other"] == ""
        else:
            assert record["p_randomization"] == score.p_randomization


def test_one_run_alone_has_intervals(run, files):
    code, out, _ = run("--measures", "MRR@10", paths=files[:2])
    assert code == 0 and "\ntest  0        100.00 [100.00, 100.00]\n" in out


def test_runs_are_named_by_what_tells_them_apart(tmp_path):
    assert run_names([tmp_path / "a.run", tmp_path / "b.run"]) == ["a", "b"]
    assert run_names([tmp_path / "a" / "test.run", tmp_path / "b" / "test.run"]) == ["a", "b"]
    same = [tmp_path / "1" / "a" / "test.run", tmp_path / "2" / "a" / "test.run"]
    assert run_names(same) == [str(path) for path in same]
    with pytest.raises(ConfigError, match=r"a\.run: given 2 times; expected each run once"):
        run_names([tmp_path / "a.run"] * 2)


def test_what_is_wrong_is_one_line(run, files, tmp_path):
    assert run("--measures", "MAP")[0] == 2
    code, _, err = run(paths=[*files, tmp_path / "none.run"])
    assert code == 2 and err.startswith("mpbert compare: ") and "none.run: cannot be read" in err
    other = tmp_path / "other.run"
    other.write_text("zz#1 Q0 a 1 1.0 t\n")
    code, _, err = run(paths=[files[0], other])
    assert code == 2 and "queries of the qrels, but 'zz#1'; expected a run" in err
    with pytest.raises(SystemExit):
        run("--cluster", "year")


def test_queries_that_the_qrels_lack_are_left_out_and_counted(run, files, tmp_path):
    alone, more = run(paths=files[:2])[1], tmp_path / "more" / "test.run"
    more.parent.mkdir()
    more.write_text(files[1].read_text() + "zz#1 Q0 a 1 1.0 t\nzz#2 Q0 a 1 1.0 t\n")
    code, out, err = run(paths=[files[0], more])
    assert code == 0 and out == alone
    assert err.endswith("test: left out 2 queries that the qrels lack\n")


def test_ids_that_name_no_paper_are_told(run, files, tmp_path):
    paths = []
    for file in files:
        paths.append(tmp_path / f"{file.parent.name}.other")
        paths[-1].write_text(file.read_text().replace("#", "_"))
    assert "each query counts as a paper of its own" in run(paths=paths)[2]
    assert run()[2] == "" and run("--cluster", "query", paths=paths)[2] == ""
