"""Tests of letters that stay in their file when rows come and go."""

import random

import numpy as np
import pytest

from mpbert.foundation.errors import IndexFormatError
from mpbert.recommending import kept_letters
from mpbert.recommending.column_making import table_of
from mpbert.recommending.columns import TEXT
from mpbert.recommending.index_files import read_table, write_table
from mpbert.recommending.splicing import Runs

SCHEMA = {"title": TEXT}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(kept_letters, "LEAST", 100)


def changed(folder, new, texts, old):
    """Write texts as those of a folder that are in order, among others; return what is read."""
    before = read_table(folder, "papers", SCHEMA)
    row_of = {text: row for row, text in enumerate(old)}
    added = [text for text in texts if text not in row_of]
    source = np.array(
        [row_of.get(text, -1 - (text in added and added.index(text))) for text in texts]
    )
    new.mkdir()
    table = Runs.of(source).table(before, table_of([added], SCHEMA))
    write_table(new, "papers", table, SCHEMA)
    return read_table(new, "papers", SCHEMA)["title"]


@pytest.fixture
def titles():
    draw = random.Random(1)
    return ["".join(draw.choices("aé中𝄞 ", k=draw.randrange(20))) + str(row) for row in range(99)]


def test_letters_stay_in_their_file_until_a_tenth_are_others(tmp_path, titles):
    folder, texts, draw = tmp_path / "0", titles, random.Random(2)
    folder.mkdir()
    write_table(folder, "papers", table_of([texts], SCHEMA), SCHEMA)
    kept = folder / "papers.title.letters.npy"
    stays = []
    for turn in range(1, 9):
        old, new = texts, tmp_path / str(turn)
        texts = [text for row, text in enumerate(texts) if row != 3 * turn]
        texts.insert(draw.randrange(len(texts)), f"neu é {turn}")
        found = changed(folder, new, texts, old)
        assert found.tolist() == texts == [found[row] for row in range(len(texts))]
        assert found.take(np.arange(5, 80, 3)).tolist() == texts[5:80:3]
        folder = new
        stays.append((new / "papers.title.letters.npy").samefile(kept))
    assert stays[0] and not stays[-1] and sorted(stays, reverse=True) == stays


def test_what_was_added_and_goes_leaves_the_file_alone(tmp_path, titles):
    first, second, third = (tmp_path / name for name in "abc")
    first.mkdir()
    write_table(first, "papers", table_of([titles], SCHEMA), SCHEMA)
    more = [*titles[:50], "one", *titles[50:], "two"]
    assert changed(first, second, more, titles).tolist() == more
    assert (second / "papers.title.letters.later.npy").exists()
    assert changed(second, third, titles, more).tolist() == titles
    names = {path.name for path in first.iterdir()}
    assert names == {path.name for path in third.iterdir()}
    assert all((first / name).read_bytes() == (third / name).read_bytes() for name in names)


def test_changes_of_one_step_are_one(tmp_path, titles):
    first, third = tmp_path / "a", tmp_path / "c"
    first.mkdir()
    write_table(first, "papers", table_of([titles], SCHEMA), SCHEMA)
    table, texts = read_table(first, "papers", SCHEMA), [*titles]
    others = table_of([["one", "two"]], SCHEMA)
    for begin, end in ((3, 6), (40, 41), (0, 2)):
        source = np.concatenate([np.arange(begin), [-1, -2], np.arange(end, len(texts))])
        table, texts[begin:end] = Runs.of(source).table(table, others), ["one", "two"]
        folder = tmp_path / f"b{begin}"
        folder.mkdir()
        write_table(folder, "papers", table, SCHEMA)
        assert read_table(folder, "papers", SCHEMA)["title"].tolist() == texts
        assert (folder / "papers.title.letters.runs.npy").exists()
    nothing = Runs.of(np.zeros(0, int)).table(table, others)
    table = Runs.of(np.array([-1, -2])).table(nothing, others)
    third.mkdir()
    write_table(third, "papers", table, SCHEMA)
    assert read_table(third, "papers", SCHEMA)["title"].tolist() == ["one", "two"]


def test_letters_are_copied_where_a_disk_knows_no_links(tmp_path, titles, monkeypatch):
    def refused(*_):
        raise OSError

    monkeypatch.setattr(kept_letters.os, "link", refused)
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    write_table(first, "papers", table_of([titles], SCHEMA), SCHEMA)
    assert changed(first, second, ["one", *titles], titles).tolist() == ["one", *titles]
    letters = [folder / "papers.title.letters.npy" for folder in (first, second)]
    assert letters[0].read_bytes() == letters[1].read_bytes()
    assert not letters[0].samefile(letters[1])


@pytest.mark.parametrize(
    "runs",
    [
        np.array([[0, 1], [0, 0], [9, 99]]),
        np.array([[0, 1], [-1, 0], [9, 3]]),
        np.array([[0, 1], [10, 0], [9, 3]]),
        np.zeros((2, 4), np.int64),
        np.zeros(3, np.int64),
    ],
)
def test_runs_that_do_not_fit_are_refused(tmp_path, titles, runs):
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    write_table(first, "papers", table_of([titles], SCHEMA), SCHEMA)
    changed(first, second, ["one", *titles], titles)
    np.save(second / "papers.title.letters.runs.npy", runs)
    with pytest.raises(IndexFormatError, match=r"letters.runs.npy: missing or damaged"):
        read_table(second, "papers", SCHEMA)
