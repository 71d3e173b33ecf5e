"""YAML files, and options of a command in one: ``--config FILE.yaml``."""

import dataclasses
from pathlib import Path
from typing import Any

from mpbert.foundation.errors import ConfigError

_MOST_BRACKETS = 1000  # of a YAML text; a third of a second where each is inside the one before


def load_yaml(text: str) -> Any:
    """Return what a YAML text says, in little time: PyYAML takes the square of its nested brackets.

    :raises ValueError: it opens more brackets than any file of options does, or holds no such date.
    :raises yaml.YAMLError: it is no YAML.
    :raises RecursionError: it is nested too deep.
    """
    import yaml  # takes as long as to rank few papers

    if text.count("[") + text.count("{") > _MOST_BRACKETS:
        raise ValueError(f"found more than {_MOST_BRACKETS:,} opening brackets")
    return yaml.safe_load(text)


def read_yaml(path: Path, expected: str) -> Any:
    """Return what a YAML file says.

    :param expected: what such a file is, for the message.
    :raises ConfigError: it is unreadable.
    """
    import yaml

    try:
        return load_yaml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise ConfigError(f"{path}: unreadable ({reason}); expected {expected}") from error


def flags_of_file(config_class: type, command: str, path: Path) -> dict[str, list[str]]:
    """Return flag -> words of the command line for each option in a YAML file.

    :raises ConfigError: it is unreadable, or has a key that is no option.
    """
    values = read_yaml(path, "a YAML file of options") or {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: found {type(values).__name__}; expected lines like 'seed: 1'")
    options = {
        field.name: field
        for field in dataclasses.fields(config_class)
        if "args" not in field.metadata
    }
    flags: dict[str, list[str]] = {}
    for key, value in values.items():
        name = str(key).replace("-", "_")
        if name not in options:
            known = ", ".join(sorted(options))
            raise ConfigError(f"{path}: unknown option {str(key)!r}; expected one of {known}")
        if words := _words_of(options[name], value, path):
            flags[words[0].split("=")[0]] = words
    return flags


def _words_of(field: dataclasses.Field, value: Any, path: Path) -> list[str]:
    """Return the words of the command line that set an option; none where it has its default."""
    flag = "--" + field.name.replace("_", "-")
    if field.type is bool:  # argparse_dataclass offers only the flag that changes it
        if not isinstance(value, bool):
            raise ConfigError(f"{path}: {field.name} is {value!r}; expected true or false")
        if value == field.default:
            return []
        return [flag if value else "--no-" + flag[2:]]
    if value is None:
        return []
    return [flag, *map(str, value)] if isinstance(value, list) else [f"{flag}={value}"]
