"""What an output was made by: its command, its configuration and the checksums of its inputs."""

import re
from pathlib import Path
from typing import Any

from mpbert.foundation.checksums import fingerprint
from mpbert.foundation.config import as_plain_dict, defaults_of

_SHA256 = re.compile(r"[0-9a-f]{64}")  # of an input
_LONGEST = 60  # characters of a value that a message shows
_NONE = "none"  # what is said of a value that one side lacks
_PATH_KEYS = ("output", "outputs")


def identity_of(command: str, config: object, inputs: list[Path]) -> dict[str, Any]:
    """Return command, configuration and checksums of inputs, as a manifest notes them.

    Paths are known by what they hold, so that only their names are noted.
    """
    settings = {k: v for k, v in as_plain_dict(config).items() if k not in _PATH_KEYS}
    for key, value in settings.items():
        if isinstance(getattr(config, key), Path):
            settings[key] = Path(value).name
    return {"command": command, "config": settings, "inputs": _fingerprints(inputs)}


def differences(
    manifest: dict[str, Any], command: str, config: object, inputs: list[Path]
) -> list[str]:
    """Return in which of command, configuration and inputs an output was made otherwise, and how.

    Such as ``config (seed: 1 there, 2 asked)``.

    :param manifest: of the output.
    :param config: the command's configuration.
    """
    sides = (manifest, identity_of(command, config, inputs))
    found, expected = [{**side, "config": _compared(side.get("config"), config)} for side in sides]
    return [
        f"{key} ({told_values(found.get(key), expected[key])})"
        for key in expected
        if found.get(key) != expected[key]
    ]


def told_values(there: Any, asked: Any, name: str = "") -> str:
    """Return which values differ: those that are there, and those that are asked for."""
    if isinstance(there, dict) and isinstance(asked, dict):
        keys = [key for key in asked | there if there.get(key, _NONE) != asked.get(key, _NONE)]
        lines = [told_values(there.get(key, _NONE), asked.get(key, _NONE), key) for key in keys]
        return ", ".join(f"{name}.{line}" if name else line for line in lines)
    if isinstance(there, list) and isinstance(asked, list):  # such as settings
        there, asked = (
            [value for value in one if value not in other]
            for one, other in ((there, asked), (asked, there))
        )
    if all(isinstance(value, str) and _SHA256.fullmatch(value) for value in (there, asked)):
        return f"{name}: other bytes"
    return f"{name}: {_shown(there)} there, {_shown(asked)} asked".removeprefix(": ")


def _shown(value: Any) -> str:
    """Return a value in a line, a long one cut."""
    text = " ".join(map(str, value)) or _NONE if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _compared(settings: Any, config: object) -> Any:
    """Return noted settings with the names of listed paths; manifests keep the paths as given.

    An option that is newer than a manifest had its default there.
    """
    if not isinstance(settings, dict):
        return settings
    settings = defaults_of(config) | settings
    return {
        key: [Path(str(place)).name for place in value]
        if isinstance(value, list) and _are_paths(getattr(config, key, None))
        else value
        for key, value in settings.items()
    }


def _are_paths(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, Path) for each in value)


def _fingerprints(inputs: list[Path]) -> dict[str, str]:
    found: dict[str, str] = {}
    for place, path in enumerate(inputs, start=1):  # a corpus and its vectors may have one name
        name = path.name if path.name not in found else f"{path.name} ({place})"
        found[name] = fingerprint(path)
    return found
