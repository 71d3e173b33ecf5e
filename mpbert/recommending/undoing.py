"""Insertions of citations can be taken back: what each changed is kept beside the manuscript.

The file ``.paper.tex.cited`` holds one line of JSON an insertion, the last one last: of each file
that it changed, the bytes that went and came, and some around them.
"""

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from mpbert.foundation.errors import ManuscriptError, OutputError
from mpbert.recommending.insertion import FileChange

_AROUND = 60  # bytes before and behind by which a change is found in a file that was edited since
_MOST = 100  # insertions that are kept


@dataclass(frozen=True)
class _Kept:
    """What an insertion changed in a file; bytes as base64.

    :param path: of the file, from the folder of the manuscript.
    :param is_new: whether there was no such file before.
    :param sha256: of the file before and after.
    """

    path: str
    is_new: bool
    start: int
    removed: str
    inserted: str
    left: str
    right: str
    sha256: tuple[str, str]


def keep(manuscript: Path, changes: Sequence[FileChange]) -> None:
    """Note down changes, before they are written.

    :raises OutputError: the disk refuses it.
    """
    path = _path(manuscript)
    try:
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        kept = [asdict(_kept(change, manuscript.parent)) for change in changes]
        lines = [*lines, json.dumps(kept)][-_MOST:]
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror})") from error


def last_insertion(manuscript: Path) -> list[FileChange]:
    """Return the changes that take the last insertion back.

    A file that was edited since loses what was inserted, where it still stands as it was.

    :raises ManuscriptError: there is none, or a file holds it no longer.
    """
    path = _path(manuscript)
    try:
        last = path.read_text("utf-8").splitlines()[-1]
        kept = [_Kept(**{**one, "sha256": tuple(one["sha256"])}) for one in json.loads(last)]
    except (OSError, IndexError) as error:
        raise ManuscriptError(
            f"{manuscript}: found no insertion to take back; expected one that cite has written"
        ) from error
    except (ValueError, TypeError, KeyError) as error:
        raise ManuscriptError(f"{path}: is damaged; remove it") from error
    return [change for one in kept if (change := _taken_back(one, manuscript.parent))]


def forget_last(manuscript: Path) -> None:
    """Remove the note of the last insertion."""
    path = _path(manuscript)
    lines = path.read_text("utf-8").splitlines()[:-1]
    if lines:
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    else:
        path.unlink()


def _path(manuscript: Path) -> Path:
    return manuscript.with_name(f".{manuscript.name}.cited")


def _kept(change: FileChange, folder: Path) -> _Kept:
    before, after = change.before or b"", change.after
    most = min(len(before), len(after))
    start = next((n for n in range(most) if before[n] != after[n]), most)
    same = next((n for n in range(most - start) if before[-1 - n] != after[-1 - n]), most - start)
    end = len(after) - same
    parts = before[start : len(before) - same], after[start:end]
    around = after[max(start - _AROUND, 0) : start], after[end : end + _AROUND]
    removed, inserted, left, right = (base64.b64encode(p).decode() for p in (*parts, *around))
    sums = _sha256(before), _sha256(after)
    path = os.path.relpath(os.path.abspath(change.path), os.path.abspath(folder))
    return _Kept(path, change.before is None, start, removed, inserted, left, right, sums)


def _taken_back(kept: _Kept, folder: Path) -> FileChange | None:
    """Return the change of one file; None: the insertion never reached it."""
    path = folder / kept.path
    try:
        data = path.read_bytes()
    except OSError as error:
        if kept.is_new:
            return None
        raise ManuscriptError(f"{path}: {error.strerror}; expected a file with it") from error
    removed, inserted, left, right = map(
        base64.b64decode, (kept.removed, kept.inserted, kept.left, kept.right)
    )
    if _sha256(data) == kept.sha256[0] and not kept.is_new:
        return None
    start = kept.start
    if _sha256(data) != kept.sha256[1]:
        found = left + inserted + right
        if not inserted or data.count(found) != 1:
            raise ManuscriptError(
                f"{path}: was edited where the last insertion stands; nothing was taken back, "
                f"edit it by hand"
            )
        start = data.index(found) + len(left)
    after = data[:start] + removed + data[start + len(inserted) :]
    return FileChange(path, data, after if after or not kept.is_new else None)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
