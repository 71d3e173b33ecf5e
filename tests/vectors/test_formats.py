from types import SimpleNamespace

import faiss
import numpy as np
import pyarrow.parquet as pq
import pytest
from gensim.models import KeyedVectors
from safetensors.numpy import load_file
from tensorboard.plugins.base_plugin import TBContext
from tensorboard.plugins.projector.projector_plugin import ProjectorPlugin
from werkzeug.test import Client

from mpbert.commands import export_vectors
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import VectorsError
from mpbert.vectors import formats
from mpbert.vectors.store import VectorStore

TITLES = ["First", "Tab\tand\nline", "Über"]


@pytest.fixture
def store():
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((3, 5)).astype(np.float32)
    vectors[2] = [0, 1e-30, -1e30, 1 / 3, 7]
    return VectorStore(["P1", 'W06-"1615",', "Ü#3"], vectors)


@pytest.mark.parametrize(("name", "binary"), [("word2vec", False), ("word2vec-bin", True)])
def test_gensim_loads_the_same_ids_and_floats(store, tmp_path, name, binary, monkeypatch):
    monkeypatch.setattr(formats, "_BLOCK", 2)  # more than one block
    formats.WRITERS[name](store, TITLES, tmp_path)
    (path,) = tmp_path.iterdir()
    loaded = KeyedVectors.load_word2vec_format(path, binary=binary)
    assert loaded.index_to_key == store.ids
    assert np.array_equal(loaded.vectors, store.vectors)


@pytest.mark.parametrize("name", ["word2vec", "word2vec-bin"])
def test_ids_with_white_space_are_refused_for_word2vec(name, tmp_path):
    store = VectorStore(["a", "b c"], np.ones((2, 2)))
    with pytest.raises(VectorsError, match=r"id 'b c' \(row 1\) holds white space.*--format npy"):
        formats.WRITERS[name](store, store.ids, tmp_path)


def test_npy_is_a_matrix_and_a_line_per_id(store, tmp_path):
    formats.write_npy(store, TITLES, tmp_path)
    assert np.array_equal(np.load(tmp_path / "vectors.npy"), store.vectors)
    assert (tmp_path / "vectors.ids.txt").read_text().split("\n") == [*store.ids, ""]


def test_tsv_has_a_line_per_vector_and_a_header_for_metadata(store, tmp_path):
    formats.write_tsv(store, TITLES, tmp_path)
    rows = np.loadtxt(tmp_path / "vectors.tsv", delimiter="\t", dtype=np.float32)
    assert np.array_equal(rows, store.vectors)
    lines = (tmp_path / "metadata.tsv").read_text().splitlines()
    assert lines == ["id\ttitle", "P1\tFirst", 'W06-"1615",\tTab and line', "Ü#3\tÜber"]


def test_tensorboard_shows_what_tsv_wrote(store, tmp_path):
    formats.write_tsv(store, TITLES, tmp_path)
    runs = SimpleNamespace(list_runs=lambda context, experiment_id: [])
    plugin = ProjectorPlugin(TBContext(logdir=str(tmp_path), data_provider=runs))
    assert client(plugin, "/runs").get("/").json == ["."]
    tensor = client(plugin, "/tensor").get("/?run=.&name=vectors").data
    assert np.array_equal(np.frombuffer(tensor, np.float32).reshape(3, 5), store.vectors)
    lines = client(plugin, "/metadata").get("/?run=.&name=vectors").text.splitlines()
    assert lines[:2] == ["id\ttitle", "P1\tFirst"]


def client(plugin, route):
    return Client(plugin.get_plugin_apps()[route])


def test_safetensors_holds_the_matrix_and_a_line_per_id(store, tmp_path):
    formats.write_safetensors(store, TITLES, tmp_path)
    found = load_file(tmp_path / "vectors.safetensors")
    assert list(found) == ["vectors"] and np.array_equal(found["vectors"], store.vectors)
    assert (tmp_path / "vectors.ids.txt").read_text().split("\n") == [*store.ids, ""]


def test_parquet_has_ids_titles_and_vectors(store, tmp_path):
    formats.write_parquet(store, TITLES, tmp_path)
    table = pq.read_table(tmp_path / "vectors.parquet")
    assert table["id"].to_pylist() == store.ids and table["title"].to_pylist() == TITLES
    assert np.array_equal(np.array(table["vector"].to_pylist(), np.float32), store.vectors)


def test_faiss_index_ranks_by_cosine(store, tmp_path):
    formats.write_faiss(store, TITLES, tmp_path)
    index = faiss.read_index(str(tmp_path / "index.faiss"))
    scores, rows = index.search(5 * index.reconstruct_n(0, 1), 1)
    assert rows.tolist() == [[0]] and np.allclose(scores, 5)
    assert (tmp_path / "index.ids.txt").read_text().splitlines() == store.ids


@pytest.mark.parametrize("name", sorted(formats.WRITERS))
def test_export_twice_gives_the_same_bytes(store, name, tmp_path):
    for directory in ("one", "two"):
        (tmp_path / directory).mkdir()
        formats.WRITERS[name](store, TITLES, tmp_path / directory)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


def test_export_command_takes_titles_from_the_corpus(rfc_corpus, tmp_path):
    corpus = CorpusStore(rfc_corpus)
    contexts = corpus.contexts("test")
    VectorStore(contexts.query_ids, np.ones((len(contexts), 2))).save(tmp_path, "contexts.test")
    config = export_vectors.Config(
        tmp_path, tmp_path / "out", format="tsv", side="contexts.test", corpus=rfc_corpus
    )
    export_vectors.run(config)
    lines = (tmp_path / "out" / "metadata.tsv").read_text().splitlines()
    assert lines[1] == f"{contexts.query_ids[0]}\t{corpus.titles[contexts.citing_rows[0]]}"


def test_export_command_writes_the_first_numbers(store, tmp_path):
    store.save(tmp_path, "papers")
    export_vectors.run(export_vectors.Config(tmp_path, tmp_path / "out", format="npy", dim=2))
    assert np.array_equal(np.load(tmp_path / "out" / "vectors.npy"), store.vectors[:, :2])


def test_export_command_refuses_vectors_of_another_corpus(rfc_corpus, tmp_path):
    VectorStore(["XYZ"], np.ones((1, 2))).save(tmp_path, "papers")
    config = export_vectors.Config(tmp_path, tmp_path / "out", format="tsv", corpus=rfc_corpus)
    with pytest.raises(VectorsError, match=r"paper 'XYZ' is not in .*give the one"):
        export_vectors.run(config)
    assert not (tmp_path / "out").exists()
