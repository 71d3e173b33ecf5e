"""Zip archives: what checkpoints and finished blocks are."""

import zipfile
import zlib
from pathlib import Path


def archive_is_whole(path: Path) -> bool:
    """Return whether a file is a zip archive, as checkpoints are, whose checksums all agree."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (OSError, ValueError, zipfile.BadZipFile, zlib.error):
        return False
