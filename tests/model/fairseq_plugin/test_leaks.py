"""Nothing of validation and test papers, and no marker, may reach training."""

import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mpbert.commands import binarize
from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.text import MARKER_LIKE
from mpbert.model.description import read_tokenizer


def texts_of(path):
    """What an encoder reads of each sentence, from the token arrays alone."""
    corpus, tokenizer = BinaryCorpus(path), read_tokenizer(path)
    tokens, lengths = corpus.gather(np.arange(corpus.sentence_offsets[-1]))
    pieces = np.array([tokenizer.id_to_token(i) for i in range(corpus.vocab_size)], dtype=object)
    parts = np.split(pieces[tokens], np.cumsum(lengths)[:-1])
    return ["".join(part[:-1]).replace("▁", " ") for part in parts]


def marked(texts):
    """Texts with a marker of RFCs; tokens are lower case and stand apart: "[ rfc2119 ]"."""
    tight = [text.replace("[ ", "[").replace(" ]", "]") for text in texts]
    kinds = [MARKER_LIKE["rfc"], MARKER_LIKE["numbered"]]
    return [text for text in tight if any(kind.search(text) for kind in kinds)]


def edited(corpus, target, change):
    """A copy of a corpus store in which ``change`` maps the table of sentences."""
    shutil.copytree(corpus, target)
    (target / "manifest.json").unlink()  # it holds the checksums from before
    table = pq.read_table(target / "sentences.parquet")
    pq.write_table(change(table), target / "sentences.parquet")
    return target


def with_texts(table, texts):
    return table.set_column(table.schema.get_field_index("text"), "text", pa.array(texts))


def test_no_marker_reaches_the_token_arrays(rfc_binary):
    assert marked(texts_of(rfc_binary)) == []


def test_planted_markers_are_caught_in_the_token_arrays(rfc_corpus, tmp_path):
    markers = ["[RFC2119]", "RFC 2119", "rfc2119bis", "[17]", "[3, 4]"]

    def plant(table):
        texts = table["text"].to_pylist()
        for row, marker in enumerate(markers, start=1234):
            texts[row] = f"as {marker} {texts[row]}"
        return with_texts(table, texts)

    corpus = edited(rfc_corpus, tmp_path / "corpus", plant)
    binarize.run(binarize.Config(corpus, tmp_path / "out", vocab_size=400, sentence_tokens=12))
    assert len(marked(texts_of(tmp_path / "out"))) == len(markers)


def test_text_of_validation_and_test_papers_does_not_reach_the_tokenizer(
    rfc_corpus, rfc_binary, tmp_path
):
    store = CorpusStore(rfc_corpus)
    in_train = np.repeat(store.paper_splits == "train", np.diff(store.sentence_offsets))

    def change(table, where):
        texts = np.array(table["text"].to_pylist(), dtype=object)
        texts[where] = "zyx wvu tsr qpo " * 3
        return with_texts(table, texts.tolist())

    found = {}
    for name, where in (("held-out", ~in_train), ("training", np.flatnonzero(in_train)[:500])):
        corpus = edited(rfc_corpus, tmp_path / name, lambda t, where=where: change(t, where))
        output = tmp_path / f"{name}-binary"
        binarize.run(binarize.Config(corpus, output, vocab_size=400, sentence_tokens=12))
        found[name] = (output / "tokenizer.json").read_bytes()
    original = (rfc_binary / "tokenizer.json").read_bytes()
    assert found["held-out"] == original
    assert found["training"] != original  # the check would see a leak


@pytest.mark.fairseq
def test_pretraining_reads_training_papers_alone(rfc_binary):
    from mpbert.model.fairseq_plugin.pretraining.task import PretrainOptions, PretrainTask

    task = PretrainTask(PretrainOptions(data=str(rfc_binary), seed=1, block_sentences=12))
    task.load_dataset("train")
    corpus, train = task.corpus, task.dataset("train")
    papers = np.searchsorted(corpus.sentence_offsets, train.first, side="right") - 1
    assert set(corpus.splits[papers]) == {0}
    last = np.searchsorted(
        corpus.sentence_offsets, train.first + train.sizes_in_sentences - 1, side="right"
    )
    assert np.array_equal(last - 1, papers)  # no block runs into the next paper


