"""Libraries that learnt nothing: what the coefficients that come with mpbert are learnt from.

A corpus stands for two libraries that are ranked by words: one of titles and abstracts, as a file
of references is, and one with bodies and the citing sentences of training.
"""

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.column_making import empty_table, table_of
from mpbert.recommending.directory import data_of
from mpbert.recommending.index_encoder import IndexEncoder
from mpbert.recommending.store_tables import bodies_of, contexts_of, papers_of
from mpbert.recommending.tables import BODIES, CONTEXTS, IndexTables


def libraries_of(store: CorpusStore) -> dict[str, AnsweringIndex]:
    """Return a library of titles and abstracts, and one of all that is known in training."""
    papers = papers_of(store)
    without_bodies = table_of([[""] * papers.num_rows, [()] * papers.num_rows], BODIES)
    parts = {
        "titles and abstracts": (empty_table(CONTEXTS), without_bodies),
        "bodies and citing sentences": (contexts_of(store), bodies_of(store)),
    }
    nothing = np.zeros((papers.num_rows, 0), dtype=np.float32)
    found = {}
    for name, (contexts, bodies) in parts.items():
        tables = IndexTables(papers, contexts, nothing, None, bodies)
        found[name] = AnsweringIndex(data_of(tables, 1, 1, fuses=False), IndexEncoder())
    return found
