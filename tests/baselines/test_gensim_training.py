import pytest
from gensim.models import Word2Vec

from mpbert.baselines.gensim_training import context_lines, sentence_lines, train
from mpbert.data.store import CorpusStore
from mpbert.data.text import words
from mpbert.errors import CorpusError


@pytest.fixture(scope="module")
def store(rfc_corpus):
    return CorpusStore(rfc_corpus)


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


def test_a_corpus_of_rare_words_is_refused():
    with pytest.raises(CorpusError, match="no word occurs 3 times in the training split"):
        train(Word2Vec(min_count=3), ["one two", "two three"], epochs=1)
