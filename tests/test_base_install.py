"""The base install, in an empty environment of each Python that is found: a user's whole job."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from tests.interpreters import ROOT, declared, interpreter

pytestmark = pytest.mark.slow
FIXTURES = ROOT / "tests" / "fixtures"
LIBRARIES = {
    "bibtex": "bibtex/library.bib",
    "csl": "csl/library.json",
    "ris": "ris/library.ris",
    "csv": "csv",
    "jsonl": "formats/papers.jsonl",
    "openalex": "openalex/works.jsonl",
    "crossref": "crossref/works.jsonl",
}
MEGABYTES = 200  # what the base install may take
_ASK = """
from mpbert import Recommender
found = Recommender("index").recommend("Letters are sorted by the shortest queue", top=2)
print(found)
print(len(found))
"""


@pytest.fixture(scope="session")
def base_wheel(make_once):
    """The wheel of this package; all processes share it."""

    def make(folder):
        copy = folder / "source"
        copy.mkdir(parents=True)
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, copy)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "mpbert", copy / "mpbert", ignore=ignored)
        words = ["wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
        subprocess.run(
            [sys.executable, "-m", "pip", *words, "--wheel-dir", folder, copy], check=True, cwd=copy
        )

    (wheel,) = make_once("base-wheel", make).glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def reached(tmp_path_factory):
    """Skip where pip reaches no index of packages: it cannot get a small one that all have."""
    folder = tmp_path_factory.mktemp("reached")
    words = ["download", "--quiet", "--no-deps", "--no-cache-dir", "--retries", "1", "shtab"]
    found = subprocess.run([sys.executable, "-m", "pip", *words], cwd=folder, capture_output=True)
    if found.returncode:
        pytest.skip("pip reaches no index of packages")


@pytest.fixture(scope="module", params=declared())
def installed(request, tmp_path_factory, base_wheel, reached):
    """Folder of an environment of this Python that holds the base install alone."""
    program = interpreter(request.param)
    if program is None:
        pytest.skip(f"found no Python {request.param} with venv")
    folder = tmp_path_factory.mktemp(f"base-{request.param}")
    subprocess.run([program, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install"]
    words = [*pip, "--quiet", "--only-binary=:all:", base_wheel]
    found = subprocess.run(words, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr[-2000:]
    return folder


def _environment(tmp_path):
    hidden = ("PYTHONPATH", "MPBERT_PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return {**kept, "HOME": str(tmp_path), "PYTHONWARNINGS": "error::SyntaxWarning"}


@pytest.fixture
def call(installed, tmp_path):
    """Function that runs a program of the environment, in a folder of its own."""

    def run(program, *words):
        found = subprocess.run(
            [installed / "bin" / program, *map(str, words)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=_environment(tmp_path),
        )
        assert found.returncode == 0, found.stderr[-2000:]
        return found.stdout

    return run


def test_it_is_small(installed):
    (packages,) = installed.glob("lib/python*/site-packages")
    size = sum(file.stat().st_size for file in packages.rglob("*") if file.is_file())
    assert size <= MEGABYTES * 1_000_000
    assert not {"pandas", "pyarrow", "scipy", "torch"} & {each.name for each in packages.iterdir()}


def test_an_index_is_made_asked_changed_cited_and_opened(call, tmp_path):
    call("mpbert", "index", FIXTURES / LIBRARIES["bibtex"], "index")
    text = "Mail is sorted by the length of queues [CITATION].\n\\bibliography{refs}\n"
    (tmp_path / "draft.tex").write_text(text)
    (tmp_path / "refs.bib").write_text("")
    found = call("mpbert", "recommend", "index", "draft.tex", "--top", "2")
    assert found.startswith("place 1: Mail is sorted by the length of queues.\n  nothing in ")
    assert "Routing Letters by the Shortest Queue" in found
    assert "3 of them new" in call("mpbert", "add", "index", FIXTURES / LIBRARIES["ris"])
    call("mpbert", "remove", "index", "proc05")
    assert call("mpbert", "check", "index")
    paper = "queue2001routing"
    call("mpbert", "cite", "index", "draft.tex", "--place", "1", "--papers", paper, "--yes")
    assert rf"\cite{{{paper}}}" in (tmp_path / "draft.tex").read_text()
    assert paper in (tmp_path / "refs.bib").read_text()
    assert call("python", "-c", _ASK).splitlines()[-1] == "2"


@pytest.mark.parametrize("kind", LIBRARIES)
def test_every_common_format_makes_an_index(call, tmp_path, kind):
    call("mpbert", "index", FIXTURES / LIBRARIES[kind], kind)
    (tmp_path / "text.txt").write_text("A router of mail drops letters [CITATION].")
    assert call("mpbert", "recommend", kind, "text.txt", "--top", "1").count("\n   1  ") == 1


def test_the_page_and_its_answers_are_served(installed, call, tmp_path):
    call("mpbert", "index", FIXTURES / LIBRARIES["csl"], "index")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    words = ["serve", "index", "--port", address.rpartition(":")[2]]
    with subprocess.Popen(
        [installed / "bin" / "mpbert", *words], cwd=tmp_path, env=_environment(tmp_path)
    ) as server:
        try:
            _wait_for(f"{address}/health", server)
            asked = json.dumps({"text": "Letters are sorted"}).encode()
            headers = {"Content-Type": "application/json"}
            request = urllib.request.Request(f"{address}/api/recommend", asked, headers)
            with urllib.request.urlopen(request, timeout=60) as answer:
                assert json.load(answer)["papers"]
        finally:
            server.terminate()


def _wait_for(address, server):
    for _ in range(600):
        assert server.poll() is None
        try:
            return urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"{address} did not answer")
