import errno
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from mpbert.foundation.checksums import sealed
from mpbert.foundation.claims import parts_directory
from mpbert.foundation.errors import CorpusError, DamagedError, MpbertError, OutputError
from mpbert.foundation.identity import told_values
from mpbert.foundation.manifest import (
    check_inputs,
    claimed,
    fingerprint,
    is_finished,
    output_directory,
    read_manifest,
)
from mpbert.foundation.seeding import named_rng


@dataclass(frozen=True)
class Config:
    input: Path
    output: Path
    seed: int = 1


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "in").write_text("data")
    return tmp_path / "in", tmp_path / "made" / "out"


def writing(paths, seed=1):
    """Return the context in which an output is written."""
    source, output = paths
    return output_directory(output, "test", Config(source, output, seed), [source])


def make(paths, seed=1):
    output = paths[1]
    with writing(paths, seed) as out:
        (out.path / "data.txt").write_text("result")
        out.counts["items"] = 3
    return output


def finished(paths, command="test", seed=1):
    source, output = paths
    return is_finished(output, command, Config(source, output, seed), [source])


@pytest.mark.parametrize(
    ("there", "asked", "told"),
    [
        ({"seed": 1, "dim": 2}, {"seed": 2, "dim": 2}, "seed: 1 there, 2 asked"),
        ({"seed": 1}, {"new": [3]}, "new: none there, 3 asked, seed: 1 there, none asked"),
        ({"set": ["a=1", "b=2"]}, {"set": ["a=1", "b=3"]}, "set: b=2 there, b=3 asked"),
        ({"model": {"dim": 4}}, {"model": {"dim": 8}}, "model.dim: 4 there, 8 asked"),
        ({"a.bib": "0" * 64}, {"a.bib": "1" * 64}, "a.bib: other bytes"),
        ("index", "build-index", "index there, build-index asked"),
    ],
)  # fmt: skip
def test_what_differs_is_told_with_both_values(there, asked, told):
    assert told_values(there, asked) == told


def test_a_directory_is_absent_until_it_is_complete(paths):
    output = paths[1]
    with writing(paths) as out:
        (out.path / "data.txt").write_text("result")
        assert not output.exists()
    names = sorted(path.name for path in output.iterdir())
    assert names == ["config.yaml", "data.txt", "log.txt", "manifest.json"]
    assert [path.name for path in output.parent.iterdir()] == ["out"]


def test_the_manifest_holds_counts_and_checksums_and_no_time(paths, tmp_path):
    first = make(paths)
    second = make((paths[0], tmp_path / "elsewhere" / "out"))
    assert (first / "manifest.json").read_bytes() == (second / "manifest.json").read_bytes()
    manifest = read_manifest(first)
    assert manifest["counts"] == {"items": 3}
    assert set(manifest["files"]) == {"data.txt"}
    assert manifest["config"] == {"input": "in", "seed": 1}


def test_the_same_work_is_finished_and_other_work_refused(paths):
    assert not finished(paths)
    make(paths)
    assert finished(paths)
    with pytest.raises(OutputError, match="made with another config"):
        finished(paths, seed=2)
    manifest = json.loads((paths[1] / "manifest.json").read_text())
    del manifest["config"]["seed"], manifest["checksum"]  # made before there was a seed
    (paths[1] / "manifest.json").write_bytes(sealed(manifest))
    assert finished(paths)
    with pytest.raises(OutputError, match=r"made with another config \(seed: 1 there, 2 asked"):
        finished(paths, seed=2)
    with pytest.raises(OutputError, match="made with another command"):
        finished(paths, command="other")
    paths[0].write_text("changed")
    with pytest.raises(OutputError, match="made with another inputs"):
        finished(paths)


@pytest.mark.parametrize("text", [None, "", "[]", "{"])
def test_a_directory_that_is_no_finished_output_is_never_overwritten(paths, text):
    paths[1].mkdir(parents=True)
    if text is not None:
        (paths[1] / "manifest.json").write_text(text)
    with pytest.raises(OutputError, match=r"exists, but is no finished output of mpbert test"):
        finished(paths)


def test_two_inputs_of_one_name_are_both_noted(tmp_path):
    inputs = [tmp_path / "a" / "rfc", tmp_path / "b" / "rfc"]
    for path in inputs:
        path.parent.mkdir()
        path.write_text(str(path.parent.name))
    output = tmp_path / "out"
    config = Config(inputs[0], output)
    with output_directory(output, "test", config, inputs):
        pass
    assert is_finished(output, "test", config, inputs)
    inputs[0].write_text("changed")
    with pytest.raises(OutputError, match="made with another inputs"):
        is_finished(output, "test", config, inputs)


