"""A recommender of what a test holds in memory, instead of an index in a folder."""

from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.recommender import Recommender


class GivenRecommender(Recommender):
    def __init__(self, data, encoder, near=None):
        AnsweringIndex.__init__(self, data, encoder, near)
