"""How near a citing sentence is to a question, beside the plain formula."""

from types import SimpleNamespace

import numpy as np

from mpbert.foundation.ragged import offsets_of
from mpbert.recommending.columns import TextColumn
from mpbert.recommending.words import Words


def test_similarities_are_the_cosines_of_tf_idf_vectors():
    rng = np.random.default_rng(1)
    num_stems, lengths = 50, rng.integers(0, 12, 40)  # some contexts have no stem
    bags = [np.sort(rng.choice(num_stems, length, replace=False)) for length in lengths]
    held = rng.random(lengths.sum()).astype(np.float32)
    idf = rng.random(num_stems) + 0.1
    offsets = offsets_of(lengths)
    lookup = SimpleNamespace(
        idf=idf, bag_offsets=offsets, bag_words=np.concatenate(bags), bag_weights=held
    )
    words = Words(lookup, TextColumn.empty(0), 0)
    columns, counts = np.array([0, 3, 7, 20, 49]), np.array([1, 2, 1, 5, 3])
    asked = np.zeros(num_stems)
    asked[columns] = (1 + np.log(counts)) * idf[columns]
    asked /= np.linalg.norm(asked)
    contexts = rng.permutation(len(lengths))[:30]
    expected = [asked[bags[c]] @ held[offsets[c] : offsets[c + 1]] for c in contexts]
    assert np.ptp(expected) > 0.1
    found = words.similarities(columns, counts, contexts)
    np.testing.assert_allclose(found, np.clip(expected, 0, 1), rtol=1e-12)
    none = np.zeros(0, dtype=np.int64)
    assert not words.similarities(none, none, contexts).any()
    assert words.similarities(columns, counts, none).shape == (0,)
