"""The tables of an index from a corpus store, made in blocks: memory holds a part of the texts."""

from collections.abc import Iterator, Sequence

import numpy as np

from mpbert.corpus.records import Paper
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.progress import progress
from mpbert.recommending.arrivals import digest_of
from mpbert.recommending.bodies import body_text
from mpbert.recommending.citation_keys import citation_keys
from mpbert.recommending.column_making import lists_of_rows, table_of
from mpbert.recommending.columns import ColumnTable, TextColumn
from mpbert.recommending.growing_tables import GrowingTable
from mpbert.recommending.paper_rows import abstract_of, keyless, papers_table
from mpbert.recommending.sentence_codes import codes_column
from mpbert.recommending.tables import BODIES, CONTEXTS, PAPERS

_BLOCK = 1 << 12  # papers that are in memory, or contexts
_NEIGHBOURS = -1, 1  # of a citing sentence


def papers_of(store: CorpusStore) -> ColumnTable:
    """Return the papers of a corpus store."""
    found, without_key = GrowingTable(PAPERS), []
    for papers in _blocks(store, "papers"):
        without_key += map(keyless, papers)
        found.extend(papers_table(papers, list(map(digest_of, papers)), [""] * len(papers)))
    return found.table().with_columns({"key": TextColumn.of(citation_keys(without_key))})


def contexts_of(store: CorpusStore, splits: Sequence[str] = ("train",)) -> ColumnTable:
    """Return the sentences of splits of a corpus store that cite its papers."""
    found = GrowingTable(CONTEXTS)
    for split in splits:
        _add_split(found, store, split)
    table = found.table()
    if len(splits) == 1:
        return table
    return table.take(np.lexsort([table["position"], table["citing_row"]]))


def _add_split(found: GrowingTable, store: CorpusStore, split: str) -> None:
    contexts = store.contexts(split)
    order = np.lexsort((contexts.positions, contexts.citing_rows))
    for first in range(0, len(order), _BLOCK):
        block = contexts.take(order[first : first + _BLOCK])
        sentence_rows = store.sentence_offsets[block.citing_rows] + block.positions
        columns = [
            *(block.citing_rows, block.positions),
            *(store.sentence_texts(sentence_rows), store.local_texts(block, _NEIGHBOURS)),
            lists_of_rows(np.diff(block.cited_offsets), block.cited_rows),
        ]
        found.extend(table_of(columns, CONTEXTS))


def bodies_of(store: CorpusStore) -> ColumnTable:
    """Return the bodies of a corpus store."""
    found = GrowingTable(BODIES)
    for papers in _blocks(store, "bodies"):
        texts = [body_text(paper.sentences[paper.num_abstract :]) for paper in papers]
        each = zip(papers, texts, strict=True)
        codes = codes_column((paper.title, abstract_of(paper), text) for paper, text in each)
        found.extend(table_of([texts, codes], BODIES))
    return found.table()


def _blocks(store: CorpusStore, name: str) -> Iterator[list[Paper]]:
    for first in progress(range(0, store.num_papers, _BLOCK), name, "block"):
        rows = range(first, min(first + _BLOCK, store.num_papers))
        yield list(map(store.paper, rows))
