"""A large index out of a small one, in a minute for a million papers: each paper, and copies of it.

A copy has another id, lacks three words in ten, and three tenths of its vector are those of three
random papers.
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

_KEPT, _OTHERS, _PAPERS, _POSTINGS = 0.7, 3, 1 << 14, 1 << 20


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
    made = replace(tables, papers=papers, vectors=_mixed(tables.vectors, times, rng), bodies=bodies)
    shutil.copytree(index, output, ignore=shutil.ignore_patterns("data.*"))
    folder = data_folder(output, 1)
    folder.mkdir()
    counts, checksums = write_data(folder, replace(data, tables=made, lookup=lookup))
    replace_manifest(output, {"generation": 1, **counts}, ["encoder", folder.name], checksums)


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


def _mixed(held: np.ndarray, times: int, rng: np.random.Generator) -> np.ndarray:
    made = np.repeat(held, times, axis=0)
    for start in range(0, len(made), _PAPERS):
        some = made[start : start + _PAPERS]
        others = held[rng.integers(0, len(held), (len(some), _OTHERS))].mean(axis=1)
        is_copy = np.arange(start, start + len(some))[:, None] % times > 0
        some += is_copy * (1 / _KEPT - 1) * others
    return normalized(made)
