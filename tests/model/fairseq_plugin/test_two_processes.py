import socket

import pytest

from mpbert.model.directory import load_two_tower

pytestmark = pytest.mark.fairseq


def test_two_processes_without_a_gpu_give_a_checkpoint_that_loads(trainer):
    """An odd number of batches: the second process ends with fairseq's empty batch."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    ranks = tuple(  # what torch.distributed.run sets
        {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2", "RANK": str(rank)}
        for rank in range(2)
    )
    flags = ("--max-epoch=1", "--max-tokens=50000", "--save-interval-updates=0")
    save = trainer.run("two", "pretrain", *flags, environments=ranks)
    log = (save / "train.log").read_text()
    assert "training on 2 devices" in log
    load_two_tower(trainer.export(save))


def test_that_number_of_batches_is_odd(rfc_binary):
    from mpbert.model.fairseq_plugin.pretraining.task import PretrainOptions, PretrainTask

    task = PretrainTask(PretrainOptions(data=str(rfc_binary), seed=1, block_sentences=12))
    task.load_dataset("train")
    train = task.dataset("train")
    assert len(train.batch_by_size(train.ordered_indices(), 50000)) % 2 == 1
