"""The words of an index that was changed: those of new papers among those of the others.

What comes out is, byte for byte, what :mod:`mpbert.recommending.lookup_building` makes of all
papers; but no text of an older paper is read again.
"""

from bisect import bisect_left
from collections.abc import Iterator

import numpy as np

from mpbert.foundation.growing_arrays import Numbers, release
from mpbert.foundation.ragged import offsets_of
from mpbert.methods.lexical import tfidf
from mpbert.recommending.column_making import empty_table
from mpbert.recommending.columns import ColumnTable, TextColumn, joined
from mpbert.recommending.lookup import Lookup
from mpbert.recommending.lookup_building import CountedWords, Held, lookup_of
from mpbert.recommending.tables import CONTEXTS, IndexTables

_AT_ONCE = 1 << 20  # papers of words that are changed at once


def changed_lookup(
    old: Lookup, stems: TextColumn, before: IndexTables, tables: IndexTables
) -> tuple[Lookup, TextColumn] | None:
    """Return the arrays of changed tables, and their stems; None: all words must be counted anew.

    That is so where a sentence that cites came or went, and for an older index.

    :param old: of the tables ``before``, ``stems`` theirs.
    """
    origin = tables.origin
    if old.word_times is None or origin is None or not _same_contexts(before, tables):
        return None
    fresh = np.flatnonzero(origin < 0)
    held, own = _held_by(tables, fresh)
    numbers, numbers_of_own, together = _numbered(stems, own)
    row_of = np.full(len(old.word_lengths), -1, dtype=np.int64)
    row_of[origin[origin >= 0]] = np.flatnonzero(origin >= 0)
    lengths = np.where(origin < 0, 0, old.word_lengths[origin]).astype(np.int64)
    lengths[fresh] = held.lengths
    new = np.repeat(numbers_of_own, np.diff(held.offsets)), fresh[held.papers], held.counts
    counts, papers, times = np.zeros(len(together), np.int64), Numbers(np.int32), Numbers(np.int32)
    for words, of_words, each in _merged(old, row_of, numbers, new):
        papers.extend(of_words)
        times.extend(each)
        counts += np.bincount(words, minlength=len(counts))
    is_held = counts > 0
    changed = Held(offsets_of(counts[is_held]), papers.array(), times.array(), lengths)
    idf = np.full(len(together), tfidf.idf(0, before.contexts.num_rows), dtype=np.float32)
    if not before.contexts.num_rows:
        idf[:] = 1
    idf[numbers] = old.idf
    bag_words = (np.cumsum(is_held) - 1)[numbers[old.bag_words]].astype(np.int32)
    bags = old.bag_offsets, bag_words, old.bag_weights, idf[is_held]
    return lookup_of(tables, changed, bags), together.take(np.flatnonzero(is_held))


def _same_contexts(before: IndexTables, after: IndexTables) -> bool:
    """Return whether the same sentences cite the same papers, whose texts are as they were."""
    (offsets, cited), (offsets_after, cited_after) = before.cited(), after.cited()
    texts, texts_after = before.contexts["text"], after.contexts["text"]
    return (
        np.array_equal(offsets, offsets_after)
        and np.array_equal(cited, after.origins()[cited_after])
        and np.array_equal(texts.offsets, texts_after.offsets)
        and np.array_equal(texts.letters, texts_after.letters)
    )


def _held_by(tables: IndexTables, rows: np.ndarray) -> tuple[Held, list[str]]:
    """Return some papers, numbered from 0, by the words of their own texts, and the stems."""
    if not len(rows):
        nothing = np.zeros(0, dtype=np.int32)
        return Held(np.zeros(1, np.int64), nothing, nothing, nothing), []
    bodies = None if tables.bodies is None else tables.bodies.take(rows)
    papers = ColumnTable({name: tables.papers[name].take(rows) for name in ("title", "abstract")})
    of_rows = IndexTables(papers, empty_table(CONTEXTS), np.zeros((len(rows), 0)), None, bodies)
    words = CountedWords.of(of_rows)
    return words.of_papers(), words.stems


def _numbered(stems: TextColumn, own: list[str]) -> tuple[np.ndarray, np.ndarray, TextColumn]:
    """Return the numbers of stems, and of others, among both, and both; all are in order."""
    place_of = {stem: place for place, stem in enumerate(stems)}
    places = np.array([place_of.get(each, -1) for each in own], dtype=np.int64)
    is_new = places < 0
    fresh = [each for each, new in zip(own, is_new.tolist(), strict=True) if new]
    added = np.array([bisect_left(stems, each) for each in fresh], dtype=np.int64)
    numbers = np.arange(len(stems)) + np.searchsorted(added, np.arange(len(stems)), side="right")
    of_own = np.empty(len(own), dtype=np.int64)
    of_own[~is_new] = numbers[places[~is_new]]
    of_own[is_new] = added + np.arange(len(added))
    order = np.insert(np.arange(len(stems)), added, len(stems) + np.arange(len(added)))
    return numbers, of_own, joined([stems, TextColumn.of(fresh)]).take(order)


def _merged(
    old: Lookup,
    row_of: np.ndarray,
    numbers: np.ndarray,
    new: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> Iterator[list[np.ndarray]]:
    """Yield words, the papers that hold them and how often, in their order, some at a time.

    :param row_of: new row of each old paper; -1: it went.
    :param numbers: of the words of ``old``; ``new`` what new papers hold.
    """
    keys_of_new, offsets = (new[0] << 32) + new[1], old.word_offsets
    low = done = 0
    while low < len(numbers):
        high = int(np.searchsorted(offsets, offsets[low] + _AT_ONCE, side="right")) - 1
        high = max(high, low + 1)
        part = slice(offsets[low], offsets[high])
        words = np.repeat(numbers[low:high], np.diff(offsets[low : high + 1]))
        found = [words, row_of[old.word_papers[part]], old.word_times[part].astype(np.int32)]
        if (found[1] < 0).any():
            found = [each[found[1] >= 0] for each in found]
        is_last = high == len(numbers)
        end = None if is_last else int(np.searchsorted(keys_of_new, (numbers[high - 1] + 1) << 32))
        some = slice(done, end)
        places = np.searchsorted((found[0] << 32) + found[1], keys_of_new[some])
        yield [np.insert(a, places, b[some]) for a, b in zip(found, new, strict=True)]
        for array in (old.word_papers, old.word_times):
            release(array)
        low, done = high, end
