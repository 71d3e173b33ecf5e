import numpy as np
import pytest
from gensim.models import Doc2Vec, Word2Vec

from mpbert.corpus.text import words
from mpbert.foundation.errors import CorpusError
from mpbert.methods.gensim_training import context_lines, paper_lines, pieces, sentence_lines, train


def test_context_lines_are_the_training_contexts_with_cited_papers_in_the_middle(store):
    contexts = store.contexts("train")
    expected = []
    for i, text in enumerate(store.local_texts(contexts)):
        tokens = words(text)
        middle = len(tokens) // 2
        cited = [f"paper:{row}" for row in contexts.cited(i)]
        expected.append(tokens[:middle] + cited + tokens[middle:])
    assert [line.split() for line in context_lines(store, "paper:")] == expected


def test_sentence_lines_are_the_titles_and_sentences_of_training_papers(store):
    papers = list(store.papers("train"))
    texts = [paper.title for paper in papers] + [s for paper in papers for s in paper.sentences]
    assert [line.split() for line in sentence_lines(store)] == [words(text) for text in texts]


@pytest.mark.parametrize("whole", [False, True])
def test_paper_lines_are_titles_and_abstracts_or_whole_papers(whole, store):
    for row, line in zip((0, 57), paper_lines(store, (0, 57), whole), strict=True):
        paper = store.paper(row)
        texts = [paper.title, *(paper.sentences if whole else paper.abstract)]
        assert line.split() == words(" ".join(texts))


def test_pieces_hold_all_words_and_no_more_than_gensim_reads():
    tokens = list(map(str, range(20_001)))
    found = list(pieces(tokens))
    assert [word for piece in found for word in piece] == tokens
    assert [len(piece) for piece in found] == [10_000, 10_000, 1]
    assert list(pieces([])) == []


def test_doc2vec_has_a_document_for_each_piece_and_the_same_vectors_each_time():
    lines = ["one two " * 7_000, "", "two three"]
    models = [Doc2Vec(min_count=1, vector_size=4, seed=1, workers=1) for _ in range(2)]
    for model in models:
        train(model, lines, epochs=2)
    assert len(models[0].dv) == 3
    assert np.array_equal(models[0].wv.vectors, models[1].wv.vectors)


def test_a_corpus_of_rare_words_is_refused():
    with pytest.raises(CorpusError, match="no word occurs 3 times in the training split"):
        train(Word2Vec(min_count=3), ["one two", "two three"], epochs=1)
