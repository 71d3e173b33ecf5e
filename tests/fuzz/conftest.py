"""What all fuzz tests need: spoiled inputs, and the rule that each must end in one of two ways."""

import gc
import logging
import random
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from mpbert.foundation.errors import MpbertError

sys.path.append(str(Path(__file__).parent))  # for tests/fuzz/mutations.py

SEED = 20
LONGEST = 1.0  # seconds of the processor for one input
LARGEST = 1 << 20  # KiB of memory that all inputs of one test may add


@pytest.fixture
def number(request: pytest.FixtureRequest) -> int:
    """How many inputs: the parameter, or with --all what --inputs says."""
    return request.param or request.config.getoption("--inputs")


@pytest.fixture
def try_all(
    limited: Callable[..., object],
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> Callable[..., dict[str, int]]:
    """Function of a number of inputs and what to do with each, see :func:`_try_all`."""

    def run(number: int, *arguments: object, **named: object) -> dict[str, int]:
        start = time.process_time()
        logging.disable()  # pytest keeps all records; garbage collection then takes a second
        gc.freeze()  # and so it does among all that earlier tests have left
        try:
            ends = _try_all(limited, number, *arguments, **named)
        finally:
            logging.disable(logging.NOTSET)
        seconds = time.process_time() - start
        if request.node.get_closest_marker("exhaustive"):
            with capsys.disabled():
                print(f" {number:,} inputs in {seconds:.0f} s of the processor: {ends}", end=" ")
        return ends

    return run


def _try_all(
    limited: Callable[..., object],
    number: int,
    act: Callable[[random.Random], None],
    seconds: float = LONGEST,
) -> dict[str, int]:
    """Call a function with seeded random numbers; it must end well or in one line of an error.

    :returns: how many inputs were read, and how many refused.
    """
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # on Linux the peak is that from now on
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ends = {"read": 0, "refused": 0}
    for place in range(number):
        try:
            with limited(seconds):
                act(random.Random(f"{SEED}:{place}"))
            ends["read"] += 1
        except MpbertError as error:
            line = str(error)
            assert line.strip() and len(line.splitlines()) == 1, (place, line)
            ends["refused"] += 1
        except BaseException as error:
            error.add_note(f"input {place} of seed {SEED}")
            raise
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < LARGEST, f"{grown:,} KiB more memory than before"
    return ends
