import pytest

from mpbert.foundation.errors import ConfigError
from mpbert.foundation.registry import Registry


@pytest.fixture
def fruits():
    registry = Registry("fruit")
    for name in ("pear", "apple"):
        registry.register(type(name, (), {"name": name}))
    return registry


def test_members_are_found_by_name_and_listed_sorted(fruits):
    assert fruits["pear"].name == "pear"
    assert fruits.names() == ["apple", "pear"]


def test_an_unknown_name_lists_all_and_suggests_the_closest(fruits):
    with pytest.raises(ConfigError) as error:
        fruits["appel"]
    expected = "unknown fruit 'appel'; expected one of apple, pear; did you mean 'apple'?"
    assert str(error.value) == expected
    with pytest.raises(ConfigError, match=r"expected one of apple, pear$"):
        fruits["xyz"]


def test_a_name_cannot_be_taken_twice(fruits):
    with pytest.raises(ValueError, match="two members of fruit are called 'pear'"):
        fruits.register(type("Other", (), {"name": "pear"}))