@pytest.mark.parametrize(
    "error", [CorpusError("bad"), KeyboardInterrupt(), ValueError("bad"), SystemExit(1)], ids=repr
)
def test_after_any_error_nothing_is_left_and_the_error_stays(paths, error):
    with pytest.raises(type(error)) as raised, writing(paths) as out:
        (out.path / "data.txt").write_text("result")
        raise error
    assert raised.value is error
    assert list(paths[1].parent.iterdir()) == []


def full_disk():
    return OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (full_disk(), "No space left on device"),
        (OSError("1000 requested and 10 written"), "1000 requested and 10 written"),  # numpy
        (Exception("Error: No space left on device (os error 28)"), "No space left"),  # Rust
    ],
    ids=["system", "numpy", "rust"],
)
def test_a_full_disk_in_the_middle_is_one_line_and_leaves_nothing(paths, error, reason):
    wanted = rf"out: cannot be written \(.*{reason}"
    with pytest.raises(OutputError, match=wanted), writing(paths) as out:
        np.save(out.path / "a.npy", np.zeros(3))
        raise error
    assert list(paths[1].parent.iterdir()) == []


def test_a_copy_that_finds_a_full_disk_is_one_line(paths):
    wanted = (
        r"out: cannot be written \(No space left on device: more than the 0.0 MB so far is needed, "
        r"[\d,.]+ MB are free\); free space, or choose another output$"
    )
    with pytest.raises(OutputError, match=wanted), writing(paths) as out:
        copy = str(out.path / "copy")
        raise OSError(errno.ENOSPC, "No space left on device", str(paths[0]), None, copy)


def test_a_file_that_the_work_cannot_read_is_not_called_the_outputs_fault(paths):
    with pytest.raises(FileNotFoundError), writing(paths):
        open("/nowhere/input")


@pytest.mark.parametrize("below", ["out", "deep/down/out"])
def test_a_place_that_refuses_directories_is_one_line(tmp_path, below):
    (tmp_path / "file").write_text("")
    wanted = r"cannot be written \(Not a directory\)"
    with pytest.raises(OutputError, match=wanted), writing((tmp_path, tmp_path / "file" / below)):
        pass


def test_a_read_only_place_is_one_line(tmp_path, monkeypatch):
    def refuse(self, *arguments, **named):
        raise PermissionError(errno.EACCES, "Permission denied", str(tmp_path / "above"))

    monkeypatch.setattr(Path, "mkdir", refuse)
    wanted = r"cannot be written \(Permission denied\)"
    inputs = tmp_path / "none", tmp_path / "above" / "out"
    with pytest.raises(OutputError, match=wanted), writing(inputs):
        pass


def test_what_a_killed_run_left_is_replaced(paths):
    partial = paths[1].with_name(".out.mpbert-partial")
    partial.mkdir(parents=True)
    (partial / "old.txt").write_text("old")
    assert not (make(paths) / "old.txt").exists()


def test_a_manifest_that_is_none_is_refused(tmp_path):
    with pytest.raises(MpbertError, match=r"found no readable manifest.json"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps([1]))
    with pytest.raises(MpbertError, match="expected a JSON object"):
        read_manifest(tmp_path)


def test_an_output_is_written_by_one_process_at_a_time(tmp_path):
    output = tmp_path / "deep" / "out"
    config = Config(tmp_path, output)
    with output_directory(output, "test", config, []) as first:
        (first.path / "data").write_text("1")
        with (
            pytest.raises(OutputError, match="out: another process is writing it; wait until"),
            output_directory(output, "test", config, []),
        ):
            raise AssertionError("it was let in")
    assert (output / "data").read_text() == "1"
    assert [path.name for path in output.parent.iterdir()] == ["out"]


def test_a_folder_without_a_manifest_is_known_by_all_files_in_it(tmp_path):
    folder = tmp_path / "shards"
    (folder / "more").mkdir(parents=True)
    (folder / "a.jsonl").write_text("1\n")
    (folder / "more" / "b.jsonl").write_text("2\n")
    found = [fingerprint(folder)]
    (folder / "more" / "b.jsonl").write_text("3\n")
    found.append(fingerprint(folder))
    (folder / "more" / "b.jsonl").rename(folder / "b.jsonl")
    found.append(fingerprint(folder))
    assert len(set(found)) == 3
    (folder / "b.jsonl").rename(folder / "more" / "b.jsonl")
    assert fingerprint(folder) == found[1]
    assert fingerprint(tmp_path / "none") == ""


def test_an_input_that_may_not_be_read_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("a")

    def refuse(path, *arguments):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(MpbertError, match=r"/a: unreadable \(Permission denied\)"):
        fingerprint(tmp_path)


