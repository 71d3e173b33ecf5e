"""Memory that is full is told in one line."""

import mmap

import numpy as np
import pytest
import torch

from mpbert.cli import main
from mpbert.commands import completion
from mpbert.foundation.errors import full_memory

MUCH = 2**50  # more than addresses of a process


def no_memory_for_numpy():
    np.empty(MUCH)


def no_memory_for_torch():
    torch.empty(MUCH)


def no_memory_for_a_map():
    mmap.mmap(-1, MUCH)


# as torch 2.11 told them on an H200
ON_A_GPU = (
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total"),
    torch.AcceleratorError("CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation'"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
)


@pytest.mark.parametrize(
    "allocate", [no_memory_for_numpy, no_memory_for_torch, no_memory_for_a_map]
)
def test_a_command_without_memory_says_what_to_do(monkeypatch, capsys, allocate):
    monkeypatch.setattr(completion, "run", lambda config: allocate())
    assert main(["completion", "bash"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mpbert completion: memory is full; run fewer commands")


@pytest.mark.parametrize("error", ON_A_GPU)
def test_memory_of_a_gpu_is_named(error):
    assert str(full_memory(error)).startswith("memory of the GPU is full; ")


@pytest.mark.parametrize(
    "error", [RuntimeError("CUDA error: invalid argument"), ValueError("CUDA out of memory")]
)
def test_another_error_is_none_of_memory(error):
    assert full_memory(error) is None
