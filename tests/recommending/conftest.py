"""What tests of recommenders share."""

import dataclasses

import pytest

from mpbert.recommending.directory import read_index
from mpbert.recommending.encoders import encoder_of_index
from tests.recommending.given import GivenRecommender


@pytest.fixture(scope="session")
def unlearnt():
    """Function of an index: its recommender as if nothing had been learnt."""

    def open_index(path):
        data = read_index(path)
        assert data.places is not None
        data = dataclasses.replace(data, places=None, fields=None)
        return GivenRecommender(data, encoder_of_index(path, data))

    return open_index
