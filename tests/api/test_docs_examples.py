"""The Python blocks of the README and of the docs run, beside the outputs that they name."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/corpus.md", "docs/python.md")


def blocks() -> list[tuple[str, str]]:
    """Return page and code of each block that does more than import."""
    found = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        found += [(page, code) for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]
    return found


@pytest.fixture(scope="module")
def named_runs(outputs):
    """Folder of outputs in which two rows have the names that the docs give them."""
    for row, lexical in (("token_bag_matches", "tfidf"), ("bm25_citing", "bm25")):
        place = outputs / "runs" / "trec" / "rfc" / row
        if not place.exists():
            os.symlink(outputs / "runs" / "trec" / "rfc" / lexical, place)
    return outputs


@pytest.mark.parametrize(("page", "code"), blocks(), ids=lambda value: value.split("\n")[0][:40])
def test_a_python_block_of_the_docs_runs(page, code, named_runs):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, cwd=named_runs, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{page}: {done.stderr}"
