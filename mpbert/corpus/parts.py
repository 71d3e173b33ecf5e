"""Parts of the training split, each held out once: corpus stores for lists of training queries.

A reranker learns from lists that were ranked for training queries. A retriever that learnt from
these very queries ranks what they cite higher than it will for others: its scores mean something
else in training than later. So the training papers are dealt out to parts. Of each part a store is
made in which its papers are the test split. The retriever learns from the other parts and ranks for
this one, as it later does for manuscripts that it has not seen (stacking: Wolpert, Neural Networks
1992).

Such a store has no contexts and no citations of the papers that were for testing before, and no
qrels: nothing is measured with it. Rows of papers and sentences, and ids, are those of the corpus.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mpbert.corpus.store import STORE_FILES, CorpusStore
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.links import link
from mpbert.foundation.seeding import named_rng

COMMAND = "hold-out"  # of the manifest of such a store


def parts_of_training(store: CorpusStore, num_parts: int) -> np.ndarray:
    """Return (N,) the part of each training paper, from 1; 0 for papers of other splits.

    Parts are drawn at random, the same every time, and differ by one paper at most.
    """
    rows = np.flatnonzero(store.paper_splits == "train")
    order = named_rng(1, "parts of the training split").permutation(len(rows))
    parts = np.zeros(store.num_papers, dtype=np.int64)
    parts[rows[order]] = np.arange(len(rows)) % num_parts + 1
    return parts


def write_part(store: CorpusStore, directory: Path, part: int, num_parts: int) -> dict[str, int]:
    """Write the tables of a store in which one part of the training papers is the test split.

    :param directory: an empty one.
    :param part: from 1 to ``num_parts``.
    :returns: counts of what is held out and of what is left for training.
    :raises CorpusError: either of them has no citation.
    """
    held = parts_of_training(store, num_parts) == part
    splits = np.where(held, "test", store.paper_splits)
    dropped = store.paper_splits == "test"
    papers, contexts, citations = (
        pq.read_table(store.path / f"{name}.parquet")
        for name in ("papers", "contexts", "citations")
    )
    citations = citations.filter(pa.array(~dropped[citations["citing_row"].to_numpy()]))
    contexts = contexts.filter(pa.array(~dropped[contexts["citing_row"].to_numpy()]))
    of_contexts = splits[contexts["citing_row"].to_numpy()]
    citing = splits[np.unique(citations["citing_row"].to_numpy())]
    counts = {
        "papers_held_out": int(held.sum()),
        "contexts_held_out": int((of_contexts == "test").sum()),
        "contexts_left": int((of_contexts == "train").sum()),
        "papers_citing_held_out": int((citing == "test").sum()),
        "papers_citing_left": int((citing == "train").sum()),
    }
    if not (counts["papers_citing_held_out"] and counts["papers_citing_left"]):
        raise CorpusError(
            f"{store.path}: part {part} of {num_parts} leaves {counts['papers_citing_left']} "
            f"training papers that cite, and holds out {counts['papers_citing_held_out']}; "
            f"expected some in both, choose fewer parts or a larger corpus"
        )
    tables = {
        "papers": _with_splits(papers, splits),
        "contexts": _with_splits(contexts, of_contexts),
        "citations": citations,
    }
    for name in STORE_FILES:
        if name in tables:
            pq.write_table(tables[name], directory / f"{name}.parquet", compression="zstd")
        else:
            link(store.path / f"{name}.parquet", directory / f"{name}.parquet")
    return counts


def _with_splits(table: pa.Table, splits: np.ndarray) -> pa.Table:
    place = table.column_names.index("split")
    return table.set_column(place, "split", pa.array(splits.tolist(), pa.string()))
