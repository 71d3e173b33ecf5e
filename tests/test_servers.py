"""Programs beside the tests: what does not come up is told, and none outlives the tests."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.servers import NoServerError, Server

ROOT = Path(__file__).parents[1]
# a program that notes its process and stays; it ignores the signal that asks it to end
STAYS = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "w").write(f"{os.getpid()}\\n")
time.sleep(600)
"""
STARTS = """
import os, pathlib, signal, sys
from tests.servers import Server
note = pathlib.Path(sys.argv[1])
server = Server([sys.executable, *sys.argv[2:], note], note.with_name("log"))
server.wait_until_up("it", note.exists)
os.kill(os.getpid(), signal.SIGKILL)
"""


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def noted(note: Path) -> int:
    while not (note.exists() and note.read_text().endswith("\n")):
        time.sleep(0.05)
    return int(note.read_text())


def test_a_program_does_not_outlive_a_killed_run(tmp_path):
    note = tmp_path / "note"
    words = [sys.executable, "-c", STARTS, note, "-c", STAYS]
    found = subprocess.run(words, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=120)
    assert found.returncode == -signal.SIGKILL
    pid, end = noted(note), time.monotonic() + 60
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_running(pid)


@pytest.mark.parametrize("how", ["kill", "end"])
def test_a_program_is_gone_when_it_was_killed(how, tmp_path):
    note = tmp_path / "note"
    server = Server([sys.executable, "-c", STAYS, note], tmp_path / "log")
    pid = noted(note)
    assert is_running(pid) and not server.has_ended()
    server.kill() if how == "kill" else server.end(seconds=0.2)
    assert not is_running(pid) and server.has_ended()


def test_what_a_program_said_before_it_ended_is_told(tmp_path):
    server = Server([sys.executable, "-c", "raise SystemExit('no port')"], tmp_path / "log")
    with pytest.raises(NoServerError, match=r"It does not start here: it has ended \(no port\)"):
        server.wait_until_up("It", lambda: False)
