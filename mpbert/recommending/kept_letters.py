"""Letters of a large column that stay in the file where they lie when papers come and go.

A change links that file into the new generation: ``papers.abstract.letters.npy`` is as it was.
Beside it lie the letters that came later, ``papers.abstract.letters.later.npy``, and the runs of
both, one after another: ``papers.abstract.letters.runs.npy``. So nothing is written into a file
of an older generation. Where more than a tenth of the letters came or went, all are written anew.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mpbert.foundation.checksums import LARGE
from mpbert.foundation.growing_arrays import Lazy
from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.recommending.splicing import Runs, Spliced

LEAST = LARGE  # bytes of a file that stays
_SHARE = 10  # one letter in so many may be another


def keep_letters(folder: Path, name: str, array: np.ndarray | Lazy) -> dict[str, np.ndarray | Lazy]:
    """Link the file of letters into a folder, if they are put together of it and of few others.

    :param name: of the file, without its ending.
    :returns: what is written beside it, by names; where it does not stay, all of the array.
    """
    if not isinstance(array, Spliced):
        return {name: array}
    base, runs = _laid_out(array)
    is_new, lengths = runs.is_new, runs.end - runs.first
    others = len(base) - int(lengths[~is_new].sum()) + int(lengths[is_new].sum())
    file = _file_of(base)
    if file is None or len(base) <= LEAST or others * _SHARE > len(base):
        return {name: array}
    _link(file, folder / f"{name}.npy")
    if not others:
        return {}
    begins, ends = (bounds[is_new] for bounds in runs.bounds)
    later = Runs(np.zeros(len(begins), bool), begins, ends).array(array, array[:0])
    return {f"{name}.later": later, f"{name}.runs": np.stack(_numbered(runs))}


def kept_letters(base: np.ndarray, later: np.ndarray, runs: np.ndarray) -> Spliced | None:
    """Return letters as :func:`keep_letters` keeps them; None: these do not fit one another.

    :param runs: (3, R) int64.
    """
    if len(runs) != 3:
        return None
    is_new, first, end = runs
    most = np.where(is_new != 0, len(later), len(base))
    if (first < 0).any() or (end < first).any() or (end > most).any():
        return None
    return Runs(is_new != 0, first, end).array(base, later)


def checksums_of_kept(old: Path, new: Path, files: Mapping[str, str]) -> dict[Path, str]:
    """Return the checksums of the files of a generation that are those of the one before.

    :param files: checksums of the one before, as a manifest has them.
    """
    pairs = ((old / file.name, file) for file in new.iterdir())
    kept = (pair for pair in pairs if pair[0].exists() and pair[0].samefile(pair[1]))
    return {file: files[f"{old.name}/{file.name}"] for _, file in kept}


def _laid_out(array: Spliced) -> tuple[np.ndarray | Lazy, Runs]:
    """Return the first of all arrays that one is put together of, and runs of it and the others."""
    base, runs = array.sources[0], array.runs
    if isinstance(base, Spliced):
        base, inner = _laid_out(base)
        runs = _through(runs, inner)
    return base, runs


def _through(runs: Runs, inner: Runs) -> Runs:
    """Return runs of an array that is put together of runs itself, as runs of what that is of."""
    begins, ends = inner.bounds
    if not len(ends):  # all that was there went
        return Runs(np.ones(len(runs.first), bool), runs.first, runs.end)
    low = np.where(runs.is_new, 0, np.searchsorted(ends, runs.first, side="right"))
    high = np.where(runs.is_new, 1, np.searchsorted(begins, runs.end))
    counts = np.maximum(high - low, 0)
    run, piece = np.repeat(np.arange(len(counts)), counts), ranges(low, counts)
    is_new, first, end = (each[run] for each in (runs.is_new, runs.first, runs.end))
    shift = np.where(is_new, 0, inner.first[piece] - begins[piece])
    first = np.where(is_new, first, np.maximum(first, begins[piece]))
    end = np.where(is_new, end, np.minimum(end, ends[piece]))
    return Runs(is_new | inner.is_new[piece], first + shift, end + shift)


def _numbered(runs: Runs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what is written of runs; new ones stand one after another, neighbours are one."""
    lengths = runs.end - runs.first
    is_some = lengths > 0
    is_new, lengths = runs.is_new[is_some], lengths[is_some]
    first = np.where(is_new, offsets_of(lengths * is_new)[:-1], runs.first[is_some])
    begins = np.ones(len(first), dtype=bool)
    begins[1:] = (is_new[1:] != is_new[:-1]) | (first[1:] != (first + lengths)[:-1])
    place = np.flatnonzero(begins)
    last = np.append(place, len(first))[1:] - 1
    return is_new[place].astype(np.int64), first[place], (first + lengths)[last]


def _file_of(array: np.ndarray | Lazy) -> Path | None:
    """Return the file whose whole array this is."""
    mapped = array.base if isinstance(array, np.ndarray) else None
    is_whole = isinstance(mapped, np.memmap) and mapped.shape == array.shape
    return Path(mapped.filename) if is_whole and mapped.filename else None


def _link(file: Path, place: Path) -> None:
    """Give a file a second name; where the disk knows none, copy it."""
    try:
        os.link(file, place)
    except OSError:
        shutil.copyfile(file, place)
