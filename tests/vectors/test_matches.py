import numpy as np
import pytest
from scipy import sparse

from mpbert.foundation.errors import VectorsError
from mpbert.vectors.matches import load_matches, save_matches


@pytest.fixture
def weights():
    return sparse.csr_array(np.array([[0, 0.5, 0], [1, 0, 2]], dtype=np.float32))


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
