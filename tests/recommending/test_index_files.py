"""Tests of the columns of an index, and of the files that hold them."""

import random
from pathlib import Path

import numpy as np
import pytest

from mpbert.foundation.errors import IndexFormatError
from mpbert.recommending.column_making import empty_table, table_of
from mpbert.recommending.columns import INT32, ROWS, SHA256, TEXT, TEXTS, ColumnTable, TextColumn
from mpbert.recommending.index_files import map_array, read_table, write_table

KINDS = {"text": TEXT, "long": TEXT, "number": INT32, "sum": SHA256, "texts": TEXTS, "rows": ROWS}
VALUES = [
    ["", "é", "three words here"],
    ["中文 ﬁ", "", "z"],
    [-5, 0, 2**31 - 1],
    [bytes(32), b"\x01" * 31 + b"\x00", b"\xff" * 32],
    [["a", "ü"], [], ["", "b"]],
    [[3], [], [1, 2]],
]


def plain(value):
    return value.item() if isinstance(value, np.generic) else value


def values_of(table):
    """All values, row by row."""
    return [[plain(value) for value in table.row(row).values()] for row in range(table.num_rows)]


@pytest.fixture
def folder(tmp_path):
    """Folder with a column of each kind."""
    write_table(tmp_path, "table", table_of(VALUES, KINDS), KINDS)
    return tmp_path


def test_columns_of_each_kind_are_written_and_read(folder):
    found = read_table(folder, "table", KINDS)
    assert values_of(found) == [list(row) for row in zip(*VALUES, strict=True)]
    for name, values in zip(KINDS, VALUES, strict=True):
        assert found[name].tolist() == values
    assert found["text"].lengths.tolist() == [0, 2, 16]


def test_each_file_is_an_array_that_numpy_reads_by_itself(folder):
    letters = np.load(folder / "table.text.letters.npy", allow_pickle=False)
    offsets = np.load(folder / "table.text.offsets.npy", allow_pickle=False)
    assert letters.tobytes().decode() == "éthree words here" and offsets.tolist() == [0, 0, 2, 18]
    assert np.load(folder / "table.number.npy", allow_pickle=False).tolist() == VALUES[2]
    assert len(list(folder.iterdir())) == 2 + 2 + 1 + 1 + 3 + 2


def test_a_file_is_mapped_and_not_copied(folder):
    found = read_table(folder, "table", KINDS)
    for array in (found["number"], found["long"].letters, found["rows"].values):
        assert not array.flags.writeable and not array.flags.owndata
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_rows_are_taken_and_tables_joined(folder):
    found = read_table(folder, "table", KINDS)
    taken = found.take(np.array([2, 0, 2]))
    values = values_of(found)
    assert values_of(taken) == [values[2], values[0], values[2]]
    assert found.take(np.zeros(0, dtype=int)).num_rows == 0
    joined = ColumnTable.joined([taken, empty_table(KINDS), found])
    assert values_of(joined) == [values[2], values[0], values[2], *values]
    assert joined["rows"].values.dtype == np.int32


def test_a_column_has_no_value_outside_of_its_rows(folder):
    found = read_table(folder, "table", KINDS)
    for name in ("text", "texts", "number"):
        assert plain(found[name][-1]) == plain(found[name][2])
        with pytest.raises(IndexError):
            found[name][3]


def test_long_columns_of_letters_of_several_bytes_are_read_as_a_whole():
    draw = random.Random(1)
    texts = ["".join(draw.choices("aé中𝄞 ", k=draw.randrange(6))) for _ in range(50_000)]
    column = TextColumn.of(texts)
    assert column.tolist() == texts == [column[row] for row in range(len(texts))]
    blocks = list(column.blocks())
    assert len(blocks) == 4 and [text for block in blocks for text in block] == texts


