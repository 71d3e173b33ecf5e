"""Every command, with flags as nobody means them: one line and exit code 2, or an answer."""

import dataclasses
import importlib
import io
import random

import pytest

from mpbert.cli import COMMANDS, main

VALUES = [
    *("", " ", "-1", "0", "1", "1.5", "nan", "inf", "-inf", "1e999", "9" * 30, "9" * 5000, "\x00"),
    *("None", "True", "a", "é", "\ud800", "../../x", "/", "/dev/null", "a=b", "=", "--", "-"),
    *("nothing", "nothing/at/all", "[1]", "{}", "%s", "$(true)", "`true`", ";", "x" * 5000, "\n"),
    *("x/" * 5000, "a\nb", "\udcff", "\u2028", "\x1b[2J", "~", "nothing\x85"),
]


def words(command: str, rng: random.Random) -> list[str]:
    """Return arguments of a command: its positionals and some of its flags, with odd values."""
    config = importlib.import_module("mpbert.commands." + command.replace("-", "_")).Config
    found: list[str] = []
    for field in dataclasses.fields(config):
        if "args" in field.metadata:
            found += [rng.choice(["nothing", *VALUES])] if rng.random() < 0.95 else []
        elif rng.random() < 0.3:
            flag = "--" + field.name.replace("_", "-")
            value = rng.choice([*map(str, field.metadata.get("choices", ())), *VALUES])
            form = rng.randrange(4)
            found += [[flag], [flag, value], [f"{flag}={value}"], [flag, value, value]][form]
    if rng.random() < 0.1:
        found.insert(rng.randrange(len(found) + 1), rng.choice(["--config", "--nothing", *VALUES]))
    return found


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "number", [1200, pytest.param(None, marks=pytest.mark.exhaustive, id="all")], indirect=True
)
def test_odd_flags_are_refused_in_one_line(command, number, tmp_path, monkeypatch, capsys, try_all):
    monkeypatch.chdir(tmp_path)  # where there is nothing
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    stdin = io.TextIOWrapper(io.BytesIO(b"It is so [CITATION]."))
    monkeypatch.setattr("sys.stdin", stdin)

    def act(rng: random.Random) -> None:
        arguments = words(command, rng)
        try:
            code = main([command, *arguments])
        except SystemExit as end:
            code = end.code
        errors = capsys.readouterr().err
        assert code in (0, 2), (arguments, code)
        if code == 2:
            last = errors.splitlines()[-1]
            assert last.startswith(f"mpbert {command}: "), (arguments, errors)

    try_all(number // len(COMMANDS), act, seconds=30)  # the first ones import torch
