"""Trainings of networks of torch: their state as arrays, and what they leave as files."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from mpbert.methods.checkpoint import State
from mpbert.methods.training import Learner


class TorchLearner(Learner):
    """A module whose weights change by optimisers, and nothing else.

    :param module: whose parameters are trained.
    :param optimizers: of its parameters.
    """

    def __init__(self, module: nn.Module, optimizers: Sequence[torch.optim.Optimizer]) -> None:
        self.module, self.optimizers = module, optimizers

    def update(self, loss: Tensor) -> float:
        """Change the weights so that a loss falls; return the loss."""
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in self.optimizers:
            optimizer.step()
        return loss.item()

    def set_rate(self, learning_rate: float) -> None:
        """Set the learning rate of all updates from now on."""
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = learning_rate

    def state(self) -> State:
        """Return the weights and the states of the optimisers."""
        tensors = {f"model.{name}": p.detach() for name, p in self.module.named_parameters()}
        for place, optimizer in enumerate(self.optimizers):
            for number, state in optimizer.state_dict()["state"].items():
                for key, value in state.items():
                    tensors[f"optimizer.{place}.{number}.{key}"] = torch.as_tensor(value)
        return State({name: array_of(tensor) for name, tensor in tensors.items()})

    @torch.no_grad()
    def restore(self, state: State) -> None:
        """Put back what :meth:`state` returned."""
        for name, parameter in self.module.named_parameters():
            parameter.copy_(torch.tensor(state.arrays[f"model.{name}"]))
        moments: list[dict[int, dict[str, object]]] = [{} for _ in self.optimizers]
        for key, array in state.arrays.items():
            if key.startswith("optimizer."):
                _, place, number, name = key.split(".")
                is_count = array.dtype.kind != "f"
                value = array.item() if is_count else torch.tensor(array)
                moments[int(place)].setdefault(int(number), {})[name] = value
        for optimizer, found in zip(self.optimizers, moments, strict=True):
            optimizer.load_state_dict({**optimizer.state_dict(), "state": found})


def array_of(tensor: Tensor) -> np.ndarray:
    """Return a tensor as an array, which shares its memory where it is on the CPU."""
    return tensor.detach().cpu().numpy()


def save_words_and_weights(module: nn.Module, vocabulary: pa.Array, directory: Path) -> None:
    """Write ``model.safetensors`` and ``words.txt``, words in the order of the weights."""
    weights = {name: p.detach().cpu() for name, p in module.named_parameters()}
    save_file(weights, directory / "model.safetensors")
    lines = "\n".join(vocabulary.to_pylist())
    (directory / "words.txt").write_text(lines + "\n", encoding="utf-8")
