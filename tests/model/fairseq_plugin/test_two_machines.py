"""The recipe of docs/scale.md for two machines, which are folders of this one; one of them dies."""

import re
import shlex
import sys
import time

import pytest

from mpbert.model.directory import load_two_tower
from tests.conftest import REPOSITORY
from tests.servers import Server, free_ports

pytestmark = [pytest.mark.exhaustive, pytest.mark.fairseq]  # twelve imports of torch
UPDATES, EACH = 60, 4  # of the training, and those after which a checkpoint is written
CONFIGURATION = f"""
model: {{dim: 16, ffn_dim: 16, num_heads: 2, sentence_layers: 0, document_layers: 0, dropout: 0,
  attention_dropout: 0, activation_dropout: 0, shared_tokens: true, bag: {{token_weights: true}}}}
reading: {{manuscript_sentences: 3, abstract_sentences: 1, body_sentences: 1}}
objective: {{objective: contrastive}}
training: {{batch_tokens: 9000, max_update: {UPDATES}, save_interval_updates: {EACH}, max_valid: 5}}
"""


def recipe(rank, port, corpus):
    """Return the words of the page for a machine, with addresses and paths of this one."""
    page = (REPOSITORY / "docs" / "scale.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^(python -m torch\.distributed\.run .*?[^\\])\n", page, re.M | re.S)
    words = shlex.split(line.replace("\\\n", " "))
    here = {
        **{"10.0.0.1": "127.0.0.1", "29500": str(port), "python": sys.executable},
        **{"runs/binarized/mine": str(corpus), "finetune/configs/token_bag.yaml": "bag.yaml"},
    }
    place = words.index("--node-rank") + 1
    return [here.get(word, word) for word in [*words[:place], str(rank), *words[place + 1 :]]]


def start(machines, port, corpus):
    """Start the recipe on each machine, whose disk is a folder of its own."""
    return [
        Server(recipe(rank, port, corpus), folder / "agent.log", folder=folder)
        for rank, folder in enumerate(machines)
    ]


def wait_until(is_so, machines, seconds=600):
    end = time.monotonic() + seconds
    while not is_so():
        said = "".join((folder / "agent.log").read_text()[-2000:] for folder in machines)
        assert time.monotonic() < end, said
        time.sleep(0.02)


def test_a_dead_machine_ends_the_training_which_goes_on_when_it_is_back(
    rfc_binary, tmp_path, monkeypatch
):
    for name, value in (("OMP_NUM_THREADS", "1"), ("PYTHONPATH", str(REPOSITORY))):
        monkeypatch.setenv(name, value)
    machines, (port,) = [tmp_path / "first", tmp_path / "second"], free_ports(1)
    for folder in machines:
        folder.mkdir()
        (folder / "bag.yaml").write_text(CONFIGURATION)
    encoder = machines[0] / "runs/encoders/mine/token_bag"
    training = encoder.with_name("token_bag.training")
    agents = start(machines, port, rfc_binary)
    try:
        wait_until((training / "checkpoint_last.pt").exists, machines)
        agents[1].kill()  # torch's own process; what it has started is in other groups
        wait_until(agents[0].has_ended, machines)
        assert not encoder.exists()
        agents = start(machines, port, rfc_binary)
        wait_until(lambda: all(agent.has_ended() for agent in agents), machines)
    finally:
        for agent in agents:
            agent.kill()
    log = (training / "train.log").read_text()
    assert log.count("training on 2 devices") == 2
    resumed = re.findall(r"Loaded checkpoint .*?@ (\d+) updates", log)
    assert len(resumed) == 1 and EACH <= int(resumed[0]) < UPDATES
    load_two_tower(encoder)
    assert not (machines[1] / "runs/encoders/mine/token_bag").exists()
