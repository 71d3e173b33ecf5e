"""Finished parts of an output, each a file: a run that was killed goes on with the others."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import mpbert
from mpbert.foundation.checksums import archive_is_whole
from mpbert.foundation.claims import parts_directory
from mpbert.foundation.identity import identity_of

if TYPE_CHECKING:  # the help of commands that make parts needs none
    import numpy as np

Arrays = dict[str, "np.ndarray"]
"""What one part holds, by name; no pickled objects."""


@dataclass(frozen=True)
class PartFiles:
    """Parts of one kind in a folder, by their places: 0, 1 and so on.

    :param folder: of parts that all depend on the same, see :func:`parts_of`.
    :param name: of the kind.
    """

    folder: Path
    name: str

    def _file(self, place: int) -> Path:
        return self.folder / f"{self.name}.{place:06d}.npz"  # zip archives: they hold checksums

    def has(self, place: int) -> bool:
        """Return whether a part is there, and whole."""
        return archive_is_whole(self._file(place))

    def load(self, place: int) -> Arrays:
        """Return a part that is there."""
        import numpy as np

        with np.load(self._file(place), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}

    def save(self, place: int, arrays: Arrays) -> None:
        """Write a part under a name of its own, then rename it: another may write the same one.

        Where it cannot be written and there is no other part, the folder goes, too.
        """
        import numpy as np

        unfinished = self.folder / f"{self.name}.{place:06d}.{uuid4().hex}.tmp"
        try:
            with unfinished.open("wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
            unfinished.replace(self._file(place))
        except OSError:
            if not any(self.folder.glob("*.npz")):
                self.discard()
            raise
        finally:
            unfinished.unlink(missing_ok=True)

    def discard(self) -> None:
        """Throw all parts away, those of other kinds in the folder, too."""
        shutil.rmtree(self.folder, ignore_errors=True)


def parts_of(
    output: Path, name: str, command: str, config: object, inputs: list[Path]
) -> PartFiles:
    """Return the parts of an output, beside it; those of other settings or inputs are thrown away.

    They go when the output is in its place, see ``manifest.output_directory``.
    """
    made_of = {"mpbert": mpbert.__version__, **identity_of(command, config, inputs)}
    identity = json.dumps(made_of, default=str)
    return PartFiles(parts_directory(output, identity), name)
