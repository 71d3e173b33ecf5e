import os

import numpy as np
import pytest
from gensim.models import doc2vec as gensim_doc2vec

from mpbert.corpus.text import words
from mpbert.foundation.seeding import named_rng
from mpbert.methods.doc2vec import embedder as doc2vec
from mpbert.methods.doc2vec.embedder import Doc2Vec
from mpbert.methods.gensim_training import paper_lines


@pytest.fixture(scope="module", params=["dm", "dbow"])
def embedder(request, store):
    fitted = Doc2Vec(mode=request.param, content="abstract", window=5, dim=8, epochs=1, steps=2)
    fitted.fit(store, named_rng(1, "test"))
    return fitted


def test_inference_takes_the_steps_of_gensim(embedder, store, monkeypatch):
    lines = list(paper_lines(store, [3], whole=False))
    start = []

    class Spy(np.random.RandomState):
        def random_sample(self, size):
            start.append(super().random_sample(size))
            start.append(self.get_state())
            return start[0]

    with monkeypatch.context() as patch:
        patch.setattr(np.random, "RandomState", Spy)
        found = embedder._infer(embedder._model, lines[0])
    first, state = start
    monkeypatch.setattr(
        gensim_doc2vec,
        "pseudorandom_weak_vector",
        lambda size, seed_string: ((first[0] - 0.5) / size).astype(np.float32),
    )
    embedder._model.random = np.random.RandomState()
    embedder._model.random.set_state(state)
    expected = embedder._model.infer_vector(lines[0].split(), 0.025, 1e-4, epochs=2)
    assert np.allclose(found, expected, atol=1e-6)
    assert not np.allclose(found, (first[0] - 0.5) / 8, atol=1e-3)


def test_vectors_do_not_depend_on_order_or_threads(embedder, store, monkeypatch):
    together = embedder.embed_papers(store).vectors
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    monkeypatch.setattr(doc2vec, "_BLOCK", 7)
    assert np.array_equal(together, embedder.embed_papers(store).vectors)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert np.array_equal(together, embedder.embed_papers(store).vectors)
    alone = embedder._infer(embedder._model, next(paper_lines(store, [9], whole=False)))
    assert np.array_equal(together[9], alone)


def test_a_paper_without_known_words_is_zero_and_a_long_one_is_read_to_its_end(embedder):
    assert not embedder._infer(embedder._model, "qqqq zzzz").any()
    word, last = embedder._model.wv.index_to_key[:2]
    long = " ".join([word] * 10_000)
    with_last = embedder._infer(embedder._model, f"{long} {last}")
    assert not np.array_equal(embedder._infer(embedder._model, long), with_last)


def test_a_query_is_the_mean_of_its_known_words_and_they_are_trained(embedder, store):
    model = embedder._model
    text = store.local_texts(store.contexts("valid"))[3]
    known = [model.wv[word] for word in words(text) if word in model.wv]
    found = embedder.embed_queries(store, store.contexts("valid")).vectors[3]
    assert np.allclose(found, np.mean(known, axis=0), atol=1e-6)
    assert np.abs(model.wv["the"]).max() > 1 / 8  # what they start from is no larger


def test_the_content_matters(embedder, store):
    abstracts = embedder.embed_papers(store).vectors
    embedder.content = "text"
    try:
        assert not np.allclose(embedder.embed_papers(store).vectors, abstracts)
    finally:
        embedder.content = "abstract"
