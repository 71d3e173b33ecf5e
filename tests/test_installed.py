"""The package as pip installs it: the console script, and the files that are no Python."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mpbert

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Folder into which pip has installed a copy of the package, without any other."""
    copy, site = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("site")
    shutil.copy(ROOT / "pyproject.toml", copy)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "mpbert", copy / "mpbert", ignore=ignored)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    pip += ["--no-build-isolation", "--no-compile", "--target", str(site), str(copy)]
    found = subprocess.run(pip, capture_output=True, text=True, cwd=copy)
    assert found.returncode == 0, found.stderr
    return site


def test_the_console_script_runs_a_command_from_anywhere(site, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def call(*words):
        command = [site / "bin" / "mpbert", *words]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment
        )

    assert call("--version").stdout == f"{mpbert.__version__}\n"
    found = call("validate", "none.jsonl")
    assert found.returncode == 2
    assert found.stderr.startswith("mpbert validate: none.jsonl")


def test_every_file_of_the_package_is_installed(site):
    def files(package):
        found = {path.relative_to(package) for path in package.rglob("*") if path.is_file()}
        return {str(path) for path in found if "__pycache__" not in path.parts}

    assert files(site / "mpbert") == files(ROOT / "mpbert")
