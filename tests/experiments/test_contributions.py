import numpy as np

from mpbert.experiments.contributions import leave_one_out, without_role
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
