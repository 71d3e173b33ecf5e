"""The session of a new user in the docs, on fewer papers: its commands run, its outputs come."""

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "session.md"
LINKED = ("datasets", "eval", "finetune", "mpbert", "pretrain", "requirements.txt", "setup.sh")
ADDRESS = re.compile(r"http://\S+/")


def blocks() -> list[tuple[str, str]]:
    """Return the language and the text of each block of the page."""
    return re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def shape(line: str) -> str:
    """Return a line of output with each number as ``#``; more papers give other numbers."""
    return " ".join(re.sub(r"\d[\d.,]*", "#", line).split())


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """Folder with what a clone holds, and this Python as its .venv."""
    folder = tmp_path_factory.mktemp("clone")
    for name in (*LINKED, "tests"):
        (folder / name).symlink_to(ROOT / name)
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, start in (("python", sys.executable), ("mpbert", f"{sys.executable} -m mpbert")):
        (programs / name).write_text(f'#!/bin/sh\nexec {start} "$@"\n')
        (programs / name).chmod(0o755)
    (programs / "activate").write_text(f"export PATH={programs}:$PATH\n")
    return folder


def start(clone: Path, *command: str) -> subprocess.Popen:
    programs = clone / ".venv" / "bin"
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "MPBERT_PYTHON": str(programs / "python"), "PATH": path}
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=clone, env=environment, **output)


@pytest.mark.fairseq
@pytest.mark.recipe
def test_a_new_user_gets_from_a_grobid_folder_to_gensim_and_to_the_page(clone, rfc_archive):
    (_, commands), (_, made), (_, code), (_, near), (_, serve), (_, serving) = blocks()
    assert "rfc_as_tei.py papers\n" in commands
    commands = commands.replace("rfc_as_tei.py papers\n", f"rfc_as_tei.py papers {rfc_archive}\n")
    for command, expected in (
        (("bash", "-ec", commands), made),
        ((sys.executable, "-c", code), near),
    ):
        process = start(clone, *command)
        output, _ = process.communicate(timeout=900)
        assert process.returncode == 0, output
        printed = set(map(shape, output.splitlines()))
        assert set(map(shape, expected.splitlines())) <= printed, output
    process = start(clone, "bash", "-c", f"exec {serve.strip()} --port 0")
    try:
        first = process.stdout.readline()
        assert shape(ADDRESS.sub("ADDRESS", first)) == shape(ADDRESS.sub("ADDRESS", serving))
        with httpx2.Client(base_url=ADDRESS.search(first)[0], timeout=300) as client:
            assert "<textarea" in client.get("/").text
            answer = client.post("/api/recommend", json={"text": "Path MTU discovery [CITATION]."})
            assert answer.json()
    finally:
        process.terminate()
        process.communicate(timeout=300)
