"""Tests of texts that are put in order, and found in it, where they lie."""

import random
from bisect import bisect_left

import pytest

from mpbert.recommending import ordered_texts
from mpbert.recommending.columns import TextColumn
from mpbert.recommending.ordered_texts import order_of, places_of, repeated, rows_in_order

NUMBER = 400


@pytest.mark.parametrize("letters", ["abcdefgh", "ab\0é中𝄞"])
@pytest.mark.parametrize("longest", [3, 30])
def test_texts_are_ordered_and_found_as_python_does(letters, longest, monkeypatch):
    monkeypatch.setattr(ordered_texts, "_AT_ONCE", 7)
    draw = random.Random(longest)
    drawn = ["".join(draw.choices(letters, k=draw.randrange(longest))) for _ in range(2 * NUMBER)]
    texts, wanted = drawn[:NUMBER], drawn[NUMBER:] + drawn[:NUMBER:3]
    column = TextColumn.of(texts)
    order = order_of(column)
    assert order.tolist() == sorted(range(NUMBER), key=texts.__getitem__)
    ordered = column.take(order)
    assert repeated(ordered).tolist() == [
        row for row in range(NUMBER - 1) if ordered[row] == ordered[row + 1]
    ]
    once = sorted(set(texts))
    places, found = places_of(TextColumn.of(once), TextColumn.of(wanted))
    assert places.tolist() == [bisect_left(once, each) for each in wanted]
    assert found.tolist() == [each in set(once) for each in wanted]
    rows = rows_in_order(TextColumn.of(once), wanted)
    assert rows == {each: once.index(each) for each in wanted if each in set(once)}


def test_no_text_has_an_order_and_is_found_nowhere():
    nothing = TextColumn.of([])
    assert order_of(nothing).tolist() == repeated(nothing).tolist() == []
    assert rows_in_order(nothing, ["a"]) == rows_in_order(TextColumn.of(["a"]), []) == {}
