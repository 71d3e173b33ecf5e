import numpy as np
import pytest
from scipy import sparse

from mpbert.foundation.errors import VectorsError
from mpbert.vectors.matches import MatchesWriter, TokenWeights, load_matches, read_weights


@pytest.fixture
def weights():
    return sparse.csr_array(np.array([[0, 0.5, 0], [1, 0, 2]], dtype=np.float32))


def save_matches(directory, name, weights):
    writer = MatchesWriter(weights.shape[1])
    writer.add(weights.indptr, weights.indices, weights.data)
    writer.save(directory, name)


def test_what_is_written_is_read(weights, tmp_path):
    save_matches(tmp_path, "papers", weights)
    found = load_matches(tmp_path, "papers", 2)
    assert found.dtype == np.float32
    assert np.array_equal(found.toarray(), weights.toarray())
    assert load_matches(tmp_path, "contexts.test", 2) is None


def test_a_damaged_file_is_named(weights, tmp_path):
    save_matches(tmp_path, "papers", weights)
    file = tmp_path / "papers.matches.npz"
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(VectorsError, match=r"papers\.matches\.npz: unreadable .*; embed again"):
        load_matches(tmp_path, "papers", 2)


def test_weights_of_other_vectors_are_refused(weights, tmp_path):
    save_matches(tmp_path, "papers", weights)
    with pytest.raises(VectorsError, match="found weights of 2 texts; expected 7"):
        load_matches(tmp_path, "papers", 7)


def test_weights_that_are_no_numbers_are_refused(weights, tmp_path):
    weights.data[1] = np.nan
    save_matches(tmp_path, "papers", weights)
    with pytest.raises(VectorsError, match="found NaN or infinity"):
        load_matches(tmp_path, "papers", 2)


def test_weights_need_no_scipy_and_are_the_matrix(weights, tmp_path):
    save_matches(tmp_path, "papers", weights)
    found = read_weights(tmp_path, "papers", 2)
    assert len(found) == 2 and found.vocab_size == 3
    assert np.array_equal(found.matrix().toarray(), weights.toarray())
    assert np.array_equal(TokenWeights.of(weights).tokens, found.tokens)


@pytest.mark.parametrize(
    "wrong",
    [
        {"indices": np.array([1, 0, 3], np.int32)},
        {"indices": np.array([1, 0, -1], np.int32)},
        {"indices": np.array([1, 0], np.int32)},
        {"indptr": np.array([0, 3, 1], np.int32)},
        {"indptr": np.array([1, 1, 3], np.int32)},
        {"data": np.array(["a", "b", "c"])},
        {"shape": np.array([2])},
        {"shape": np.array([2, "x"])},
    ],
)
def test_rows_that_are_none_are_refused(weights, wrong, tmp_path):
    save_matches(tmp_path, "papers", weights)
    file = tmp_path / "papers.matches.npz"
    with np.load(file, allow_pickle=False) as archive:
        parts = {**archive, **wrong}
    np.savez(file, **parts)
    with pytest.raises(VectorsError, match=r"papers\.matches\.npz: unreadable .*; embed again"):
        read_weights(tmp_path, "papers", 2)
