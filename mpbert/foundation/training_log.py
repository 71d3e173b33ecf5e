"""Losses of our own trainings: fields of their log records, and curves in TensorBoard.

fairseq writes those of pretraining and fine-tuning; these have the same tag, ``loss``. Those of a
second part of a method stand in a folder of its name, which TensorBoard shows as a run of its own.
"""

import logging
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # to tell types
    from tensorboard.summary.writer.record_writer import RecordWriter

TAG = "loss"
SUFFIX = ".tensorboard"


def loss_fields(
    step: str, update: int, loss: float, part: str = ""
) -> dict[str, dict[str, object]]:
    """Return the ``extra`` of a log record that tells of a loss.

    :param step: what is trained.
    :param update: updates done by now.
    :param loss: mean since the record before.
    :param part: of a method that trains several things; empty: the main one.
    """
    told = {"part": part} if part else {}
    return {"fields": {"step": step, "update": update, TAG: float(loss), **told}}


@contextmanager
def for_tensorboard(output: Path, goes_on: bool) -> Iterator[None]:
    """Write the losses that are logged in this block to ``OUTPUT.tensorboard``.

    It stands beside the output, since its files hold times, and outputs have the same bytes.

    :param goes_on: whether a killed training is taken up, whose curve is to go on.
    """
    directory = output.with_name(output.name + SUFFIX)
    if not goes_on:
        shutil.rmtree(directory, ignore_errors=True)
    handler = _Events(directory)
    ours = logging.getLogger("mpbert")
    level = ours.level
    if not ours.isEnabledFor(logging.INFO):
        ours.setLevel(logging.INFO)
    ours.addHandler(handler)
    try:
        yield
    finally:
        ours.removeHandler(handler)
        ours.setLevel(level)
        handler.close()


class _Events(logging.Handler):
    """Writes each record that has a loss; the first one makes the file.

    Each is on the disk at once, from this thread: what cannot be written fails here, in one error.
    """

    def __init__(self, directory: Path) -> None:
        super().__init__(logging.INFO)
        self._directory, self._writers = directory, {}

    def emit(self, record: logging.LogRecord) -> None:
        fields = getattr(record, "fields", {})
        if TAG not in fields:
            return
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        value = Summary.Value(tag=TAG, simple_value=fields[TAG])
        event = Event(step=fields["update"], wall_time=time.time(), summary=Summary(value=[value]))
        self._writer_of(fields.get("part", "")).write(event.SerializeToString())

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()
        super().close()

    def _writer_of(self, part: str) -> "RecordWriter":
        if part not in self._writers:
            from tensorboard.compat.proto.event_pb2 import Event
            from tensorboard.summary.writer.record_writer import RecordWriter

            directory = self._directory / part
            directory.mkdir(parents=True, exist_ok=True)
            name = f"events.out.tfevents.{time.time():.6f}.{os.getpid()}"
            self._writers[part] = RecordWriter((directory / name).open("wb", buffering=0))
            first = Event(wall_time=time.time(), file_version="brain.Event:2")
            self._writers[part].write(first.SerializeToString())
        return self._writers[part]
