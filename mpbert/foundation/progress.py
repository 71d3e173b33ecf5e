"""Progress: a bar on a terminal, a line of a long step in a log file, of each step in JSON."""

import logging
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from datetime import timedelta
from typing import TypeVar

from mpbert.foundation.logs import is_json

T = TypeVar("T")
logger = logging.getLogger(__name__)


LINE_SECONDS = 30.0  # between two lines of one step where there is no terminal
SHORT_SECONDS = 1.0  # a step that takes less has no line of its own


def progress(items: Iterable[T], desc: str, unit: str, total: int | None = None) -> Iterator[T]:
    """Yield the items and show how far it is.

    Used as ``for paper in progress(papers, "embed", "paper")``. Without a terminal a line comes
    after each item that ends half a minute or more after the line before.

    :param unit: singular noun of one item.
    :param total: number of items where ``items`` has no length.
    """
    from tqdm import tqdm

    start, count = time.monotonic(), 0
    told = start
    no_bar = is_json() or None  # None: where standard error is no terminal
    bar = tqdm(
        items, desc, total, unit=f" {unit}s", unit_scale=True, disable=no_bar, file=sys.stderr
    )
    if total is None and isinstance(items, Sized):
        total = len(items)
    for item in bar:
        yield item
        count += 1
        if bar.disable and time.monotonic() - told >= LINE_SECONDS:
            told = time.monotonic()
            _tell(desc, unit, count, total, told - start)
    seconds = time.monotonic() - start
    if seconds < SHORT_SECONDS and not is_json():
        return
    fields = {"step": desc, "count": count, "unit": unit, "seconds": round(seconds, 3)}
    logger.info("%s: %s %ss in %.1f s", desc, f"{count:,}", unit, seconds, extra={"fields": fields})


def _tell(desc: str, unit: str, count: int, total: int | None, seconds: float) -> None:
    left = None if total is None else seconds * (total - count) / count
    fields = {"step": desc, "count": count, "unit": unit, "seconds": round(seconds, 3)}
    of = f"{count:,}" if total is None else f"{count:,} of {total:,}"
    logger.info("%s: %s %ss%s", desc, of, unit, time_left(left), extra={"fields": fields})


def time_left(seconds: float | None) -> str:
    """Return ``, 1:02:03 left`` for a line of the log; nothing where it is not known."""
    if seconds is None:
        return ""
    return f", {timedelta(seconds=round(seconds))} left"
