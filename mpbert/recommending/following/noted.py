"""What an index has of a library that it follows: the digest of each record, in one file of it."""

import json
from collections.abc import Mapping
from pathlib import Path

from mpbert.foundation.claims import replace_file

_FILE = "followed.json"


def noted(index: Path, library: Path) -> dict[str, bytes]:
    """Return the digests that were noted of a library, by the ids of papers; none of another."""
    try:
        found = json.loads((index / _FILE).read_bytes())
        if found["library"] == str(library.resolve()):
            return {name: bytes.fromhex(digest) for name, digest in found["records"].items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        pass  # it is read as for the first time
    return {}


def note(index: Path, library: Path, digests: Mapping[str, bytes]) -> None:
    """Note the digests, in one step.

    :raises OSError: they cannot be written.
    """
    found = {name: digest.hex() for name, digest in sorted(digests.items())}
    text = json.dumps({"library": str(library.resolve()), "records": found}, ensure_ascii=False)
    replace_file(index / _FILE, text.encode("utf-8", "surrogatepass"))
