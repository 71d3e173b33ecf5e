"""Losses that are logged, as TensorBoard reads them."""

import logging

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from mpbert.foundation.training_log import for_tensorboard, loss_fields

LOGGER = logging.getLogger("mpbert.some.training")


def scalars(directory):
    found = EventAccumulator(str(directory))
    found.Reload()
    return [(event.step, pytest.approx(event.value)) for event in found.Scalars("loss")]


def test_losses_of_the_block_are_scalars_beside_the_output(tmp_path):
    LOGGER.info("before", extra=loss_fields("x", 1, 9.0))
    with for_tensorboard(tmp_path / "out", goes_on=False):
        LOGGER.info("first", extra=loss_fields("x", 10, 0.5))
        LOGGER.info("no loss")
        LOGGER.info("second", extra=loss_fields("x", 20, 0.25))
    LOGGER.info("after", extra=loss_fields("x", 30, 9.0))
    assert scalars(tmp_path / "out.tensorboard") == [(10, 0.5), (20, 0.25)]


def test_what_has_no_losses_leaves_nothing(tmp_path):
    with for_tensorboard(tmp_path / "out", goes_on=False):
        LOGGER.info("no loss")
    assert not list(tmp_path.iterdir())


def test_a_training_that_goes_on_keeps_its_curve_and_a_new_one_does_not(tmp_path):
    for update, goes_on in ((1, False), (2, True), (3, False)):
        with for_tensorboard(tmp_path / "out", goes_on):
            LOGGER.info("a loss", extra=loss_fields("x", update, 1.0))
        expected = [(1, 1.0), (2, 1.0)] if goes_on else [(update, 1.0)]
        assert scalars(tmp_path / "out.tensorboard") == expected


def test_a_training_that_fails_leaves_the_loggers_as_they_were(tmp_path):
    ours = logging.getLogger("mpbert")
    before = (ours.level, list(ours.handlers))
    with pytest.raises(ValueError), for_tensorboard(tmp_path / "out", goes_on=False):
        raise ValueError
    assert (ours.level, ours.handlers) == before


def test_a_second_part_has_a_curve_of_its_own(tmp_path):
    with for_tensorboard(tmp_path / "out", goes_on=False):
        for part in ("", "head"):
            LOGGER.info("a loss", extra=loss_fields("x", 1, 0.5, part))
            LOGGER.info("a loss", extra=loss_fields("x", 2, 0.25, part))
    for folder in ("out.tensorboard", "out.tensorboard/head"):
        assert scalars(tmp_path / folder) == [(1, 0.5), (2, 0.25)]
