"""What mypy knows of the front door: of a user's script, and within it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
ROOT = Path(__file__).parents[2]
NAMES = ("answering", "answers", "options", "papers", "places", "recommender", "records")
SCRIPT = """
from mpbert import Recommender
recommender = Recommender("runs/index/rfc")
found = recommender.recommend("Path MTU", top=3, year=2015)
scores: list[float] = [paper.score for paper in found[:2]]
year: int | None = recommender.papers[0].year
for place in recommender.recommend_file("a.tex", ranker="words"):
    text: str = place.papers[0].why.citing[0].text
"""
WRONG = {
    'recommender.recommend("x", topp=3)': 'Unexpected keyword argument "topp"',
    'recommender.recommend("x", year="2015")': 'incompatible type "str"; expected "int | None"',
    'recommender.recommend_whole("x", ranker="all")': "'dense', 'words', 'both'",
    "number: int = found[0].title": 'expression has type "str", variable has type "int"',
    'found["title"]': 'No overload variant of "__getitem__"',
}


def mypy(folder, *words):
    """Return the lines of mypy, which reads our own code and that of no other package."""
    command = [sys.executable, "-m", "mypy", "--no-site-packages", "--ignore-missing-imports"]
    command += ["--follow-imports", "silent", "--hide-error-context", f"--cache-dir={folder}/cache"]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    run = subprocess.run(
        [*command, *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    return run.stdout.splitlines()


def test_mypy_tells_what_is_wrong_in_a_script_and_nothing_else(tmp_path):
    (tmp_path / "script.py").write_text("\n".join([SCRIPT.strip(), *WRONG]))
    errors = [line for line in mypy(tmp_path, "--strict", "script.py") if " error: " in line]
    first = SCRIPT.strip().count("\n") + 2
    assert [int(re.match(r"script\.py:(\d+)", line)[1]) for line in errors] == [
        first + number for number in range(len(WRONG))
    ]
    for line, expected in zip(errors, WRONG.values(), strict=True):
        assert expected in line


def test_the_front_door_is_strictly_typed(tmp_path):
    files = [str(ROOT / "mpbert" / "recommending" / f"{name}.py") for name in NAMES]
    (line,) = mypy(tmp_path, "--strict", str(ROOT / "mpbert" / "api"), *files)
    assert line.startswith("Success")
