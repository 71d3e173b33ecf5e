"""What a corpus store holds, as tables of pandas; the columns are told by ``mpbert.Corpus``."""

import numpy as np
import pandas as pd

from mpbert.corpus.records import UNKNOWN_YEAR
from mpbert.corpus.splits import SPLITS
from mpbert.corpus.store import CorpusStore


def papers_of(store: CorpusStore) -> pd.DataFrame:
    """Return all papers by ``paper_id``, in the order of rows."""
    return pd.DataFrame(
        {
            "title": store.titles,
            "authors": store.authors,
            "year": years_of(store.years),
            "venue": store.venues,
            "split": store.paper_splits.tolist(),
            "abstract": store.abstracts(np.arange(store.num_papers)),
            "num_sentences": np.diff(store.sentence_offsets),
        },
        index=pd.Index(store.paper_ids, name="paper_id"),
    )


def contexts_of(store: CorpusStore, split: str) -> pd.DataFrame:
    """Return the citation contexts of one split by ``context_id``, in the order of the corpus."""
    contexts, ids = store.contexts(split), store.paper_ids
    rows = store.sentence_offsets[contexts.citing_rows] + contexts.positions
    return pd.DataFrame(
        {
            "citing_id": [ids[row] for row in contexts.citing_rows],
            "position": contexts.positions,
            "sentence": store.sentence_texts(rows),
            "around": store.local_texts(contexts),
            "cited_ids": [[ids[row] for row in contexts.cited(i)] for i in range(len(contexts))],
            "year": years_of(contexts.years),
            "split": split,
            "is_repeat": contexts.is_repeat,
        },
        index=pd.Index(contexts.query_ids, name="context_id"),
    )


def citations_of(store: CorpusStore) -> pd.DataFrame:
    """Return all citations between papers, in the order of rows."""
    citing, cited = store.citations()
    ids = np.array(store.paper_ids, dtype=object)
    splits = store.paper_splits[citing].tolist()
    return pd.DataFrame({"citing_id": ids[citing], "cited_id": ids[cited], "split": splits})


def splits_of(store: CorpusStore) -> pd.DataFrame:
    """Return the numbers of papers, contexts and citations of each split."""
    citing, _ = store.citations()
    counts = {
        "papers": [int((store.paper_splits == split).sum()) for split in SPLITS],
        "contexts": [len(store.contexts(split)) for split in SPLITS],
        "citations": [int((store.paper_splits[citing] == split).sum()) for split in SPLITS],
    }
    return pd.DataFrame(counts, index=pd.Index(SPLITS, name="split"))


def years_of(years: np.ndarray) -> pd.array:
    """Return years as integers of pandas, which can be NA: where a year is unknown."""
    found = pd.array(years, "Int32")
    found[years == UNKNOWN_YEAR] = pd.NA
    return found
