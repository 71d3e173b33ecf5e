"""One batch on one process and on two: the same loss, and the same gradients, without Adam.

Adam divides a gradient by its size, and so enlarges the rounding of what is nearly zero. So these
tests look at what goes into it. ``test_two_processes.py`` compares whole trainings.
"""

import socket

import pytest
import torch

pytestmark = pytest.mark.fairseq
WITHIN = 1e-5
MODEL = ("--dim=16", "--ffn-dim=16", "--num-heads=2", "--dropout=0", "--max-tokens=9000")
LEVELS = (
    *("--sentence-layers=1", "--document-layers=1", "--attention-dropout=0"),
    "--activation-dropout=0",
)
OBJECTIVES = {
    "contrastive": (
        *("--nested-dims=8", "--mpt-weight=0.1", "--citing-sentences=2"),
        *("--sentence-layers=0", "--document-layers=0", "--token-weights", "--sums"),
        *("--sentence-roles", "--shared-tokens", "--exact-matches"),
    ),
    **dict.fromkeys(("triplet", "mpt-src", "mpt-tgt", "mpt-src-tgt"), LEVELS),
}
# what each process executes: the first batch of training, forward and backward
_ONE_BATCH = """
import torch
import mpbert.model.fairseq_plugin.compat as compat
compat.register()
from fairseq import options, tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from torch import distributed

torch.set_num_threads(1)
if count > 1:
    distributed.init_process_group("gloo", address, world_size=count, rank=rank)
parser = options.get_training_parser()
config = convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, flags))
torch.manual_seed(1)
task = tasks.setup_task(config.task)
model, criterion = task.build_model(config.model), task.build_criterion(config.criterion)
task.load_dataset("train")
examples = task.dataset("train")
order = examples.ordered_indices()
batch = examples.batch_by_size(order, config.dataset.max_tokens)[0]
loss, size, _ = criterion(model.train(), examples.collater(list(batch)))
loss.backward()
found = {name: x.grad for name, x in model.named_parameters() if x.grad is not None}
found |= {"loss": loss.detach(), "size": torch.tensor(float(size))}
if count > 1:
    for value in found.values():
        distributed.all_reduce(value)
if rank == 0:
    torch.save(found, output)
"""


def of_one_batch(trainer, folder, objective, count):
    """Return loss and gradients of the mean example, which fairseq gives to the optimizer."""
    flags = trainer.flags(folder, "finetune", *MODEL, *OBJECTIVES[objective])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    output, processes = folder / f"{count}.pt", []
    for rank in range(count):
        known = {"flags": [*flags, f"--objective={objective}"], "address": address}
        known |= {"rank": rank, "count": count, "output": str(output)}
        processes.append(trainer.server.Process(target=exec, args=(_ONE_BATCH, known)))
        processes[-1].start()
    for process in processes:
        process.join(600)
        assert process.exitcode == 0
    found = torch.load(output, weights_only=True)
    size = found.pop("size")
    return {name: value / size for name, value in found.items()}, size


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_gradients_of_two_processes_add_up_to_those_of_one(trainer, tmp_path, objective):
    (one, size), (two, same) = (of_one_batch(trainer, tmp_path, objective, n) for n in (1, 2))
    assert size == same > 5
    assert one.keys() == two.keys() and len(one) > 5
    assert one["loss"] > 0.1 and max(x.abs().max() for x in one.values()) > 100 * WITHIN
    for name, expected in one.items():
        torch.testing.assert_close(two[name], expected, atol=WITHIN, rtol=WITHIN, msg=name)


def test_a_gradient_that_stays_in_its_process_is_seen(trainer, tmp_path, monkeypatch):
    """What is lost where papers are gathered without gradient is far more than the bound."""
    without = "from mpbert.model import shares\nshares._Gather.backward = staticmethod(local)\n"
    local = "def local(ctx, grad):\n    return grad[ctx.start : ctx.start + ctx.own], None, None\n"
    monkeypatch.setitem(globals(), "_ONE_BATCH", local + without + _ONE_BATCH)
    (one, _), (two, _) = (of_one_batch(trainer, tmp_path, "mpt-src-tgt", n) for n in (1, 2))
    assert max((two[name] - x).abs().max() for name, x in one.items()) > 100 * WITHIN
    torch.testing.assert_close(two["loss"], one["loss"], atol=WITHIN, rtol=WITHIN)
