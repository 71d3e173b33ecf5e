"""A full disk and a read-only one: one line, nothing finished is harmed, the remedy works."""

import errno
import os
import shutil
import subprocess
from dataclasses import dataclass

import pytest

from mpbert.foundation.errors import OutputError
from mpbert.foundation.manifest import output_directory


@dataclass(frozen=True)
class Nothing:
    """A configuration without settings."""


TRAINING = {"pretraining", "fine-tuning"}
QUICK = {"build-corpus", "add", "export-data", "remove"}


def last_line(said, stage_name=""):
    if stage_name not in TRAINING:  # fairseq logs its own of a checkpoint that failed
        assert "Traceback" not in said, said
    return said.splitlines()[-1]


def test_a_stage_on_a_full_disk_is_one_line_and_goes_on_with_more_space(
    stage_name, stage, workshop, small_disk, request
):
    if stage_name not in QUICK and not request.config.getoption("--all"):
        pytest.skip("with --all")
    undisturbed = workshop.place(stage, "undisturbed")
    assert workshop.run(stage, undisturbed)[0] == 0
    used = sum(p.stat().st_size for p in undisturbed.rglob("*") if p.is_file())
    disk = small_disk("size=16m")
    place = disk / "work"
    place.mkdir()
    stage.prepare(place)
    before = stage.contents(place) if (place / "out").exists() else None
    ballast = disk / "ballast"
    free = shutil.disk_usage(disk).free
    ballast.write_bytes(b"\0" * (free - min(used // 3, 1 << 20) // 4096 * 4096))
    code, _, said = workshop.run(stage, place)
    assert code == 2, said
    assert "free space" in last_line(said, stage_name)
    if before is not None:
        assert stage.contents(place) == before
    ballast.unlink()  # the remedy
    code, _, said = workshop.run(stage, place)
    assert code == 0, said
    assert stage.contents(place) == stage.contents(undisturbed)


@pytest.mark.parametrize("name", ["build-corpus", "export-vectors"])
def test_a_file_that_may_not_grow_is_one_line(name, stages, workshop):
    place = workshop.place(stages[name], "limited")
    code, _, said = workshop.run(stages[name], place, most_bytes=1000)
    assert code == 2, said
    assert "cannot be written" in last_line(said)
    assert list(place.iterdir()) == []


def test_a_read_only_place_is_one_line(stage_name, stage, workshop, small_disk, request):
    if stage_name not in QUICK and not request.config.getoption("--all"):
        pytest.skip("with --all")
    disk = small_disk("size=16m")
    place = disk / "work"
    place.mkdir()
    stage.prepare(place)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    code, _, said = workshop.run(stage, place)
    assert code == 2, said
    assert "Read-only file system" in last_line(said, stage_name)


def test_a_report_that_is_replaced_stays_until_the_new_one_is_whole(tmp_path):
    output = tmp_path / "report"
    for number in (1, 2):
        with output_directory(output, "report", Nothing(), [], replace=True) as out:
            (out.path / "report.txt").write_text(str(number))
    assert (output / "report.txt").read_text() == "2"
    with (
        pytest.raises(OutputError, match="No space left"),
        output_directory(output, "report", Nothing(), [], replace=True) as out,
    ):
        (out.path / "report.txt").write_text("3")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert (output / "report.txt").read_text() == "2"
    assert [path.name for path in tmp_path.iterdir()] == ["report"]
