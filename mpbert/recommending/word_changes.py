"""The words of an index that was changed: those of new papers among those of the others.

What comes out is, byte for byte, what :mod:`mpbert.recommending.lookup_building` makes of all
papers; but no text of an older paper is read again.
"""

import numpy as np

from mpbert.foundation.ragged import offsets_of
from mpbert.methods.lexical import tfidf
from mpbert.recommending.columns import ColumnTable, TextColumn, joined
from mpbert.recommending.lookup import Lookup
from mpbert.recommending.lookup_building import MOST_TIMES, CountedWords, Held, lookup_of
from mpbert.recommending.ordered_texts import places_of
from mpbert.recommending.postings_changes import PostingsChange
from mpbert.recommending.splicing import moved_contexts
from mpbert.recommending.tables import IndexTables

_MOST = 1 << 24  # postings that come or go, since memory holds them


def changed_lookup(
    old: Lookup, stems: TextColumn, before: IndexTables, tables: IndexTables
) -> tuple[Lookup, TextColumn] | None:
    """Return the arrays of changed tables, and their stems; None: all words must be counted anew.

    That is so where too much came or went, and for an older index. The words of a paper are counted
    anew where other sentences cite it, those of the sentences where one came or went.

    :param old: of the tables ``before``, ``stems`` theirs.
    """
    if old.word_times is None or tables.origin is None:
        return None
    origin = np.where(_cited_otherwise(before, tables), -1, tables.origin)
    fresh = np.flatnonzero(origin < 0)
    held, own = _held_by(tables, fresh)
    numbers, numbers_of_own, together = _numbered(stems, own)
    words = np.repeat(numbers_of_own, np.diff(held.offsets))
    change = PostingsChange(old, numbers, origin, words, fresh[held.papers], held.counts)
    if max(len(words), len(change.gone)) > _MOST or (held.counts > MOST_TIMES).any():
        return None
    lengths = np.where(origin < 0, 0, old.word_lengths[origin]).astype(np.int64)
    lengths[fresh] = held.lengths
    counts = change.counts(len(together))
    is_held = counts > 0
    changed = Held(offsets_of(counts[is_held]), *change.result(), lengths)
    stems = together.take(np.flatnonzero(is_held))
    if _same_texts(before.contexts["text"], tables.contexts["text"]):
        idf = np.full(len(together), tfidf.idf(0, before.contexts.num_rows), dtype=np.float32)
        if not before.contexts.num_rows:
            idf[:] = 1
        idf[numbers] = old.idf
        bag_words = (np.cumsum(is_held) - 1)[numbers[old.bag_words]].astype(np.int32)
        bags = old.bag_offsets, bag_words, old.bag_weights, idf[is_held]
    else:
        bags = CountedWords.of_contexts(tables, stems).bags()
    return lookup_of(tables, changed, bags), stems


def _cited_otherwise(before: IndexTables, after: IndexTables) -> np.ndarray:
    """Return (N,) whether other sentences cite a paper than before, by sums of their hashes."""
    origin, sums = after.origins(), []
    for tables in (before, after):
        offsets, cited = tables.cited()
        texts = np.fromiter(map(hash, tables.contexts["text"]), np.int64, len(offsets) - 1)
        sums.append(np.zeros(tables.papers.num_rows, dtype=np.int64))
        np.add.at(sums[-1], cited, np.repeat(texts, np.diff(offsets)))
    return sums[0][origin] != sums[1]


def _same_texts(before: TextColumn, after: TextColumn) -> bool:
    return np.array_equal(before.offsets, after.offsets) and np.array_equal(
        before.letters, after.letters
    )


def _held_by(tables: IndexTables, rows: np.ndarray) -> tuple[Held, list[str]]:
    """Return some papers, numbered from 0, by all their words, and the stems."""
    if not len(rows):
        nothing = np.zeros(0, dtype=np.int32)
        return Held(np.zeros(1, np.int64), nothing, nothing, nothing), []
    is_read = np.zeros(tables.papers.num_rows, dtype=bool)
    is_read[rows] = True
    contexts = moved_contexts(tables, np.cumsum(is_read) - 1, is_read)
    papers = ColumnTable({name: tables.papers[name].take(rows) for name in ("title", "abstract")})
    bodies = tables.bodies
    if bodies is not None:
        bodies = ColumnTable({"body": bodies["body"].take(rows)})
    of_rows = IndexTables(papers, contexts, np.zeros((len(rows), 0)), None, bodies)
    words = CountedWords.of(of_rows)
    return words.of_papers(), words.stems


def _numbered(stems: TextColumn, own: list[str]) -> tuple[np.ndarray, np.ndarray, TextColumn]:
    """Return the numbers of stems, and of others, among both, and both; all are in order."""
    fresh = TextColumn.of(own)
    places, is_there = places_of(stems, fresh)
    fresh, added = fresh.take(np.flatnonzero(~is_there)), places[~is_there]
    numbers = np.arange(len(stems)) + np.searchsorted(added, np.arange(len(stems)), side="right")
    of_own = np.empty(len(own), dtype=np.int64)
    of_own[is_there] = numbers[places[is_there]]
    of_own[~is_there] = added + np.arange(len(added))
    order = np.insert(np.arange(len(stems)), added, len(stems) + np.arange(len(added)))
    return numbers, of_own, joined([stems, fresh]).take(order)
