"""Standard error as lines to read and as JSON, by a real process and in this one."""

import json
import logging
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from mpbert import cli
from mpbert.experiments.measured import run_measured
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.logs import VARIABLE, is_json, message_of, take_style, written

ROOT = Path(__file__).parents[2]


def objects(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)


def test_each_line_of_a_command_is_an_object_with_time_level_message_and_fields(
    rfc_corpus, tmp_path
):
    words = ["binarize", str(rfc_corpus), str(tmp_path / "out"), "--vocab-size", "400"]
    command = [sys.executable, "-m", "mpbert", *words]
    environment = {**os.environ, VARIABLE: "json"}
    found = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert found.returncode == 0, found.stderr
    lines = objects(found.stderr)
    times = [line["time"] for line in lines]
    assert times == sorted(times) and re.fullmatch(r"\d{4}-.*T.*\.\d{3}\+00:00", times[0])
    assert {(line["level"], line["command"]) for line in lines} == {("info", "binarize")}
    steps = {line["step"]: line for line in lines if "step" in line}
    assert steps["tokenizer"]["count"] == 1 and steps["tokenizer"]["unit"] == "chunk"
    assert steps["tokenizer"]["seconds"] >= 0
    assert "tokens in" in lines[-1]["message"]


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        (["embedd"], "ConfigError", "did you mean 'embed'?"),
        (["validate"], "ConfigError", "required: input; see mpbert validate --help"),
        (["validate", "no.jsonl"], "CorpusError", "no.jsonl"),
    ],
)
def test_the_last_line_is_the_error_with_its_kind_and_exit_code(words, kind, message, capsys):
    assert cli.main(["--log=json", *words]) == 2
    (line,) = objects(capsys.readouterr().err)
    assert (line["level"], line["error"], line["exit_code"]) == ("error", kind, 2)
    assert message in line["message"]
    assert not is_json()


def test_a_bug_is_one_object_with_its_traceback_in_json_and_a_traceback_in_text(
    monkeypatch, capsys, tmp_path
):
    from mpbert.commands import validate

    def fail(config):
        warnings.warn("about\nto fail", stacklevel=1)
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(validate, "run", fail)
    assert cli.main(["validate", "x", "--log", "json"]) == 1
    warning, line = objects(capsys.readouterr().err)
    assert warning["level"] == "warning" and "about\nto fail" in warning["message"]
    assert (line["message"], line["error"], line["exit_code"]) == ("a bug", "ZeroDivisionError", 1)
    assert "in fail" in line["traceback"]
    with pytest.raises(ZeroDivisionError), pytest.warns(UserWarning):
        cli.main(["validate", "x"])


def test_an_interrupt_is_an_object_too(monkeypatch, capsys):
    from mpbert.commands import validate

    def interrupt(config):
        raise KeyboardInterrupt

    monkeypatch.setattr(validate, "run", interrupt)
    assert cli.main(["validate", "x", "--log", "json"]) == 130
    (line,) = objects(capsys.readouterr().err)
    assert line["exit_code"] == 130


def test_steps_of_a_command_write_in_its_style():
    code = "import os; print(os.environ['MPBERT_LOG'], os.environ['TQDM_DISABLE'])"
    with written("json", "test"):
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout == "json 1\n"


def test_what_a_step_writes_is_relayed_as_objects_and_its_last_message_is_found(capsys):
    code = (
        "import sys; from mpbert.cli import main\n"
        "print('a result', flush=True); print(file=sys.stderr, flush=True)\n"
        "sys.exit(main(['validate', 'no.jsonl']))"
    )
    with written("json", "make-rows"):
        found = run_measured([sys.executable, "-c", code], {**os.environ, "PYTHONPATH": str(ROOT)})
    assert (found.exit_code, found.last_line.startswith("no.jsonl")) == (2, True)
    first, second = objects(capsys.readouterr().err)
    assert (first["command"], first["message"]) == ("make-rows", "a result")
    assert (second["command"], second["error"]) == ("validate", "CorpusError")


def test_lines_of_a_step_beside_others_bear_its_label(capsys):
    code = """import sys; sys.stderr.write('a result\\n{"message": 1}')"""  # and no line end
    run_measured([sys.executable, "-c", code], dict(os.environ), label="bm25")
    assert capsys.readouterr().err == 'bm25: a result\nbm25: {"message": 1}\n'
    with written("json", "make-rows"):
        run_measured([sys.executable, "-c", code], dict(os.environ), label="bm25")
    first, second = objects(capsys.readouterr().err)
    assert (first["message"], first["label"]) == ("a result", "bm25")
    assert second == {"message": 1, "label": "bm25"}


def test_the_style_may_stand_anywhere_and_the_last_one_counts(monkeypatch):
    assert take_style(["a", "--log", "json", "b"]) == ("json", ["a", "b"])
    assert take_style(["--log=json", "a", "--log=text"]) == ("text", ["a"])
    monkeypatch.setenv(VARIABLE, "json")
    assert take_style(["a"]) == ("json", ["a"])
    assert take_style(["a", "--log=text"]) == ("text", ["a"])


def test_an_unknown_style_is_refused_in_one_line(monkeypatch, capsys):
    assert cli.main(["validate", "x", "--log"]) == 2
    assert capsys.readouterr().err == "mpbert: --log: found ''; expected one of json, text\n"
    monkeypatch.setenv(VARIABLE, "xml")
    with pytest.raises(ConfigError, match="MPBERT_LOG: found 'xml'; expected one of json, text"):
        take_style([])


def test_a_command_leaves_no_handler_behind(capsys):
    before = list(logging.getLogger().handlers)
    cli.main(["validate", "no.jsonl"])
    assert logging.getLogger().handlers == before


def test_the_message_of_a_line_is_found_in_both_styles():
    assert message_of('{"level": "error", "message": "bad"}') == "bad"
    for line in ("bad", "{bad}", '"bad"', "3", "{}"):
        assert message_of(line) == line
