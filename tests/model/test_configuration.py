import dataclasses

import pytest

from mpbert.foundation.errors import ConfigError
from mpbert.model.config import FINETUNE, PRETRAIN, BagConfig, Configuration, ModelConfig
from mpbert.model.configuration import (
    from_nested,
    knobs,
    named_values,
    read_configuration,
    resolved_settings,
)
from mpbert.model.fairseq_plugin import flags
from mpbert.model.knob import STAGES


@pytest.fixture
def written(tmp_path):
    def write(text):
        (tmp_path / "a.yaml").write_text(text)
        return tmp_path / "a.yaml"

    return write


TEXT = """
model:
  dim: 64
  num_heads: 4
  bag: {sums: true}
training: {lr: 5e-4, seed: 3}
"""


def test_a_file_gives_some_values_and_the_rest_has_its_defaults(written):
    found = read_configuration(written(TEXT), FINETUNE)
    assert found.model == ModelConfig(dim=64, num_heads=4, bag=BagConfig(sums=True))
    assert (found.training.lr, found.training.seed) == (0.0005, 3)  # YAML reads 5e-4 as a text
    assert found.reading == Configuration().reading
    assert read_configuration(written(""), PRETRAIN) == Configuration()


def test_settings_win_over_the_file_in_whatever_section_they_stand(written):
    settings = ["lr=1e-3", "sums=false", "token_weights=true", "objective=triplet", "dropout=0"]
    found = read_configuration(written(TEXT), FINETUNE, settings)
    assert found.model.bag == BagConfig(token_weights=True)
    assert (found.training.lr, found.training.seed) == (1e-3, 3)
    assert (found.objective.objective, found.model.dropout) == ("triplet", 0.0)


def test_all_that_is_in_force_makes_the_same_configuration_again(written):
    made = read_configuration(
        written(TEXT), FINETUNE, ["nested_dims=8,16", "objective=contrastive"]
    )
    settings = resolved_settings(made, FINETUNE)
    assert "dim=64" in settings and "nested_dims=8,16" in settings
    assert read_configuration(written(""), FINETUNE, settings) == made


def checkpoint(schedule, **model):
    """Return what fairseq keeps of a training of a bag, by a version without some of its knobs."""
    return {
        "task": {"max_valid": 7},
        "criterion": {},
        "model": {"autocast_bf16": False, **model},
        "dataset": {"max_tokens": 900},
        "optimization": {
            **{"update_freq": [1], "lr": [0.5], "clip_norm": 1.0},
            **{"max_epoch": 2, "max_update": 0},
        },
        "optimizer": {"adam_betas": "(0.9, 0.98)", "weight_decay": 0.0},
        "lr_scheduler": {"warmup_updates": 3, **schedule},
        "checkpoint": {"save_interval_updates": 0},
        "common": {"seed": 1},
    }


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ({"_name": "fixed"}, 1e-7),  # it has none: the knob's default stays
        ({"_name": "mpbert_linear"}, 1e-7),
        ({"_name": "inverse_sqrt", "warmup_init_lr": 1e-3}, 1e-3),
        ({"_name": "inverse_sqrt", "warmup_init_lr": -1}, 0.0),
    ],
)
def test_the_first_learning_rate_is_that_of_the_training(schedule, expected):
    found = flags.configuration_of(checkpoint(schedule), FINETUNE, {}, 50).training
    assert found.warmup_init_lr == expected


@pytest.mark.parametrize("stage", STAGES)
def test_each_knob_has_one_name_and_a_help(stage):
    fields = list(knobs(Configuration, stage))
    names = [field.name for field in fields]
    assert len(set(names)) == len(names)
    assert all(field.metadata["help"] for field in fields)
    assert set(names) <= named_values(Configuration()).keys()


def test_what_the_data_say_is_no_knob():
    names = {field.name for stage in STAGES for field in knobs(Configuration, stage)}
    found = {"vocab_size", "sentence_tokens", "pretrained_dim", "pretrained_sha256"}
    assert not found & names
    assert named_values(Configuration()).keys() - names == found


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("model: {dmi: 3}", [], r"a.yaml: model: no knob 'dmi'; .* did you mean 'dim'\?"),
        ("modle: {dim: 3}", [], r"a.yaml: no knob 'modle'; .* did you mean 'model'\?"),
        ("dim: 3", [], "a.yaml: no knob 'dim'; expected one of model, noise, objective, reading"),
        ("model: 3", [], "a.yaml: model: found int; expected lines like"),
        ("- 3", [], "a.yaml: found list; expected lines like 'dim: 256'"),
        ("model: {dim: many}", [], "a.yaml: model: dim: found 'many'; expected int"),
        ("model: {dim: true}", [], "a.yaml: model: dim: found True; expected int"),
        ("model: {shared_tokens: 1}", [], "shared_tokens: found 1; expected bool"),
        ("model: {vocab_size: 9}", [], "no knob 'vocab_size'"),
        ("model: {dim: 0}", [], "a.yaml: dim is 0; expected at least 1"),
        ("model: [", [], r"a.yaml: unreadable \(.*\); expected a YAML file"),
        ("", ["seeds=3"], r"--settings seeds=3: no knob 'seeds'; .* did you mean 'seed'\?"),
        ("", ["lr"], "--settings lr: found ''; expected float"),
        ("", ["lr=fast"], "--settings lr=fast: found 'fast'; expected float"),
        ("", ["dynamic=maybe"], "--settings dynamic=maybe: found 'maybe'; expected true or false"),
        ("", ["objective=best"], "objective is 'best'; expected one of contrastive, mpt-src"),
        ("", ["lr=nan"], "lr is nan; expected at least 0"),
        ("", ["dropout=2"], "dropout is 2.0; expected at least 0 and at most 1"),
        ("", ["attention_dropout=1.5"], "attention_dropout is 1.5; expected at least 0 and at m"),
        ("", ["decoder_layers=2"], "no knob 'decoder_layers'"),  # of pretraining
        ("", ["nested_dims=8"], "expected objective contrastive"),
    ],
)
def test_what_is_not_known_is_refused_in_one_line(written, text, settings, message):
    with pytest.raises(ConfigError, match=message) as error:
        read_configuration(written(text), FINETUNE, settings)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_refused_with_those_beside_it(written, tmp_path):
    written("")
    with pytest.raises(ConfigError, match=r"b.yaml: no such configuration; .* beside it: a$"):
        read_configuration(tmp_path / "b.yaml", FINETUNE)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"such as finetune/configs/token_bag\.yaml$"):
        read_configuration(tmp_path / "empty" / "b.yaml", FINETUNE)


def test_nested_values_and_configurations_are_the_same():
    made = Configuration(ModelConfig(dim=8, num_heads=2, bag=BagConfig(True, True)))
    assert from_nested(Configuration, dataclasses.asdict(made)) == made
    with pytest.raises(ConfigError, match="no knob 'level'"):
        from_nested(Configuration, {"level": 1})
