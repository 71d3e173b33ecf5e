import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from mpbert.model.config import Configuration, ModelConfig, ObjectiveConfig, UpperConfig
from mpbert.model.encoder import PaperEncoder
from mpbert.model.sampling import CITING

pytestmark = pytest.mark.fairseq


@pytest.fixture(scope="module")
def task(rfc_binary):
    from mpbert.model.fairseq_plugin.finetuning.task import FinetuneOptions, FinetuneTask

    def make(**changes):
        settings = {"data": str(rfc_binary), "seed": 1, "manuscript_sentences": 6}
        cfg = FinetuneOptions(
            **{**settings, "abstract_sentences": 3, "body_sentences": 3, **changes}
        )
        task = FinetuneTask(cfg)
        for split in ("train", "valid"):
            task.load_dataset(split)
        return task

    return make


def gold(dataset, item):
    contexts, context = dataset.contexts, dataset.context_of[item]
    first, last = contexts.cited_offsets[context : context + 2]
    return contexts.cited_rows[first:last].tolist()


def test_every_update_logs_a_loss_and_an_accuracy(finetuned):
    lines = (finetuned / "train.log").read_text().splitlines()
    logs = [json.loads(x[x.index("{") :]) for x in lines if "| train_inner |" in x]
    assert len(logs) == 9
    assert all(0 < float(log["loss"]) < 5 for log in logs)
    assert all(0 <= float(log["accuracy"]) <= 1 for log in logs)


