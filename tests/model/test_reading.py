import numpy as np
import pytest

from mpbert.corpus.binary import BinaryCorpus
from mpbert.model.config import ReadingConfig
from mpbert.model.reading import Reading
from mpbert.model.sampling import CITING, CitingSentences

CONFIG = ReadingConfig(6, 3, 4, citing_sentences=2)


def equal(a, b):
    return all(np.array_equal(getattr(a, n), getattr(b, n)) for n in ("sentences", "roles"))


@pytest.fixture(scope="module")
def corpus(rfc_binary):
    return BinaryCorpus(rfc_binary)


@pytest.fixture(scope="module")
def citing(corpus):
    return CitingSentences.of(corpus.contexts("train"), corpus.num_papers)


def test_contexts_of_a_corpus_are_read_as_manuscripts_around_their_citing_sentence(corpus):
    reading, contexts = Reading(CONFIG, 1), corpus.contexts("test")
    chosen = np.array([5, 0, 17])
    rows, places = contexts.citing_rows[chosen], contexts.sentences[chosen]
    first, last = corpus.sentence_offsets[rows], corpus.sentence_offsets[rows + 1] - 1
    expected = reading.manuscripts(first, places, last, places, 2)
    assert equal(reading.contexts_of(corpus, contexts, chosen, 2), expected)
    assert np.isin(places, expected.sentences[expected.roles == CITING]).all()


def test_papers_of_a_corpus_are_read_with_what_cites_them(corpus, citing):
    reading, rows = Reading(CONFIG, 1), np.array([3, 40, 41])
    first = corpus.sentence_offsets[rows]
    sizes = corpus.sentence_offsets[rows + 1] - first
    abstract, others = corpus.num_abstract[rows], citing.candidates(rows)
    expected = reading.papers(first, abstract, sizes, rows, 1, others)
    assert equal(reading.papers_of(corpus, rows, 1, citing), expected)
    keys = reading.papers_of(corpus, rows, 1, citing, items=rows + 1000)
    assert not equal(keys, expected)


def test_the_seed_and_the_visit_make_the_reading_and_nothing_else_does(corpus, citing):
    rows = np.arange(20)

    def read(seed, visit, rows=rows):
        return Reading(CONFIG, seed).papers_of(corpus, rows, visit, citing)

    assert equal(read(1, 0), read(1, 0))
    assert not equal(read(1, 0), read(1, 1)) and not equal(read(1, 0), read(2, 0))
    alone = read(1, 0, rows[7:8]).sentences.tolist()
    assert " ".join(map(str, alone)) in " ".join(map(str, read(1, 0).sentences.tolist()))
