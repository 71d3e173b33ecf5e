"""The tables of an index from a corpus store."""

from collections.abc import Sequence

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import ranges
from mpbert.recommending.bodies import body_text
from mpbert.recommending.citation_keys import Keyless, citation_keys
from mpbert.recommending.column_making import lists_of_rows, table_of
from mpbert.recommending.columns import ColumnTable
from mpbert.recommending.published import published_texts
from mpbert.recommending.sentence_codes import codes_column
from mpbert.recommending.tables import BODIES, CONTEXTS, PAPERS, digest

_NEIGHBOURS = -1, 1  # of a citing sentence


def papers_of(store: CorpusStore) -> ColumnTable:
    """Return the papers of a corpus store."""
    rows = np.arange(store.num_papers)
    digests, published, keyless = [], [], []
    for p in store.papers():
        digests.append(digest(p.title, p.authors, p.year, p.venue, p.num_abstract, p.sentences))
        published.append(published_texts(p.published))
        keyless.append(Keyless(p.paper_id, p.authors, p.year, p.title, p.published.id_is_key))
    columns = [
        *(store.paper_ids, store.titles, store.authors, store.years, store.venues),
        *(store.abstracts(rows), digests),
        *(citation_keys(keyless), published),
    ]
    return table_of(columns, PAPERS)


def contexts_of(store: CorpusStore, splits: Sequence[str] = ("train",)) -> ColumnTable:
    """Return the sentences of splits of a corpus store that cite its papers."""
    found = ColumnTable.joined([_contexts_of_split(store, split) for split in splits])
    return found.take(np.lexsort([found["position"], found["citing_row"]]))


def _contexts_of_split(store: CorpusStore, split: str) -> ColumnTable:
    contexts = store.contexts(split)
    sentence_rows = store.sentence_offsets[contexts.citing_rows] + contexts.positions
    order = np.lexsort((contexts.positions, contexts.citing_rows))
    lengths = np.diff(contexts.cited_offsets)[order]
    cited = contexts.cited_rows[ranges(contexts.cited_offsets[order], lengths)]
    columns = [
        contexts.citing_rows[order],
        contexts.positions[order],
        store.sentence_texts(sentence_rows[order]),
        store.local_texts(contexts.take(order), _NEIGHBOURS),
        lists_of_rows(lengths, cited),
    ]
    return table_of(columns, CONTEXTS)


def bodies_of(store: CorpusStore) -> ColumnTable:
    """Return the bodies of a corpus store."""
    first, ends = store.sentence_offsets[:-1] + store.num_abstract, store.sentence_offsets[1:]
    texts = [
        body_text(store.sentences.slice(start, end - start).to_pylist())
        for start, end in zip(first.tolist(), ends.tolist(), strict=True)
    ]
    abstracts = store.abstracts(np.arange(store.num_papers))
    papers = list(zip(store.titles, abstracts, texts, strict=True))
    codes = codes_column(progress(papers, "read sentences", "paper"))
    return table_of([texts, codes], BODIES)
