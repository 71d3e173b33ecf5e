from collections import Counter

import numpy as np
import pytest

from mpbert.corpus import word_counts
from mpbert.corpus.text import stem, words
from mpbert.corpus.vocabulary import Vocabulary
from mpbert.corpus.word_counts import Texts, count_words, mapped_counts, summed

BLOCKS = [["Models model a query", "", "Ünder the models"], [], ["queries", "a a b"]]
TEXTS = [text for block in BLOCKS for text in block]


def dense(counts, num_words):
    found = np.zeros((len(counts), num_words), int)
    for row, (start, end) in enumerate(zip(counts.offsets, counts.offsets[1:], strict=False)):
        assert (np.diff(counts.words[start:end]) > 0).all()
        found[row, counts.words[start:end]] = counts.counts[start:end]
    return found


@pytest.mark.parametrize("stemmed", [True, False])
def test_counts_are_those_of_the_words_of_each_text(stemmed):
    vocabulary = Vocabulary(stemmed=stemmed)
    found = dense(count_words(BLOCKS, vocabulary), len(vocabulary))
    each = [[stem(w) if stemmed else w for w in words(text)] for text in TEXTS]
    assert vocabulary.words() == list(dict.fromkeys(word for text in each for word in text))
    for row, text in enumerate(each):
        assert {vocabulary.words()[w]: found[row, w] for w in np.flatnonzero(found[row])} == (
            Counter(text)
        )


def test_words_that_are_not_known_are_skipped():
    vocabulary = Vocabulary(["query", "b"], grows=False)
    found = count_words(BLOCKS, vocabulary)
    assert dense(found, 2).tolist() == [[1, 0], [0, 0], [0, 0], [1, 0], [0, 1]]
    assert vocabulary.words() == ["query", "b"]


def test_counts_on_disk_are_those_in_memory():
    found, mapped = (made(BLOCKS, Vocabulary()) for made in (count_words, mapped_counts))
    for name in ("offsets", "words", "counts"):
        assert np.array_equal(getattr(found, name), getattr(mapped, name))
        assert getattr(found, name).dtype == getattr(mapped, name).dtype


def test_no_text_has_no_words():
    found = count_words([], Vocabulary())
    assert len(found) == 0 and not list(summed([Texts.of_each(found, 3)], np.zeros(0, int)))


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_texts_of_papers_are_added_up(rows, monkeypatch):
    monkeypatch.setattr(word_counts, "_ROWS", rows)
    vocabulary = Vocabulary()
    counts = count_words(BLOCKS, vocabulary)
    each = dense(counts, len(vocabulary))
    of_papers = [[4], [], [0, 2, 4], [3], [1]]  # texts of each paper
    offsets = np.cumsum([0, *map(len, of_papers)])
    several = Texts(counts, offsets, np.array(sum(map(tuple, of_papers), ()), int), 5)
    numbers = np.arange(len(vocabulary))[::-1]
    expected = [3 * each[n] + 5 * each[texts].sum(axis=0) for n, texts in enumerate(of_papers)]
    found, first = np.zeros((5, len(vocabulary)), int), 0
    for columns, papers, sums in summed([Texts.of_each(counts, 3), several], numbers):
        assert (np.diff(columns) >= 0).all() and (papers >= first).all()
        found[papers, columns] += sums
        first += rows
    assert np.array_equal(found[:, numbers], expected)
