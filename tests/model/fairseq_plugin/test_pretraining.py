import json

import numpy as np
import pytest
import torch

pytestmark = pytest.mark.fairseq


@pytest.fixture(scope="module")
def blocks(rfc_binary):
    from mpbert.corpus.binary import BinaryCorpus
    from mpbert.model.fairseq_plugin.pretraining.dataset import MaskedBlocks

    corpus = BinaryCorpus(rfc_binary)

    def make(shuffle=True, **kwargs):
        return MaskedBlocks(corpus, np.flatnonzero(corpus.splits == 0), 12, 1, shuffle, **kwargs)

    return make


def losses(log):
    lines = [line for line in log.read_text().splitlines() if "| train_inner |" in line]
    return [float(json.loads(line[line.index("{") :])["loss"]) for line in lines]


def test_the_loss_falls(pretrained):
    found = losses(pretrained / "train.log")
    assert len(found) == 9
    assert found[-1] < found[0] - 0.3
    assert found[0] == pytest.approx(np.log2(400), abs=1)  # bits per token, at random


def test_checkpoints_load_without_pickled_classes(pretrained, finetuned):
    for directory in (pretrained, finetuned):
        for name in ("checkpoint_last.pt", "checkpoint_best.pt"):
            assert torch.load(directory / name, weights_only=True)["model"]


def test_papers_are_cut_into_blocks_that_cover_all_of_their_sentences():
    from mpbert.model.fairseq_plugin.pretraining.dataset import blocks_of

    papers, numbers = blocks_of(np.array([70, 30, 31, 1]), 30)
    assert papers.tolist() == [0, 0, 0, 1, 2, 2, 3]
    assert numbers.tolist() == [0, 1, 2, 0, 0, 1, 0]


def test_blocks_hold_the_training_papers_sentence_by_sentence(blocks):
    dataset = blocks()
    corpus = dataset.corpus
    read = np.concatenate(
        [
            np.arange(first, first + size)
            for first, size in zip(dataset.first, dataset.sizes_in_sentences, strict=True)
        ]
    )
    owner = np.repeat(corpus.splits, np.diff(corpus.sentence_offsets))
    assert np.array_equal(np.sort(read), np.flatnonzero(owner == 0))
    assert dataset.costs().sum() == np.diff(corpus.token_offsets)[read].sum()


def test_batches_stay_within_the_budget_and_hold_each_block_once(blocks):
    dataset = blocks()
    dataset.set_epoch(3)
    batches = dataset.batch_by_size(dataset.ordered_indices(), max_tokens=5000)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(dataset)))
    assert max(dataset.costs()[batch].sum() for batch in batches) <= 5000


def same(a, b):
    return torch.equal(a["papers"].tokens, b["papers"].tokens) and torch.equal(
        a["masked"].targets, b["masked"].targets
    )


def test_masks_and_order_differ_between_epochs_and_repeat_within_one(blocks):
    dataset, again = blocks(), blocks()
    seen = {}
    for epoch in (1, 2, 1):
        dataset.set_epoch(epoch)
        again.set_epoch(epoch)
        found = dataset.collater([3, 1, 4])
        assert same(found, again.collater([3, 1, 4]))
        assert same(found, seen.setdefault(epoch, found))
    assert not same(seen[1], seen[2])
    order = {epoch: (dataset.set_epoch(epoch), dataset.ordered_indices())[1] for epoch in (1, 2)}
    assert not np.array_equal(order[1], order[2])


def test_validation_has_the_same_masks_in_each_epoch(blocks):
    dataset = blocks(shuffle=False, max_blocks=7)
    assert len(dataset) == 7
    first = dataset.collater([0, 1])
    dataset.set_epoch(5)
    assert same(first, dataset.collater([0, 1]))
    assert dataset.ordered_indices().tolist() == list(range(7))


def test_targets_are_the_original_tokens_of_the_masked_sentences(blocks):
    dataset = blocks()
    batch = dataset.collater(list(range(20)))
    targets = batch["masked"].targets.numpy()
    assert (targets == 1).sum() == len(batch["masked"].sentences.offsets) - 1  # one </s> each
    assert not np.isin(targets, [2, 3]).any()  # neither separator nor mask
    assert (batch["papers"].tokens == 3).any()


def test_workers_of_each_epoch_see_that_epoch(trainer, rfc_binary):
    from mpbert.model.fairseq_plugin.pretraining.task import PretrainOptions, PretrainTask

    cfg = PretrainOptions(data=str(rfc_binary), seed=1, block_sentences=12)
    task = PretrainTask(cfg)
    task.load_dataset("train")
    dataset = task.dataset("train")
    for epoch in (1, 2):
        batches = task.get_batch_iterator(
            dataset, max_tokens=60000, num_workers=1, seed=1, epoch=epoch
        )
        loaded = list(batches.next_epoch_itr(shuffle=False))
        dataset.set_epoch(epoch)
        expected = dataset.collater(batches.frozen_batches[0])
        assert same(loaded[0], expected)


def test_a_batch_of_nothing_is_the_empty_batch_that_fairseq_expects(blocks):
    assert blocks().collater([]) == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"block_sentences": 0}, "block_sentences is 0"),
        ({"block_sentences": 2000}, "expected at least 1 and at most 1024"),
        ({"max_valid": 0}, "max_valid is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"data": "/nowhere"}, "/nowhere: found no tokens.npy"),
    ],
)
def test_settings_out_of_range_are_refused(rfc_binary, changes, message):
    from mpbert.foundation.errors import MpbertError
    from mpbert.model.fairseq_plugin.pretraining.task import PretrainOptions, PretrainTask

    with pytest.raises(MpbertError, match=message):
        PretrainTask(PretrainOptions(**{"data": str(rfc_binary), "seed": 1, **changes}))
