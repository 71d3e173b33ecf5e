import numpy as np
import pytest

from mpbert.corpus.binary import BinaryContexts
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.ragged import offsets_of
from mpbert.model.config import ReadingConfig
from mpbert.model.sampling import (
    ABSTRACT,
    BODY,
    CITING,
    NEIGHBOUR,
    CitingSentences,
    sample_manuscripts,
    sample_papers,
)

CONFIG = ReadingConfig(manuscript_sentences=8, abstract_sentences=3, body_sentences=4)
FIXED = ReadingConfig(8, 3, 4, dynamic=False)


def manuscripts(citing, visit=0, first=None, last=None, config=CONFIG, items=None, seed=1):
    """Queries in papers of 40 sentences, 100 to 139, or as given; a list of sentences for each."""
    citing = np.asarray(citing)
    first = np.full(len(citing), 100) if first is None else np.asarray(first)
    last = np.full(len(citing), 139) if last is None else np.asarray(last)
    items = np.arange(len(citing)) if items is None else np.asarray(items)
    sampled = sample_manuscripts(first, citing, last, items, config, seed, visit)
    return [s.tolist() for s in np.split(sampled.sentences, offsets_of(sampled.per_item)[1:-1])]


def papers(num_abstract, num_sentences, visit=0, config=CONFIG, rows=None, seed=1):
    num_abstract, num_sentences = np.asarray(num_abstract), np.asarray(num_sentences)
    first = offsets_of(num_sentences)[:-1]
    rows = np.arange(len(first)) if rows is None else rows
    sampled = sample_papers(first, num_abstract, num_sentences, rows, config, seed, visit)
    parts = np.split(sampled.sentences, offsets_of(sampled.per_item)[1:-1])
    return [(part - start).tolist() for part, start in zip(parts, first, strict=True)]


@pytest.mark.parametrize("citing", range(100, 140))
def test_a_manuscript_is_its_fundamental_block_and_sentences_before_it(citing):
    for visit in range(5):
        (found,) = manuscripts([citing], visit)
        block = [s for s in (citing - 1, citing, citing + 1) if 100 <= s <= 139]
        assert found[-len(block) :] == block
        assert found == sorted(set(found))  # reading order, no sentence twice
        assert max(found) <= citing + 1
        assert min(found) >= 100
        assert len(found) == min(8, block[0] - 100 + len(block))


def test_a_manuscript_of_one_sentence_is_that_sentence():
    assert manuscripts([100], first=[100], last=[100]) == [[100]]


def test_the_fundamental_block_stands_even_where_the_limit_is_smaller():
    assert manuscripts([120], config=ReadingConfig(1, 3, 4)) == [[119, 120, 121]]


def test_the_supplement_is_fresh_per_visit_and_the_same_for_the_same_key():
    assert manuscripts([130], visit=1) == manuscripts([130], visit=1)
    assert len({tuple(manuscripts([130], visit)[0]) for visit in range(20)}) > 15
    assert manuscripts([130], seed=1) != manuscripts([130], seed=2)
    assert manuscripts([130, 130])[0] != manuscripts([130, 130])[1]  # items differ


def test_an_item_is_read_the_same_in_any_batch():
    together = manuscripts([110, 139, 125], items=[7, 8, 9], visit=3)
    assert together[1:2] == manuscripts([139], items=[8], visit=3)
    backwards = manuscripts([125, 139, 110], items=[9, 8, 7], visit=3)
    assert backwards == together[::-1]


def test_every_sentence_before_the_block_is_drawn_equally_often():
    draws = 4000
    found = manuscripts([112] * draws)
    counts = np.bincount(np.concatenate(found) - 100, minlength=14)
    assert counts[11:14].tolist() == [draws] * 3
    expected = draws * 5 / 11  # 5 of the 11 sentences before the block
    variance = draws * (5 / 11) * (6 / 11)
    assert ((counts[:11] - expected) ** 2 / variance).sum() < 31.3  # chi-square, p = 0.001


def test_without_dynamic_sampling_the_nearest_sentences_are_read_at_each_visit():
    expected = [[114, 115, 116, 117, 118, 119, 120, 121]]
    assert [manuscripts([120], visit, config=FIXED) for visit in range(3)] == [expected] * 3


def test_a_paper_is_its_first_abstract_sentences_and_random_body():
    for visit in range(20):
        found = papers([5, 2, 1, 3], [30, 4, 1, 3], visit)
        assert found[0][:3] == [0, 1, 2]
        assert len(found[0]) == 7
        assert min(found[0][3:]) >= 5  # the rest of the abstract is no body
        assert found[0] == sorted(set(found[0]))
        assert found[1:] == [[0, 1, 2, 3], [0], [0, 1, 2]]  # short papers are read whole


