"""Tests of files of Arrow read with numpy, beside pyarrow, and of the columns that they hold."""

import random
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from mpbert.corpus.published import Publication
from mpbert.foundation.errors import IndexFormatError
from mpbert.recommending.arrow_reading import ArrowFile
from mpbert.recommending.arrow_writing import arrow_texts, write_table
from mpbert.recommending.column_making import empty_table, table_of
from mpbert.recommending.columns import ColumnTable, TextColumn
from mpbert.recommending.index_files import read_table
from mpbert.recommending.kinds import BOOLEAN, INT32, LONG_TEXT, SHA256, TEXT, lists_of, records_of
from mpbert.recommending.tables import BODIES, CONTEXTS, PAPERS

FORMATS = Path(__file__).parents[1] / "fixtures" / "formats"
STEMS = {"stem": LONG_TEXT}
KINDS = {
    "text": TEXT,
    "long": LONG_TEXT,
    "number": INT32,
    "sum": SHA256,
    "texts": lists_of(TEXT),
    "rows": lists_of(INT32),
    "record": records_of({"kind": TEXT, "id_is_key": BOOLEAN}),
}
ROWS = [
    ["", "é", "three words here"],
    ["中文 ﬁ", "", "z"],
    [-5, 0, 2**31 - 1],
    [bytes(32), b"\x01" * 31 + b"\x00", b"\xff" * 32],
    [["a", "ü"], [], ["", "b"]],
    [[3], [], [1, 2]],
    [Publication(kind="book"), Publication(id_is_key=False), Publication(kind="é")],
]


def values_of(table):
    """All values as pyarrow gives them."""
    return [
        {name: plain(value) for name, value in table.row(row).items()}
        for row in range(table.num_rows)
    ]


def plain(value):
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return value


def arrow(path):
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


@pytest.fixture
def table(tmp_path):
    """File with a column of each kind."""
    path = tmp_path / "table.arrow"
    write_table(path, table_of(ROWS, KINDS), KINDS)
    return path


@pytest.mark.parametrize("name", ["index_6", "library_2"])
@pytest.mark.parametrize(
    ("file", "schema"),
    [("papers", PAPERS), ("contexts", CONTEXTS), ("bodies", BODIES), ("vocabulary", STEMS)],
)
def test_what_pyarrow_has_written_is_read_as_pyarrow_reads_it(name, file, schema):
    path = FORMATS / name / "data.1" / f"{file}.arrow"
    assert values_of(read_table(path, schema)) == arrow(path).to_pylist()


def test_columns_of_each_kind_are_written_and_read(table):
    found = read_table(table, KINDS)
    assert values_of(found) == arrow(table).to_pylist()
    assert [found["text"].tolist(), found["long"].tolist()] == ROWS[:2]
    assert found["record"][1] == {"kind": "", "id_is_key": False}
    assert found["text"].lengths.tolist() == [0, 2, 16]
    assert found["sum"].tolist() == ROWS[3]


def test_a_file_is_mapped_and_not_copied(table):
    found = read_table(table, KINDS)
    for array in (found["number"], found["long"].letters, found["rows"].values):
        assert not array.flags.writeable and not array.flags.owndata
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_rows_are_taken_and_tables_joined(table):
    found = read_table(table, KINDS)
    taken = found.take(np.array([2, 0, 2]))
    values = values_of(found)
    assert values_of(taken) == [values[2], values[0], values[2]]
    assert found.take(np.zeros(0, dtype=int)).num_rows == 0
    joined = ColumnTable.joined([taken, empty_table(KINDS), found])
    assert values_of(joined) == [values[2], values[0], values[2], *values]
    assert joined["rows"].values.dtype == np.int32


def test_a_column_has_no_value_outside_of_its_rows(table):
    found = read_table(table, KINDS)
    for name in ("text", "texts", "record", "number"):
        assert plain(found[name][-1]) == plain(found[name][2])
        with pytest.raises(IndexError):
            found[name][3]


def test_long_columns_of_letters_of_several_bytes_are_read_as_a_whole():
    draw = random.Random(1)
    texts = ["".join(draw.choices("aé中𝄞 ", k=draw.randrange(6))) for _ in range(5000)]
    column = TextColumn.of(texts)
    assert column.tolist() == texts == [column[row] for row in range(len(texts))]
    assert arrow_texts(column).to_pylist() == texts


def test_rows_of_several_batches_follow_one_another(tmp_path):
    path = tmp_path / "batches.arrow"
    made = pa.table({"text": ["a", "bé", "c"], "rows": [[1], [], [2, 3]]})
    made = made.cast(pa.schema({"text": pa.string(), "rows": pa.list_(pa.int32())}))
    with pa.ipc.new_file(str(path), made.schema) as writer:
        writer.write_table(made, max_chunksize=2)
    schema = {"text": TEXT, "rows": lists_of(INT32)}
    assert values_of(read_table(path, schema)) == made.to_pylist()


def test_a_table_without_a_row_is_read(tmp_path):
    for number, rows in enumerate((empty_table(KINDS), table_of(ROWS, KINDS).take([]))):
        write_table(tmp_path / str(number), rows, KINDS)
        assert read_table(tmp_path / str(number), KINDS).num_rows == 0
    schema = pa.schema({"text": pa.large_string()})
    with pa.ipc.new_file(str(tmp_path / "none"), schema):
        pass
    assert read_table(tmp_path / "none", {"text": LONG_TEXT})["text"].tolist() == []


