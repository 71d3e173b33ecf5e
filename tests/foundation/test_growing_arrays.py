import contextlib
import os
from pathlib import Path

import numpy as np
import pytest

from mpbert.foundation.errors import OutputError
from mpbert.foundation.growing_arrays import Numbers, release, room_on_disk

STATUS = Path("/proc/self/status")


def mapped_mib():
    """MiB of files in the memory of this process."""
    (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith("RssFile"))
    return int(line.split()[1]) / 1024


@pytest.mark.skipif(not STATUS.exists(), reason="only Linux tells what files take of memory")
def test_released_pages_take_no_memory_and_are_read_again():
    numbers = Numbers(np.int64)
    for start in range(0, 1 << 23, 1 << 20):
        numbers.extend(np.arange(start, start + (1 << 20)))
    array = numbers.array().reshape(-1, 2)  # 64 MiB
    before = mapped_mib()
    total = int(array.sum())
    held = mapped_mib()
    assert held > before + 32
    release(array)
    assert mapped_mib() < held - 32
    assert int(array.sum()) == total == (1 << 22) * ((1 << 23) - 1)


def test_an_array_that_is_not_mapped_is_left_alone():
    array = np.arange(5)
    release(array)
    assert array.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("buffering", [0, 1 << 20])  # told at once, or when all is there
def test_a_full_disk_names_the_folder_of_temporary_files(buffering, monkeypatch):
    full = open("/dev/full", "wb", buffering=buffering)
    monkeypatch.setattr("tempfile.TemporaryFile", lambda: full)
    numbers = Numbers(np.int64)
    with pytest.raises(OutputError, match=r"cannot be written to \(No space left.*set TMPDIR"):
        numbers.extend(np.arange(9))
        numbers.array()
    with contextlib.suppress(OSError):
        full.close()


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="place cannot be taken before")
def test_an_array_to_fill_has_its_place_or_is_refused(monkeypatch):
    array = room_on_disk((3, 5), np.float16)
    array[:] = 2
    assert array.sum() == 30 and array.base is not None
    with pytest.raises(OutputError, match=r"cannot be written to \(.*set TMPDIR"):
        room_on_disk((1 << 50,), np.float16)
