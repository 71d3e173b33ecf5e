import numpy as np
import pyarrow as pa
import pytest

from mpbert.corpus.bags import count_matrix
from mpbert.corpus.text import words
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.seeding import named_rng
from mpbert.methods.embedding import make_embedder
from mpbert.methods.gensim_training import sentence_lines
from mpbert.methods.sif.embedder import Sif, common_components, sif_weights
from mpbert.methods.word_means import means_of_counts


def fitted(store, **settings):
    embedder = Sif(**{"fields": "abstract", "dim": 8, "window": 5, "epochs": 1, **settings})
    embedder.fit(store, named_rng(1, "test"))
    return embedder


def test_a_word_that_is_as_frequent_as_a_weighs_half():
    assert np.allclose(sif_weights(np.array([0.0, 1e-3, 3e-3]), 1e-3), [1, 1 / 2, 1 / 4])


def test_a_mean_by_pencil():
    vectors = np.array([[1.0, 0.0], [0.0, 2.0]])
    counts, _ = count_matrix(pa.array(["a a a b", "c", ""]), pa.array(["a", "b"]))
    assert np.allclose(means_of_counts(counts, vectors), [[3 / 4, 2 / 4], [0, 0], [0, 0]])


def test_the_common_component_by_pencil_and_as_numpys_svd():
    assert np.allclose(np.abs(common_components(np.array([[3.0, 4.0]]), 1)), [[0.6], [0.8]])
    vectors = np.random.default_rng(1).standard_normal((30, 5)) + 1
    found = common_components(vectors, 2)
    expected = np.linalg.svd(vectors)[2][:2].T
    assert np.allclose(found @ found.T, expected @ expected.T)
    assert common_components(vectors, 0).shape == (5, 0)


def test_vectors_are_those_of_the_equation(store):
    embedder = fitted(store, a=1e-2)
    plain = fitted(store, a=1e-2, components=0)
    lines = [line.split() for line in sentence_lines(store)]
    total = sum(map(len, lines))
    known = {word: i for i, word in enumerate(plain._words.to_pylist())}
    frequency = np.zeros(len(known))
    for line in lines:
        for word in line:
            if word in known:
                frequency[known[word]] += 1 / total
    vectors = plain._vectors * (1 + frequency / 1e-2)[:, None]  # unweighted again

    def by_definition(text):
        found = [known[word] for word in words(text) if word in known]
        return sum(1e-2 / (1e-2 + frequency[i]) * vectors[i] for i in found) / len(found)

    def text_of(paper):
        return " ".join([paper.title, *paper.abstract])

    means = np.array([by_definition(text_of(paper)) for paper in store.papers()])
    assert np.allclose(plain.embed_papers(store).vectors, means, atol=1e-6)
    train = means[store.paper_splits == "train"]
    common = np.linalg.svd(train)[2][0]
    without = means - np.outer(means @ common, common)
    assert np.allclose(embedder.embed_papers(store).vectors, without, atol=1e-6)
    query = by_definition(store.local_texts(store.contexts("valid"))[3])
    found = embedder.embed_queries(store, store.contexts("valid")).vectors[3]
    assert np.allclose(found, query - (query @ common) * common, atol=1e-6)


def test_no_training_paper_has_a_common_component_and_the_fields_matter(store):
    embedder = fitted(store, components=3)
    papers = embedder.embed_papers(store).vectors
    assert np.allclose(papers @ embedder._common, 0, atol=1e-5)
    assert not np.allclose(
        papers, fitted(store, components=3, fields="text").embed_papers(store).vectors
    )


def test_wrong_settings_are_refused():
    with pytest.raises(ConfigError, match=r"components=100: found dim=100; expected fewer"):
        make_embedder("sif", ["components=100"])
    with pytest.raises(ConfigError, match="expected one or more of abstract, citing, text"):
        make_embedder("sif", ["fields=body"])
    with pytest.raises(ConfigError, match="found 'glove'; expected one of cbow, skipgram"):
        make_embedder("sif", ["mode=glove"])
