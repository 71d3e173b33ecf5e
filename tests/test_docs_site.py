"""The documentation: it builds as a site, its links lead somewhere, its commands are accepted."""

import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mpbert.cli import COMMANDS
from mpbert.foundation.config import parse_config

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if path.parent.name != "commands"]
READMES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "datasets").rglob("*.md")),
    *sorted((ROOT / "eval").rglob("*.md")),
    *sorted((ROOT / "tests").rglob("README.md")),
]
TOP = ("datasets", "docs", "eval", "finetune", "mpbert", "pretrain", "tests")
NAMED = re.compile(rf"`((?:{'|'.join(TOP)})/[\w./*-]*\w)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and mkdocs make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


def command_lines(page: Path) -> list[list[str]]:
    """Return the words of each line of a shell block that calls mpbert."""
    blocks = re.findall(r"```bash\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    found = (shlex.split(line.split(" > ")[0], comments=True) for line in lines)
    return [words[1:] for words in found if words[:1] == ["mpbert"]]


def test_the_site_builds_without_a_warning_and_can_be_searched(tmp_path):
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(
        [*command, "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    search = (tmp_path / "site" / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "token bag" in search
    front = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert not re.findall(r'(?:src|href)="https?://fonts', front)


@pytest.mark.parametrize("page", [*PAGES, *READMES], ids=name_of)
def test_links_lead_to_files_and_headings(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), link


@pytest.mark.parametrize("page", [*PAGES, *READMES], ids=name_of)
def test_files_that_a_page_names_exist(page):
    if page.parent == DOCS / "extending" or "NAME" in page.name:
        pytest.skip("names files that a reader is to write")
    named = set(NAMED.findall(page.read_text(encoding="utf-8")))
    named = {path for path in named if not re.search(r"[A-Z]{4}", path)}  # NAME, CORPUS
    assert {path for path in named if not list(ROOT.glob(path))} == set()


@pytest.mark.parametrize("page", [*PAGES, *READMES], ids=name_of)
def test_command_lines_of_a_page_are_accepted(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    for words in command_lines(page):
        if words[0].startswith("-"):
            continue
        assert words[0] in COMMANDS, words
        if page.parent == DOCS / "extending":  # some use what a reader is to write
            continue
        module = importlib.import_module("mpbert.commands." + words[0].replace("-", "_"))
        assert isinstance(parse_config(module.Config, words[0], words[1:]), module.Config)


def test_the_readme_is_short():
    assert (ROOT / "README.md").read_text(encoding="utf-8").count("\n") <= 150


def test_every_page_is_in_the_menu():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [name for page in PAGES if (name := str(page.relative_to(DOCS))) not in menu] == []


def test_the_page_of_the_model_names_what_is_there():
    page = (DOCS / "model.md").read_text(encoding="utf-8")
    found = re.findall(
        r"`(\w+\.py)`(?:\]\(#[\w-]+\))?: ((?:`[^`]+`(?:, | -> | \([^)]*\), )?)+)", page
    )
    assert {"noise.py", "objectives.py", "encoder.py"} <= {file for file, _ in found}
    for file, names in found:
        code = (ROOT / "mpbert" / "model" / file).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)[`(.]", names):
            assert re.search(rf"^(?:class|def) {name}\b", code, re.MULTILINE), (file, name)


@pytest.mark.parametrize(
    "figure", sorted((DOCS / "figures").glob("*.svg")), ids=lambda path: path.name
)
def test_modules_that_a_figure_names_exist(figure):
    named = re.findall(r"(?:\w+/)+\w+\.py", figure.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / "mpbert" / name).exists()] == []