def test_a_text_longer_than_a_block_is_one():
    texts = ["a" * (5 << 20), "b", "c" * (3 << 20), "d" * (3 << 20)]
    assert [list(map(len, block)) for block in TextColumn.of(texts).blocks()] == [
        [5 << 20],
        [1, 3 << 20],
        [3 << 20],
    ]


def test_a_table_without_a_row_is_read(tmp_path):
    for name, rows in (("a", empty_table(KINDS)), ("b", table_of(VALUES, KINDS).take([]))):
        write_table(tmp_path, name, rows, KINDS)
        assert read_table(tmp_path, name, KINDS).num_rows == 0


@pytest.mark.parametrize(
    ("file", "array"),
    [
        ("number", np.array([1, 2, 3])),
        ("number", np.array([1, 2, 3], np.uint32)),
        ("number", np.array([[1, 2, 3]], np.int32)),
        ("sum", np.array([b"a" * 32] * 3)),
        ("text.letters", np.zeros(18, np.int8)),
        ("text.offsets", np.array([0, 0, 2, 18], np.int32)),
        ("text.offsets", np.zeros(0, np.int64)),
        ("text.offsets", np.array([0, 2, 0, 18])),
        ("text.offsets", np.array([0, -2, 0, 18])),
        ("text.offsets", np.array([1, 2, 2, 18])),
        ("text.offsets", np.array([0, 2, 2, 19])),
        ("texts.values.offsets", np.array([0, 1, 3, 3, 5])),
        ("rows.values", np.zeros(4, np.int32)),
    ],
)
def test_arrays_of_other_kinds_and_offsets_that_do_not_fit_are_refused(folder, file, array):
    np.save(folder / f"table.{file}.npy", array)
    with pytest.raises(IndexFormatError, match=r"missing or damaged \(found .* index again$"):
        read_table(folder, "table", KINDS)


def test_columns_of_other_lengths_are_refused(folder):
    np.save(folder / "table.number.npy", np.zeros(4, np.int32))
    with pytest.raises(IndexFormatError, match=r"table of different lengths \(text 3, .*number 4,"):
        read_table(folder, "table", KINDS)


def test_what_is_no_array_is_refused(tmp_path):
    path = tmp_path / "a.npy"
    for content in (b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00" * 3, bytes(1000), b"ARROW1" * 9):
        path.write_bytes(content)
        with pytest.raises(IndexFormatError, match=r"a.npy: missing or damaged"):
            map_array(path, INT32)


def test_a_text_that_is_no_utf_8_is_told_when_it_is_read(tmp_path):
    write_table(tmp_path, "table", table_of([["abcd", "efgh"]], {"text": TEXT}), {"text": TEXT})
    path = tmp_path / "table.text.letters.npy"
    path.write_bytes(path.read_bytes().replace(b"efgh", b"ef\xffh"))
    found = read_table(tmp_path, "table", {"text": TEXT})["text"]
    assert found[0] == "abcd"
    for read in (found.tolist, lambda: found[1]):
        with pytest.raises(IndexFormatError, match="found a text that is no UTF-8"):
            read()


@pytest.mark.parametrize("seed", range(4))
def test_no_damage_is_another_error_than_that_of_the_format(folder, seed):
    """Headers are large beside the rows: many changes hit them here."""
    draw, refused = random.Random(seed), 0
    whole = {path: path.read_bytes() for path in sorted(Path(folder).iterdir())}
    for _ in range(400):
        path = draw.choice(list(whole))
        damaged = bytearray(whole[path])
        for _ in range(draw.choice((1, 1, 2, 8))):
            place = draw.randrange(len(damaged))
            damaged[place] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
        if draw.random() < 0.1:
            del damaged[draw.randrange(len(damaged)) :]
        path.write_bytes(damaged)
        try:
            values_of(read_table(folder, "table", KINDS))
        except IndexFormatError as error:
            refused += 1
            assert "\n" not in str(error)
        path.write_bytes(whole[path])
    assert 40 < refused < 400
