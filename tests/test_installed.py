"""The package as pip installs it: the console script, and the files that are no Python."""

import email
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import mpbert

ROOT = Path(__file__).parents[1]
INDEX = ROOT / "tests" / "fixtures" / "formats" / "index"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return the wheel, built from what a source distribution would hold."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "mpbert", copy / "mpbert", ignore=ignored)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    pip += ["--no-build-isolation", "--wheel-dir", str(out), str(copy)]
    found = subprocess.run(pip, capture_output=True, text=True, cwd=copy)
    assert found.returncode == 0, found.stderr
    (path,) = out.iterdir()
    return path


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """Folder into which pip has installed the wheel, without any other package."""
    site = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    pip += ["--no-compile", "--target", str(site), str(wheel)]
    found = subprocess.run(pip, capture_output=True, text=True, cwd=site)
    assert found.returncode == 0, found.stderr
    return site


@pytest.fixture
def call(site, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def run(*command):
        return subprocess.run(
            list(map(str, command)), capture_output=True, text=True, cwd=tmp_path, env=environment
        )

    return run


def test_the_console_script_runs_a_command_from_anywhere(site, call):
    script = site / "bin" / "mpbert"
    assert call(script, "--version").stdout == f"{mpbert.__version__}\n"
    assert call(script, "--help").stdout.startswith("usage: mpbert COMMAND")
    found = call(script, "validate", "none.jsonl")
    assert found.returncode == 2
    assert found.stderr.startswith("mpbert validate: none.jsonl")


def test_papers_are_recommended_outside_of_the_checkout(site, call, tmp_path):
    (tmp_path / "text.txt").write_text("The router drops a packet [CITATION].")
    found = call(site / "bin" / "mpbert", "recommend", INDEX, "text.txt", "--top", "2")
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("place 1: The router drops a packet.\n")
    assert "\n   1  0." in found.stdout


def test_the_front_door_opens_outside_of_the_checkout(site, call):
    code = (
        f"import mpbert; print(mpbert.__file__); from mpbert import Recommender; "
        f"print(len(Recommender({str(INDEX)!r}).recommend('A router drops packets', top=3)))"
    )
    found = call(sys.executable, "-c", code)
    assert found.stdout.split() == [str(site / "mpbert" / "__init__.py"), "3"], found.stderr


def test_every_file_of_the_package_is_installed(site):
    def files(package):
        found = {path.relative_to(package) for path in package.rglob("*") if path.is_file()}
        return {str(path) for path in found if "__pycache__" not in path.parts}

    assert files(site / "mpbert") == files(ROOT / "mpbert")
    assert {"py.typed", "__init__.pyi"} <= files(site / "mpbert")


def test_the_wheel_says_what_it_is_and_needs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        about = email.message_from_bytes(archive.read(name))
        assert any(n.endswith("LICENSE") for n in archive.namelist())
        tops = {n.partition("/")[0] for n in archive.namelist()}
    assert tops == {"mpbert", name.partition("/")[0]}
    assert about["License-Expression"] == "MIT" and about["Version"] == mpbert.__version__
    assert about.get_payload().startswith("# mpbert")
    assert set(about.get_all("Provides-Extra")) == {
        *("tables", "corpus", "pdf", "train", "baselines", "report", "lsp", "mcp", "dev", "all"),
        *("milvus", "pgvector", "ray", "s3", "servers", "words"),
    }
    needed = about.get_all("Requires-Dist")
    base = {line.split(";")[0].split(">")[0] for line in needed if "extra ==" not in line}
    assert {"numpy", "fastapi", "safetensors", "tokenizers"} <= base
    heavy = {"torch", "pyarrow", "scipy", "pandas", "gensim", "numba", "transformers", "pytest"}
    assert not base & heavy
    assert not any(line.startswith("fairseq") for line in needed)
