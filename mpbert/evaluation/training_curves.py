"""Losses of the trainings behind a report, from the files that TensorBoard reads.

fairseq's are in ``runs/pretrained`` and ``runs/finetuned``, in folders for what it logs, those of
our own trainings beside the vectors or runs they made (:mod:`mpbert.foundation.training_log`).
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mpbert.foundation.training_log import SUFFIX, TAG

logger = logging.getLogger(__name__)
# folder of fairseq -> what its losses are of
_LINES = {"train_inner": "training", "valid": "validation", "": "training"}


@dataclass(frozen=True)
class TrainingCurve:
    """Losses of one training.

    :param title: which one.
    :param lines: by what they are of: (X,) updates done, rising, and (X,) losses.
    """

    title: str
    lines: dict[str, tuple[np.ndarray, np.ndarray]]


def read_training_curves(corpus: str, names: Sequence[str], root: Path) -> list[TrainingCurve]:
    """Return the curves of the trainings on a corpus that left some.

    :param names: directories below ``runs/vectors/CORPUS`` and ``runs/trec/CORPUS``. One that is
        called ``CONFIG-...``, as the recipes do, was pretrained with this configuration.
    :param root: where ``runs`` is.
    """
    return [
        TrainingCurve(title, lines)
        for title, directory in _directories(corpus, names, root)
        if (lines := _lines_of(directory))
    ]


def _directories(corpus: str, names: Sequence[str], root: Path) -> Iterator[tuple[str, Path]]:
    pretrained, finetuned = (root / "runs" / kind / corpus for kind in ("pretrained", "finetuned"))
    for directory in sorted(pretrained.glob("*/tensorboard")):
        config = directory.parent.name
        if any(name.startswith(f"{config}-") for name in names):
            yield f"pretraining: {config}", directory
    for name in dict.fromkeys(names):
        if (directory := finetuned / name / "tensorboard").exists():
            yield f"fine-tuning: {name}", directory
        for place in ("vectors", "trec"):
            directory = root / "runs" / place / corpus / (name + SUFFIX)
            if directory.exists():
                yield name, directory


def _lines_of(directory: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    lines = {}
    for folder, name in _LINES.items():
        updates, losses = _read(directory / folder)
        if len(updates):
            lines[name] = (updates, losses)
    return lines


def _read(directory: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return updates and losses; of an update that was done twice, after a kill, the later."""
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    last: dict[int, float] = {}
    for file in sorted(directory.glob("events.out.tfevents.*")):
        for event in EventFileLoader(str(file)).Load():
            for value in event.summary.value:
                if value.tag == TAG:  # the loader has turned simple values into tensors
                    last[event.step] = float(value.tensor.float_val[0])
    updates = sorted(last)
    return np.array(updates, dtype=np.int64), np.array([last[step] for step in updates])
