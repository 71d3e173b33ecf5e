"""Entries of files of YAML, such as rows and claims: known keys, each of a known type."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from mpbert.experiments.row_values import Parser
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.option_files import read_yaml

Keys = Mapping[str, tuple[type | tuple[type, ...], Parser]]  # key to type and parser


def read_entries(path: Path, what: str) -> dict[str, object]:
    """Return the entries of a file by name.

    :param what: they are, for the messages: such as ``claims``.
    :raises ConfigError: it is unreadable, or maps no names to entries.
    """
    content = read_yaml(path, f"{what} by name")
    if not isinstance(content, dict) or not content:
        raise ConfigError(f"{path}: found {type(content).__name__}; expected {what} by name")
    return {str(name): entry for name, entry in content.items()}


def parse_entry(content: object, keys: Keys, needed: Collection[str], source: str) -> dict:
    """Return the values of an entry, each checked.

    :param needed: keys that it must have.
    :param source: what the messages call it.
    :raises ConfigError: a key is missing, unknown or of the wrong kind.
    """
    if not isinstance(content, dict):
        raise ConfigError(
            f"{source}: found {type(content).__name__}; expected keys {', '.join(needed)}"
        )
    values: dict[str, Any] = {}
    for key, value in content.items():
        if key not in keys:
            raise ConfigError(
                f"{source}: unknown key {key!r}; expected one of {', '.join(sorted(keys))}"
            )
        kind, parse = keys[key]
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            names = " or ".join(each.__name__ for each in kinds)
            raise ConfigError(f"{source}: {key} is {value!r}; expected {names}")
        values[key] = parse(value, f"{source}: {key}")
    for key in needed:
        value = values.get(key)
        if not (value.strip() if isinstance(value, str) else value):
            raise ConfigError(f"{source}: found no {key}; expected a line '{key}: ...'")
    return values
