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
pytestmark = pytest.mark.skipif(find_spec("atheris") is None, reason="there is no atheris here")


@pytest.mark.parametrize(
    ("name", "number"),
    [
        *((name, 100) for name in ("a.tex", "own.tex", "a.md", "a.run", "csv", "tei")),
        *(
            pytest.param(name, None, marks=pytest.mark.exhaustive, id=f"{name}-all")
            for name in [*FILES, *READER_OF]
        ),
    ],
    indirect=["number"],
)
def test_what_reaches_new_code_is_read_or_refused_in_one_line(name, number, tmp_path):
    found = subprocess.run(
        [sys.executable, GUIDED, name, f"--inputs={number}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert found.returncode == 0, found.stderr[-3000:]
    runs = re.search(r"^Done (\d+) runs", found.stderr, re.MULTILINE)
    assert runs and int(runs[1]) >= number  # all examples are read, which may be more
