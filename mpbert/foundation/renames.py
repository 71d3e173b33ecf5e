"""The one table of old names: what commands, options and settings were called in earlier versions.

An old command or flag is refused with its new spelling. A manifest that was written under old
names is read as if it had the new ones, so that an old output is still known as finished. The
fingerprint of an output is that of its manifest under the old names, so that an output made anew
is still what others were made from.
"""

from collections.abc import Mapping
from typing import Any

COMMANDS = {"fit-baseline": "fit", "run-conditions": "make-rows"}
# command, by its present name -> old name of an option -> its present name
OPTIONS = {
    "binarize": {"max_tokens": "sentence_tokens"},
    "build-index": {"draws": "readings"},
    "embed": {"draws": "readings", "max_tokens": "batch_tokens"},
    "fit": {"baseline": "method"},
    "make-rows": {"conditions": "rows"},
    "report": {"conditions": "rows"},
    "tune": {"conditions": "rows"},
}

# of methods, as they stand among ``--settings name=value``
SETTINGS = {"max_tokens": "batch_tokens"}


def new_option(command: str, name: str) -> str:
    """Return what an option of a command is called now; any other name comes back as it is.

    :param command: present name of the command.
    :param name: as a field, ``max_tokens``, or as a flag, ``--max-tokens``.
    """
    field = name.removeprefix("--").replace("-", "_")
    if field not in OPTIONS.get(command, {}):
        return name
    found = OPTIONS[command][field]
    return "--" + found.replace("_", "-") if name.startswith("--") else found


def with_new_names(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest with the present names of its command and of its options.

    :param manifest: of any version; what it lacks is left out.
    """
    command = manifest.get("command")
    now = COMMANDS.get(command, command) if isinstance(command, str) else ""
    return _renamed(manifest, COMMANDS, OPTIONS.get(now, {}), SETTINGS)


def with_old_names(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest with the names that its command and its options had at first."""
    command = manifest.get("command")
    options = OPTIONS.get(command, {}) if isinstance(command, str) else {}
    return _renamed(manifest, _inverse(COMMANDS), _inverse(options), _inverse(SETTINGS))


def _inverse(names: Mapping[str, str]) -> dict[str, str]:
    return {now: old for old, now in names.items()}


def _renamed(
    manifest: Mapping[str, Any],
    commands: Mapping[str, str],
    options: Mapping[str, str],
    settings: Mapping[str, str],
) -> dict[str, Any]:
    """Return a manifest in which commands, options and settings have other names, as they stand."""
    found = dict(manifest)
    if isinstance(found.get("command"), str):
        found["command"] = commands.get(found["command"], found["command"])
        if isinstance(found.get("config"), dict):
            config = {options.get(name, name): value for name, value in found["config"].items()}
            if isinstance(config.get("settings"), list):
                config["settings"] = [_setting(word, settings) for word in config["settings"]]
            found["config"] = config
    return found


def _setting(word: object, settings: Mapping[str, str]) -> object:
    """Return ``name=value`` with another name."""
    name, sign, value = str(word).partition("=")
    return f"{settings[name]}={value}" if sign and name in settings else word
