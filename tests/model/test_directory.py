import dataclasses
import json

import pytest
import torch
from safetensors.torch import save_file

from mpbert.corpus.subwords import train_tokenizer
from mpbert.foundation.errors import EncoderError
from mpbert.model.config import (
    LEVEL_SIZES,
    BagConfig,
    Configuration,
    ModelConfig,
    ReadingConfig,
    UpperConfig,
)
from mpbert.model.description import (
    EncoderDescription,
    check_same_tokenizer,
    read_description,
    read_tokenizer,
)
from mpbert.model.directory import load_two_tower, pick_device, save_encoder
from mpbert.model.encoder import TwoTower
from mpbert.model.masked_sentences import MaskedSentenceModel

CONFIG = ModelConfig(50, 8, 16, 2, 1, 1, 1, 0.1, 0.0, 0.0)
READING = ReadingConfig(5, sentence_tokens=9)


def described(kind, config=CONFIG):
    return EncoderDescription(kind, Configuration(config, READING))


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    train_tokenizer(lambda: ["one two"], 300, 1).save(str(path))
    return path


@pytest.fixture
def saved(tmp_path, tokenizer):
    torch.manual_seed(1)
    model = TwoTower(CONFIG)
    save_encoder(tmp_path, described("two-tower"), model.state_dict(), tokenizer)
    return tmp_path, model


def test_a_saved_encoder_loads_with_the_same_weights_and_settings(saved):
    path, model = saved
    loaded = load_two_tower(path)
    assert read_description(path) == described("two-tower")
    pairs = zip(model.state_dict().values(), loaded.state_dict().values(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    assert read_tokenizer(path).encode("one").tokens == ["▁", "o", "n", "e"]


def test_dropout_may_be_replaced_and_the_rest_stays(saved):
    path, _ = saved
    assert load_two_tower(path, dropout=0.3).config.dropout == 0.3
    assert load_two_tower(path).config == CONFIG


def test_towers_that_share_their_tokens_do_so_when_loaded_again(tmp_path, tokenizer):
    config = dataclasses.replace(CONFIG, shared_tokens=True)
    state = TwoTower(config).state_dict()
    save_encoder(tmp_path, described("two-tower", config), state, tokenizer)
    loaded = load_two_tower(tmp_path)
    tokens = loaded.manuscript.encoder.bag.embedding.weight
    assert tokens is loaded.citation.encoder.bag.embedding.weight
    assert torch.equal(tokens, state["citation.encoder.bag.embedding.weight"])


def test_a_pretrained_encoder_may_gain_weights_and_roles(tmp_path, tokenizer):
    model = MaskedSentenceModel(CONFIG)
    save_encoder(tmp_path, described("pretrained"), model.state_dict(), tokenizer)
    towers = load_two_tower(tmp_path, bag=BagConfig(True), sentence_roles=True, shared_tokens=True)
    assert towers.config.bag.token_weights
    expected = model.encoder.bag.embedding.weight
    assert torch.equal(towers.manuscript.encoder.bag.embedding.weight, expected)
    assert (towers.citation.encoder.documents.roles.weight == 0).all()


def test_a_pretrained_encoder_starts_both_towers_alike(tmp_path, tokenizer):
    torch.manual_seed(2)
    model = MaskedSentenceModel(CONFIG)
    save_encoder(tmp_path, described("pretrained"), model.state_dict(), tokenizer)
    towers = load_two_tower(tmp_path)
    expected = model.encoder.state_dict()
    for tower in (towers.manuscript, towers.citation):
        assert all(torch.equal(v, expected[k]) for k, v in tower.encoder.state_dict().items())


def test_a_state_of_other_sizes_is_not_written(tmp_path, tokenizer):
    other = ModelConfig(60, 8, 16, 2, 1, 1, 1, 0.1, 0.0, 0.0)
    state = TwoTower(other).state_dict()
    with pytest.raises(EncoderError, match="weights and sizes do not fit"):
        save_encoder(tmp_path, described("two-tower"), state, tokenizer)
    assert not (tmp_path / "model.safetensors").exists()


@pytest.mark.parametrize("size", [0, 5, 200])
def test_truncated_weights_are_named_with_what_to_do(saved, size):
    path, _ = saved
    file = path / "model.safetensors"
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(EncoderError, match=r"model.safetensors: unreadable .*export") as error:
        load_two_tower(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"format": 3, "kind": "two-tower"}', '{"format": 1, "kind": "x"}'),
        "[" * 100_000,
    ],
)
def test_a_config_of_another_kind_is_refused(saved, text):
    path, _ = saved
    (path / "config.json").write_text(text)
    with pytest.raises(EncoderError, match=r"config.json: not readable as an encoder") as error:
        load_two_tower(path)
    assert "\n" not in str(error.value)


