"""Lines of progress where there is no terminal."""

import logging
import re

import pytest

from mpbert.foundation import progress


@pytest.fixture
def lines(monkeypatch, caplog):
    """Return what was told, each item as if it had taken half a minute."""
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "SHORT_SECONDS", 0.0)
    caplog.set_level(logging.INFO)
    return lambda: [re.sub(r"\d:\d\d:\d\d", "T", found.getMessage()) for found in caplog.records]


def test_a_long_step_tells_how_far_it_is(lines):
    assert list(progress.progress(["a", "b"], "embed", "paper")) == ["a", "b"]
    *middle, last = lines()
    assert middle == ["embed: 1 of 2 papers, T left", "embed: 2 of 2 papers, T left"]
    assert last.startswith("embed: 2 papers in ")


def test_where_the_number_is_not_known_no_time_is_told(lines):
    list(progress.progress(iter("a"), "read", "paper"))
    assert lines()[0] == "read: 1 papers"


@pytest.mark.parametrize("is_json", [False, True])
def test_a_short_step_is_told_in_json_alone(is_json, monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(progress, "is_json", lambda: is_json)
    list(progress.progress(range(1000), "embed", "paper"))
    found = [record.getMessage() for record in caplog.records]
    assert len(found) == is_json and all(map("embed: 1,000 papers in ".__lt__, found))
