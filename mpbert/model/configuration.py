"""Configurations from YAML files, from ``name=value`` and from stored encoders, and back."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from mpbert.foundation.errors import ConfigError, closest
from mpbert.foundation.option_files import read_yaml
from mpbert.model.config import Configuration

S = TypeVar("S")
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}


def knobs(section: type, stage: str, *names: str) -> Iterator[dataclasses.Field]:
    """Yield the fields of a section that a training may set, those of sections inside too.

    :param names: of these alone; none: all.
    """
    for field in dataclasses.fields(section):
        if dataclasses.is_dataclass(field.type):
            yield from knobs(field.type, stage, *names)
        elif stage in field.metadata["stages"] and (not names or field.name in names):
            yield field


def read_configuration(path: Path, stage: str, settings: Sequence[str] = ()) -> Configuration:
    """Return the configuration of a training.

    :param path: YAML file with some of the sections; what it lacks has its default.
    :param stage: ``pretrain`` or ``finetune``: what it has no use for is refused.
    :param settings: ``name=value`` each, which win over the file; names are unique over sections.
    :raises ConfigError: the file is unreadable, or a key or value is not known.
    """
    content = _read(path)
    known = {field.name: field for field in knobs(Configuration, stage)}
    content = _checked(content, Configuration, known, str(path))
    for words in settings:
        name, _, text = words.partition("=")
        if name not in known:
            raise _unknown(f"--settings {words}", name, known)
        _place(content, Configuration, name, _value_of(text, known[name], f"--settings {words}"))
    try:
        return from_nested(Configuration, content)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def resolved_settings(configuration: Configuration, stage: str) -> list[str]:
    """Return all knobs that are in force, as ``name=value`` each."""
    values = named_values(configuration)
    return [f"{field.name}={values[field.name]}" for field in knobs(Configuration, stage)]


def named_values(configuration: Configuration) -> dict[str, Any]:
    """Return the value of each knob; names are unique over all sections."""
    return dict(_flat(dataclasses.asdict(configuration)))


def from_nested(section: type[S], content: Mapping[str, Any]) -> S:
    """Return a section, or a configuration, from the mapping that ``asdict`` makes of it.

    What it lacks has its default.

    :raises ConfigError: a key is not known, or a value is of another type or out of bounds.
    """
    fields = {field.name: field for field in dataclasses.fields(section)}
    values: dict[str, Any] = {}
    for key, value in content.items():
        if key not in fields:
            raise _unknown("configuration", key, fields)
        if dataclasses.is_dataclass(fields[key].type):
            values[key] = from_nested(fields[key].type, _mapping(value, key))
        else:
            values[key] = _typed(value, fields[key], key)
    return section(**values)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        return _mapping(read_yaml(path, "a YAML file") or {}, str(path))
    except ConfigError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
        near = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml")))
        known = f"those beside it: {near}" if near else "finetune/configs/token_bag.yaml"
        raise ConfigError(
            f"{path}: no such configuration; expected a YAML file, such as {known}"
        ) from error


def _mapping(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{name}: found {type(value).__name__}; expected lines like 'dim: 256'")
    return value


def _checked(
    content: Mapping[str, Any], section: type, known: Mapping[str, Any], source: str
) -> dict[str, Any]:
    """Return a copy of the nested content whose keys are all sections or known knobs of them."""
    fields = {field.name: field for field in dataclasses.fields(section)}
    allowed = {
        name: field
        for name, field in fields.items()
        if dataclasses.is_dataclass(field.type) or name in known
    }
    found: dict[str, Any] = {}
    for key, value in content.items():
        if key not in allowed:
            raise _unknown(source, str(key), allowed)
        if dataclasses.is_dataclass(allowed[key].type):
            inside = _mapping({} if value is None else value, f"{source}: {key}")
            found[key] = _checked(inside, allowed[key].type, known, f"{source}: {key}")
        else:
            found[key] = _typed(value, allowed[key], f"{source}: {key}")
    return found


def _unknown(source: str, name: str, known: Mapping[str, Any]) -> ConfigError:
    return ConfigError(
        f"{source}: no knob {name!r}; expected one of {', '.join(sorted(known))}"
        f"{closest(name, known, 0.5)}"
    )


def _place(content: dict[str, Any], section: type, name: str, value: object) -> bool:
    """Put a value where its field stands; whether it stands in this section."""
    for field in dataclasses.fields(section):
        if dataclasses.is_dataclass(field.type):
            inside = content.setdefault(field.name, {})
            if _place(inside, field.type, name, value):
                return True
        elif field.name == name:
            content[name] = value
            return True
    return False


def _value_of(text: str, field: dataclasses.Field, source: str) -> object:
    if isinstance(field.default, bool):
        if text.lower() not in _BOOLEANS:
            raise ConfigError(f"{source}: found {text!r}; expected true or false")
        return _BOOLEANS[text.lower()]
    kind = type(field.default)
    try:
        return kind(text)
    except ValueError as error:
        raise ConfigError(f"{source}: found {text!r}; expected {kind.__name__}") from error


def _typed(value: object, field: dataclasses.Field, source: str) -> object:
    """Return a value of the type of the field's default; YAML reads 1e-3 as a text."""
    kind = type(field.default)
    if kind is float and isinstance(value, (int, str)) and not isinstance(value, bool):
        return _value_of(str(value), field, source)
    if kind is str and isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # nested_dims of one number
    if type(value) is not kind:
        raise ConfigError(f"{source}: found {value!r}; expected {kind.__name__}")
    return value


def _flat(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _flat(value)
        else:
            yield key, value