def test_a_folder_with_a_name_that_is_not_utf8_has_a_fingerprint(tmp_path):
    (tmp_path / os.fsdecode(b"caf\xe9")).write_text("a")
    assert len(fingerprint(tmp_path)) == 64


def test_what_a_run_left_that_was_killed_after_its_end_goes_with_the_next_start(paths):
    output = make(paths)
    output.with_name(".out.mpbert-partial").mkdir()
    output.with_name(".out.mpbert-lock").write_text("")
    assert finished(paths)
    assert [path.name for path in output.parent.iterdir()] == ["out"]


def test_what_belongs_to_a_process_at_work_stays(paths):
    output = make(paths)
    partial = output.with_name(".out.mpbert-partial")
    partial.mkdir()
    with claimed(output):
        assert finished(paths)
        assert partial.exists()


def test_a_manifest_of_another_program_is_not_read(tmp_path):
    (tmp_path / "manifest.json").write_text('{"name": "my experiment", "files": "all"}')
    (tmp_path / "test.run").write_text("q Q0 a 1 1 x\n")
    check_inputs([tmp_path, tmp_path / "test.run"])


def test_one_file_of_an_output_is_checked_alone(paths):
    output = make(paths)
    (output / "more.txt").write_text("of others")
    check_inputs([output, output / "data.txt", output / "more.txt", paths[0]])
    (output / "data.txt").write_text("resulT")
    check_inputs([output / "more.txt"])
    check_inputs([output], most_bytes=3)  # larger files are mapped: they are only looked for
    for wrong in (output, output / "data.txt"):
        with pytest.raises(DamagedError, match=r"data.txt: found other bytes than were written"):
            check_inputs([wrong])
    (output / "data.txt").unlink()
    with pytest.raises(DamagedError, match=r"data.txt: found no such file; expected what .*out/m"):
        check_inputs([output], most_bytes=3)


@pytest.mark.parametrize("files", [None, [], "x"])
def test_a_manifest_without_files_is_damaged(paths, files):
    output = make(paths)
    manifest = read_manifest(output) | {"files": files}
    (output / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DamagedError, match=r"manifest.json: found no list of files"):
        check_inputs([output])


def test_any_bit_of_a_manifest_that_is_flipped_is_refused_or_changes_nothing(paths):
    output = make(paths)
    expected = read_manifest(output)
    path = output / "manifest.json"
    before = path.read_bytes()
    refused = 0
    bits = named_rng(1, "flip").integers(8 * len(before), size=400)
    for bit in bits:
        data = bytearray(before)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        try:
            found = read_manifest(output)
        except MpbertError:
            refused += 1
        else:  # the name of the checksum
            assert expected.items() <= found.items()
    assert refused > 0.9 * len(bits)


def test_a_manifest_without_a_checksum_is_read_and_one_with_another_refused(paths):
    output = make(paths)
    expected, before = read_manifest(output), fingerprint(output)
    path = output / "manifest.json"
    path.write_text(json.dumps(expected, indent=1) + "\n")
    assert read_manifest(output) == expected
    assert fingerprint(output) == before
    for changed in ({**expected, "checksum": "0"}, {**expected, "checksum": "0" * 64}):
        path.write_text(json.dumps(changed, indent=1) + "\n")
        with pytest.raises(DamagedError, match=r"manifest.json: found other bytes than were wr"):
            read_manifest(output)


def test_what_lies_beside_an_output_stays(paths):
    output = paths[1]
    output.parent.mkdir(parents=True, exist_ok=True)
    others = [output.with_name(f"out.{what}") for what in ("lock", "partial", "replaced")]
    for path in others:
        path.mkdir()
        (path / "mine").write_text("mine")
    make(paths)
    assert finished(paths)
    assert all((path / "mine").read_text() == "mine" for path in others)


def test_what_a_link_leads_to_is_replaced(tmp_path):
    there, link = tmp_path / "there", tmp_path / "link"
    there.mkdir()
    link.symlink_to(there)
    for number in range(2):
        with output_directory(link, "test", Config(tmp_path, link), [], replace=True) as out:
            (out.path / "data.txt").write_text(str(number))
        assert link.is_symlink()
        assert (there / "data.txt").read_text() == str(number)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "there"]


def test_parts_of_an_output_by_a_link_go_with_its_end_and_are_told_on_a_full_disk(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "there")
    (tmp_path / "disk").mkdir()
    paths = tmp_path / "none", tmp_path / "link"
    parts = parts_directory(paths[1], "papers")
    (parts / "part").write_bytes(b"1" * 300_000)
    wanted = rf"more than the 0.3 MB so far .* choose another output and remove {parts}$"
    with pytest.raises(OutputError, match=wanted), writing(paths):
        raise full_disk()
    make(paths)
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["there"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "link"]
