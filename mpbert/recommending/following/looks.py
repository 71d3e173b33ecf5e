"""Files of a library, as a look at each tells them apart from what they were."""

import os
from pathlib import Path

Look = tuple[int, int, int]
_BESIDE = ("-wal", "-journal")  # what SQLite has written, but not yet into the database
_ZOTERO = ("zotero.sqlite", "better-bibtex.sqlite")


def look_at(file: Path) -> Look:
    """Return inode, time and size of a file; zeros where there is none."""
    try:
        found = file.stat()
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_mtime_ns, found.st_size


def look_at_library(path: Path) -> dict[str, Look]:
    """Return the looks at all files of a library: a change of it changes them.

    Of Zotero's folder these are its databases, whatever is changed. Hidden files do not count.
    """
    if not path.is_dir():
        return _looks(path.parent, (path.name, *(path.name + end for end in _BESIDE)))
    if (path / _ZOTERO[0]).is_file():
        return _looks(path, [name + end for name in _ZOTERO for end in ("", *_BESIDE)])
    found: dict[str, Look] = {}
    for folder, below, names in os.walk(path):
        below[:] = [name for name in below if not name.startswith(".")]
        found |= _looks(Path(folder), [name for name in names if not name.startswith(".")])
    return found


def _looks(folder: Path, names) -> dict[str, Look]:
    found = {str(folder / name): look_at(folder / name) for name in names}
    return {name: look for name, look in found.items() if any(look)}
