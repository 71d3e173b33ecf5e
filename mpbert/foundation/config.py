"""Configurations as frozen dataclasses that are also command lines (argparse_dataclass).

Modules with such dataclasses must not import ``annotations`` from ``__future__``, and write
``Optional[int]``: argparse_dataclass reads the types of the fields.
"""

import argparse
import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from argparse_dataclass import ArgumentParser

from mpbert.foundation.command_help import epilog
from mpbert.foundation.errors import ConfigError, closest, printable
from mpbert.foundation.logs import is_json
from mpbert.foundation.objects import TAKES_URLS
from mpbert.foundation.option_files import flags_of_file
from mpbert.foundation.path_checks import check_path, check_paths

C = TypeVar("C")
_SEEDS = 2**63  # what all generators take: NumPy's no negative, others no more than 64 bits, signed
_NOT_NOTED = ("engine",)  # what changes no byte


def positional(name: str, help_text: str, **metadata: object) -> Any:
    """Return a field that is a positional argument.

    :param name: the field's name, once more: argparse_dataclass needs it to see that it is no flag.
    :param help_text: one line for ``--help``.
    :param metadata: further arguments of argparse's ``add_argument``, such as ``nargs``.
    """
    return dataclasses.field(metadata={"args": [name], "help": help_text, **metadata})


def option(default: object, help_text: str, **metadata: object) -> Any:
    """Return a field that is a flag whose ``--help`` shows its default.

    :param default: default value; must be immutable.
    :param help_text: one line for ``--help``, without the default.
    :param metadata: further arguments of argparse's ``add_argument``, such as ``choices``.
    """
    text = f"{help_text} (default: {_shown(default)})".replace("%", "%%")
    return dataclasses.field(default=default, metadata={"help": text, **metadata})


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return "yes" if default else "no"
    if isinstance(default, tuple):
        return " ".join(map(str, default)) or "none"
    return "none" if default is None else str(default) or "none"


def check_least(config: object, **least: float) -> None:
    """Check that options that are given are not below these numbers.

    :raises ConfigError: one is.
    """
    for name, minimum in least.items():
        value = getattr(config, name)
        if value is not None and not value >= minimum:
            hint = ", or leave it out" if getattr(type(config), name) is None else ""
            flag = name.replace("_", "-")
            raise ConfigError(f"--{flag} {value}; expected {minimum} or more{hint}")


