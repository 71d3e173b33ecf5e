"""A large index out of a small one, in a minute for a million papers: each paper, and copies of it.

A copy has another id, lacks three words in ten, and its vector lies as far from that of the paper
as the nearest other paper does, in a random direction.
"""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from mpbert.foundation.manifest import replace_manifest
from mpbert.foundation.ragged import offsets_of
from mpbert.recommending.columns import TextColumn
from mpbert.recommending.directory import data_folder, read_index, write_data
from mpbert.recommending.lookup import Lookup
from mpbert.vectors.normal import normalized

_KEPT, _PAPERS, _POSTINGS = 0.7, 1000, 1 << 20


def enlarge(index: Path, times: int, output: Path) -> None:
    """Write an index that holds each paper so many times."""
    data, rng = read_index(index), np.random.default_rng(1)
    tables, number = data.tables, len(data.tables.vectors)
    rows = np.repeat(np.arange(number), times)
    texts = {name: _repeated(tables.papers[name], times) for name in ("title", "abstract")}
    ids = [f"{name}.{copy:03d}" for name in tables.papers["paper_id"] for copy in range(times)]
    few = tables.papers.with_columns(dict.fromkeys(texts, TextColumn.empty(number)))
    papers = few.take(rows).with_columns(texts | {"paper_id": TextColumn.of(ids)})
    none = np.zeros(len(rows) + 1, dtype=np.int64)
    lookup = replace(
        _with_copies(data.lookup, times, rng),
        **dict.fromkeys(("citing_offsets", "cocited_offsets"), none),
        word_lengths=data.lookup.word_lengths[rows],
    )
    bodies = tables.bodies.take(rows)
    made = replace(tables, papers=papers, vectors=_near(tables.vectors, times, rng), bodies=bodies)
    shutil.copytree(index, output, ignore=shutil.ignore_patterns("data.*"))
    folder = data_folder(output, 1)
    folder.mkdir()
    counts = write_data(folder, replace(data, tables=made, lookup=lookup))
    replace_manifest(output, {"generation": 1, **counts}, ["encoder", folder.name])


def _repeated(texts: TextColumn, times: int) -> TextColumn:
    letters = b"".join(texts.bytes_at(row) * times for row in range(len(texts)))
    lengths = np.repeat(np.diff(texts.offsets), times)
    return TextColumn(offsets_of(lengths), np.frombuffer(letters, np.uint8))


def _with_copies(lookup: Lookup, times: int, rng: np.random.Generator) -> Lookup:
    """Return the words of papers and their copies: row p becomes rows p·times and so on."""
    kept, found = [], {name: [] for name in ("word_papers", "word_weights", "word_times")}
    for start in range(0, len(lookup.word_papers), _POSTINGS):
        some = slice(start, start + _POSTINGS)
        stays = rng.random((len(lookup.word_papers[some]), times), np.float32) < _KEPT
        stays[:, 0] = True
        kept.append(stays.sum(axis=1))
        rows = lookup.word_papers[some, None] * np.int32(times) + np.arange(times, dtype=np.int32)
        found["word_papers"].append(rows[stays])
        for name in ("word_weights", "word_times"):
            found[name].append(np.repeat(getattr(lookup, name)[some], kept[-1]))
    offsets = offsets_of(np.concatenate(kept))[lookup.word_offsets]
    return replace(lookup, word_offsets=offsets, **{n: np.concatenate(f) for n, f in found.items()})


def _near(held: np.ndarray, times: int, rng: np.random.Generator) -> np.ndarray:
    some = rng.choice(len(held), 500, replace=False)
    cosines = held[some] @ held.T
    cosines[np.arange(500), some] = -1
    far = np.sqrt(1 / float(np.median(cosines.max(axis=1))) ** 2 - 1, dtype=np.float32)
    made = np.empty((len(held), times, held.shape[1]), np.float32)
    for start in range(0, len(held), _PAPERS):
        some = held[start : start + _PAPERS, None]
        away = rng.standard_normal((len(some), *made.shape[1:]), np.float32)
        away *= far / np.linalg.norm(away, axis=2, keepdims=True)
        away[:, 0] = 0
        made[start : start + _PAPERS] = some + away
    return normalized(made.reshape(-1, held.shape[1]))
