import numpy as np

from mpbert.corpus.binary import BinaryContexts
from mpbert.experiments.contributions import leave_one_out, measured, searched_by_year, without_role
from mpbert.model.sampling import CITING, SampledSentences

READ = SampledSentences(np.array([3, 5, 9, 20]), np.array([3, 1]), np.array([1, 0, 3, 3]))


def test_leave_one_out_gives_a_reading_without_each_sentence():
    shorter, owner = leave_one_out(READ)
    assert owner.tolist() == [0, 0, 0, 1]
    assert shorter.per_item.tolist() == [2, 2, 2, 0]
    assert shorter.sentences.tolist() == [5, 9, 3, 9, 3, 5]
    assert shorter.roles.tolist() == [0, 3, 1, 3, 1, 0]


def test_without_a_role_no_sentence_of_it_is_left():
    shorter = without_role(READ, CITING)
    assert (shorter.sentences.tolist(), shorter.per_item.tolist()) == ([3, 5], [2, 0])
    assert shorter.roles.tolist() == [1, 0]


def test_each_context_finds_the_candidates_of_its_year_alone():
    papers = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])  # of the years 1, 2 and 3
    years, citing = np.array([1, 2, 3]), np.array([2, 1])
    candidates = [(np.array([1]), years <= 2), (np.array([0]), years <= 3)]
    search = searched_by_year(papers, citing, candidates)
    asked = np.array([[1.0, 0.2], [0.0, 1.0], [0.0, 1.0]])
    rows = search(asked, np.array([0, 1, 0]))
    assert [[row for row in found if row >= 0] for found in rows.tolist()] == [[1, 0], [0], [1, 0]]

    contexts = BinaryContexts(
        citing, np.zeros(2, int), np.array([0, 1, 3]), np.array([1, 0, 2]), np.zeros(2, bool)
    )
    scores = measured(rows[:2], contexts, np.array([0, 1]), len(papers))
    assert np.allclose(scores, [[1, 1], [0.5, 0.5]])  # paper 2 is newer, and is not found
