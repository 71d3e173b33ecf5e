"""Texts that are in no corpus, beside the same texts in one."""

from pathlib import Path

import numpy as np

from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.numbering import number_offsets, numbered_texts
from mpbert.corpus.store import CorpusStore
from mpbert.recommending.reading import EncoderReader
from mpbert.vectors.store import VectorStore


def cosines_with_stored(encoder: Path, vectors: Path, store: CorpusStore, data: Path) -> np.ndarray:
    """Return cosines of manuscripts that are read as new texts with their stored vectors."""
    reader = EncoderReader(encoder, readings=1, seed=1, dim=24)
    contexts, offsets = BinaryCorpus(data).contexts("test"), number_offsets(store)
    stored, found = VectorStore.load(vectors, "contexts.test").vectors, []
    for query in range(0, len(contexts), 40):
        row = contexts.citing_rows[query]
        texts = numbered_texts(store, np.arange(offsets[row], offsets[row + 1])).to_pylist()
        vector = reader.embed_manuscript(texts, int(contexts.sentences[query] - offsets[row]))
        found.append(vector @ stored[query] / np.linalg.norm(stored[query]))
    return np.array(found)