@pytest.mark.parametrize(
    "objective", ["triplet", "mpt-src", "mpt-tgt", "mpt-src-tgt", "contrastive"]
)
def test_the_loss_falls_and_targets_come_nearest(task, pretrained_encoder, objective):
    from mpbert.model.fairseq_plugin.finetuning.criterion import MultiPositiveCriterion
    from mpbert.model.fairseq_plugin.finetuning.model import FairseqTwoTower, TwoTowerOptions

    torch.manual_seed(1)
    pairs = task()
    config = TwoTowerOptions(init=str(pretrained_encoder), dropout=0.0)
    model = FairseqTwoTower.build_model(config, pairs)
    criterion = MultiPositiveCriterion(pairs, ObjectiveConfig(objective))
    batch = pairs.dataset("train").collater(list(range(0, 320, 20)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    logs = []
    for _ in range(25):
        loss, size, log = criterion(model, batch)
        optimizer.zero_grad()
        (loss / size).backward()
        optimizer.step()
        logs.append(log)
    assert logs[-1]["loss"] < 0.6 * logs[0]["loss"]
    assert logs[-1]["nearest"] > logs[0]["nearest"]


def test_options_of_the_token_bag_reach_the_model_and_the_loss(task):
    from mpbert.model.fairseq_plugin.finetuning.criterion import MultiPositiveCriterion
    from mpbert.model.fairseq_plugin.finetuning.model import FairseqTwoTower, TwoTowerOptions

    pairs = task()
    sizes = {"dim": 8, "ffn_dim": 8, "num_heads": 2, "sentence_layers": 0, "document_layers": 0}
    options = {"token_weights": True, "sentence_roles": True, "shared_tokens": True}
    model = FairseqTwoTower.build_model(TwoTowerOptions(**sizes, **options, dropout=0.0), pairs)
    manuscript, citation = model.model.manuscript.encoder, model.model.citation.encoder
    assert manuscript.bag.embedding is citation.bag.embedding
    frequent = int(np.argmax(pairs.corpus.token_counts()))
    weights = citation.bag.log_weights.weight[:, 0]
    assert weights[frequent] == weights.min() < weights.max()
    assert not citation.bag.config.sums
    sums = TwoTowerOptions(**sizes, **options, sums=True)
    assert FairseqTwoTower.build_model(sums, pairs).model.citation.encoder.bag.config.sums
    batch = pairs.dataset("train").collater(list(range(0, 320, 20)))
    settings = {"plain": (0.05, 0.0), "corrected": (0.05, 0.5), "warm": (0.2, 0.0)}
    losses = {
        name: MultiPositiveCriterion(pairs, ObjectiveConfig("contrastive", *setting))(model, batch)[
            0
        ].item()
        for name, setting in settings.items()
    }
    assert len({round(loss, 3) for loss in losses.values()}) == 3


def random_vectors(pairs):
    """A batch, vectors of 8 dimensions of its manuscripts and papers, and what drew them."""
    batch = pairs.dataset("train").collater(list(range(0, 320, 20)))
    generator = torch.Generator().manual_seed(1)
    s = torch.randn(batch["num_examples"], 8, generator=generator)
    papers = torch.randn(batch["num_papers"], 8, generator=generator)
    return batch, s, papers, generator


def test_nested_vectors_are_trained_as_vectors_of_their_own(task):
    from mpbert.foundation.errors import ConfigError
    from mpbert.model.fairseq_plugin.finetuning.criterion import MultiPositiveCriterion

    pairs = task()
    batch, s, papers, _ = random_vectors(pairs)

    def loss(dim, nested):
        def model(*_):
            return s[:, :dim], papers[:, :dim], None

        config = ObjectiveConfig("contrastive", nested_dims=nested)
        criterion = MultiPositiveCriterion(pairs, config)
        return criterion(model, batch)[0]

    parts = [loss(dim, "") for dim in (2, 5, 8)]
    assert len({round(part.item(), 3) for part in parts}) == 3
    assert loss(8, "2,5").item() == pytest.approx(sum(parts).item() / 3)
    with pytest.raises(ConfigError, match="expected numbers below 8"):
        loss(8, "2,8")
    for text in ("0", "2,x", "2,,5", "-1"):
        with pytest.raises(ConfigError, match=f"nested_dims {text}; expected numbers above 0"):
            ObjectiveConfig("contrastive", nested_dims=text)
    with pytest.raises(ConfigError, match="expected objective contrastive"):
        ObjectiveConfig("triplet", nested_dims="2")


def test_losses_apart_are_those_of_the_parts(task):
    from mpbert.foundation.errors import ConfigError
    from mpbert.model.fairseq_plugin.finetuning.criterion import MultiPositiveCriterion

    pairs = task()
    batch, s, papers, _ = random_vectors(pairs)

    def loss(first, last, is_apart=False, nested=""):
        upper = UpperConfig("concatenated", upper_dim=5, losses_apart=is_apart)
        sizes = {"dim": 3} if is_apart else {"dim": last - first, "upper": UpperConfig()}
        pairs.note_model(ModelConfig(**{"num_heads": 1, "upper": upper, **sizes}))
        criterion = MultiPositiveCriterion(
            pairs, ObjectiveConfig("contrastive", nested_dims=nested)
        )
        columns = slice(first, last)
        return criterion(lambda *_: (s[:, columns], papers[:, columns], None), batch)[0].item()

    nested, bag, levels, whole = loss(0, 2), loss(0, 3), loss(3, 8), loss(0, 8)
    assert len({round(each, 3) for each in (nested, bag, levels, whole)}) == 4
    assert loss(0, 8, is_apart=True) == pytest.approx((bag + levels) / 2)
    assert loss(0, 8, is_apart=True, nested="2") == pytest.approx((nested + bag + levels) / 3)
    with pytest.raises(ConfigError, match="expected numbers below 3"):
        loss(0, 8, is_apart=True, nested="3")
    upper = UpperConfig("concatenated", losses_apart=True)
    assert not PaperEncoder(ModelConfig(8, 4, upper=upper, num_heads=2)).log_gate.requires_grad
    with pytest.raises(ConfigError, match="losses_apart with objective mpt-tgt"):
        Configuration(model=ModelConfig(upper=upper), objective=ObjectiveConfig("mpt-tgt"))
    with pytest.raises(ConfigError, match="losses_apart with join added"):
        UpperConfig("added", losses_apart=True)


def test_exact_matches_have_a_loss_of_their_own(task):
    from mpbert.model.fairseq_plugin.finetuning.criterion import MultiPositiveCriterion
    from mpbert.model.objectives import multi_positive_contrastive

    pairs = task()
    batch, s, papers, generator = random_vectors(pairs)
    matches = torch.randn(len(s), len(papers), generator=generator)

    def loss(matches):
        criterion = MultiPositiveCriterion(pairs, ObjectiveConfig("contrastive"))
        return criterion(lambda *_: (s, papers, matches), batch)[0]

    logits = matches - 0.5 * batch["log_counts"]  # the default of count_correction
    own = multi_positive_contrastive(logits, batch["is_wanted"], batch["is_known"]).sum()
    assert loss(matches).item() == pytest.approx((loss(None) + own).item(), rel=1e-5)


def test_each_cited_paper_of_a_training_context_is_a_target_once(task):
    train = task().dataset("train")
    contexts = train.corpus.contexts("train")
    assert len(train) == len(contexts.cited_rows)
    assert train.targets.tolist() == contexts.cited_rows.tolist()
    assert all(train.targets[item] in gold(train, item) for item in range(len(train)))


def test_positives_are_the_contexts_other_citations_and_negatives_are_none_of_them(task):
    train = task().dataset("train")
    for item in range(len(train)):
        others = set(gold(train, item)) - {train.targets[item]}
        drawn = [row for row in train.positives[item].tolist() if row >= 0]
        assert len(set(drawn)) == len(drawn) == min(3, len(others))
        assert set(drawn) <= others
        assert not set(train.negatives[item].tolist()) & set(gold(train, item))


def test_positives_of_history_are_never_negatives_of_the_same_example(task):
    train = task(positives_from="history").dataset("train")
    assert (train.positives >= 0).sum() > len(train)
    for item in range(len(train)):
        taboo = set(gold(train, item)) | set(train.positives[item].tolist())
        assert not set(train.negatives[item].tolist()) & taboo


def test_draws_differ_between_epochs_and_repeat_within_one(task):
    train, again = task().dataset("train"), task().dataset("train")
    seen = {}
    for epoch in (1, 2, 3, 1):
        train.set_epoch(epoch)
        negatives, batch = train.negatives.copy(), train.collater([3, 1, 4])
        first = seen.setdefault(epoch, (negatives, batch))
        assert np.array_equal(negatives, first[0])
        assert torch.equal(batch["manuscripts"].tokens, first[1]["manuscripts"].tokens)
        assert torch.equal(batch["papers"].tokens, first[1]["papers"].tokens)
    assert not np.array_equal(seen[1][0], seen[2][0])
    assert not torch.equal(seen[1][1]["manuscripts"].tokens, seen[2][1]["manuscripts"].tokens)
    again.set_epoch(2)  # as a resumed run does
    assert np.array_equal(again.negatives, seen[2][0])


def test_validation_stays_the_same_and_counts_come_from_training(task):
    valid = task(max_valid=20).dataset("valid")
    assert len(valid) == 20
    negatives, batch = valid.negatives.copy(), valid.collater([0, 1])
    valid.set_epoch(7)
    assert np.array_equal(valid.negatives, negatives)
    assert torch.equal(valid.collater([0, 1])["papers"].tokens, batch["papers"].tokens)


def test_a_batch_points_at_its_papers(task):
    train = task().dataset("train")
    items = [5, 0, 17, 40]
    batch = train.collater(items)
    wanted = np.concatenate([train.targets[items, None], train.negatives[items]], axis=1)
    rows = np.unique(np.concatenate([wanted.ravel(), train.positives[items][batch["is_positive"]]]))
    assert batch["num_papers"] == len(rows)
    assert rows[batch["targets"]].tolist() == train.targets[items].tolist()
    assert np.array_equal(rows[batch["negatives"]], train.negatives[items])
    real = train.positives[items] >= 0
    assert np.array_equal(batch["is_positive"].numpy(), real)
    assert np.array_equal(rows[batch["positives"]][real], train.positives[items][real])
    assert len(batch["manuscripts"].paper_order) == 4


def test_papers_are_never_read_by_sentences_of_the_manuscripts_of_their_batch(task, monkeypatch):
    train = task(citing_sentences=5, negatives=1).dataset("train")
    items = np.arange(0, len(train), 20)
    packed = []
    monkeypatch.setattr(train, "source", SimpleNamespace(batch=packed.append))
    train.collater(items.tolist())
    _, papers = packed
    citing = papers.sentences[papers.roles == CITING]
    owners = np.searchsorted(train.corpus.sentence_offsets, citing, side="right") - 1
    assert len(citing) > 50
    assert not np.isin(owners, train.contexts.citing_rows[train.context_of[items]]).any()


def test_what_a_context_cites_and_the_manuscript_itself_are_no_negatives_of_a_batch(task):
    train = task().dataset("train")
    items = np.arange(0, len(train), 20)
    batch = train.collater(items.tolist())
    positives = train.positives[items]
    wanted = [train.targets[items], train.negatives[items].ravel(), positives[positives >= 0]]
    rows = np.unique(np.concatenate(wanted))
    for place, item in enumerate(items.tolist()):
        citing = int(train.contexts.citing_rows[train.context_of[item]])
        known = np.isin(rows, [*gold(train, item), citing])
        assert batch["is_known"][place].tolist() == known.tolist()
        near = [train.targets[item], *positives[place][positives[place] >= 0]]
        assert batch["is_wanted"][place].tolist() == np.isin(rows, near).tolist()
    counts = np.bincount(train.contexts.cited_rows, minlength=train.corpus.num_papers)
    assert np.allclose(batch["log_counts"], np.log1p(counts[rows]))


def test_expected_costs_are_near_the_tokens_of_a_batch(task):
    train = task().dataset("train")
    items = np.arange(0, len(train), 10)
    one_by_one = [train.collater([item]) for item in items.tolist()]
    real = sum(len(b["papers"].tokens) + len(b["manuscripts"].tokens) for b in one_by_one)
    assert real == pytest.approx(train.costs()[items].sum(), rel=0.1)


def test_without_positives_there_are_none(task):
    batch = task(positives=0).dataset("train").collater([0, 1, 2])
    assert batch["is_positive"].shape == (3, 0)


def test_without_dynamic_sampling_it_reads_the_same_sentences_in_each_epoch(task):
    train = task(dynamic=False).dataset("train")
    train.set_epoch(1)
    first = train.collater([3, 1, 4])["manuscripts"].tokens
    train.set_epoch(2)
    assert torch.equal(first, train.collater([3, 1, 4])["manuscripts"].tokens)


def test_an_encoder_of_another_tokenizer_is_no_start(task, tmp_path):
    from mpbert.foundation.errors import EncoderError
    from mpbert.model.fairseq_plugin.finetuning.model import FairseqTwoTower, TwoTowerOptions

    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(EncoderError, match="another tokenizer"):
        FairseqTwoTower.build_model(TwoTowerOptions(init=str(tmp_path)), task())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"negatives": 0}, "negatives is 0; expected at least 1"),
        ({"positives": -1}, "positives is -1; expected at least 0"),
        ({"abstract_sentences": 0}, "abstract_sentences is 0"),
        ({"body_sentences": -1}, "body_sentences is -1"),
        ({"seed": -1}, "seed is -1"),
        ({"max_valid": 0}, "max_valid is 0"),
        ({"data": "/nowhere"}, "/nowhere: found no tokens.npy"),
    ],
)
def test_settings_out_of_range_are_refused(task, changes, message):
    from mpbert.foundation.errors import MpbertError

    with pytest.raises(MpbertError, match=message):
        task(**changes)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--num-heads=3", "dim 16 is no multiple of 3 heads"),
        ("--block-sentences=0", "block_sentences is 0"),
        ("--data=/nowhere", "/nowhere: found no tokens.npy"),
    ],
)
def test_the_launcher_prints_one_line_and_exits_with_2(
    trainer, tmp_path, monkeypatch, capsys, argument, message
):
    import sys

    from mpbert.model.fairseq_plugin import compat as fairseq_compat

    flags = trainer.flags(tmp_path / "save", "pretrain", "--max-update=1")
    if argument.startswith("--data="):
        flags[0] = argument.removeprefix("--data=")
    else:
        flags.append(argument)
    monkeypatch.setattr(sys, "argv", ["train", *flags])
    with pytest.raises(SystemExit) as stopped:
        fairseq_compat.main()
    assert stopped.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("mpbert training: ")
    assert message in last
