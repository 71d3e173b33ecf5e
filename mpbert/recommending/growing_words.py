"""The words of an index, counted block by block: each has stems of its own, which become one list.

So blocks are counted anywhere. The command holds the stems; counts wait in temporary files.
"""

from mpbert.corpus.vocabulary import Vocabulary
from mpbert.corpus.word_counts import GrowingCounts, count_words
from mpbert.foundation.parts import Arrays
from mpbert.recommending.column_making import arrays_of, column_in
from mpbert.recommending.columns import TEXT, ColumnTable, TextColumn
from mpbert.recommending.lookup_building import CountedWords
from mpbert.recommending.tables import IndexTables

_FIELDS = "titles", "abstracts", "citing", "bodies"  # as the fields of CountedWords


def words_of(papers: ColumnTable, contexts: ColumnTable, bodies: ColumnTable) -> Arrays:
    """Return how often the texts of a block hold each of its stems, and these."""
    texts = papers["title"], papers["abstract"], contexts["text"], bodies["body"]
    stems, made = Vocabulary(), {}
    for name, column in zip(_FIELDS, texts, strict=True):
        found = count_words(column.blocks(), stems)
        made[f"{name}.sizes"] = found.offsets[1:] - found.offsets[:-1]
        made |= {f"{name}.words": found.words, f"{name}.counts": found.counts}
    return made | dict(arrays_of("stems", TextColumn.of(stems.words())))


class GrowingWords:
    """The words of blocks, one after another."""

    def __init__(self) -> None:
        self._stems = Vocabulary(stemmed=False)
        self._counts = {name: GrowingCounts() for name in _FIELDS}

    def extend(self, part: Arrays) -> None:
        """Add what :func:`words_of` gives for a block."""
        numbers = self._stems.numbered(column_in(part, "stems", TEXT).tolist())
        for name, counts in self._counts.items():
            words = numbers[part[f"{name}.words"]]
            counts.extend(part[f"{name}.sizes"], words, part[f"{name}.counts"])

    def words(self, tables: IndexTables) -> CountedWords:
        """Return the words of all blocks, of which these are the tables."""
        counts = (each.counts() for each in self._counts.values())
        return CountedWords(tables, *counts, self._stems)
