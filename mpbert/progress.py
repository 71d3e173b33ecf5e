"""Progress: a bar on a terminal, one line in a log file."""

import logging
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")
logger = logging.getLogger(__name__)


def progress(items: Iterable[T], desc: str, unit: str, total: int | None = None) -> Iterator[T]:
    """Yield the items and show how far it is.

    Used as ``for paper in progress(papers, "embed", "paper")``.

    :param unit: singular noun of one item.
    :param total: number of items where ``items`` has no length.
    """
    start, count = time.monotonic(), 0
    bar = tqdm(items, desc, total, unit=f" {unit}s", unit_scale=True, disable=None, file=sys.stderr)
    for item in bar:
        yield item
        count += 1
    logger.info("%s: %s %ss in %.1f s", desc, f"{count:,}", unit, time.monotonic() - start)
