"""``CITATION.cff`` and the package say the same."""

import tomllib
from pathlib import Path

import yaml

import mpbert

ROOT = Path(__file__).parents[1]


def test_the_citation_file_names_this_version_and_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()  # all it must have
    assert citation["version"] == mpbert.__version__
    assert citation["references"][0]["doi"] == "10.1145/3486622.3494002"


def test_the_console_script_is_the_command_line():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"mpbert": "mpbert.__main__:program"}
    assert project["version"] == mpbert.__version__
