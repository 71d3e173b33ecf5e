import numpy as np
import pyarrow as pa

from mpbert.corpus.text import words
from mpbert.methods.hyperdoc2vec.examples import SEGMENT, Citations, pieces_of
from mpbert.methods.hyperdoc2vec.word_stream import read_words

ROWS = np.array([7, 2, 55])


def test_the_stream_is_the_known_words_of_the_papers_in_their_order(store):
    stream = read_words(store, ROWS, min_count=3)
    vocabulary = stream.vocabulary.to_pylist()
    found = [word for row in ROWS for s in store.paper(int(row)).sentences for word in words(s)]
    counts = {word: found.count(word) for word in vocabulary}
    assert set(vocabulary) == {word for word in set(found) if found.count(word) >= 3}
    assert [vocabulary[t] for t in stream.tokens] == [word for word in found if word in counts]
    assert stream.counts.tolist() == list(counts.values())
    assert (np.diff(stream.counts) <= 0).all()


def test_offsets_name_each_sentence_and_each_paper(store):
    stream = read_words(store, ROWS, min_count=3)
    vocabulary = stream.vocabulary.to_pylist()
    sentences = [text for row in ROWS for text in store.paper(int(row)).sentences]
    assert len(stream.sentence_offsets) == len(sentences) + 1
    for i in (0, 5, len(sentences) - 1):
        start, end = stream.sentence_offsets[i : i + 2]
        kept = [word for word in words(sentences[i]) if word in vocabulary]
        assert [vocabulary[t] for t in stream.tokens[start:end]] == kept
    ends = np.cumsum([len(store.paper(int(row)).sentences) for row in ROWS])
    assert stream.paper_offsets.tolist() == [0, *stream.sentence_offsets[ends]]


def test_a_given_vocabulary_keeps_its_numbers_also_of_words_that_do_not_occur(store):
    vocabulary = pa.array(["zzzz", "the", "network", "yyyy"], pa.large_string())
    stream = read_words(store, ROWS, vocabulary=vocabulary)
    found = [word for row in ROWS for s in store.paper(int(row)).sentences for word in words(s)]
    expected = [vocabulary.to_pylist().index(w) for w in found if w in ("the", "network")]
    assert stream.tokens.tolist() == expected
    assert stream.counts.tolist() == [0, found.count("the"), found.count("network"), 0]


def test_a_citation_lies_in_its_sentence_and_in_its_paper(store):
    sources = np.flatnonzero(store.paper_splits == "train")
    stream = read_words(store, sources, min_count=1)
    vocabulary = np.array(stream.vocabulary.to_pylist())
    contexts = store.contexts("train")
    examples = Citations.of_training(store, sources).among(stream.sentence_offsets)
    each = np.repeat(np.arange(len(contexts)), np.diff(contexts.cited_offsets))
    assert len(examples) == len(each) == len(contexts.cited_rows)
    for i in (0, 40, 111, len(examples) - 1):
        place, first, last, citing, cited = examples[i]
        paper = store.paper(int(contexts.citing_rows[each[i]]))
        assert (citing, cited) == (store.row_of[paper.paper_id], contexts.cited_rows[i])
        whole = [word for sentence in paper.sentences for word in words(sentence)]
        assert vocabulary[stream.tokens[first:last]].tolist() == whole
        position = contexts.positions[each[i]]
        before = sum(len(words(sentence)) for sentence in paper.sentences[:position])
        assert place == first + before + len(words(paper.sentences[position])) // 2


def test_pieces_cover_each_document_once():
    offsets = np.array([0, SEGMENT, SEGMENT, 3 * SEGMENT + 1])
    pieces = pieces_of(offsets, np.array([4, 5, 6]))
    assert pieces.tolist() == [
        [0, SEGMENT, 0, SEGMENT, 4],
        [SEGMENT, 2 * SEGMENT, SEGMENT, 3 * SEGMENT + 1, 6],
        [2 * SEGMENT, 3 * SEGMENT, SEGMENT, 3 * SEGMENT + 1, 6],
        [3 * SEGMENT, 3 * SEGMENT + 1, SEGMENT, 3 * SEGMENT + 1, 6],
    ]
