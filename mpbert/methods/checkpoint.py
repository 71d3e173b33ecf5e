"""What a killed training goes on from: arrays and a few values, in one safetensors file."""

import hashlib
import json
import logging
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class State:
    """All that changes in a training.

    :param arrays: by name, of any shape.
    :param values: by name, such as JSON can express.
    """

    arrays: dict[str, np.ndarray]
    values: dict[str, object] = field(default_factory=dict)


class Checkpoint:
    """A safetensors file, in a directory that other files may share.

    :param directory: where the file is; made when first saved.
    :param name: of the file, without its ending.
    :param identity: what the content is of; a file of another identity is not used.
    """

    def __init__(self, directory: Path, name: str, identity: str) -> None:
        self._file, self._identity = directory / f"{name}.safetensors", identity

    def save(self, state: State) -> None:
        """Replace the file."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._file.with_suffix(".tmp")
        arrays = {name: np.asarray(array, order="C") for name, array in state.arrays.items()}
        metadata = {"values": json.dumps(state.values), "identity": self._identity}
        metadata["digest"] = _digest(arrays, metadata["values"])
        save_file(arrays, unfinished, metadata)
        unfinished.rename(self._file)

    def load(self) -> State | None:
        """Return what was saved; None if nothing was, or it is damaged or of another identity."""
        if not self._file.is_file():
            return None
        try:
            with safe_open(self._file, "np") as file:
                metadata = file.metadata() or {}
                arrays = {key: file.get_tensor(key) for key in file.keys()}
        except (OSError, SafetensorError) as error:
            logger.warning("%s: unreadable (%s); made anew", self._file, error)
            return None
        if metadata.get("identity") != self._identity or "values" not in metadata:
            logger.info("%s: of another training; made anew", self._file)
            return None
        if metadata.get("digest") != _digest(arrays, metadata["values"]):
            logger.warning("%s: damaged, or of an older version; made anew", self._file)
            return None
        return State(arrays, json.loads(metadata["values"]))


def _digest(arrays: dict[str, np.ndarray], values: str) -> str:
    """Return a SHA-256 of what is saved, as safetensors has no checksum."""
    digest = hashlib.sha256(values.encode())
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(arrays[name].reshape(-1).view(np.uint8))
    return digest.hexdigest()
