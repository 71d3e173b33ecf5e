"""What an output was made by: its command, its configuration and the checksums of its inputs."""

from pathlib import Path
from typing import Any

from mpbert.foundation.checksums import fingerprint
from mpbert.foundation.config import as_plain_dict

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
    """Return in which of command, configuration and inputs an output was made otherwise.

    :param manifest: of the output.
    :param config: the command's configuration.
    """
    sides = (manifest, identity_of(command, config, inputs))
    found, expected = [{**side, "config": _compared(side.get("config"), config)} for side in sides]
    return [key for key in expected if found.get(key) != expected[key]]


def _compared(settings: Any, config: object) -> Any:
    """Return noted settings with the names of listed paths; manifests keep the paths as given."""
    if not isinstance(settings, dict):
        return settings
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
