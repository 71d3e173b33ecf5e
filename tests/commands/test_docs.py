"""The pages of ``docs/commands`` and what ``--help`` teaches."""

import importlib
import re
import shlex
from pathlib import Path

import pytest

from mpbert import cli
from mpbert.commands import docs
from mpbert.foundation.command_examples import HELP
from mpbert.foundation.command_help import EXIT_CODES
from mpbert.foundation.config import parse_config

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "docs" / "commands"


def test_the_committed_pages_are_those_of_the_commands():
    found = {path.name: path.read_text(encoding="utf-8") for path in COMMITTED.glob("*.md")}
    assert found == docs.pages(), "run: mpbert docs docs/commands"


def test_the_command_replaces_its_own_pages_and_no_others(tmp_path, capsys):
    (tmp_path / "mine.md").write_bytes(b"mine, in Latin 1: \xfc")
    docs.run(docs.Config(tmp_path))
    page = tmp_path / "embed.md"
    (tmp_path / "gone.md").write_text(page.read_text())
    page.write_text(page.read_text().replace("vectors", "apples"))
    assert cli.main(["docs", str(tmp_path)]) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"mine.md", *docs.pages()}
    assert page.read_text() == docs.pages()["embed.md"]
    assert f"{len(cli.COMMANDS) + 1} pages" in capsys.readouterr().out
    assert cli.main(["docs", str(page)]) == 2
    assert "embed.md: cannot be written (File exists)" in capsys.readouterr().err


def test_every_link_of_a_page_leads_to_a_page():
    pages = docs.pages()
    links = {link for text in pages.values() for link in re.findall(r"\]\(([^)]+)\)", text)}
    assert "embed.md" in links and links <= set(pages)


def test_every_command_teaches_and_nothing_else_does():
    assert set(HELP) == set(cli.COMMANDS)


@pytest.mark.parametrize("name", sorted(HELP))
def test_an_example_is_a_command_line_that_is_accepted(name):
    words = shlex.split(HELP[name].example.partition(" > ")[0])
    assert words[:2] == ["mpbert", name]
    module = importlib.import_module("mpbert.commands." + name.replace("-", "_"))
    assert isinstance(parse_config(module.Config, name, words[2:]), module.Config)


@pytest.mark.parametrize("name", ["make-rows", "embed"])
def test_help_shows_example_reads_writes_and_exit_codes(name, capsys):
    with pytest.raises(SystemExit):
        cli.main([name, "--help"])
    out = capsys.readouterr().out
    for word in (HELP[name].example, HELP[name].reads, HELP[name].writes, EXIT_CODES[2]):
        assert f"  {word}\n" in out or f"    {word}\n" in out
    assert ("  3    some rows failed" in out) == (name == "make-rows")


def test_a_page_shows_flags_values_defaults_and_settings():
    page = docs.pages()["retrieve.md"]
    assert (
        "| `--splits {train,valid,test} ...` | splits to rank for (default: valid test) |" in page
    )
    assert "`k1=2.0`" in page and "* **tfidf**: " in page
    assert "(default: none)" in page
    assert "`--bf16` | matrix products in bfloat16 (default: no)" in docs.pages()["embed.md"]
    assert "(default: )" not in "".join(docs.pages().values())
