"""Weights of a BERT that was exported to ONNX, under the names of Hugging Face's library.

ONNX (https://github.com/onnx/onnx, ``onnx.proto``) is a message of Protocol Buffers. Of its fields
the tensors are read here, and nothing of the graph: the exporter names all of them but the matrices
of linear layers, which stand in the order in which a BERT computes, transposed.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from mpbert.foundation.errors import EncoderError

_GRAPH, _TENSOR = 7, 5  # fields: of the model, of the graph
_DIMS, _NAME, _DATA = 1, 8, 9  # of a tensor
_LENGTH, _BYTES = 2, {1: 8, 5: 4}  # wire types
_LINEAR = (
    *(f"attention.self.{name}" for name in ("query", "key", "value")),
    *("attention.output.dense", "intermediate.dense", "output.dense"),
)


def write_bert(path: Path, target: Path) -> None:
    """Write the weights of a BERT in an ONNX file as safetensors.

    :raises EncoderError: the file is no such export.
    """
    save_file(bert_weights(path), target, metadata={"format": "pt"})


def bert_weights(path: Path) -> dict[str, np.ndarray]:
    """Return the weights of a BERT, float32, by their names in Hugging Face's library.

    :raises EncoderError: the file is no such export.
    """
    try:
        graph = next(
            value for field, value in _fields(memoryview(path.read_bytes())) if field == _GRAPH
        )
        tensors = [_tensor(value) for field, value in _fields(graph) if field == _TENSOR]
        found, linear = {}, 0
        for name, values in tensors:
            if name.startswith("onnx::MatMul"):
                layer, place = divmod(linear, len(_LINEAR))
                found[f"encoder.layer.{layer}.{_LINEAR[place]}.weight"] = values.T.copy()
                linear += 1
            elif values.ndim:
                found[name] = values
    except (StopIteration, IndexError, ValueError, TypeError) as error:
        raise EncoderError(
            f"{path}: found no tensors of ONNX; expected an exported BERT"
        ) from error
    return found


def _tensor(message: memoryview) -> tuple[str, np.ndarray]:
    dims, name, data = [], "", b""
    for field, value in _fields(message):
        if field == _DIMS:
            dims += [value] if isinstance(value, int) else _varints(value)
        elif field == _NAME:
            name = bytes(value).decode()
        elif field == _DATA:
            data = value
    return name, np.frombuffer(data, "<f4").reshape(dims)


def _varints(packed: memoryview) -> list[int]:
    found, place = [], 0
    while place < len(packed):
        value, place = _varint(packed, place)
        found.append(value)
    return found


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield number and value of each field of a message."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        field, kind = key >> 3, key & 7
        if kind == 0:
            value, place = _varint(message, place)
        else:
            length, place = _varint(message, place) if kind == _LENGTH else (_BYTES[kind], place)
            value, place = message[place : place + length], place + length
        yield field, value


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, lowest first, and the place behind it."""
    value = shift = 0
    while True:
        byte = message[place]
        value, place, shift = value | (byte & 127) << shift, place + 1, shift + 7
        if byte < 128:
            return value, place
