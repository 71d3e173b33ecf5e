"""The manifest of an index."""

from pathlib import Path
from typing import Any

from mpbert.foundation.errors import DamagedError, IndexFormatError, MpbertError
from mpbert.foundation.manifest import INDEXES, read_manifest


def read_index_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of an index.

    :raises IndexFormatError: there is none, or it is of another format.
    :raises DamagedError: it is not as it was written.
    """
    try:
        manifest = read_manifest(path)
    except DamagedError:
        raise
    except MpbertError as error:
        raise IndexFormatError(
            f"{path}: found no readable manifest.json; expected an index, "
            f"make one with mpbert build-index or mpbert index"
        ) from error
    if manifest.get("command") not in INDEXES:
        raise IndexFormatError(
            f"{path}: found an output of mpbert {manifest.get('command')}; expected an index, "
            f"make one with mpbert build-index or mpbert index"
        )
    counts, config = manifest.get("counts"), manifest.get("config")
    generation = counts.get("generation") if isinstance(counts, dict) else None
    numbers = [generation, *map((config or {}).get, ("readings", "seed"))]
    if not all(isinstance(number, int) and number >= 0 for number in numbers):
        raise IndexFormatError(
            f"{path / 'manifest.json'}: found generation, readings and seed {numbers}; expected "
            f"numbers, build the index again"
        )
    return manifest
