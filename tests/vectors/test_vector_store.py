import numpy as np
import pytest

from mpbert.foundation.errors import VectorsError
from mpbert.vectors.normal import normalized
from mpbert.vectors.store import VectorStore, check_ids


def test_what_is_saved_is_loaded_memory_mapped(tmp_path):
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    VectorStore(["a", "b ü", "c"], vectors).save(tmp_path, "papers")
    store = VectorStore.load(tmp_path, "papers")
    assert store.ids == ["a", "b ü", "c"] and store.dim == 2 and len(store) == 3
    assert isinstance(store.vectors, np.memmap)
    assert store["c"].tolist() == [4, 5]


def test_an_empty_store_is_saved_and_loaded(tmp_path):
    VectorStore([], np.zeros((0, 4))).save(tmp_path, "papers")
    assert len(VectorStore.load(tmp_path, "papers")) == 0


def test_an_unknown_id_is_refused():
    with pytest.raises(VectorsError, match="no vector of 'b' among 1"):
        VectorStore(["a"], np.ones((1, 2)))["b"]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused_with_id_and_row(value):
    vectors = np.ones((3, 2))
    vectors[1, 1] = value
    with pytest.raises(VectorsError, match=r"vector of 'b' \(row 1\) holds NaN or infinity"):
        VectorStore(["a", "b", "c"], vectors)


def test_another_number_of_ids_is_refused():
    with pytest.raises(VectorsError, match=r"shape \(3, 2\) for 2 ids; expected one row of"):
        VectorStore(["a", "b"], np.ones((3, 2)))
    with pytest.raises(VectorsError, match=r"found <U1 vectors of shape \(1, 1\) for 1 ids"):
        VectorStore(["a"], np.array([["x"]]))


def test_duplicate_ids_are_refused():
    with pytest.raises(VectorsError, match="id 'a' stands twice, first in row 0"):
        VectorStore(["a", "b", "a"], np.ones((3, 2)))


@pytest.mark.parametrize("name", ["", "a\nb", "a\u2028b"])
def test_ids_that_are_no_line_are_refused(name):
    with pytest.raises(VectorsError, match="expected one line of text"):
        VectorStore([name], np.ones((1, 2)))


def test_a_missing_or_pickled_file_is_refused(tmp_path):
    with pytest.raises(VectorsError, match=r"papers\.npy: unreadable .*expected a vectors dir"):
        VectorStore.load(tmp_path, "papers")
    np.save(tmp_path / "papers.npy", np.array([{"a": 1}]), allow_pickle=True)
    (tmp_path / "papers.ids.txt").write_text("a\n")
    with pytest.raises(VectorsError, match="unreadable"):
        VectorStore.load(tmp_path, "papers")


def test_vectors_of_another_corpus_are_refused():
    store = VectorStore(["a", "b"], np.ones((2, 2)))
    check_ids(store, ["a", "b"], "papers")
    with pytest.raises(VectorsError, match="found 2 vectors; expected 3"):
        check_ids(store, ["a", "b", "c"], "papers")
    with pytest.raises(VectorsError, match="found id 'b' in row 1; expected 'c' as in the corpus"):
        check_ids(store, ["a", "c"], "papers")


def test_normalized_rows_have_length_1_and_zero_rows_stay_zero():
    rows = normalized(np.array([[3.0, 4.0], [0.0, 0.0], [3e30, 4e30]], dtype=np.float32))
    assert np.allclose(rows, [[0.6, 0.8], [0, 0], [0.6, 0.8]])
    assert rows.dtype == np.float32


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, }",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999999, 99999999999), }",
        b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        b"[" * 300,
    ],
)
def test_a_broken_header_is_an_error_and_no_pickle_is_read(tmp_path, header):
    length = len(header) + 1
    start = b"\x93NUMPY\x01\x00" + length.to_bytes(2, "little") + header + b"\n"
    (tmp_path / "papers.npy").write_bytes(start + bytes(4))
    (tmp_path / "papers.ids.txt").write_text("a\n")
    with pytest.raises(VectorsError, match=r"papers\.npy: unreadable \("):
        VectorStore.load(tmp_path, "papers")


def test_an_archive_of_arrays_is_no_matrix(tmp_path):
    with (tmp_path / "papers.npy").open("wb") as file:
        np.savez(file, np.zeros((1, 2)))
    (tmp_path / "papers.ids.txt").write_text("a\n")
    with pytest.raises(VectorsError, match="found an archive, expected one array"):
        VectorStore.load(tmp_path, "papers")
