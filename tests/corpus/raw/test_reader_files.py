import errno
import gzip
import lzma
import os
from pathlib import Path

import pyarrow as pa
import pytest

from mpbert.corpus.raw.files import open_file, read_lines, walk, without_packing
from mpbert.foundation.errors import CorpusError

LINES = [f"line {n} of the file: ähm\n".encode() for n in range(5000)]


def zstd(data: bytes) -> bytes:
    buffer = pa.BufferOutputStream()
    with pa.CompressedOutputStream(buffer, "zstd") as file:
        file.write(data)
    return buffer.getvalue().to_pybytes()


PACK = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstd}


@pytest.mark.parametrize("suffix", PACK)
def test_files_are_unpacked_by_their_suffix(tmp_path, suffix):
    path = tmp_path / f"papers.jsonl{suffix}"
    path.write_bytes(PACK[suffix](b"".join(LINES)))
    assert list(read_lines(path)) == list(enumerate(LINES, start=1))
    with open_file(path) as file:
        assert file.read() == b"".join(LINES)
    assert without_packing(path).name == "papers.jsonl"


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_parts_packed_one_by_one_and_joined_are_one_file(tmp_path, suffix):
    path = tmp_path / f"papers{suffix}"
    path.write_bytes(PACK[suffix](LINES[0]) + PACK[suffix](LINES[1]))
    assert [line for _, line in read_lines(path)] == LINES[:2]


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
@pytest.mark.parametrize("spoil", [lambda data: data[:-20], lambda data: b"not packed" * 9])
def test_a_broken_file_is_an_error_that_names_it(tmp_path, suffix, spoil):
    path = tmp_path / f"papers{suffix}"
    path.write_bytes(spoil(PACK[suffix](b"".join(LINES))))
    with pytest.raises(CorpusError, match=rf"papers\{suffix}:\d+: unreadable .*copy the file"):
        list(read_lines(path))
    with pytest.raises(CorpusError, match=rf"papers\{suffix}: unreadable"), open_file(path) as file:
        file.read()


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(CorpusError, match=r"none\.zst:1: unreadable"):
        list(read_lines(tmp_path / "none.zst"))
    with pytest.raises(CorpusError, match="none: no such file"):
        walk(tmp_path / "none", (".xml",))


def touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def test_walking_a_folder_gives_its_files_sorted_and_no_hidden_ones(tmp_path):
    touch(tmp_path, "b/2.json", "b/10.json.gz", "a.json.zst", "a/1.json", "a/1.txt", "._a.json")
    touch(tmp_path, ".cache/3.json", "a/1.json.bz2")
    found = [path.relative_to(tmp_path).as_posix() for path in walk(tmp_path, (".json", ".xml"))]
    assert found == ["a/1.json", "a.json.zst", "b/10.json.gz", "b/2.json"]
    assert walk(tmp_path / "a" / "1.txt", (".json",)) == [tmp_path / "a" / "1.txt"]
    with pytest.raises(CorpusError, match=r"found no file \*\.csv or \*\.tsv in this folder"):
        walk(tmp_path, (".csv", ".tsv"))


def test_a_folder_that_may_not_be_read_is_refused_not_left_out(tmp_path, monkeypatch):
    touch(tmp_path, "a/1.json", "b/2.json")
    scandir = os.scandir

    def refuse(path):
        if Path(path).name == "b":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)  # root may read all
    with pytest.raises(CorpusError, match=r"/b: unreadable \(Permission denied\); expected a fold"):
        walk(tmp_path, (".json",))
