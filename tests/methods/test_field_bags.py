import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from mpbert.corpus.store import CorpusStore
from mpbert.corpus.text import words
from mpbert.foundation.errors import CorpusError
from mpbert.methods.citeomatic.field_bags import (
    inverse_frequencies,
    jaccard_similarity,
    paper_fields,
    query_fields,
    take_bags,
    training_vocabulary,
    word_counts,
)


def test_a_vocabulary_is_of_training_papers_commonest_first_without_the_words_of_most(store):
    found, frequencies = training_vocabulary(store, 50)
    texts = [
        {*words(p.title), *(w for s in p.sentences[: p.num_abstract] for w in words(s))}
        for p in store.papers("train")
    ]
    assert len(found) == 50
    assert (np.diff(frequencies) <= 0).all()
    for word, number in zip(found.to_pylist(), frequencies, strict=True):
        assert number == sum(word in text for text in texts) <= len(texts) / 2
    assert "the" not in found.to_pylist()
    assert np.allclose(inverse_frequencies(store, frequencies)[0], np.log(80 / frequencies[0]))


def test_a_corpus_without_words_is_refused(store):
    class Silent(CorpusStore):
        def abstract_texts(self, rows):
            return ["--" for _ in rows]

    with pytest.raises(CorpusError, match="found no word in the titles and abstracts of training"):
        training_vocabulary(Silent(store.path), 10)


def test_fields_of_papers_and_queries_hold_the_words_of_their_texts(store):
    vocabulary, _ = training_vocabulary(store, 10_000)
    known = vocabulary.to_pylist()
    papers = paper_fields(store, vocabulary)
    contexts = store.contexts("valid")
    alone = query_fields(store, contexts, vocabulary, papers, "context")
    both = query_fields(store, contexts, vocabulary, papers, "context+abstract")
    whole = query_fields(store, store.manuscripts("valid"), vocabulary, papers, "context")

    def bag(text):
        return sorted(known.index(word) for word in words(text) if word in known)

    def found(field, row):
        part = field[[row]]
        return sorted(np.repeat(part.indices, part.data.astype(int)).tolist())

    for row in (0, 60, 119):
        paper = store.paper(row)
        assert found(papers[0], row) == bag(paper.title)
        assert found(papers[1], row) == bag(" ".join(paper.sentences[: paper.num_abstract]))
    local = store.local_texts(contexts)
    for i in (0, 7, len(contexts) - 1):
        citing = contexts.citing_rows[i]
        assert found(alone[2], i) == found(both[2], i) == bag(local[i])
        assert found(both[0], i) == found(papers[0], citing)
        assert found(alone[0], i) == found(alone[1], i) == []
    assert not whole[2].nnz
    assert whole[1].nnz
    assert not papers[2].nnz


def test_bags_of_a_batch_are_the_rows_of_each_field():
    first = sparse.csr_array(np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0]], dtype=np.float32))
    second = sparse.csr_array(np.array([[0, 0, 0, 0], [0, 0, 0, 5], [0, 1, 0, 0]], np.float32))
    bags = take_bags([first, second], np.array([2, 0]))
    assert bags.offsets.tolist() == [0, 1, 3, 4, 4]
    assert bags.words.tolist() == [0, 1, 3]
    assert bags.words[bags.places].tolist() == [0, 1, 3, 1]
    assert bags.counts.tolist() == [3, 2, 1, 1]


def test_dropout_leaves_out_a_share_of_the_words():
    field = sparse.csr_array(np.ones((50, 100), dtype=np.float32))
    bags = take_bags([field], np.arange(50), 0.3, np.random.default_rng(1))
    assert abs(np.diff(bags.offsets).mean() - 70) < 3
    assert len(set(np.diff(bags.offsets).tolist())) > 3


def test_jaccard_similarity_by_pencil():
    vocabulary = pa.array(["a", "b", "c", "d"], pa.large_string())
    one = word_counts(["a b b", "", "d"], vocabulary)
    two = word_counts(["b c", "a b", "x"], vocabulary)
    found = jaccard_similarity(one, two, np.array([0, 0, 1, 2]), np.array([0, 1, 2, 0]))
    assert np.allclose(found, [1 / 3, 1, 0, 0])
