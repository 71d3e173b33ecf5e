"""Every command says in one line which of its arguments take no URL."""

import dataclasses
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from mpbert.cli import main
from mpbert.foundation.command_help import COMMANDS
from mpbert.foundation.objects import TAKES_URLS

URL = "s3://bucket/one.yaml"


def fields_of(command: str) -> tuple[dataclasses.Field, ...]:
    module = importlib.import_module(f"mpbert.commands.{command.replace('-', '_')}")
    return dataclasses.fields(module.Config)


def words_with(fields: tuple[dataclasses.Field, ...], asked: str) -> list[str]:
    """Return the words of a command line with a URL for one argument, and some for others."""
    words, flags = [], []
    for field in fields:
        choices = field.metadata.get("choices") or ("x",)
        if "args" in field.metadata:
            words.append(URL if field.name == asked else next(iter(choices)))
        elif field.name == asked:
            flags += [f"--{field.name.replace('_', '-')}", URL]
    return [*words, *flags]


def refused() -> Iterator[tuple[str, str]]:
    """Yield each command with each argument of it that takes no URL."""
    for command in COMMANDS:
        yield command, "--config"
        for field in fields_of(command):
            is_path = "Path" in str(field.type) or field.metadata.get("type") is Path
            if is_path and command not in TAKES_URLS:
                yield command, field.name


@pytest.mark.parametrize(("command", "asked"), list(refused()))
def test_a_url_is_refused_in_one_line(command, asked, capsys):
    words = [f"--config={URL}"] if asked == "--config" else words_with(fields_of(command), asked)
    assert main([command, *words]) == 2
    out, error = capsys.readouterr()
    assert not out and error.count("\n") == 1
    assert error.startswith(f"mpbert {command}: {asked}: found the URL '{URL}'")
    assert "expects a path of this machine" in error


@pytest.mark.parametrize("command", sorted(TAKES_URLS))
def test_other_commands_ask_the_store(command, capsys):
    """There is no such kind of store: it is told for the first path of each."""
    fields = fields_of(command)
    first = next(field.name for field in fields if "Path" in str(field.type))
    words = [word.replace("s3://", "nothing://") for word in words_with(fields, first)]
    needed = ["--lexical=bm25"] if command == "retrieve" else []
    assert main([command, *words, *needed]) == 2
    error = capsys.readouterr().err
    assert "nothing://bucket/one.yaml: cannot be read (" in error and error.count("\n") == 1
