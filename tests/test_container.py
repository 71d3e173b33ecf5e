"""The container file: its context is enough, its command serves, its health check tells.

No engine is asked: what the file says is read, and run here.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mpbert.cli import main

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def words_of(instruction):
    """Return the words of an instruction in the form of a list."""
    (found,) = re.findall(rf"^{instruction}\b.*?(\[.*\])$", TEXT, re.MULTILINE)
    return json.loads(found)


def test_what_is_copied_is_what_the_wheel_is_built_from_and_is_not_ignored():
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", TEXT, re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    assert names == {"pyproject.toml", "README.md", "LICENSE", "mpbert"}  # as tests/test_installed
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in lines and {line[1:] for line in lines if line.startswith("!")} == names


def test_nobody_is_root_and_no_version_of_python_is_untried():
    stages = re.findall(r"^FROM (\S+)", TEXT, re.MULTILINE)
    assert stages == ["python:3.11-slim"] * 2
    user = re.search(r"^USER (\d+)$", TEXT, re.MULTILINE)
    assert user and int(user[1]) > 0 and user.start() > TEXT.rindex("\nFROM ")
    assert f"useradd --uid {user[1]} " in TEXT


@pytest.fixture
def index(tmp_path):
    """An index by words, which the base install serves."""
    library = ROOT / "tests" / "fixtures" / "csl" / "library.json"
    assert main(["index", str(library), str(tmp_path / "index")]) == 0
    return tmp_path / "index"


def test_the_command_serves_and_the_health_check_sees_it(index):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    programs = {"mpbert": [sys.executable, "-m", "mpbert"], "python": [sys.executable]}

    def here(words):
        first, *rest = words
        places = {"/index": str(index), "8000": port}
        rest = [places.get(word, word).replace(":8000/", f":{port}/") for word in rest]
        return [*programs[first], *rest]

    def is_healthy():
        return not subprocess.run(here(words_of("HEALTHCHECK")), capture_output=True).returncode

    assert words_of("CMD")[1] == "/index" and "8000" in words_of("CMD")
    assert not is_healthy()
    command = here([*words_of("ENTRYPOINT"), *words_of("CMD")])
    environment = {**os.environ, "MPBERT_TOKEN": "secret"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout.readline().startswith(f"serving {index} at http://")
            end = time.monotonic() + 120
            while not (found := is_healthy()) and time.monotonic() < end:
                time.sleep(0.2)
            assert found
        finally:
            server.terminate()
        assert server.wait(300) == 0


@pytest.mark.parametrize("name", ["EXPOSE 8000", "HEALTHCHECK --interval"])
def test_the_port_of_the_command_is_the_one_that_is_told(name):
    assert name in TEXT and "127.0.0.1:8000/health" in TEXT