def test_weights_that_do_not_fit_the_config_are_refused_in_one_line(saved):
    path, _ = saved
    content = json.loads((path / "config.json").read_text())
    content["model"]["ffn_dim"] = 24
    (path / "config.json").write_text(json.dumps(content))
    with pytest.raises(EncoderError, match="weights and sizes do not fit") as error:
        load_two_tower(path)
    assert "\n" not in str(error.value)


def test_a_directory_without_encoder_or_tokenizer_is_refused(tmp_path):
    for read in (read_description, read_tokenizer):
        with pytest.raises(EncoderError, match=str(tmp_path)):
            read(tmp_path)


def test_another_tokenizer_is_refused(saved, tmp_path_factory):
    path, _ = saved
    other = tmp_path_factory.mktemp("other")
    (other / "tokenizer.json").write_text("{}")
    check_same_tokenizer(path, path)
    with pytest.raises(EncoderError, match="another tokenizer"):
        check_same_tokenizer(path, other)


def test_unknown_devices_are_refused():
    assert pick_device("cpu").type == "cpu"
    for name in ("tpux", "meta", "mps"):
        with pytest.raises(EncoderError, match=f"--device {name}: unknown"):
            pick_device(name)
    if not torch.cuda.is_available():
        with pytest.raises(EncoderError, match="no CUDA device"):
            pick_device("cuda")


def with_levels(config):
    return dataclasses.replace(
        config, document_layers=2, num_heads=4, upper=UpperConfig("concatenated", upper_dim=4)
    )


def test_a_bag_may_gain_levels_beside_it_and_keeps_all_that_it_has(tmp_path, tokenizer):
    torch.manual_seed(4)
    bag = dataclasses.replace(CONFIG, sentence_layers=0, document_layers=0, decoder_layers=0)
    model = TwoTower(bag)
    save_encoder(tmp_path, described("two-tower", bag), model.state_dict(), tokenizer)
    given = {name: getattr(with_levels(bag), name) for name in (*LEVEL_SIZES, "upper")}
    grown = load_two_tower(tmp_path, **given)
    assert grown.config == with_levels(bag)
    kept = grown.state_dict()
    assert all(torch.equal(value, kept[name]) for name, value in model.state_dict().items())
    assert len(grown.citation.upper.documents.blocks) == 2
    save_encoder(tmp_path, described("two-tower", grown.config), grown.state_dict(), tokenizer)
    again = load_two_tower(tmp_path)
    assert again.config == grown.config
    assert all(torch.equal(kept[name], value) for name, value in again.state_dict().items())


def test_levels_that_a_training_has_learnt_are_not_begun_anew(tmp_path, tokenizer):
    config = with_levels(dataclasses.replace(CONFIG, sentence_layers=0, decoder_layers=0))
    state = TwoTower(config).state_dict()
    save_encoder(tmp_path, described("two-tower", config), state, tokenizer)
    del state["citation.log_gate"]
    save_file(state, tmp_path / "model.safetensors")
    with pytest.raises(EncoderError, match=r"do not fit .*Missing.*citation\.log_gate"):
        load_two_tower(tmp_path)
