import numpy as np
import pytest
from scipy import sparse

from mpbert.foundation import transposing
from mpbert.foundation.transposing import transposed


@pytest.mark.parametrize("at_once", [1, 7, 1 << 22])
@pytest.mark.parametrize("num_columns", [9, 70_000])
def test_a_transposed_matrix_is_that_of_scipy(at_once, num_columns, monkeypatch):
    monkeypatch.setattr(transposing, "_AT_ONCE", at_once)
    rng = np.random.default_rng(1)
    matrix = sparse.random_array((40, num_columns), density=60 / num_columns / 40, rng=rng)
    matrix = sparse.csr_array(matrix.astype(np.float32))
    found = transposed(matrix.indptr, matrix.indices, matrix.data, num_columns)
    expected = matrix.T.tocsr()
    for ours, theirs in zip(found, (expected.indptr, expected.indices, expected.data), strict=True):
        assert np.array_equal(ours, theirs)
    assert found[2].dtype == np.float32 and found[1].dtype == np.int32
