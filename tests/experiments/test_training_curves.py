"""Training curves from the event files of fairseq and of our own trainings."""

import logging
from pathlib import Path

import numpy as np
import pytest

from mpbert.evaluation.plots import TrainingCurve, plot_training
from mpbert.experiments.experiment import Experiment
from mpbert.experiments.layout import Layout
from mpbert.experiments.row_files import parse_row
from mpbert.experiments.training_curves import read_training_curves
from mpbert.experiments.tuning import Tuned
from mpbert.foundation.training_log import SUFFIX, for_tensorboard, loss_fields

LOGGER = logging.getLogger("mpbert.test")


def leave(output, losses, goes_on=False):
    with for_tensorboard(output, goes_on):
        for update, loss in losses:
            LOGGER.info("a loss", extra=loss_fields("x", update, loss))


def read(root, **rows):
    contents = {name: {"title": name, "method": "nnselect", **row} for name, row in rows.items()}
    parsed = [parse_row(name, content, name) for name, content in contents.items()]
    experiment = Experiment.of(parsed, Path("rfc"), Layout(root), Tuned(), Path())
    return read_training_curves(experiment, [experiment.variant(name) for name in rows])


def test_trainings_of_methods_are_found_by_name_beside_vectors_and_runs(tmp_path):
    leave(tmp_path / "vectors/rfc/nnselect", [(5, 2.0), (10, 1.0)])
    leave(tmp_path / "trec/rfc/nnrank", [(7, 3.0)])
    leave(tmp_path / "vectors/acl/nnselect", [(5, 9.0)])
    first, second = read(tmp_path, nnrank={}, chance={}, nnselect={})
    assert (first.title, second.title) == ("nnrank", "nnselect")
    updates, losses = second.lines["training"]
    assert updates.tolist() == [5, 10] and losses.tolist() == [2.0, 1.0]
    assert read(tmp_path) == []


def test_of_updates_that_were_done_again_after_a_kill_the_later_loss_counts(tmp_path):
    output = tmp_path / "vectors/rfc/hatten"
    leave(output, [(1, 4.0), (2, 3.0), (3, 9.0)])
    leave(output, [(3, 2.0), (4, 1.0)], goes_on=True)
    (curve,) = read(tmp_path, hatten={})
    updates, losses = curve.lines["training"]
    assert updates.tolist() == [1, 2, 3, 4] and losses.tolist() == [4.0, 3.0, 2.0, 1.0]


@pytest.mark.fairseq
def test_trainings_of_fairseq_have_a_line_of_validation_too(pretrained, tmp_path):
    for place in ("pretrained/rfc/micro", "pretrained/rfc/other", "finetuned/rfc/ours"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).symlink_to(pretrained)
    ours = {"method": "mp_bert4cr", "config": "tiny", "pretrained": "micro"}
    curve, second = read(tmp_path, ours=ours, other=ours)
    assert (curve.title, second.title) == ("pretraining: micro", "fine-tuning: ours")
    updates, losses = curve.lines["training"]
    assert updates[0] == 1 and updates[-1] <= 9 and len(updates) > 4
    assert losses[0] > losses[-1] > 0
    assert len(curve.lines["validation"][0]) >= 1


def test_the_pretraining_of_a_row_that_reads_bodies_is_another_one(tmp_path):
    place = tmp_path / "pretrained/rfc/documents-bodies/tensorboard"
    leave(tmp_path / "x", [(1, 2.0)])
    place.mkdir(parents=True)
    (tmp_path / f"x{SUFFIX}").rename(place / "train_inner")
    ours = {"method": "mp_bert4cr", "config": "levels", "pretrained": "documents"}
    ours |= {"sentences": "makers/MiniLM", "settings": {"contextual_roles": "abstract,body"}}
    (curve,) = read(tmp_path, ours=ours)
    assert curve.title == "pretraining: documents-bodies"
    assert curve.lines["training"][1].tolist() == [2.0]


def test_the_picture_has_a_panel_for_each_training_and_the_same_bytes():
    line = (np.array([1, 2, 3]), np.array([3.0, 2.0, 1.0]))
    curves = [TrainingCurve(f"training {i}", {"training": line}) for i in range(4)]
    picture = plot_training(curves, "svg")
    assert picture == plot_training(curves, "svg")
    assert picture.count(b'<g id="axes_') == 4
    assert plot_training(curves[:1], "png").startswith(b"\x89PNG")


def test_the_linear_maps_of_a_method_have_a_line_of_their_own(tmp_path):
    with for_tensorboard(tmp_path / "vectors/rfc/sbert", goes_on=False):
        for part, loss in (("", 2.0), ("head", 5.0)):
            LOGGER.info("a loss", extra=loss_fields("x", 1, loss, part))
    (curve,) = read(tmp_path, sbert={"method": "sbert"})
    found = {name: losses.tolist() for name, (_, losses) in curve.lines.items()}
    assert found == {"training": [2.0], "linear maps": [5.0]}
