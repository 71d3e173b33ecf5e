import numpy as np

from mpbert.corpus.text import words
from mpbert.foundation.seeding import named_rng
from mpbert.methods.word2vec.embedder import Word2Vec


def test_a_query_is_the_mean_of_its_known_words_and_an_uncited_paper_is_zero(store):
    embedder = Word2Vec(dim=8, epochs=1)
    counts = embedder.fit(store, named_rng(1, "test"))
    vectors = dict(zip(embedder._words.to_pylist(), embedder._word_vectors, strict=True))
    text = store.local_texts(store.contexts("valid"))[3]
    known = [vectors[word] for word in words(text) if word in vectors]
    found = embedder.embed_queries(store, store.contexts("valid")).vectors[3]
    assert np.allclose(found, np.mean(known, axis=0), atol=1e-6)
    cited = np.unique(store.contexts("train").cited_rows)
    papers = embedder.embed_papers(store).vectors
    assert np.array_equal(np.flatnonzero(papers.any(axis=1)), cited)
    assert counts["papers_with_vector"] == len(cited)
