"""Training curves from the event files of fairseq and of our own trainings."""

import logging

import numpy as np
import pytest

from mpbert.evaluation.plots import plot_training
from mpbert.evaluation.training_curves import TrainingCurve, read_training_curves
from mpbert.foundation.training_log import for_tensorboard, loss_fields

LOGGER = logging.getLogger("mpbert.test")


def leave(output, losses, goes_on=False):
    with for_tensorboard(output, goes_on):
        for update, loss in losses:
            LOGGER.info("a loss", extra=loss_fields("x", update, loss))


def test_our_own_trainings_are_found_by_name_beside_vectors_and_runs(tmp_path):
    leave(tmp_path / "runs/vectors/rfc/nnselect", [(5, 2.0), (10, 1.0)])
    leave(tmp_path / "runs/trec/rfc/nnrank", [(7, 3.0)])
    leave(tmp_path / "runs/vectors/acl/nnselect", [(5, 9.0)])
    names = ["nnrank", "chance", "nnselect"]
    first, second = read_training_curves("rfc", names, tmp_path)
    assert (first.title, second.title) == ("nnrank", "nnselect")
    updates, losses = second.lines["training"]
    assert updates.tolist() == [5, 10] and losses.tolist() == [2.0, 1.0]
    assert read_training_curves("rfc", [], tmp_path) == []


def test_of_updates_that_were_done_again_after_a_kill_the_later_loss_counts(tmp_path):
    output = tmp_path / "runs/vectors/rfc/hatten"
    leave(output, [(1, 4.0), (2, 3.0), (3, 9.0)])
    leave(output, [(3, 2.0), (4, 1.0)], goes_on=True)
    (curve,) = read_training_curves("rfc", ["hatten"], tmp_path)
    updates, losses = curve.lines["training"]
    assert updates.tolist() == [1, 2, 3, 4] and losses.tolist() == [4.0, 3.0, 2.0, 1.0]


@pytest.mark.fairseq
def test_trainings_of_fairseq_have_a_line_of_validation_too(pretrained, tmp_path):
    for place in ("pretrained/rfc/micro", "pretrained/rfc/other", "finetuned/rfc/micro-mpt-tgt"):
        (tmp_path / "runs" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "runs" / place).symlink_to(pretrained)
    curve, second = read_training_curves("rfc", ["micro-mpt-tgt", "micro-mpt-tgt"], tmp_path)
    assert (curve.title, second.title) == ("pretraining: micro", "fine-tuning: micro-mpt-tgt")
    updates, losses = curve.lines["training"]
    assert updates[0] == 1 and updates[-1] <= 9 and len(updates) > 4
    assert losses[0] > losses[-1] > 0
    assert len(curve.lines["validation"][0]) >= 1


def test_the_picture_has_a_panel_for_each_training_and_the_same_bytes():
    line = (np.array([1, 2, 3]), np.array([3.0, 2.0, 1.0]))
    curves = [TrainingCurve(f"training {i}", {"training": line}) for i in range(4)]
    picture = plot_training(curves, "svg")
    assert picture == plot_training(curves, "svg")
    assert picture.count(b'<g id="axes_') == 4
    assert plot_training(curves[:1], "png").startswith(b"\x89PNG")
