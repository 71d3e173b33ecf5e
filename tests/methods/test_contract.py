import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mpbert.commands import fit
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.manifest import read_manifest
from mpbert.foundation.seeding import named_rng
from mpbert.methods.embedding import EMBEDDERS, make_embedder

TRAINED_HERE = {"dacr", "hatten", "nnselect", "sbert", "transformer"}
QUICK = {
    "hyperdoc2vec": ["dim=16", "epochs=1", "citation_epochs=2"],
    "chance": ["dim=8"],
    "dacr": ["dim=10", "heads=2", "word_epochs=1", "citation_epochs=1", "epochs=1"],
    "hatten": [
        "dim=16",
        "heads=2",
        "hidden=16",
        "longest=20",
        "word_epochs=1",
        "loops=2",
        "updates=3",
        "batch=16",
        "mined=200",
        "prefetched=10",
        "average=0.5",
    ],
    "doc2vec": ["dim=8", "epochs=1", "steps=1", "content=abstract", "window=5"],
    "nnselect": ["dim=16", "epochs=1", "triplets=2000", "neighbours=5"],
    "sbert": [
        *("model=random:1x32", "epochs=1", "vocab_size=400", "paper_tokens=30"),
        *("context_tokens=30", "pairs=papers+contexts", "max_positives=300", "learning_rate=0.001"),
    ],
    "sif": ["dim=8", "epochs=1", "window=5"],
    "transformer": ["model=random:1x32", "epochs=1", "vocab_size=400", "context_tokens=30"],
    "word2vec": ["dim=16", "epochs=1"],
}


@pytest.fixture(scope="module")
def store(rfc_corpus):
    return CorpusStore(rfc_corpus)


@pytest.fixture(scope="module")
def other_texts(store, tmp_path_factory):
    """The same corpus, but for the words of papers that are not for training."""
    path = Path(shutil.copytree(store.path, tmp_path_factory.mktemp("other") / "rfc"))
    strange = store.paper_splits != "train"
    for name, column, rows in (
        ("papers", "title", np.flatnonzero(strange)),
        ("sentences", "text", np.flatnonzero(strange[owners_of(store)])),
    ):
        table = pq.read_table(path / f"{name}.parquet")
        texts = np.array(table[column].to_pylist(), dtype=object)
        texts[rows] = [f"Unheard words are bound network strange{row % 9}." for row in rows]
        place = table.column_names.index(column)
        table = table.set_column(place, column, pa.array(texts.tolist(), pa.string()))
        pq.write_table(table, path / f"{name}.parquet")
    return CorpusStore(path)


def owners_of(store):
    return np.repeat(np.arange(store.num_papers), np.diff(store.sentence_offsets))


@pytest.fixture(scope="class")
def baseline(name, store):
    fitted = make_embedder(name, QUICK.get(name, []))
    fitted.fit(store, named_rng(1, "test"))
    return fitted


@pytest.mark.parametrize("name", EMBEDDERS.names(), scope="class")
class TestContract:
    """What every member of the registry keeps."""

    def test_there_is_a_vector_per_paper_and_context_in_the_order_of_the_store(
        self, baseline, store
    ):
        papers = baseline.embed_papers(store)
        assert papers.ids == store.paper_ids
        for split in ("valid", "test"):
            contexts = baseline.embed_contexts(store, split)
            assert contexts.ids == store.contexts(split).query_ids
            assert contexts.dim == papers.dim
            assert contexts.vectors.any(axis=1).mean() > 0.9

    def test_the_same_generator_gives_the_same_vectors(self, baseline, name, store, caplog):
        caplog.set_level("INFO")
        again = make_embedder(name, QUICK.get(name, []))
        again.fit(store, named_rng(1, "test"))
        fields_of = [getattr(record, "fields", {}) for record in caplog.records]
        told = [fields for fields in fields_of if "loss" in fields]
        updates = [fields["update"] for fields in told]
        assert bool(told) == (name in TRAINED_HERE)  # gensim and numba tell of no loss
        assert updates == sorted(set(updates)) and all(fields["loss"] > 0 for fields in told)
        assert np.array_equal(
            baseline.embed_contexts(store, "test").vectors,
            again.embed_contexts(store, "test").vectors,
        )
        assert np.array_equal(
            baseline.embed_papers(store).vectors, again.embed_papers(store).vectors
        )

    def test_only_the_training_split_is_learnt_from(self, name, store):
        asked = []

        class Spy(CorpusStore):
            def contexts(self, split):
                asked.append(split)
                return super().contexts(split)

            def manuscripts(self, split):
                asked.append(split)
                return CorpusStore(self.path).manuscripts(split)

            def citations(self):
                raise AssertionError("citations of all splits are not for training")

        make_embedder(name, QUICK.get(name, [])).fit(Spy(store.path), named_rng(1, "test"))
        assert set(asked) <= {"train"}

    def test_no_word_of_other_splits_is_learnt_from(self, baseline, name, store, other_texts):
        again = make_embedder(name, QUICK.get(name, []))
        again.fit(other_texts, named_rng(1, "test"))
        trained = store.paper_splits == "train"
        expected = baseline.embed_papers(store).vectors[trained]
        found = again.embed_papers(other_texts).vectors[trained]
        assert np.allclose(found, expected, rtol=1e-4, atol=1e-4)  # batches may differ


def test_unknown_baselines_and_settings_are_refused_with_the_closest_name():
    with pytest.raises(ConfigError, match=r"unknown baseline 'word2vek'.*did you mean 'word2vec'"):
        make_embedder("word2vek", [])
    with pytest.raises(ConfigError, match=r"no setting 'epoch'.*did you mean 'epochs'"):
        make_embedder("word2vec", ["epoch=3"])
    with pytest.raises(ConfigError, match="found 'many'; expected int"):
        make_embedder("word2vec", ["epochs=many"])
    with pytest.raises(ConfigError, match="found 0; expected more than 0"):
        make_embedder("word2vec", ["epochs=0"])


def test_fit_baseline_writes_a_vectors_directory_and_counts_zero_vectors(rfc_corpus, tmp_path):
    output = tmp_path / "word2vec"
    fit.run(fit.Config(rfc_corpus, output, settings=QUICK["word2vec"]))
    counts = read_manifest(output)["counts"]
    assert counts["papers_zero"] == counts["papers_never_cited_in_training"] > 0
    assert counts["papers"] == 120
    names = {"papers", "contexts.valid", "contexts.test"}
    assert {f"{n}.npy" for n in names} <= {path.name for path in output.iterdir()}
