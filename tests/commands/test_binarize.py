import numpy as np
import pytest

from mpbert.cli import main
from mpbert.commands import binarize
from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.subwords import TextTokenizer
from mpbert.model.description import read_tokenizer


def test_tokens_are_those_of_title_and_sentences_paper_by_paper(rfc_corpus, rfc_binary):
    store, corpus = CorpusStore(rfc_corpus), BinaryCorpus(rfc_binary)
    tokenize = TextTokenizer(read_tokenizer(rfc_binary), 12)
    for row in (0, 60, 119):
        paper = store.paper(row)
        expected, _ = tokenize([paper.title, *paper.sentences])
        first, last = corpus.sentence_offsets[row : row + 2]
        assert corpus.gather(np.arange(first, last))[0].tolist() == expected.tolist()
        assert corpus.num_abstract[row] == paper.num_abstract + 1
    assert corpus.paper_ids == store.paper_ids
    assert np.diff(corpus.token_offsets).max() == 13


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_contexts_point_at_their_citing_sentences(rfc_corpus, rfc_binary, split):
    store, corpus = CorpusStore(rfc_corpus), BinaryCorpus(rfc_binary)
    contexts, binary = store.contexts(split), corpus.contexts(split)
    assert corpus.context_ids(split) == contexts.query_ids
    first = corpus.sentence_offsets[binary.citing_rows]
    assert np.array_equal(binary.sentences - first - 1, contexts.positions)
    assert np.array_equal(binary.cited_rows, contexts.cited_rows)
    assert np.array_equal(binary.cited_offsets, contexts.cited_offsets)


def test_chunks_of_any_size_give_the_same_bytes(rfc_corpus, rfc_binary, tmp_path, monkeypatch):
    monkeypatch.setattr(binarize, "CHUNK", 700)
    output = tmp_path / "rfc"
    binarize.run(binarize.Config(rfc_corpus, output, vocab_size=400, sentence_tokens=12))
    names = sorted(file.name for file in rfc_binary.iterdir())
    assert names == sorted(file.name for file in output.iterdir())
    for name in set(names) - {"log.txt", "config.yaml"}:
        assert (output / name).read_bytes() == (rfc_binary / name).read_bytes(), name


def test_a_finished_output_is_reused_and_another_setting_refused(rfc_corpus, rfc_binary, capsys):
    before = (rfc_binary / "log.txt").stat().st_mtime_ns
    flags = ["binarize", str(rfc_corpus), str(rfc_binary), "--sentence-tokens=12"]
    assert main([*flags, "--vocab-size=400"]) == 0
    assert (rfc_binary / "log.txt").stat().st_mtime_ns == before
    assert main([*flags, "--vocab-size=401"]) == 2
    assert "made with another config" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--vocab-size=10", "--vocab-size is 10; expected 300 or more"),
        ("--sentence-tokens=0", "--sentence-tokens is 0; expected 1 to 1023"),
        ("--sentence-tokens=1024", "expected 1 to 1023"),
        ("--tokenizer-sentences=0", "--tokenizer-sentences 0"),
    ],
)
def test_numbers_out_of_range_are_refused(rfc_corpus, tmp_path, capsys, flag, message):
    assert main(["binarize", str(rfc_corpus), str(tmp_path / "out"), flag]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_missing_corpus_is_one_line(tmp_path, capsys):
    assert main(["binarize", str(tmp_path / "none"), str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "expected a corpus store" in error
