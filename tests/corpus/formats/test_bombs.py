"""Small files that unpack to gigabytes, or would take gigabytes once they are read."""

import gzip
import json
import lzma
import multiprocessing
import tarfile
from pathlib import Path

import pyarrow as pa
import pytest

MOST = 1 << 20  # KiB that reading one may take
MIB = 1 << 20
PACK = {
    ".gz": lambda data: gzip.compress(data),
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
}


def bomb(start: bytes, unit: bytes, mebibytes: int, suffix: str) -> bytes:
    """Return packed data that unpacks to ``start`` and so many MiB of ``unit``, repeated."""
    # each format allows several packed pieces one after another, so one is enough
    piece = PACK[suffix](unit * (MIB // len(unit)))
    return PACK[suffix](start) + piece * mebibytes


def read(sender, reader: str, source: Path) -> None:
    """Read a corpus and send its errors and the memory it took; runs in a process of its own."""
    import io
    import logging
    import resource

    from mpbert.corpus.formats.base import READERS
    from mpbert.foundation.errors import CorpusError

    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before, errors = peak(), io.StringIO()
    # whatever the process it was forked from has set up
    logging.basicConfig(stream=errors, format="%(message)s", level=logging.WARNING, force=True)
    try:
        for _ in READERS[reader]().read(source):
            pass
    except CorpusError as found:
        errors.write(str(found))
    sender.send((errors.getvalue(), peak() - before))


@pytest.fixture
def outcome(fork_of_readers):
    """Function of a reader and a corpus: the error and the KiB of memory that reading it takes."""

    def run(reader: str, source: Path) -> tuple[str, int]:
        receiver, sender = multiprocessing.Pipe(duplex=False)
        process = fork_of_readers.Process(target=read, args=(sender, reader, source))
        process.start()
        assert receiver.poll(120)
        found = receiver.recv()
        process.join()
        return found

    return run


@pytest.fixture(scope="module")
def fork_of_readers():
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(["mpbert.corpus.formats"])
    return server


@pytest.mark.parametrize("suffix", PACK)
def test_a_line_that_never_ends_is_refused(suffix, tmp_path, outcome):
    path = tmp_path / f"papers.jsonl{suffix}"
    path.write_bytes(bomb(b'{"paper_id": "a', b"a", 3000, suffix))
    assert path.stat().st_size < 4 * MIB
    error, taken = outcome("jsonl", tmp_path)
    assert error.startswith(f"{path}:1: found a line of more than 33,554,432 bytes")
    assert taken < MOST


def test_a_value_that_never_ends_is_refused(tmp_path, outcome):
    (tmp_path / "papers.json.gz").write_bytes(bomb(b'{"a": "', b"a", 3000, ".gz"))
    (tmp_path / "contexts.json").write_text("{}")
    error, taken = outcome("contexts", tmp_path)
    assert "papers.json.gz: found a value of more than 33,554,432 characters" in error
    assert taken < MOST


@pytest.mark.parametrize("unit", [b"{},", b'"\xc3\xa9",'])
def test_json_of_many_values_takes_no_gigabyte(unit, tmp_path, outcome):
    number = (32 * MIB - 100) // len(unit)
    end = '"\N{GRINNING FACE}"]}'.encode()  # text with this takes 4 bytes a character
    (tmp_path / "papers.jsonl").write_bytes(b'{"paper_id": [' + unit * number + end)
    error, taken = outcome("citeomatic", tmp_path)
    assert "papers.jsonl:1: broken record" in error
    assert taken < MOST


@pytest.mark.parametrize(
    ("unit", "found"),
    [
        (b"<p/>", "3,145,728 tags and attributes"),
        (b'<p a=""/>', "3,145,728 tags and attributes"),
        (b"<p>" + b"a" * 5000 + b"</p>", "67,108,864 bytes"),
    ],
)
def test_xml_that_never_ends_is_left_out_and_named(unit, found, tmp_path, outcome):
    (tmp_path / "a.xml.gz").write_bytes(bomb(b"<article><front/><body>", unit, 2000, ".gz"))
    error, taken = outcome("jats", tmp_path)
    assert found in error
    assert taken < MOST


@pytest.mark.parametrize(
    ("name", "kind", "found"),
    [
        ("rfc9.json", tarfile.REGTYPE, "rfc9.json: found a file of more than 33,554,432 bytes"),
        ("././@LongLink", tarfile.GNUTYPE_LONGNAME, "found a header of 3,145,728,000 bytes"),
        ("././@PaxHeader", tarfile.XHDTYPE, "found a header of 3,145,728,000 bytes"),
    ],
)
def test_a_part_of_an_archive_that_never_ends_is_refused(name, kind, found, tmp_path, outcome):
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, 3000 * MIB
    (tmp_path / "rfc.tar.xz").write_bytes(lzma.compress(member.tobuf() + bytes(40 * MIB), preset=0))
    error, taken = outcome("rfc", tmp_path / "rfc.tar.xz")
    assert found in error
    assert taken < MOST


def test_json_that_is_deep_in_a_large_value_is_refused(tmp_path, outcome):
    (tmp_path / "papers.jsonl").write_text(json.dumps("") + "[" * 20 * MIB)
    error, taken = outcome("jsonl", tmp_path)
    assert "papers.jsonl:1: found no JSON" in error
    assert taken < MOST
