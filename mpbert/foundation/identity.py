"""What an output was made by: its command, its configuration and the checksums of its inputs."""

from pathlib import Path
from typing import Any

from mpbert.foundation.checksums import fingerprint
from mpbert.foundation.config import as_plain_dict, values_before, without
from mpbert.foundation.renames import with_new_names

_PATH_KEYS = ("output", "outputs")


def identity_of(command: str, config: object, inputs: list[Path]) -> dict[str, Any]:
    """Return command, configuration and checksums of inputs, as a manifest notes them.

    Paths are known by what they hold, so that only their names are noted.
    """
    settings = {k: v for k, v in as_plain_dict(config).items() if k not in _PATH_KEYS}
    for key, value in settings.items():
        if isinstance(getattr(config, key), Path):
            settings[key] = Path(value).name
    return {
        "command": command,
        "config": settings,
        "inputs": _fingerprints(inputs),
    }


def differences(
    manifest: dict[str, Any], command: str, config: object, inputs: list[Path]
) -> list[str]:
    """Return in which of command, configuration and inputs an output was made otherwise.

    :param manifest: of the output; it may be of a version that had other names, or that lacked some
        options and settings.
    :param config: the command's configuration. One whose settings have grown has an attribute
        ``settings_before``: ``name=value`` of each setting that outputs may be older than.
    """
    found, expected = manifest, identity_of(command, config, inputs)
    sides = [with_new_names(side) for side in (found, expected)]
    for side in sides:
        side["config"] = _compared(side.get("config"), config)
    found, expected = sides
    return [key for key in expected if found.get(key) != expected[key]]


def _compared(settings: Any, config: object) -> Any:
    """Return noted settings with the names of listed paths; manifests keep the paths as given.

    What is as it was before there was such an option or setting is left out.
    """
    if not isinstance(settings, dict):
        return settings
    compared = {
        key: [Path(str(place)).name for place in value]
        if isinstance(value, list) and _are_paths(getattr(config, key, None))
        else value
        for key, value in without(settings, values_before(config)).items()
    }
    before = getattr(config, "settings_before", ())
    if before and isinstance(words := compared.get("settings"), list):
        compared["settings"] = [word for word in words if word not in before]
    return compared


def _are_paths(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, Path) for each in value)


def _fingerprints(inputs: list[Path]) -> dict[str, str]:
    found: dict[str, str] = {}
    for place, path in enumerate(inputs, start=1):  # a corpus and its vectors may have one name
        name = path.name if path.name not in found else f"{path.name} ({place})"
        found[name] = fingerprint(path)
    return found
