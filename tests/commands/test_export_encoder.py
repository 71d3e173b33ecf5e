import shutil

import pytest
import torch
from safetensors.torch import load_file

from mpbert.cli import main
from mpbert.model.config import NoiseConfig, ReadingConfig
from mpbert.model.description import read_description
from mpbert.model.directory import load_two_tower

pytestmark = pytest.mark.fairseq


def test_the_encoder_holds_the_weights_of_the_checkpoint(finetuned, finetuned_encoder):
    saved = torch.load(finetuned / "checkpoint_last.pt", weights_only=True)["model"]
    loaded = load_two_tower(finetuned_encoder).state_dict()
    assert {f"model.{name}" for name in loaded} == set(saved)
    assert all(torch.equal(loaded[name], saved[f"model.{name}"]) for name in loaded)


def test_settings_say_how_the_encoder_was_trained_to_read(finetuned_encoder, pretrained_encoder):
    found = read_description(finetuned_encoder)
    config, training = found.model, found.configuration.training
    assert (found.kind, config.dim, config.decoder_layers) == ("two-tower", 16, 0)
    assert found.reading == ReadingConfig(4, 1, 1, sentence_tokens=12)
    assert found.configuration.objective.objective == "mpt-src-tgt"
    assert found.configuration.noise == NoiseConfig()
    assert (training.lr, training.lr_scheduler, training.max_update) == (0.01, "fixed", 9)
    assert (training.batch_tokens, training.max_valid, training.seed) == (45000, 20, 1)
    pretrained = read_description(pretrained_encoder)
    assert pretrained.kind == "pretrained" and pretrained.reading.block_sentences == 12


def test_an_encoder_in_half_precision_has_half_the_size_and_rounded_weights(
    finetuned, finetuned_encoder, rfc_binary, tmp_path
):
    words = [str(finetuned / "checkpoint_last.pt"), str(rfc_binary), str(tmp_path / "half")]
    assert main(["export-encoder", *words, "--half"]) == 0
    whole, half = (p / "model.safetensors" for p in (finetuned_encoder, tmp_path / "half"))
    assert half.stat().st_size < 0.6 * whole.stat().st_size
    assert {value.dtype for value in load_file(half).values()} == {torch.float16}
    expected = load_two_tower(finetuned_encoder).state_dict()
    found = load_two_tower(tmp_path / "half").state_dict()
    for name, weights in expected.items():
        assert found[name].dtype == weights.dtype == torch.float32
        assert torch.equal(found[name], weights.half().float()), name


def test_options_of_the_sentence_vector_and_shared_tokens_are_kept(
    finetuned, rfc_binary, tmp_path, caplog
):
    caplog.set_level("INFO")
    checkpoint = torch.load(finetuned / "checkpoint_last.pt", weights_only=True)
    state = checkpoint["model"]
    tables = [f"model.{tower}.encoder.bag.embedding.weight" for tower in ("manuscript", "citation")]
    state[tables[0]] = state[tables[1]]
    checkpoint["task_state"]["model"] |= {"shared_tokens": True}
    checkpoint["task_state"]["model"]["bag"] |= {"sums": True}
    torch.save(checkpoint, tmp_path / "checkpoint.pt")
    words = [str(tmp_path / "checkpoint.pt"), str(rfc_binary), str(tmp_path / "encoder")]
    assert main(["export-encoder", *words]) == 0
    config = read_description(tmp_path / "encoder").model
    assert config.bag.sums and config.shared_tokens and not config.bag.token_weights
    once = sum(value.numel() for value in state.values()) - state[tables[0]].numel()
    assert f"{once:,} parameters" in caplog.text


@pytest.mark.parametrize("content", [b"", b"no checkpoint", "torn", "list", "stranger"], ids=str)
def test_what_is_no_checkpoint_of_ours_is_refused_in_one_line(
    finetuned, rfc_binary, tmp_path, capsys, content
):
    file = tmp_path / "checkpoint.pt"
    if content == "torn":
        file.write_bytes((finetuned / "checkpoint_last.pt").read_bytes()[:3000])
    elif content == "list":
        torch.save([1, 2], file)
    elif content == "stranger":
        torch.save({"cfg": {"model": {"_name": "transformer"}}}, file)
    else:
        file.write_bytes(content)
    assert main(["export-encoder", str(file), str(rfc_binary), str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert str(file) in error
    assert not list(tmp_path.glob("out*"))


def test_a_missing_checkpoint_is_one_line(rfc_binary, tmp_path, capsys):
    missing = str(tmp_path / "none.pt")
    assert main(["export-encoder", missing, str(rfc_binary), str(tmp_path / "out")]) == 2
    assert "expected a checkpoint of mpbert training" in capsys.readouterr().err


def test_the_binary_corpus_of_another_tokenizer_is_refused(finetuned, rfc_binary, tmp_path, capsys):
    other = shutil.copytree(rfc_binary, tmp_path / "other")
    (other / "tokenizer.json").write_text("{}")
    (other / "manifest.json").unlink()  # a corpus without checksums
    checkpoint = str(finetuned / "checkpoint_last.pt")
    assert main(["export-encoder", checkpoint, str(other), str(tmp_path / "out")]) == 2
    assert "trained with another tokenizer" in capsys.readouterr().err
