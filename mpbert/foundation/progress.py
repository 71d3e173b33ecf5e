"""Progress: a bar on a terminal, one line in a log file, no bar where the log is JSON."""

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

from mpbert.foundation.logs import is_json

T = TypeVar("T")
logger = logging.getLogger(__name__)


def progress(items: Iterable[T], desc: str, unit: str, total: int | None = None) -> Iterator[T]:
    """Yield the items and show how far it is.

    Used as ``for paper in progress(papers, "embed", "paper")``.

    :param unit: singular noun of one item.
    :param total: number of items where ``items`` has no length.
    """
    start, count = time.monotonic(), 0
    no_bar = is_json() or None  # None: where standard error is no terminal
    bar = tqdm(
        items, desc, total, unit=f" {unit}s", unit_scale=True, disable=no_bar, file=sys.stderr
    )
    for item in bar:
        yield item
        count += 1
    seconds = time.monotonic() - start
    fields = {"step": desc, "count": count, "unit": unit, "seconds": round(seconds, 3)}
    logger.info("%s: %s %ss in %.1f s", desc, f"{count:,}", unit, seconds, extra={"fields": fields})
