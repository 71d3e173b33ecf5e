import json
import shutil

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.commands import embed
from mpbert.corpus.binary import BinaryCorpus
from mpbert.model import embedding_work
from mpbert.vectors.store import VectorStore

pytestmark = pytest.mark.fairseq


@pytest.fixture(scope="module")
def vectors(rfc_binary, finetuned_encoder, tmp_path_factory):
    output = tmp_path_factory.mktemp("embedded") / "vectors"
    embed.run(embed.Config(rfc_binary, finetuned_encoder, output))
    return output


def arrays(path):
    return {file.name: file.read_bytes() for file in path.iterdir() if file.suffix == ".npy"}


def test_there_is_a_finite_vector_of_each_paper_and_context(vectors, rfc_binary):
    corpus = BinaryCorpus(rfc_binary)
    assert VectorStore.load(vectors, "papers").ids == corpus.paper_ids
    for split in ("valid", "test"):
        store = VectorStore.load(vectors, f"contexts.{split}")
        assert store.ids == corpus.context_ids(split)
        assert store.vectors.shape == (len(corpus.contexts(split)), 16)
        assert len(np.unique(store.vectors, axis=0)) > 100
    assert not list(vectors.parent.glob("*parts"))


def test_a_run_killed_midway_resumes_to_identical_bytes(
    vectors, rfc_binary, finetuned_encoder, tmp_path, monkeypatch
):
    monkeypatch.setattr(embed, "BLOCK", 50)
    config = embed.Config(rfc_binary, finetuned_encoder, tmp_path / "vectors")
    whole, calls = embedding_work.embed_sampled, []

    def interrupted(*arguments, **named):
        calls.append(1)
        if len(calls) == 5:  # within the contexts, after 3 blocks of papers and one of contexts
            raise KeyboardInterrupt
        return whole(*arguments, **named)

    monkeypatch.setattr(embedding_work, "embed_sampled", interrupted)
    with pytest.raises(KeyboardInterrupt):
        embed.run(config)
    assert [path.name for path in tmp_path.iterdir()] == [".vectors.mpbert-parts"]
    assert len(list((tmp_path / ".vectors.mpbert-parts").glob("*.npz"))) == 4
    calls.extend([1] * 10)
    before = len(calls)
    embed.run(config)
    assert len(calls) - before == 3 + 6 + 3 - 4  # blocks of 120 papers, 280 and 131 contexts
    assert [path.name for path in tmp_path.iterdir()] == ["vectors"]
    fresh = tmp_path / "fresh" / "vectors"
    embed.run(embed.Config(rfc_binary, finetuned_encoder, fresh))
    assert arrays(fresh) == arrays(tmp_path / "vectors")
    for name in ("papers", "contexts.test"):  # other blocks: other matrix shapes, same vectors
        found, expected = (VectorStore.load(p, name).vectors for p in (fresh, vectors))
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_blocks_of_another_seed_are_not_taken_up(
    vectors, rfc_binary, finetuned_encoder, tmp_path, monkeypatch
):
    config = embed.Config(rfc_binary, finetuned_encoder, tmp_path / "vectors", seed=2)
    parts = tmp_path / ".vectors.mpbert-parts"
    parts.mkdir()
    (parts / "of.txt").write_text("another run")
    np.save(parts / "papers.000000.npy", np.zeros((120, 16), np.float32))
    embed.run(config)
    assert VectorStore.load(tmp_path / "vectors", "papers").vectors.any()
    assert arrays(tmp_path / "vectors") != arrays(vectors)


def test_vectors_are_means_over_readings(vectors, rfc_binary, finetuned_encoder, tmp_path):
    config = embed.Config(
        rfc_binary, finetuned_encoder, tmp_path / "v", readings=3, splits=("valid",)
    )
    embed.run(config)
    assert not (tmp_path / "v" / "contexts.test.npy").exists()
    assert arrays(tmp_path / "v")["papers.npy"] != arrays(vectors)["papers.npy"]


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--readings=0", "--readings 0"),
        ("--batch-tokens=0", "--batch-tokens 0"),
        ("--seed=-1", "--seed -1"),
        ("--device=tpux", "--device tpux: unknown"),
    ],
)
def test_flags_out_of_range_are_refused_in_one_line(
    rfc_binary, finetuned_encoder, tmp_path, capsys, flag, message
):
    paths = [str(rfc_binary), str(finetuned_encoder), str(tmp_path / "v")]
    assert main(["embed", *paths, flag]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error


def test_an_unknown_split_is_refused_with_the_choices(
    rfc_binary, finetuned_encoder, tmp_path, capsys
):
    paths = [str(rfc_binary), str(finetuned_encoder), str(tmp_path / "v")]
    with pytest.raises(SystemExit) as stopped:
        main(["embed", *paths, "--splits", "dev"])
    assert stopped.value.code == 2
    assert "train, valid, test" in capsys.readouterr().err.replace("'", "")


def test_wrong_inputs_are_refused_in_one_line(rfc_binary, finetuned_encoder, tmp_path, capsys):
    broken = shutil.copytree(finetuned_encoder, tmp_path / "broken")
    file = broken / "model.safetensors"
    file.write_bytes(file.read_bytes()[:500])
    other = shutil.copytree(finetuned_encoder, tmp_path / "other")
    (other / "tokenizer.json").write_text("{}")
    (other / "manifest.json").unlink()  # an encoder of others
    wrong = {
        str(tmp_path / "none"): "config.json: not readable as an encoder",
        str(broken): "model.safetensors: found other bytes than were written",
        str(other): "another tokenizer",
    }
    for encoder, message in wrong.items():
        assert main(["embed", str(rfc_binary), encoder, str(tmp_path / "v")]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert message in error
    assert not (tmp_path / "v").exists()


def test_an_output_that_cannot_be_made_is_one_line(rfc_binary, finetuned_encoder, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    output = str(tmp_path / "file" / "below" / "v")
    assert main(["embed", str(rfc_binary), str(finetuned_encoder), output]) == 2
    assert "cannot be written (Not a directory)" in capsys.readouterr().err


@pytest.mark.parametrize("known", [["train"], ["train", "valid"]])
def test_encoders_that_read_citing_sentences_read_the_known_and_never_embed_their_contexts(
    vectors, rfc_binary, finetuned_encoder, tmp_path, capsys, known
):
    encoder = shutil.copytree(finetuned_encoder, tmp_path / "encoder")
    config = json.loads((encoder / "config.json").read_text())
    config["reading"]["citing_sentences"] = 3
    (encoder / "config.json").write_text(json.dumps(config))
    (encoder / "manifest.json").unlink()  # an encoder of others, which has no checksums
    embed.run(embed.Config(rfc_binary, encoder, tmp_path / "with", splits=["test"], known=known))
    found, plain = (VectorStore.load(path, "papers") for path in (tmp_path / "with", vectors))
    contexts = [BinaryCorpus(rfc_binary).contexts(split) for split in known]
    cited = np.unique(np.concatenate([each.cited_rows for each in contexts]))
    changed = np.abs(found.vectors - plain.vectors).max(axis=1) > 1e-4  # beyond rounding
    assert np.flatnonzero(changed).tolist() == cited.tolist()
    arguments = [str(rfc_binary), str(encoder), str(tmp_path / "out"), "--splits", known[-1]]
    assert main(["embed", *arguments, "--known", *known]) == 2
    error = capsys.readouterr().err
    assert f"--splits {known[-1]}: its contexts are known" in error
    assert not (tmp_path / "out").exists()
