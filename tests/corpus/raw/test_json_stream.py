import json
import tracemalloc

import pytest

from mpbert.corpus.raw import json_stream
from mpbert.corpus.raw.json_stream import iter_members
from mpbert.foundation.errors import CorpusError

MEMBERS = {"a": {"x": [1, 'ä\n\\"']}, "b ä": None, "": 1.5, "d": "ö" * 300, "e": 1234567, "f": []}


@pytest.mark.parametrize("chunk", [1, 2, 7, 64, 1 << 20])
@pytest.mark.parametrize("indent", [None, 1])
def test_members_of_an_object_come_in_order_whatever_the_chunks(
    tmp_path, monkeypatch, chunk, indent
):
    monkeypatch.setattr(json_stream, "_CHUNK", chunk)
    path = tmp_path / "x.json"
    for whole, members in (
        (MEMBERS, MEMBERS.items()),
        (list(MEMBERS.values()), ((str(n), v) for n, v in enumerate(MEMBERS.values()))),
        ({}, []),
        ([], []),
    ):
        text = json.dumps(whole, ensure_ascii=False, indent=indent)
        path.write_text(f"\ufeff {text}\n", encoding="utf-8")
        assert list(iter_members(path)) == list(members)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "found 'the end', expected { or ["),
        (b"12", "found '1', expected { or ["),
        (b'{"a": 1', "after 7 characters found 'the end', expected ,"),
        (b'{"a": 1 "b": 2}', "after 8 characters found '\"', expected ,"),
        (b'{"a" 1}', "found '1', expected :"),
        (b'{"a": [1, }', "after 6 characters found no JSON"),
        (b'["a", "\xff"]', "found broken UTF-8"),
        (b'["a", "\xc3', "found broken UTF-8"),
    ],
)
def test_broken_json_is_an_error_that_says_where(tmp_path, content, found):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(CorpusError) as error:
        list(iter_members(path))
    assert str(error.value).startswith(f"{path}: after ")
    assert found in str(error.value)


def test_a_large_file_needs_the_memory_of_a_part_of_it(tmp_path):
    path = tmp_path / "x.json"
    text = "some words of a context " * 20
    path.write_text(json.dumps({str(n): {"text": f"{n} {text}"} for n in range(20_000)}))
    assert path.stat().st_size > 9_000_000
    tracemalloc.start()
    number = sum(1 for _ in iter_members(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert number == 20_000
    assert peak < 3_000_000
