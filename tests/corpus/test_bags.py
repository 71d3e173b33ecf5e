import numpy as np
import pyarrow as pa
import pytest

from mpbert.corpus import text
from mpbert.corpus.bags import count_matrix, spaced_words, split_words
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.text import words

TEXTS = [
    "",
    "---",
    "The TCP/IP  suite, v4!",
    "Čapek's naïve_Bayes (2nd)",
    "x",
    "x86 X x é ß ΑΒ 三",
    "ΟΔΟΣ ΣΑΣ İSTANBUL ǅ",  # letters that Python does not lower one by one
]


def test_words_are_those_of_the_one_definition():
    assert [line.split() for line in spaced_words(pa.array(TEXTS)).to_pylist()] == [
        words(text) for text in TEXTS
    ]


def test_words_of_a_real_corpus_are_those_of_the_one_definition(rfc_corpus):
    texts = CorpusStore(rfc_corpus).sentences[:5000]
    lengths, flat = split_words(texts)
    expected = [words(text) for text in texts.to_pylist()]
    assert lengths.tolist() == [len(one) for one in expected]
    assert flat.to_pylist() == [word for one in expected for word in one]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *[("queries", "query"), ("zombies", "zomby"), ("trees", "tree"), ("shoes", "shoe")],
        *[("uses", "use"), ("models", "model"), ("corpus", "corpus"), ("class", "class")],
        *[("is", "is"), ("tcp", "tcp"), ("buses", "buse")],
    ],
)
def test_stems_follow_the_table_of_harman(word, expected):
    assert text.stem(word) == expected


def test_counts_by_pencil():
    counts, vocabulary = count_matrix(pa.array(["a b a", "", "c"]))
    assert vocabulary.to_pylist() == ["a", "b", "c"]
    assert counts.toarray().tolist() == [[2, 1, 0], [0, 0, 0], [0, 0, 1]]


def test_counts_add_words_of_one_stem_and_skip_unknown_ones():
    vocabulary = pa.array(["model", "query"], pa.large_string())
    texts = pa.array(["Models model queries", "unknown"], pa.large_string())
    counts, _ = count_matrix(texts, vocabulary, stemmed=True)
    assert counts.toarray().tolist() == [[2, 1], [0, 0]]


def test_no_text_at_all_has_no_words():
    counts, vocabulary = count_matrix(pa.array([], pa.string()))
    assert counts.shape == (0, 0) and len(vocabulary) == 0
    counts, _ = count_matrix(pa.array([""], pa.string()), pa.array(["a"], pa.string()))
    assert np.array_equal(counts.toarray(), [[0]])
