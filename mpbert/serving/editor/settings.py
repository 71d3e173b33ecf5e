"""What a writer sets: which remarks are shown, and how many sentences that lack a citation."""

from dataclasses import dataclass, fields
from typing import Any

from mpbert.foundation.errors import ConfigError


@dataclass(frozen=True)
class EditorSettings:
    """Settings of an editor, under ``mpbert`` or as options of initialization.

    :param open_places: whether places such as ``[CITATION]`` are remarked on.
    :param undefined_keys: whether keys are that no bibliography defines.
    :param unused_entries: whether entries are that the manuscript cites nowhere.
    :param doubtful: whether citations are whose papers do not fit their sentences.
    :param unmarked: how many sentences are that probably lack a citation; 0 for none.
    """

    open_places: bool = True
    undefined_keys: bool = True
    unused_entries: bool = True
    doubtful: bool = True
    unmarked: int = 10


def read_settings(found: Any) -> EditorSettings:
    """Return settings from what an editor sent, by the names of the fields.

    :raises ConfigError: one is not known, or of another type.
    """
    if isinstance(found, dict) and isinstance(found.get("mpbert"), dict):
        found = found["mpbert"]
    if not isinstance(found, dict):
        return EditorSettings()
    known = {field.name: type(field.default) for field in fields(EditorSettings)}
    chosen = {}
    for name, value in found.items():
        kind = known.get(name)
        if kind is None:
            raise ConfigError(f"setting mpbert.{name}: expected one of {', '.join(known)}")
        if type(value) is not kind or (kind is int and value < 0):
            expected = "true or false" if kind is bool else "a number of sentences, 0 for none"
            raise ConfigError(f"setting mpbert.{name} is {value!r}; expected {expected}")
        chosen[name] = value
    return EditorSettings(**chosen)
