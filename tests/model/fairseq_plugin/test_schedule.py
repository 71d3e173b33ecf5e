from argparse import Namespace
from types import SimpleNamespace

import pytest
import torch

from mpbert.foundation.errors import ConfigError

pytestmark = pytest.mark.fairseq


@pytest.fixture
def scheduler():
    import mpbert.model.fairseq_plugin.compat  # isort: skip  # noqa: F401
    from fairseq.optim.sgd import SGD

    from mpbert.model.fairseq_plugin.finetuning.schedule import LinearToZero, LinearToZeroConfig

    def make(**changes):
        settings = {"lr": [0.01], "max_epoch": 3, "update_freq": [1], "warmup_updates": 4}
        descent = Namespace(lr=[0.01], momentum=0.0, weight_decay=0.0)
        sgd = SGD(descent, [torch.nn.Parameter(torch.ones(1))])
        return LinearToZero(LinearToZeroConfig(**{**settings, **changes}), sgd)

    return make


def rates(schedule, batches, updates):
    schedule.take_epoch(batches)
    return [schedule.step_update(n) for n in range(updates)]


def test_the_rate_rises_then_falls_to_zero_with_the_last_update(scheduler):
    found = rates(scheduler(), 8, 25)
    assert found[:5] == pytest.approx([0.002, 0.004, 0.006, 0.008, 0.01])
    assert found[14] == pytest.approx(0.005)  # half of the 20 updates of the fall
    assert found[24] == 0


def test_batches_that_share_an_update_count_once(scheduler):
    every = rates(scheduler(), 8, 25)
    assert rates(scheduler(update_freq=[4]), 32, 25) == every
    assert rates(scheduler(update_freq=[4]), 29, 25) == every  # the last update has one batch


@pytest.mark.parametrize("changes", [{"max_epoch": 0}, {"warmup_updates": -1}])
def test_a_fall_without_an_end_is_refused(scheduler, changes):
    with pytest.raises(ConfigError, match="expects at least 1 and 0"):
        scheduler(**changes)


def test_the_launcher_tells_how_many_batches_an_epoch_has(scheduler):
    from mpbert.model.fairseq_plugin.compat import _unless_done

    schedule, seen = scheduler(), []
    trainer = SimpleNamespace(lr_scheduler=schedule, get_num_updates=lambda: 0)
    train = _unless_done(lambda cfg, trainer, task, epoch: seen.append(schedule.step_update(14)))
    train(SimpleNamespace(optimization=SimpleNamespace(max_update=0)), trainer, None, range(8))
    assert seen == [pytest.approx(0.005)]
    train(SimpleNamespace(optimization=SimpleNamespace(max_update=0)), trainer, None, range(16))
    assert seen[1] > seen[0]  # a longer epoch: a slower fall
    trainer.lr_scheduler = object()  # one of fairseq's own is not told
    train(SimpleNamespace(optimization=SimpleNamespace(max_update=0)), trainer, None, range(8))
