"""Methods of other packages, found by their entry points."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mpbert.vectors.store import VectorStore

ROOT = Path(__file__).parents[2]
PLUGIN = '''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpbert.methods.embedding import EMBEDDERS, Embedder
from mpbert.vectors.store import VectorStore


@EMBEDDERS.register
@dataclass
class TitleLengths(Embedder):
    """The length of a title, {dim} times."""

    name: ClassVar[str] = "title_lengths"
    dim: int = 3

    def fit(self, store, rng):
        return {{}}

    def embed_papers(self, store):
        lengths = [[float(len(title))] * self.dim for title in store.titles]
        return VectorStore(store.paper_ids, np.array(lengths, dtype=np.float32))

    def embed_queries(self, store, queries):
        ones = np.ones((len(queries.query_ids), self.dim), dtype=np.float32)
        return VectorStore(queries.query_ids, ones)
'''


def install(folder, package, text, entry):
    """Put a package and its .dist-info into a folder, as pip does."""
    (folder / f"{package}.py").write_text(text)
    about = folder / f"{package}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[mpbert.methods]\n{entry}\n")


@pytest.fixture
def fit(rfc_corpus, tmp_path):
    """Run ``mpbert fit`` where the packages of a folder are installed."""

    def run(*flags):
        environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
        command = [sys.executable, "-m", "mpbert", "fit", rfc_corpus, tmp_path / "vectors", *flags]
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    return run


def test_a_method_of_an_installed_package_makes_vectors(fit, tmp_path):
    install(tmp_path, "lengths", PLUGIN.format(dim="dim"), "lengths = lengths:TitleLengths")
    found = fit("--method", "title_lengths", "--settings", "dim=2")
    assert found.returncode == 0, found.stderr
    vectors = VectorStore.load(tmp_path / "vectors", "papers").vectors
    assert vectors.shape[1] == 2 and np.array_equal(vectors[:, 0], vectors[:, 1])
    assert len(set(vectors[:, 0].tolist())) > 10


def test_a_folder_of_an_installed_package_brings_its_embedder(fit, tmp_path):
    install(tmp_path, "mine", "", "title_lengths = mine.lengths")
    (tmp_path / "mine.py").unlink()
    (tmp_path / "mine" / "lengths").mkdir(parents=True)
    for name, text in (("__init__", '"""Lengths."""'), ("embedder", PLUGIN.format(dim="dim"))):
        (tmp_path / "mine" / "lengths" / f"{name}.py").write_text(text)
    found = fit("--method", "title_lengths")
    assert found.returncode == 0, found.stderr


def test_an_installed_package_that_is_broken_is_named_and_left_out(fit, tmp_path):
    install(tmp_path, "broken", "import no_such_module", "mine = broken")
    install(tmp_path, "lengths", PLUGIN.format(dim="dim"), "lengths = lengths")
    found = fit("--method", "title_lengths")
    assert found.returncode == 0, found.stderr
    lines = [line for line in found.stderr.splitlines() if "left out" in line]
    assert lines == [
        "method 'mine' of the installed package broken: left out, since it cannot be loaded "
        "(ModuleNotFoundError: No module named 'no_such_module'); mend or uninstall that package"
    ]


def test_a_name_of_ours_is_refused_to_an_installed_package(fit, tmp_path):
    text = PLUGIN.format(dim="dim").replace('"title_lengths"', '"chance"')
    install(tmp_path, "lengths", text, "lengths = lengths")
    found = fit("--help")
    assert found.returncode == 0 and "chance" in found.stdout
    assert "two members of method are called 'chance'; rename one" in found.stderr
