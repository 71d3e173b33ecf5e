import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from mpbert.cli import main
from mpbert.commands import embed_sentences
from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.numbering import number_offsets, numbered_texts
from mpbert.foundation.errors import CorpusError, EncoderError, VectorsError
from mpbert.pretrained import sentence_vectors
from mpbert.pretrained.model_files import sha256_of_model
from mpbert.pretrained.sentence_encoder import SentenceEncoder
from mpbert.pretrained.sentence_vectors import SentenceVectors, numbers_of

FORMATS = Path(__file__).parents[1] / "fixtures" / "formats"


def config(corpus, model, output, precision="float32", **values):
    return embed_sentences.Config(
        corpus, model, output, device="cpu", precision=precision, **values
    )


@pytest.fixture(scope="module")
def made(rfc_corpus, small_encoder, tmp_path_factory):
    output = tmp_path_factory.mktemp("sentences") / "rfc"
    embed_sentences.run(config(rfc_corpus, small_encoder, output))
    return output


@pytest.fixture(scope="module")
def texts(store):
    return ["", *store.titles[:20], *store.sentence_texts(np.arange(0, 4000, 40))]


def one_by_one(folder, texts, longest, pooling):
    """By the definition: a text at a time, through Hugging Face's own classes."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    vectors = []
    for text in texts:
        tokens = tokenizer(text, truncation=True, max_length=longest, return_tensors="pt")
        with torch.no_grad():
            states = model(**tokens).last_hidden_state[0].numpy()
        vector = states[0] if pooling == "cls" else states.mean(axis=0)
        vectors.append(vector / np.linalg.norm(vector))
    return np.array(vectors)


def test_kernels_of_few_shapes_are_kept_before_the_first_product(
    rfc_corpus, small_encoder, tmp_path, monkeypatch
):
    names = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
    for name in names:
        monkeypatch.setenv(name, "1024")
        monkeypatch.delenv(name)
    seen = []

    def first(*_):
        seen.extend(os.environ.get(name) for name in names)
        raise KeyboardInterrupt

    monkeypatch.setattr("mpbert.pretrained.sentence_encoder.SentenceEncoder", first)
    with pytest.raises(KeyboardInterrupt):
        embed_sentences.run(config(rfc_corpus, small_encoder, tmp_path / "out"))
    assert seen == ["64", "64"]


class TestEncoder:
    def test_vectors_are_those_of_a_sentence_alone(self, small_encoder, texts):
        encoder = SentenceEncoder(small_encoder, torch.device("cpu"), batch_tokens=300)
        expected = one_by_one(small_encoder, texts, 24, "mean")
        longer = one_by_one(small_encoder, texts, 64, "mean")
        assert encoder.longest == 24 and not np.allclose(expected, longer, atol=1e-3)
        found = encoder.encode(texts)
        assert found.dtype == np.float32 and found.shape == (len(texts), encoder.dim)
        np.testing.assert_allclose(found, expected, atol=1e-5)
        assert encoder.encode([]).shape == (0, 32)

    def test_and_those_of_sentence_transformers(self, small_encoder, texts):
        model = SentenceTransformer(str(small_encoder), device="cpu", local_files_only=True)
        expected = model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
        found = SentenceEncoder(small_encoder, torch.device("cpu")).encode(texts)
        np.testing.assert_allclose(found, expected, atol=1e-5)

    def test_in_bfloat16_they_are_near(self, small_encoder, texts):
        encoder = SentenceEncoder(small_encoder, torch.device("cpu"), bfloat16=True)
        cosines = (encoder.encode(texts) * one_by_one(small_encoder, texts, 24, "mean")).sum(axis=1)
        assert 0 < (1 - cosines).max() < 1e-2

    @pytest.mark.parametrize(
        "said", [{"pooling_mode": "cls"}, {"pooling_mode_cls_token": True, "include_prompt": True}]
    )
    def test_pooling_is_what_the_files_say(self, said, small_encoder, texts, tmp_path):
        folder = shutil.copytree(small_encoder, tmp_path / "cls")
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(said))
        found = SentenceEncoder(folder, torch.device("cpu")).encode(texts)
        np.testing.assert_allclose(found, one_by_one(folder, texts, 24, "cls"), atol=1e-5)

    def test_a_plain_transformer_has_the_mean_of_all_it_reads(self, small_encoder, texts, tmp_path):
        folder = shutil.copytree(small_encoder, tmp_path / "plain")
        for name in ("modules.json", "sentence_bert_config.json", "1_Pooling/config.json"):
            (folder / name).unlink()
        encoder = SentenceEncoder(folder, torch.device("cpu"))
        assert (encoder.longest, encoder.pooling) == (64, "mean")
        expected = one_by_one(folder, texts, 64, "mean")
        np.testing.assert_allclose(encoder.encode(texts), expected, atol=1e-5)

    @pytest.mark.parametrize(
        ("file", "text", "message"),
        [
            ("1_Pooling/config.json", '{"pooling_mode": "max"}', "expected .* pooling cls or mean"),
            ("1_Pooling/config.json", '{"pooling_mode": ["cls", "mean"]}', "pooling cls, mean"),
            ("modules.json", '[{"type": "sentence_transformers.models.Dense"}]', "layers Dense"),
            ("modules.json", "{}", "found no list"),
            ("modules.json", "[", "unreadable"),
        ],
    )
    def test_other_ways_to_make_a_vector_are_refused(
        self, file, text, message, small_encoder, tmp_path
    ):
        folder = shutil.copytree(small_encoder, tmp_path / "other")
        (folder / file).write_text(text)
        with pytest.raises(EncoderError, match=message):
            SentenceEncoder(folder)


class TestStore:
    def test_a_stored_vector_is_that_of_the_encoder_to_the_rounding_of_float16(
        self, made, small_encoder, store
    ):
        found, encoder = SentenceVectors(made), SentenceEncoder(small_encoder)
        numbers = numbers_of(store, found.parts)
        sample = numbers[:: len(numbers) // 200]
        expected = encoder.encode(numbered_texts(store, sample).to_pylist())
        vectors = found.gather(sample)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, expected, atol=2**-11 + 1e-5)
        assert found.dim == encoder.dim == 32
        assert found.model_sha256 == encoder.model_sha256 == sha256_of_model(small_encoder)
        assert found.parts == ("abstract", "citing")

    def test_numbers_are_those_of_the_binary_corpus(self, made, rfc_binary, store):
        corpus, found = BinaryCorpus(rfc_binary), SentenceVectors(made)
        assert np.array_equal(number_offsets(store), corpus.sentence_offsets)
        assert found.num_sentences == corpus.sentence_offsets[-1]
        titles = numbered_texts(store, corpus.sentence_offsets[:-1]).to_pylist()
        assert titles == store.titles
        for split in ("train", "valid", "test"):
            contexts, of_store = corpus.contexts(split), store.contexts(split)
            rows = store.sentence_offsets[of_store.citing_rows] + of_store.positions
            texts = numbered_texts(store, contexts.sentences).to_pylist()
            assert texts == store.sentence_texts(rows)
            first = corpus.sentence_offsets[contexts.citing_rows]
            last = corpus.sentence_offsets[contexts.citing_rows + 1] - 1
            for step in (-1, 0, 1):
                near = np.clip(contexts.sentences + step, first, last)
                assert found.gather(near).any(axis=1).all()

    def test_parts(self, store):
        everything = np.arange(number_offsets(store)[-1])
        abstract, body, citing = (numbers_of(store, [p]) for p in ("abstract", "body", "citing"))
        assert np.array_equal(np.union1d(abstract, body), everything)
        assert not len(np.intersect1d(abstract, body))
        lengths = np.diff(number_offsets(store))
        opening = np.minimum(np.maximum(store.num_abstract + 1, 10), lengths)
        assert len(abstract) == opening.sum() > store.num_papers + store.num_abstract.sum()
        assert 0 < len(citing) < len(body)
        assert np.array_equal(
            np.union1d(abstract, citing), numbers_of(store, ["abstract", "citing"])
        )

    def test_equal_sentences_share_a_vector(self, made, store):
        numbers = numbers_of(store, ("abstract", "citing"))
        texts = numbered_texts(store, numbers).to_pylist()
        rows = np.load(made / "rows.npy")[numbers]
        assert len(set(zip(texts, rows, strict=True))) == len(set(texts)) == len(set(rows))
        assert len(set(texts)) < len(texts)
        assert np.load(made / "vectors.npy").shape == (len(set(texts)), 32)

    def test_bfloat16_moves_a_vector_by_its_rounding(
        self, made, rfc_corpus, small_encoder, tmp_path
    ):
        output = tmp_path / "bfloat16"
        embed_sentences.run(config(rfc_corpus, small_encoder, output, "bfloat16"))
        exact, rounded = (np.load(path / "vectors.npy").astype(float) for path in (made, output))
        assert 1e-6 < (1 - (exact * rounded).sum(1)).max() < 1e-2
        said = [
            json.loads((path / "meta.json").read_text())["precision"] for path in (made, output)
        ]
        assert said == ["float32", "bfloat16"]

    def test_a_killed_run_goes_on_where_it_was(
        self, made, rfc_corpus, small_encoder, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(sentence_vectors, "BLOCK", 500)
        whole, calls = SentenceEncoder.encode, []

        def interrupted(self, texts):
            calls.append(len(texts))
            if len(calls) == 3:
                raise KeyboardInterrupt
            return whole(self, texts)

        monkeypatch.setattr(SentenceEncoder, "encode", interrupted)
        wanted = config(rfc_corpus, small_encoder, tmp_path / "killed")
        with pytest.raises(KeyboardInterrupt):
            embed_sentences.run(wanted)
        assert [path.name for path in tmp_path.iterdir()] == [".killed.mpbert-parts"]
        embed_sentences.run(wanted)
        assert [path.name for path in tmp_path.iterdir()] == ["killed"]
        num_vectors = len(np.load(made / "vectors.npy"))
        assert sum(calls) == num_vectors + 500  # the block that was killed, once more
        embed_sentences.run(wanted)  # it is finished
        assert sum(calls) == num_vectors + 500
        calls.extend([0] * 10)
        embed_sentences.run(config(rfc_corpus, small_encoder, tmp_path / "fresh"))
        for name in ("vectors.npy", "rows.npy"):
            found = (tmp_path / "killed" / name).read_bytes()
            assert found == (tmp_path / "fresh" / name).read_bytes()

    def test_vectors_of_other_settings_are_not_taken_up(
        self, made, rfc_corpus, small_encoder, tmp_path
    ):
        parts = tmp_path / ".rfc.mpbert-parts"
        parts.mkdir()
        (parts / "of.txt").write_text("another run")
        (parts / "finished.txt").write_text("1")
        np.save(parts / "vectors.npy", np.zeros((3000, 32), np.float16))
        embed_sentences.run(config(rfc_corpus, small_encoder, tmp_path / "rfc"))
        found = (tmp_path / "rfc" / "vectors.npy").read_bytes()
        assert found == (made / "vectors.npy").read_bytes()


class TestErrors:
    def test_a_sentence_without_a_vector_is_told_with_the_command(self, made, store):
        body = numbers_of(store, ["body"])
        absent = np.setdiff1d(body, numbers_of(store, ["citing"]))
        with pytest.raises(CorpusError, match=rf"sentence {absent[3]} and 6 more have no vector.*"):
            SentenceVectors(made).gather(absent[3:10])
        with pytest.raises(CorpusError, match="embed-sentences CORPUS MODEL OUTPUT --parts"):
            SentenceVectors(made).gather(absent[:1])
        with pytest.raises(CorpusError, match=r"found no sentence 10000000 among"):
            SentenceVectors(made).gather(np.array([10_000_000]))

    def test_vectors_of_another_corpus_are_refused(self, made, rfc_corpus, rfc_binary, tmp_path):
        found = SentenceVectors(made)
        found.check_corpus(rfc_corpus)
        found.check_corpus(rfc_binary)
        found.check_corpus(tmp_path)  # nothing that was made here
        for other in ("corpus", "binary"):
            with pytest.raises(CorpusError, match="are those of another corpus than"):
                found.check_corpus(FORMATS / other)

    @pytest.mark.parametrize("broken", ["meta.json", "rows.npy", "vectors.npy"])
    def test_a_damaged_directory_is_refused(self, broken, made, tmp_path):
        copy = shutil.copytree(made, tmp_path / "copy")
        (copy / broken).unlink()
        with pytest.raises(VectorsError, match="expected an output of mpbert embed-sentences"):
            SentenceVectors(copy)
        with pytest.raises(VectorsError, match="expected an output of mpbert embed-sentences"):
            SentenceVectors(tmp_path / "none")
        shutil.copy(made / "meta.json", copy / "meta.json")
        np.save(copy / "vectors.npy", np.zeros((3, 32), np.float16))
        np.save(copy / "rows.npy", np.load(made / "rows.npy"))
        with pytest.raises(VectorsError, match=r"found \(3, 32\) vectors; expected one for each"):
            SentenceVectors(copy)

    @pytest.mark.parametrize(
        ("flags", "message"),
        [
            (["--batch-tokens=0"], "--batch-tokens 0; expected 1 or more"),
            (["--device=tpux"], "--device tpux: unknown"),
            (["--parts", "abstract"], "was made with another config"),
        ],
    )
    def test_wrong_flags_are_one_line(
        self, flags, message, made, rfc_corpus, small_encoder, capsys
    ):
        words = ["embed-sentences", str(rfc_corpus), str(small_encoder), str(made), *flags]
        assert main(words) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and message in error
