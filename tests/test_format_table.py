"""The tables of formats in ``docs`` and beside the fixtures are complete; what they name exists."""

import itertools
import re
from pathlib import Path

import pytest

from mpbert.cli import COMMANDS
from mpbert.corpus.formats.base import READERS
from mpbert.vectors.formats import WRITERS

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
HEAD = "| format | direction | flag | fixtures, licence | test |"


def table() -> list[list[str]]:
    lines = (FIXTURES / "README.md").read_text(encoding="utf-8").splitlines()
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines[lines.index(HEAD) + 2 :])
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


ROWS = table()


def values_of(direction: str, flag: str) -> set[str]:
    return {
        value
        for row in ROWS
        if row[1] == direction
        for value in re.findall(rf"{flag} ([\w-]+)`", row[2])
    }


def test_every_reader_and_every_export_format_is_in_the_table():
    assert values_of("in", "--reader") == set(READERS.names())
    assert values_of("out", "--format") == set(WRITERS)


def test_the_page_names_every_reader_and_every_export_format():
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| [^|]+ \| `(\w+)` \|", page, re.MULTILINE)) == set(READERS.names())
    assert set(re.findall(r"--format ([\w-]+)`", page)) == set(WRITERS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[1]}-{row[0]}")
def test_a_row_names_commands_fixtures_with_a_licence_and_a_test_that_exist(row):
    _, direction, flag, fixtures, test = row
    commands = {words.split()[0] for words in re.findall(r"`([^`]+)`", flag)}
    assert commands and commands <= set(COMMANDS)
    assert (direction, fixtures == "-") in {("in", False), ("out", True)}
    for path in re.findall(r"`([^`]+)`", fixtures):
        assert (ROOT / path).exists()
    if direction == "in":
        assert re.search(r", (ours|CC BY-NC-SA 3\.0|.*distribution unlimited)", fixtures)
    file, _, name = test.strip("`").partition("::")
    assert f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8")


def test_every_folder_of_fixtures_is_in_the_table():
    folders = {p.name for p in FIXTURES.iterdir() if p.is_dir()}
    folders -= {"axe"}  # a program that looks at pages
    assert folders <= set(re.findall(r"tests/fixtures/(\w+)`", " ".join(row[3] for row in ROWS)))
