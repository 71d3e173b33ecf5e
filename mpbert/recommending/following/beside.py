"""What a library is followed beside: its index, which is made first, and a server of that."""

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from mpbert.foundation.checksums import MANIFEST
from mpbert.foundation.errors import MpbertError, Terminated
from mpbert.foundation.logs import VARIABLE, written
from mpbert.foundation.processes import end_with_parent, ended_by_sigterm
from mpbert.recommending.following.following import follow
from mpbert.recommending.following.noted import note
from mpbert.recommending.following.snapshots import snapshot_of
from mpbert.recommending.following.updating import Followed
from mpbert.recommending.library import reader_name

logger = logging.getLogger(__name__)


def make_index(followed: Followed) -> None:
    """Make an index of a library by ``mpbert index``, unless there is one.

    :raises CorpusError: the library cannot be read.
    :raises SystemExit: the index cannot be made; the command has said why.
    """
    if (followed.index / MANIFEST).is_file():
        return
    reader = reader_name(followed.library, followed.reader, Counter())
    before = snapshot_of(followed.library, reader, followed.grobid)  # it may change meanwhile
    words = [sys.executable, "-m", "mpbert", "index", followed.library, followed.index]
    words += ["--reader", followed.reader] if followed.reader else []
    words += ["--grobid", followed.grobid] if followed.grobid else []
    ends = end_with_parent if os.name == "posix" else None
    if code := subprocess.run([str(word) for word in words], preexec_fn=ends).returncode:
        raise SystemExit(code)
    note(followed.index, followed.library, before.digests)


@contextmanager
def followed_beside(followed: Followed) -> Iterator[None]:
    """Follow a library in a process of its own until the block ends."""
    style = os.environ.get(VARIABLE, "text")
    process = multiprocessing.get_context("spawn").Process(target=_follow, args=(followed, style))
    process.start()
    try:
        yield
    finally:
        process.terminate()
        process.join()


def _follow(followed: Followed, style: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends it
    end_with_parent()
    with written(style, "serve"), suppress(Terminated), ended_by_sigterm(""):
        try:
            follow(followed, lambda line: print(line, flush=True))
        except MpbertError as error:
            logger.warning("%s; here it is served alone", error)