@pytest.fixture(scope="module")
def without_test_contexts(rfc_binary, tmp_path_factory):
    """The same binary corpus with other citations in its validation and test contexts."""
    path = tmp_path_factory.mktemp("changed") / "binary"
    shutil.copytree(rfc_binary, path)
    (path / "manifest.json").unlink()  # it holds the checksums from before
    for split in ("valid", "test"):
        file = path / f"contexts.{split}.cited_rows.npy"
        rows = np.load(file)
        np.save(file, (rows + 1) % BinaryCorpus(rfc_binary).num_papers)
    return path


@pytest.mark.fairseq
@pytest.mark.parametrize("unit", ["context", "paper"])
def test_noise_distributions_know_nothing_of_validation_and_test_contexts(
    rfc_binary, without_test_contexts, unit
):
    from mpbert.model.fairseq_plugin.finetuning.task import FinetuneOptions, FinetuneTask

    noises = []
    for path in (rfc_binary, without_test_contexts):
        task = FinetuneTask(FinetuneOptions(data=str(path), seed=1, cocitation_unit=unit))
        task.load_dataset("train")
        task.load_dataset("valid")
        noises.append(task.noise)
    a, b = noises
    assert np.array_equal(a.distribution.cumulative, b.distribution.cumulative)
    assert np.array_equal(a.distribution.rows, b.distribution.rows)
    assert (a.cocitations != b.cocitations).nnz == 0


@pytest.mark.fairseq
def test_noise_counts_are_those_of_the_training_contexts(rfc_binary):
    from mpbert.model.fairseq_plugin.finetuning.task import FinetuneOptions, FinetuneTask

    corpus = BinaryCorpus(rfc_binary)
    noise = FinetuneTask(FinetuneOptions(data=str(rfc_binary), seed=1, negative_power=1.0)).noise
    counts = np.bincount(corpus.contexts("train").cited_rows, minlength=corpus.num_papers)
    assert np.array_equal(np.flatnonzero(counts), noise.distribution.rows)
    assert np.array_equal(np.cumsum(counts[counts > 0]), noise.distribution.cumulative)


@pytest.mark.fairseq
def test_fine_tuning_reads_training_papers_alone(rfc_binary, tmp_path):
    from mpbert.model.fairseq_plugin.finetuning.task import FinetuneOptions, FinetuneTask

    shutil.copytree(rfc_binary, tmp_path / "binary")
    (tmp_path / "binary" / "manifest.json").unlink()  # it holds the checksums from before
    corpus = BinaryCorpus(rfc_binary)
    contexts = corpus.contexts("train")
    later = np.bincount(contexts.cited_rows, minlength=corpus.num_papers).argsort()[-3:]
    splits = corpus.splits.copy()
    splits[later] = 2  # those cited most are of the test split now, and training contexts cite them
    np.save(tmp_path / "binary" / "splits.npy", splits)
    config = FinetuneOptions(data=str(tmp_path / "binary"), seed=1, positives_from="history")
    task = FinetuneTask(config)
    task.load_dataset("train")
    train = task.dataset("train")
    for epoch in (1, 2):
        train.set_epoch(epoch)
        drawn = train.positives[train.positives >= 0]
        read = np.concatenate([train.targets, drawn, train.negatives.ravel()])
        assert not np.isin(read, later).any()
    unread = np.isin(contexts.cited_rows, later).sum()
    assert len(train.targets) == len(contexts.cited_rows) - unread < len(contexts.cited_rows)


def test_training_contexts_stand_in_training_papers(rfc_binary):
    corpus = BinaryCorpus(rfc_binary)
    for code, split in enumerate(("train", "valid", "test")):
        assert set(corpus.splits[corpus.contexts(split).citing_rows]) == {code}


@pytest.mark.fairseq
def test_contexts_that_are_known_train_and_no_others(rfc_binary):
    from mpbert.model.fairseq_plugin.finetuning.task import FinetuneOptions, FinetuneTask

    task = FinetuneTask(FinetuneOptions(data=str(rfc_binary), seed=1, known="train valid"))
    task.load_dataset("train")
    train, corpus = task.dataset("train"), task.corpus
    assert set(corpus.splits[train.contexts.citing_rows]) == {0, 1}
    assert set(corpus.splits[train.targets]) == {0, 1}
    known = corpus.contexts("train", "valid")
    kept = corpus.splits[known.cited_rows] < 2
    assert np.array_equal(train.targets, known.cited_rows[kept])
    counts = np.bincount(known.cited_rows[kept], minlength=corpus.num_papers)
    assert np.array_equal(task.noise.citations, counts)
