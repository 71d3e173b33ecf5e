import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mpbert.experiments.measured import has_gpu, run_measured
from mpbert.experiments.processes import step_environment


def _run(*command):
    return run_measured(command, step_environment())


def test_time_memory_exit_code_and_last_line_of_a_process_and_its_children_are_found(capsys):
    code = "x = bytearray(200 << 20); sum(range(10**7)); raise SystemExit('too\\nbad\\n')"
    found = _run("bash", "-c", f'"{sys.executable}" -c "{code}"; exit 3')
    assert (found.exit_code, found.last_line) == (3, "bad")
    assert 200 < found.peak_mib < 260
    assert 0.05 < found.cpu_seconds <= found.seconds + 0.5
    assert capsys.readouterr().err == "too\nbad\n\n"


def test_a_process_does_not_begin_with_the_memory_of_the_one_that_asks():
    ballast = bytearray(300 << 20)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > len(ballast) >> 10
    assert _run("true").peak_mib < 100


@pytest.mark.parametrize(
    ("visible", "found"), [(None, True), ("0", True), ("", False), ("-1", False)]
)
def test_a_gpu_is_seen_where_it_is_and_not_hidden(monkeypatch, visible, found):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(Path, "glob", lambda place, name: iter(()))
    assert not has_gpu()
    monkeypatch.setattr(Path, "glob", lambda place, name: iter([place / "nvidia0"]))
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert has_gpu() is found


def test_a_signal_is_a_negative_exit_code_and_a_missing_command_a_failure():
    assert _run("bash", "-c", "kill -9 $$").exit_code == -9
    missing = _run("no-such-command")
    assert missing.exit_code == 1
    assert "no-such-command" in missing.last_line


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_asker_and_its_group_ends_the_command_and_is_recorded(tmp_path, number):
    asker = (
        "from mpbert.experiments.measured import run_measured; import os; from pathlib import Path;"
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL);"  # nohup lets it be ignored
        "command = ['bash', '-c', 'sleep 0.1; echo $$ > pid; sleep 100'];"
        "run_measured(command, os.environ, Path('log'), {'step': 'slow'})"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", asker], cwd=tmp_path, env=step_environment(), start_new_session=True
    )
    _wait_for(lambda: _text(tmp_path / "pid"))
    os.killpg(process.pid, number)
    process.wait()
    child = Path("/proc", _text(tmp_path / "pid").strip())
    _wait_for(lambda: not child.exists() and _text(tmp_path / "log"))
    record = json.loads(_text(tmp_path / "log"))
    assert (record["step"], record["exit_code"]) == ("slow", -signal.SIGTERM)
    assert record["seconds"] >= 0.1  # it slept that long before it told its number


def test_a_command_that_is_asked_to_end_is_waited_for_and_told_to_have_been_stopped(tmp_path):
    asker = (
        "from mpbert.experiments.measured import run_measured; import os;"
        "asked = 'trap \"sleep 1; exit 0\" TERM; touch ready; while :; do sleep 0.1; done';"
        "command = ['bash', '-c', asked];"
        "found = run_measured(command, os.environ);"
        "print(found.exit_code, found.was_stopped)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", asker],
        cwd=tmp_path,
        env=step_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    _wait_for((tmp_path / "ready").exists)
    process.terminate()
    assert process.communicate()[0] == "0 True\n"
    assert not _run("true").was_stopped


def _text(path):
    return path.read_text() if path.exists() else ""


def _wait_for(condition):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen in 300 s")