class CommandParser(ArgumentParser):
    """Command line of a configuration; its help says what the command reads and writes.

    :param options_class: dataclass with fields made by :func:`positional` and :func:`option`.
    :param command: name for the usage line.
    """

    def __init__(self, options_class: type, command: str) -> None:
        super().__init__(
            options_class,
            prog=f"mpbert {command}",
            description=(options_class.__doc__ or "").split("\n\n")[0],
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        fields = {field.name: field.metadata for field in dataclasses.fields(options_class)}
        for action in self._actions:  # argparse_dataclass passes no const on
            action.const = fields.get(action.dest, {}).get("const", action.const)

    def format_help(self) -> str:
        """Return the help, whose end is made here: few commands are asked for it."""
        self.epilog = epilog(self.prog.removeprefix("mpbert "))
        return super().format_help()

    def parse_values(self, words: Sequence[str]) -> dict[str, Any]:
        """Return the value of each field, without making a configuration of them."""
        return vars(argparse.ArgumentParser.parse_known_args(self, words)[0])

    def error(self, message: str) -> NoReturn:
        """Print usage and message and exit with 2.

        :raises ConfigError: instead, where the log is JSON.
        """
        message = f"{printable(message)}; see {self.prog} --help"
        if is_json():
            raise ConfigError(message)
        super().error(message)


def parse_config(config_class: type[C], command: str, argv: Sequence[str]) -> C:
    """Read a configuration: defaults, then ``--config FILE.yaml``, then flags; the last one wins.

    :param config_class: dataclass with fields made by :func:`positional` and :func:`option`.
    :param command: name for the usage line.
    :raises ConfigError: the YAML file is unreadable or has a key that is no option.
    :raises SystemExit: with 2 for wrong flags, with 0 after ``--help``.
    """
    argv = [part for word in argv for part in _split_config(word)]
    from_file: dict[str, list[str]] = {}
    if "--config" in argv:
        place = argv.index("--config")
        if place + 1 == len(argv):
            raise ConfigError(
                "--config is the last word; expected the name of a YAML file after it"
            )
        check_path("--config", Path(argv[place + 1]), takes_urls=False)
        from_file = flags_of_file(config_class, command, Path(argv[place + 1]))
        del argv[place : place + 2]
    parser = CommandParser(config_class, command)
    given = {word.split("=")[0] for word in argv}
    added = [word for flag, words in from_file.items() if flag not in given for word in words]
    words = [*argv, *added]  # at the end: a list of values would go on
    if words.count("--") > 1 or any(word.startswith("--") and word[-3:] == "=--" for word in words):
        parser.error("found '--' as a value; expected one that is no sign")  # argparse: empty lists
    check_paths(parser.parse_values(words), command in TAKES_URLS)
    config = parser.parse_args(words)
    _check_seed(config)
    return _with_names(config)


def _check_seed(config: object) -> None:
    seed = getattr(config, "seed", 0)
    if not 0 <= seed < _SEEDS:
        raise ConfigError(f"--seed {str(seed)[:30]}; expected at least 0 and less than 2**63")


def _with_names(config: C) -> C:
    """Return the configuration with ``.`` and ``..`` as absolute paths.

    Their last part is no name, of which commands make those of neighbouring files and of titles.
    """
    values = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    named = {name: _named(value) for name, value in values.items()}
    return config if named == values else dataclasses.replace(config, **named)


def _named(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(_named, value))
    return value.resolve() if isinstance(value, Path) and value.name in ("", "..") else value


def _split_config(word: str) -> list[str]:
    return ["--config", word[len("--config=") :]] if word.startswith("--config=") else [word]


def setting(
    default: object,
    choices: Sequence[str] = (),
    minimum: float | None = None,
    maximum: float = math.inf,
) -> Any:
    """Return a field of a method that ``name=value`` sets, see :func:`from_settings`.

    :param default: default value; its type is the type of the setting.
    :param choices: what a text may be; empty: anything.
    :param minimum: smallest number; None: anything above 0.
    :param maximum: largest number, which goes with the smallest.
    """
    bounds = {"minimum": minimum, "maximum": maximum}
    return dataclasses.field(default=default, metadata={"choices": tuple(choices), **bounds})


def from_settings(method: type[C], settings: Sequence[str], name: str) -> C:
    """Return a method, a dataclass whose fields are int, float or str, with these settings.

    :param settings: ``field=value`` each.
    :param name: what the messages call the method.
    :raises ConfigError: no such setting, or no such value.
    """
    fields = {field.name: field for field in dataclasses.fields(method)}
    values: dict[str, int | float | str] = {}
    for words in settings:
        key, _, text = words.partition("=")
        if key not in fields:
            raise ConfigError(
                f"--settings {words}: {name} has no setting {key!r}; expected one of "
                f"{', '.join(sorted(fields))}, as name=value{closest(key, fields)}"
            )
        values[key] = _setting_of(text, fields[key], f"--settings {words}")
    return method(**values)


def resolve_settings(method: type, settings: Sequence[str], name: str) -> list[str]:
    """Return all settings that are in force, defaults too, as ``field=value`` each.

    :raises ConfigError: no such setting, or no such value.
    """
    made = from_settings(method, settings, name)
    return [f"{field.name}={getattr(made, field.name)}" for field in dataclasses.fields(made)]


def paths_in(settings: Sequence[str]) -> list[Path]:
    """Return the files and folders that settings name: what depends on them depends on these."""
    values = [text.partition("=")[2] for text in settings]
    return [Path(value) for value in values if "/" in value and Path(value).exists()]


def _setting_of(text: str, field: dataclasses.Field, source: str) -> int | float | str:
    kind, choices = type(field.default), field.metadata.get("choices", ())
    if choices and text not in choices:
        raise ConfigError(f"{source}: found {text!r}; expected one of {', '.join(sorted(choices))}")
    if kind is bool:
        if text.lower() not in ("false", "true"):
            raise ConfigError(f"{source}: found {text!r}; expected true or false")
        return text.lower() == "true"
    try:
        value = kind(text)
    except ValueError as error:
        raise ConfigError(f"{source}: found {text!r}; expected {kind.__name__}") from error
    if kind is str:
        return value
    minimum = field.metadata.get("minimum")
    if not (value > 0 if minimum is None else value >= minimum):
        bound = "more than 0" if minimum is None else f"at least {minimum:g}"
        raise ConfigError(f"{source}: found {text}; expected {bound}")
    if value > (maximum := field.metadata.get("maximum", math.inf)):
        raise ConfigError(f"{source}: expected {minimum:g} to {maximum:g}")
    return value


def as_plain_dict(config: object) -> dict[str, Any]:
    """Return a configuration as a dictionary of YAML's own types, in the order of its fields."""
    values = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    return {name: _plain(value) for name, value in values.items() if name not in _NOT_NOTED}


def defaults_of(config: object) -> dict[str, Any]:
    """Return the defaults of what :func:`as_plain_dict` names, where there are any."""
    given = {field.name: field.default for field in dataclasses.fields(config)}
    return {
        name: _plain(given[name])
        for name in as_plain_dict(config)
        if given[name] is not dataclasses.MISSING
    }


def _plain(value: object) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value
