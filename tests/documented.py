"""A page of the docs as a session: its files are written, its commands run, its outputs come."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from mpbert.cli import main

ROOT = Path(__file__).parents[1]
LINKED = ("datasets", "eval", "finetune", "mpbert", "pretrain", "requirements.txt", "setup.sh")
_BLOCK = re.compile(r'```(\w+)(?: title="([^"]+)")?\n(.*?)```', re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """Return language, name of a file (or empty) and text of each block of a page."""
    return _BLOCK.findall(page.read_text(encoding="utf-8"))


def shape(line: str) -> str:
    """Return a line of output with each number as ``#``; more papers give other numbers."""
    return " ".join(re.sub(r"\d[\d.,]*", "#", line).split())


def is_printed(expected: str, output: str) -> bool:
    """Whether an output has a line of this shape; ``...`` at its end stands for any rest."""
    start = shape(expected.removesuffix("..."))
    lines = map(shape, output.splitlines())
    if expected.endswith("..."):
        return any(line.startswith(start) for line in lines)
    return start in lines


def make_clone(folder: Path) -> Path:
    """Fill a folder with what a clone holds, and this Python as its .venv."""
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
    """Start a command in a clone, with its programs; what it writes is one stream."""
    programs = clone / ".venv" / "bin"
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "MPBERT_PYTHON": str(programs / "python"), "PATH": path}
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=clone, env=environment, **output)


def play(page: Path, run: Callable[[str, Path], str], clone: Path) -> None:
    """Write the files of a page and run its commands; each line of its outputs must come.

    :param run: from a block of commands and a folder to what they printed.
    :raises AssertionError: a line does not come.
    """
    output, expected = "", []
    for language, name, text in blocks(page):
        if name:
            (clone / name).write_text(text, encoding="utf-8")
        elif language == "bash":
            output += run(text, clone)
        elif language == "text" and not text.startswith("pip "):
            expected += [line for line in text.splitlines() if line.strip() not in ("", "...")]
    assert len(expected) > 3
    for line in expected:
        assert is_printed(line, output), f"{line}\nis not in\n{output}"


def run_here(commands: str, clone: Path) -> str:
    """Run lines of ``mpbert`` in this process, and of ``python`` in another; return the output."""
    output = io.StringIO()
    with contextlib.chdir(clone), contextlib.redirect_stdout(output):
        for program, *words in map(shlex.split, commands.splitlines()):
            if program == "mpbert":
                assert main(words) == 0, words
            else:
                assert program == "python"
                output.write(subprocess.check_output([sys.executable, *words], text=True))
    return output.getvalue()


def run_in_shell(commands: str, clone: Path) -> str:
    """Run all lines in one shell; return what they wrote."""
    process = start(clone, "bash", "-ec", commands)
    output, _ = process.communicate(timeout=900)
    assert process.returncode == 0, output
    return output
