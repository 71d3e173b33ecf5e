import numpy as np

from mpbert.model import sentences
from mpbert.model.sentences import LatestVectors


class Spy:
    """Vectors of the lengths of texts; notes what was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked += texts
        return np.array([[len(text), 1.0] for text in texts]).reshape(-1, 2)


def test_a_text_is_read_once():
    spy = Spy()
    vectors = LatestVectors(spy)
    assert vectors.encode(["a", "bb", "a"]).tolist() == [[1, 1], [2, 1], [1, 1]]
    assert vectors.encode(["bb", "ccc"]).tolist() == [[2, 1], [3, 1]]
    assert spy.asked == ["a", "bb", "ccc"]
    assert vectors.encode([]).shape == (0, 2)


def test_what_was_not_used_for_longest_is_forgotten(monkeypatch):
    monkeypatch.setattr(sentences, "_REMEMBERED", 2)
    spy = Spy()
    vectors = LatestVectors(spy)
    for texts in (["a"], ["bb"], ["a"], ["ccc"], ["a"], ["bb"]):
        vectors.encode(texts)
    assert spy.asked == ["a", "bb", "ccc", "bb"]
    assert len(vectors.encode(["1", "22", "333", "4444"])) == 4  # more than are remembered