def test_what_is_missing_is_an_empty_text_or_no_record(tmp_path):
    path = tmp_path / "missing.arrow"
    record = pa.struct([("kind", pa.string()), ("id_is_key", pa.bool_())])
    texts = pa.array(["a", None, "b"])
    records = pa.array([{"kind": "k", "id_is_key": True}, None, {"kind": "", "id_is_key": False}])
    made = pa.table([texts, records.cast(record)], names=["text", "record"])
    with pa.ipc.new_file(str(path), made.schema) as writer:
        writer.write_table(made)
    schema = {"text": TEXT, "record": KINDS["record"]}
    found = read_table(path, schema)
    assert found["text"].tolist() == ["a", "", "b"]
    assert found["record"].tolist() == records.to_pylist()
    parts = [
        (found["record"].part("kind", row), found["record"].part("doi", row)) for row in (0, 1)
    ]
    assert parts == [("k", None), (None, None)]
    write_table(tmp_path / "again", found, schema)
    assert arrow(tmp_path / "again")["record"].to_pylist() == records.to_pylist()


def written(path, made, **options):
    with pa.ipc.new_file(str(path), made.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write_table(made)
    return path


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array(["a"]).dictionary_encode(), "found the columns text; expected text"),
        (pa.array([1], pa.int64()), "found the columns text; expected text"),
        (pa.array([b"a"]), "found the columns text; expected text"),
        (pa.array([["a"]]), "found the columns text; expected text"),
        (pa.array([{"a": 1}]), "found the columns text; expected text"),
        (pa.array([None]), "found the columns text; expected text"),
        (pa.array(["a"], pa.large_string()), "found the columns text; expected text"),
    ],
)
def test_columns_of_other_kinds_are_refused(tmp_path, column, message):
    path = written(tmp_path / "other.arrow", pa.table([column], names=["text"]))
    with pytest.raises(IndexFormatError, match=message):
        read_table(path, {"text": TEXT})


def test_numbers_without_a_sign_and_other_parts_of_records_are_refused(tmp_path):
    path = written(tmp_path / "a", pa.table([pa.array([1], pa.uint32())], names=["n"]))
    with pytest.raises(IndexFormatError, match="found the columns n; expected n"):
        read_table(path, {"n": INT32})
    path = written(tmp_path / "b", pa.table([pa.array([{"kind": "a"}])], names=["n"]))
    with pytest.raises(IndexFormatError, match="found the columns n; expected n"):
        read_table(path, {"n": KINDS["record"]})


def test_packed_rows_and_missing_numbers_are_refused_in_one_line(tmp_path):
    made = pa.table([pa.array([1, None], pa.int32())], names=["n"])
    with pytest.raises(IndexFormatError, match=r"missing or damaged \(found missing numbers"):
        read_table(written(tmp_path / "a", made), {"n": INT32})
    with pytest.raises(IndexFormatError, match=r"missing or damaged \(found packed rows"):
        read_table(written(tmp_path / "b", made[:1], compression="zstd"), {"n": INT32})


def test_offsets_that_do_not_ascend_are_refused(tmp_path):
    path = written(tmp_path / "a", pa.table({"text": pa.array(["abc", "def", "ghi"])}))
    data, good = path.read_bytes(), struct.pack("<4i", 0, 3, 6, 9)
    assert data.count(good) == 1
    for wrong in ((0, 6, 3, 9), (1, 3, 6, 9), (0, 3, 6, 99), (0, -3, 6, 9), (0, 3, 6, -9)):
        path.write_bytes(data.replace(good, struct.pack("<4i", *wrong)))
        with pytest.raises(IndexFormatError, match=r"missing or damaged \(found"):
            read_table(path, {"text": TEXT})


def test_a_text_that_is_no_utf_8_is_told_when_it_is_read(tmp_path):
    path = written(tmp_path / "a", pa.table({"text": pa.array(["abcd", "efgh"])}))
    path.write_bytes(path.read_bytes().replace(b"efgh", b"ef\xffh"))
    found = read_table(path, {"text": TEXT})["text"]
    assert found[0] == "abcd"
    for read in (found.tolist, lambda: found[1]):
        with pytest.raises(IndexFormatError, match="found a text that is no UTF-8"):
            read()


@pytest.mark.parametrize("seed", range(4))
def test_no_damage_is_another_error_than_that_of_the_format(table, tmp_path, seed):
    """Headers are small beside the rows: most changes hit them here."""
    draw, data, path = random.Random(seed), table.read_bytes(), tmp_path / "damaged"
    refused = 0
    for _ in range(400):
        damaged = bytearray(data)
        for _ in range(draw.choice((1, 1, 2, 8))):
            place = draw.randrange(len(damaged))
            damaged[place] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
        if draw.random() < 0.1:
            del damaged[draw.randrange(len(damaged)) :]
        path.write_bytes(damaged)
        try:
            values_of(read_table(path, KINDS))
        except IndexFormatError as error:
            refused += 1
            assert "\n" not in str(error)
    assert 40 < refused < 400


def test_what_is_no_file_of_arrow_is_refused(tmp_path):
    for content in (b"", b"ARROW1", b"ARROW1\0\0" * 3, bytes(1000), b"ARROW1" * 9):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(ValueError):
            ArrowFile(tmp_path / "a").names()
