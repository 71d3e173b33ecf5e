"""``completion``: the commands -> a script by which a shell completes them (shtab writes it).

The script knows every command, so it is kept in a file: the shell starts no Python to complete.
"""

import argparse
import importlib
import re
from dataclasses import dataclass
from pathlib import Path

from mpbert.foundation.command_help import COMMANDS
from mpbert.foundation.config import CommandParser, positional
from mpbert.foundation.logs import STYLES

SHELLS = ("bash", "tcsh", "zsh")


@dataclass(frozen=True)
class Config:
    """Print the completion of commands, flags, their values and file names for a shell.

    * bash: ``mpbert completion bash > ~/.local/share/bash-completion/completions/mpbert``, or
      source the script in ``~/.bashrc``
    * zsh: ``mpbert completion zsh > FOLDER/_mpbert``, for a FOLDER of ``$fpath``
    * tcsh: ``mpbert completion tcsh > ~/.mpbert.tcsh``, and source it in ``~/.tcshrc``
    """

    shell: str = positional("shell", "which shell", choices=SHELLS)


def run(config: Config) -> None:
    """Print the script."""
    import shtab

    script = shtab.complete(_parser(), shell=config.shell)
    print(_for_tcsh(script) if config.shell == "tcsh" else script)


def _for_tcsh(script: str) -> str:
    """Return shtab's script with files at every place, and all values of a flag at the first rule.

    tcsh knows a flag by its name, not by its command, and stops at the first rule that fits.
    """
    rule = re.compile(r"'([cn]/--[\w-]+=?/)\(([^)]*)\)/'")
    values: dict[str, dict[str, None]] = {}
    for flag, words in rule.findall(script):
        values.setdefault(flag, {}).update(dict.fromkeys(words.split()))
    script = rule.sub(lambda found: f"'{found[1]}({' '.join(values[found[1]])})/'", script)
    return script.replace("'p/*/()/'", "'p/*/f/'")


def _parser() -> argparse.ArgumentParser:
    """Return one parser of all commands; it is not for parsing."""
    import shtab

    parser = argparse.ArgumentParser(prog="mpbert", description="Citation recommendation.")
    parser.add_argument("--version", action="store_true", help="print the version")
    _add_log(parser)
    commands = parser.add_subparsers(parser_class=_Completed)
    for name, what in COMMANDS.items():
        module = importlib.import_module("mpbert.commands." + name.replace("-", "_"))
        command = commands.add_parser(name, options_class=module.Config, command=name, help=what)
        command.add_argument("--config", help="YAML file of options").complete = shtab.FILE
        _add_log(command)
        for action in command._actions:  # argparse has no public list of them
            if action.type is Path:
                action.complete = shtab.FILE
    return parser


class _Completed(CommandParser):
    """A command among others: argparse would give it a usage line, which it has."""

    def __init__(self, options_class: type, command: str, **_: object) -> None:
        super().__init__(options_class, command)


def _add_log(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--log", choices=STYLES, help="what stands on standard error")
