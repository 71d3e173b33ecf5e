import shutil

import numpy as np
import pytest

from mpbert.corpus import binary
from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.special_tokens import SEPARATOR
from mpbert.foundation.errors import CorpusError


@pytest.fixture
def copy(rfc_binary, tmp_path):
    return BinaryCorpus(shutil.copytree(rfc_binary, tmp_path / "binary"))


def test_gather_returns_the_tokens_of_any_sentences_in_the_order_asked(rfc_binary):
    corpus = BinaryCorpus(rfc_binary)
    wanted = np.array([7, 3, 7, 0])
    tokens, lengths = corpus.gather(wanted)
    parts = [
        corpus.tokens[corpus.token_offsets[s] : corpus.token_offsets[s + 1]].tolist()
        for s in wanted
    ]
    assert tokens.tolist() == [token for part in parts for token in part]
    assert lengths.tolist() == [len(part) for part in parts]


@pytest.mark.parametrize("block", [1, 7, 256, 100_000])
def test_a_large_corpus_is_read_without_the_offsets_of_all_sentences(
    rfc_binary, monkeypatch, block
):
    expected = BinaryCorpus(rfc_binary).gather
    monkeypatch.setattr(binary, "_MOST_OFFSETS", 0)
    monkeypatch.setattr(binary, "_BLOCK", block)
    corpus = BinaryCorpus(rfc_binary)
    last = len(corpus.token_offsets) - 2
    for wanted in ([7, 3, 7, 0], [last, last - 1, 0], list(range(0, last, 3)), []):
        sentences = np.array(wanted, dtype=np.int64)
        for found, known in zip(corpus.gather(sentences), expected(sentences), strict=True):
            assert found.dtype == known.dtype and found.tolist() == known.tolist()
    corpus = BinaryCorpus(rfc_binary)
    corpus.gather(np.array([5]))
    assert "token_offsets" not in vars(corpus)


def test_every_sentence_ends_with_its_only_separator(rfc_binary):
    corpus = BinaryCorpus(rfc_binary)
    places = np.flatnonzero(corpus.tokens == SEPARATOR)
    assert np.array_equal(places, corpus.token_offsets[1:] - 1)


def test_tokens_are_mapped_and_not_loaded(rfc_binary):
    assert isinstance(BinaryCorpus(rfc_binary).tokens, np.memmap)


@pytest.mark.parametrize("size", [0, 50, 5000])
@pytest.mark.parametrize("name", ["tokens", "sentence_lengths"])
def test_a_truncated_array_is_named_in_one_line(copy, name, size):
    file = copy.path / f"{name}.npy"
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(CorpusError, match=rf"{name}.npy: unreadable .* binarize again") as error:
        copy.gather(np.array([0]))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("papers.ids.txt", lambda corpus: corpus.paper_ids),
        ("contexts.test.ids.txt", lambda corpus: corpus.context_ids("test")),
        ("contexts.train.sentences.npy", lambda corpus: corpus.contexts("train")),
    ],
)
def test_a_missing_file_is_named(copy, name, read):
    (copy.path / name).unlink()
    with pytest.raises(CorpusError, match=rf"{name}: unreadable \(No such file"):
        read(copy)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"vocab_size": "x", "max_tokens": 3}', "[" * 100_000]
)
def test_damaged_sizes_are_refused(copy, text):
    (copy.path / "meta.json").write_text(text)
    with pytest.raises(CorpusError, match=r"meta.json: unreadable"):
        copy.vocab_size  # noqa: B018


def test_a_directory_that_is_no_binary_corpus_is_refused(tmp_path):
    with pytest.raises(CorpusError, match=r"found no tokens.npy and meta.json"):
        BinaryCorpus(tmp_path)


def test_an_array_of_objects_is_not_unpickled(copy):
    np.save(copy.path / "tokens.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(CorpusError, match=r"tokens.npy: unreadable"):
        copy.tokens  # noqa: B018