def test_the_body_is_fresh_per_visit_and_fixed_without_dynamic_sampling():
    assert len({tuple(papers([2], [60], visit)[0]) for visit in range(20)}) > 15
    for visit in range(3):
        assert papers([2], [60], visit, config=FIXED) == [[0, 1, 2, 3, 4, 5]]


def test_a_paper_is_read_the_same_in_any_batch():
    rows = np.array([4, 9])
    together = papers([2, 2], [50, 50], rows=rows)
    sampled = sample_papers(
        np.array([50]), np.array([2]), np.array([50]), np.array([9]), CONFIG, 1, 0
    )
    assert (sampled.sentences - 50).tolist() == together[1]


def test_an_empty_batch_gives_no_sentence():
    none = np.zeros(0, dtype=np.int64)
    assert len(sample_manuscripts(none, none, none, none, CONFIG, 1, 0).sentences) == 0
    assert len(sample_papers(none, none, none, none, CONFIG, 1, 0).sentences) == 0


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((0, 1, 1), "manuscript_sentences is 0; expected at least 1"),
        ((1, 0, 1), "abstract_sentences is 0; expected at least 1"),
        ((1, 1, -1), "body_sentences is -1; expected at least 0"),
        ((1, 1, 1, -1), "manuscript_abstract is -1; expected at least 0"),
        ((1, 1, 1, 0, -1), "citing_sentences is -1; expected at least 0"),
        ((1025, 1, 1), "1025 sentences of a manuscript and 2 of a paper .* at most 1024"),
        ((1024, 1, 1, 1), "1025 sentences of a manuscript"),
        ((1, 1, 1024), "1025 of a paper"),
        ((1, 1, 1000, 0, 24), "1025 of a paper"),
    ],
)
def test_numbers_that_leave_papers_empty_or_exceed_the_encoder_are_refused(numbers, message):
    with pytest.raises(ConfigError, match=message):
        ReadingConfig(*numbers)


def test_a_manuscript_may_be_read_with_its_title_and_abstract_each_sentence_in_its_role():
    config = ReadingConfig(5, 3, 4, manuscript_abstract=2)
    sampled = sample_manuscripts(*map(np.array, ([100], [120], [139], [0])), config, 1, 0)
    assert sampled.sentences[:2].tolist() == [100, 101]
    assert sampled.sentences[-3:].tolist() == [119, 120, 121]
    assert all(102 <= sentence <= 118 for sentence in sampled.sentences[2:-3])
    expected = [ABSTRACT] * 2 + [BODY] * 2 + [NEIGHBOUR, CITING, NEIGHBOUR]
    assert sampled.roles.tolist() == expected


def test_what_is_cited_in_the_abstract_is_not_read_twice():
    config = ReadingConfig(5, 3, 4, manuscript_abstract=8)
    assert manuscripts([102], config=config) == [[100, 101, 102, 103]]
    assert manuscripts([100], config=config) == [[100, 101]]


@pytest.fixture
def citing():
    """Paper 0 is cited by sentences 7 and 3, of papers 5 and 6; paper 2 by 7, of paper 5."""
    train = BinaryContexts(
        sentences=np.array([7, 3]),
        citing_rows=np.array([5, 6]),
        cited_offsets=np.array([0, 2, 3]),
        cited_rows=np.array([0, 2, 0]),
        is_repeat=np.zeros(2, dtype=bool),
    )
    return CitingSentences.of(train, 3)


def test_citing_sentences_are_those_of_the_training_contexts(citing):
    sentences, counts = citing.candidates(np.array([2, 0, 1]))
    assert (sentences.tolist(), counts.tolist()) == ([7, 7, 3], [1, 2, 0])


def test_no_citing_sentence_comes_from_a_manuscript_of_the_batch(citing):
    sentences, counts = citing.candidates(np.array([0, 2]), unread=np.array([5, 1]))
    assert (sentences.tolist(), counts.tolist()) == ([3], [1, 0])


def test_citing_sentences_are_read_last_and_drawn_afresh():
    config = ReadingConfig(8, 2, 1, citing_sentences=3)
    others = np.arange(500, 540), np.array([0, 40])

    def read(visit):
        first, abstract, sizes = np.array([0, 10]), np.array([2, 2]), np.array([10, 10])
        return sample_papers(first, abstract, sizes, np.array([4, 9]), config, 1, visit, others)

    assert read(0).per_item.tolist() == [3, 6]
    assert read(0).roles.tolist() == [ABSTRACT, ABSTRACT, BODY] * 2 + [CITING] * 3
    assert (read(0).sentences[-3:] >= 500).all()
    assert len({tuple(read(visit).sentences[-3:]) for visit in range(20)}) > 15
    fixed = ReadingConfig(8, 2, 1, dynamic=False, citing_sentences=3)
    draws = [
        sample_papers(*map(np.array, ([0], [2], [10], [9])), fixed, 1, v, (others[0], [40]))
        for v in (0, 1)
    ]
    assert draws[0].sentences.tolist() == draws[1].sentences.tolist()
