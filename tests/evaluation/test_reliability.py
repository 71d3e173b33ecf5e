"""How far probabilities can be relied upon: by pencil, beside scikit-learn, and in files."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mpbert.corpus.answer_confidence import read_confidence_file, write_confidence
from mpbert.evaluation.reliability import auroc, calibration_error, reliability
from mpbert.foundation.errors import RunError

SAID = np.array([0.94, 0.95, 0.96, 0.97, 0.1])
IS_RIGHT = np.array([True, True, True, False, False])


def test_the_error_of_calibration_by_pencil():
    # one bin of 0.955 on average and 0.75 right, one of 0.1 and nothing right
    assert calibration_error(SAID, IS_RIGHT) == pytest.approx((4 * 0.205 + 0.1) / 5)
    weights = np.array([1, 1, 1, 1, 6])
    assert calibration_error(SAID, IS_RIGHT, weights) == pytest.approx((4 * 0.205 + 0.6) / 10)
    groups = np.repeat([0.1, 0.8], 100), np.repeat([False, True], 100)
    assert calibration_error(*groups) == pytest.approx((0.1 + 0.2) / 2)
    assert calibration_error(np.array([1.0, 0.0]), np.array([True, False])) == 0


def test_auroc_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    for _ in range(5):
        scores, labels = rng.integers(0, 9, 60) / 8, rng.random(60) < 0.4
        assert auroc(scores, labels) == pytest.approx(roc_auc_score(labels, scores))
    assert np.isnan(auroc(scores, np.ones(60, bool)))


def test_reliability_by_pencil():
    found = reliability(SAID, IS_RIGHT, SAID, np.array([0.05, 0.95]))
    assert (found.right, found.error) == (0.6, pytest.approx((4 * 0.205 + 0.1) / 5))
    assert found.auroc == pytest.approx(3 / 6)  # 0.1 is below all that are right, 0.97 above
    assert found.of_library == pytest.approx((5 + 2.5) / 10)
    np.testing.assert_allclose(found.probability, [0.1, 0.955])
    np.testing.assert_allclose(found.cited, [0, 0.75])
    np.testing.assert_allclose(found.share, [0.2, 0.8])
    assert [found.risk_at(part) for part in (0.1, 0.4, 0.8, 1)] == pytest.approx(
        [1, 0.5, 0.25, 0.4]
    )
    assert np.isnan(reliability(SAID, IS_RIGHT).of_library)


def test_the_file_beside_a_run(tmp_path):
    run = tmp_path / "test.run"
    assert read_confidence_file(run, ["a#1"]) is None
    values = np.array([[0.25, 0.5, 0.125], [np.nan, np.nan, np.nan]])
    write_confidence(run, ["a#1", "b#2"], values)
    found = read_confidence_file(run, ["b#2", "a#1"])
    np.testing.assert_array_equal(found, [[0, 0, 0], [0.25, 0.5, 0.125]])
    with pytest.raises(RunError, match=r"test.confidence.tsv: unreadable .*c#3.*mpbert answer"):
        read_confidence_file(run, ["c#3"])
    path = tmp_path / "test.confidence.tsv"
    for wrong in ("1.5", "nan", "", "x"):
        path.write_text(path.read_text().splitlines()[0] + f"\na#1\t0.2\t{wrong}\t0.1\n")
        with pytest.raises(RunError, match="expected a line 'query first holds holds_without'"):
            read_confidence_file(run, ["a#1"])
