"""A training and embed keep the kernels of few batches; a training starts without the compiler."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.fairseq
ROOT = Path(__file__).parents[3]
# 300 batches, each of another number of tokens, in a process that did or did not begin as trainings
_TRAIN = """
import contextlib, io, json, runpy, sys
if sys.argv[1] == "launched":
    sys.argv = ["fairseq-train", "--help"]
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        runpy.run_module("mpbert.model.fairseq_plugin.compat", run_name="__main__")
import torch
if sys.argv[1] == "opened":  # as embed is, after torch
    from mpbert.model.embedding_work import Embedding
    with contextlib.suppress(Exception):
        Embedding(*[None] * 8).open()
torch.set_num_threads(1)
torch.manual_seed(1)
linear = torch.nn.Linear(32, 32)
if "fairseq" in sys.modules:
    from fairseq.optim.adam import Adam
    Adam(linear.parameters()).zero_grad()
def train(tokens):
    with torch.autocast("cpu", torch.bfloat16):
        linear(torch.ones(tokens, 32)).square().sum().backward()
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**20
train(64)
before = resident()
for tokens in range(65, 365):
    train(tokens)
grown, gradient = resident() - before, linear.weight.grad.tolist()
print(json.dumps([grown, gradient, "torch._dynamo" in sys.modules]))
"""


def _train(way):
    kept = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
    environment = {name: value for name, value in os.environ.items() if name not in kept}
    words = [sys.executable, "-c", _TRAIN, way]
    found = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def launched():
    """MiB that it grew by, its gradient, and whether it has imported the compiler."""
    return _train("launched")


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process on Linux")
def test_kernels_of_past_batches_are_let_go_and_change_nothing(launched):
    grown, gradient, _ = _train("alone")
    if grown < 100:
        pytest.skip("this processor needs no kernel a shape")
    for found in (launched, _train("opened")):
        assert found[0] < grown / 3
        assert found[1] == gradient


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process on Linux")
def test_a_training_does_not_wait_for_the_compiler_of_torch(launched):
    assert not launched[2]
