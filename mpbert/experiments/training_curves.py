"""Losses of the trainings behind a report, from the files that TensorBoard reads.

fairseq's are among the training files, in folders for what it logs; those of other trainings stand
beside the vectors or runs that they made (:mod:`mpbert.foundation.training_log`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from mpbert.evaluation.plots import TrainingCurve
from mpbert.experiments.experiment import Experiment, Variant
from mpbert.foundation.training_log import SUFFIX, TAG

# folder of fairseq, or part of a method -> what its losses are of
_LINES = {"train_inner": "training", "valid": "validation", "": "training", "head": "linear maps"}


def read_training_curves(
    experiment: Experiment, variants: Sequence[Variant]
) -> list[TrainingCurve]:
    """Return the curves of the trainings behind rows that left some; shared ones once."""
    places = dict(_pretrainings(experiment, variants))
    for variant in variants:
        places.update(_places(experiment, variant))
    curves = [TrainingCurve(title, _lines_of(directory)) for title, directory in places.items()]
    return [curve for curve in curves if curve.lines]


def _pretrainings(
    experiment: Experiment, variants: Sequence[Variant]
) -> Iterator[tuple[str, Path]]:
    for name in sorted({variant.pretraining for variant in variants} - {""}):
        files = experiment.layout.pretrained(experiment.corpus.name, name)
        yield f"pretraining: {name}", files / "tensorboard"


def _places(experiment: Experiment, variant: Variant) -> Iterator[tuple[str, Path]]:
    layout, corpus, name = experiment.layout, experiment.corpus.name, variant.name
    yield f"fine-tuning: {name}", layout.finetuned(corpus, name) / "tensorboard"
    for output in (layout.vectors(corpus, name), layout.runs(corpus, name)):
        if (directory := output.with_name(output.name + SUFFIX)).exists():
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
    files = sorted(directory.glob("events.out.tfevents.*"))
    last: dict[int, float] = {}
    if files:
        from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    for file in files:
        for event in EventFileLoader(str(file)).Load():
            for value in event.summary.value:
                if value.tag == TAG:  # the loader has turned simple values into tensors
                    last[event.step] = float(value.tensor.float_val[0])
    updates = sorted(last)
    return np.array(updates, dtype=np.int64), np.array([last[step] for step in updates])
