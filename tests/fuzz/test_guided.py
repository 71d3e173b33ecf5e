"""The fuzzing of ``guided.py``, in a process of its own: it instruments what it imports."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from test_parsers import FILES
from test_readers import READER_OF

GUIDED = Path(__file__).with_name("guided.py")
pytestmark = [
    pytest.mark.skipif(find_spec("atheris") is None, reason="there is no atheris here"),
    pytest.mark.slow,
]


QUICK = ("a.tex", "own.tex", "a.md", "a.run", "csv", "tei")
_FEW = 100  # inputs of each


def _fuzz(place, number, *names):
    return subprocess.run(
        [sys.executable, GUIDED, *names, f"--inputs={number}"],
        cwd=place,
        capture_output=True,
        text=True,
        errors="replace",
    )


def _check(code, said, number):
    assert code == 0, said[-3000:]
    runs = re.search(r"^Done (\d+) runs", said, re.MULTILINE)
    assert runs and int(runs[1]) >= number  # all examples are read, which may be more


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    """Function of a name: exit code and messages. All begin in one process: that takes seconds."""
    place = tmp_path_factory.mktemp("guided")
    found = _fuzz(place, _FEW, *QUICK)
    codes = dict(line.split() for line in found.stdout.splitlines())
    assert set(codes) == set(QUICK), found.stderr[-3000:]
    return lambda name: (int(codes[name]), (place / f"{name}.log").read_text(errors="replace"))


@pytest.mark.parametrize("name", QUICK)
def test_what_reaches_new_code_is_read_or_refused_in_one_line(name, fuzzed):
    _check(*fuzzed(name), _FEW)


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [None], ids=["all"], indirect=True)
@pytest.mark.parametrize("name", [*FILES, *READER_OF])
def test_much_that_reaches_new_code_is_read_or_refused_in_one_line(name, number, tmp_path):
    found = _fuzz(tmp_path, number, name)
    _check(found.returncode, found.stderr, number)
