"""The one table of old names: what commands and options were called in earlier versions.

An old command or flag is refused with its new spelling. A manifest that was written under old
names is read as if it had the new ones, so that an old output is still known as finished.
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
    found = dict(manifest)
    command = found.get("command")
    if not isinstance(command, str):
        return found
    found["command"] = COMMANDS.get(command, command)
    if isinstance(found.get("config"), dict):
        found["config"] = {
            new_option(found["command"], name): value for name, value in found["config"].items()
        }
    return found
