"""What a killed training goes on from: tensors and a few numbers, as safetensors."""

import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

logger = logging.getLogger(__name__)


class Checkpoint:
    """A safetensors file, in a directory that other files may share.

    :param directory: where the file is; made when first saved.
    :param name: of the file, without its ending.
    :param identity: what the content is of; a file of another identity is not used.
    """

    def __init__(self, directory: Path, name: str, identity: str) -> None:
        self._file, self._identity = directory / f"{name}.safetensors", identity

    def save(self, tensors: dict[str, Tensor], values: dict[str, object]) -> None:
        """Replace the file; ``values`` are such as JSON can express."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._file.with_suffix(".tmp")
        tensors = {k: t.contiguous() for k, t in tensors.items()}
        metadata = {"values": json.dumps(values), "identity": self._identity}
        metadata["digest"] = _digest(tensors, metadata["values"])
        save_file(tensors, unfinished, metadata)
        unfinished.rename(self._file)

    def load(self) -> tuple[dict[str, Tensor], dict] | None:
        """Return what was saved; None if nothing was, or it is damaged or of another identity."""
        if not self._file.is_file():
            return None
        try:
            with safe_open(self._file, "pt") as file:
                metadata = file.metadata() or {}
                tensors = {key: file.get_tensor(key) for key in file.keys()}
        except (OSError, SafetensorError) as error:
            logger.warning("%s: unreadable (%s); made anew", self._file, error)
            return None
        if metadata.get("identity") != self._identity or "values" not in metadata:
            logger.info("%s: of another training; made anew", self._file)
            return None
        if metadata.get("digest") != _digest(tensors, metadata["values"]):
            logger.warning("%s: damaged, or of an older version; made anew", self._file)
            return None
        return tensors, json.loads(metadata["values"])


def _digest(tensors: dict[str, Tensor], values: str) -> str:
    """Return a SHA-256 of what is saved, as safetensors has no checksum."""
    digest = hashlib.sha256(values.encode())
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].detach().cpu().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


class EpochCheckpoint:
    """Weights and the states of optimisers at the end of an epoch.

    :param directory: and ``identity`` as of :class:`Checkpoint`.
    """

    def __init__(self, directory: Path, identity: str) -> None:
        self._file = Checkpoint(directory, "training", identity)

    def save(
        self, module: nn.Module, optimizers: Sequence[torch.optim.Optimizer], epochs: int
    ) -> None:
        """Replace the file, after so many epochs."""
        self._file.save(training_tensors(module, optimizers), {"epochs": epochs})

    def load(self, module: nn.Module, optimizers: Sequence[torch.optim.Optimizer]) -> int:
        """Restore what was saved, if anything was; return the number of epochs done."""
        saved = self._file.load()
        if saved is None:
            return 0
        tensors, values = saved
        restore_training(module, optimizers, tensors)
        logger.info("training goes on after %d epochs", values["epochs"])
        return values["epochs"]


def training_tensors(
    module: nn.Module, optimizers: Sequence[torch.optim.Optimizer]
) -> dict[str, Tensor]:
    """Return the weights and the states of optimisers by name."""
    tensors = {f"model.{name}": p.detach() for name, p in module.named_parameters()}
    for place, optimizer in enumerate(optimizers):
        for number, state in optimizer.state_dict()["state"].items():
            for key, value in state.items():
                tensors[f"optimizer.{place}.{number}.{key}"] = torch.as_tensor(value)
    return tensors


def restore_training(
    module: nn.Module, optimizers: Sequence[torch.optim.Optimizer], tensors: dict[str, Tensor]
) -> None:
    """Put back what :func:`training_tensors` returned."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.copy_(tensors[f"model.{name}"])
    states: list[dict[int, dict[str, Tensor]]] = [{} for _ in optimizers]
    for key, value in tensors.items():
        if key.startswith("optimizer."):
            _, place, number, name = key.split(".")
            known = states[int(place)].setdefault(int(number), {})
            known[name] = value if value.is_floating_point() else value.item()  # a count
    for optimizer, state in zip(optimizers, states, strict=True):
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
