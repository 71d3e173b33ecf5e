"""HyperDoc2Vec, HD2V in MP-BERT4CR: Han et al. (ACL 2018). A document is a paper.

Four matrices: words IN and OUT, documents IN (as the text that cites) and OUT (as what is cited).
Two phases, both by :mod:`mpbert.methods.hyperdoc2vec.negative_sampling`:

1. every word of a training paper from the mean of its neighbours (words IN) and its document IN;
2. every citation, whose target's OUT vector follows from the mean of the words IN around it and of
   the citing document IN. The store knows the sentence of a citation, not the place in it: the
   middle of the sentence is taken.

The noise of phase 2 are all training documents alike, as in the published code, which counts each
tag of a source once, or documents by how often they are cited, to the power 3/4
(``noise=citations``). A cited document is among the noise in both: one that only ever is a target
would be near every query.

A query is the mean of the words IN of its context, a citation vector is the document OUT, as in
MP-BERT4CR (Sec. 5.3); ``query=centred`` takes off what all queries have in common. A document is
its sentences; titles are not read.
``scoring=both`` adds the other half of the published code's score, the mean of words OUT by the
document IN. The published code compares by dot product, MP-BERT4CR by cosine: see ``retrieve
--similarity``. Documents that are no source and never cited have zero OUT vectors.

The result is the same bit for bit for any number of threads. ``updates=at_once`` lets the threads
of phase 1 change vectors under each other's hands: faster, and two runs with two threads differ.
"""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.arrays import load_array
from mpbert.foundation.config import setting
from mpbert.foundation.errors import CorpusError, VectorsError
from mpbert.methods.embedding import EMBEDDERS, Embedder
from mpbert.methods.hyperdoc2vec.examples import Citations
from mpbert.methods.hyperdoc2vec.word_stream import read_words
from mpbert.methods.word_means import QUERIES, query_means
from mpbert.vectors.store import VectorStore

_MATRICES = ("words.in", "words.out", "documents.in", "documents.out")
_SETTINGS = "hyperdoc2vec.json"
_COUNTS = "words.counts.npy"


@EMBEDDERS.register
@dataclass
class HyperDoc2Vec(Embedder):
    """Vectors of words and documents from text and from the words around citations.

    After fitting: ``words`` (V,) and their training ``counts``, ``word_in`` and ``word_out``
    (V, D); ``paper_ids`` (N,) of the store, ``document_in`` and ``document_out`` (N, D).
    """

    name: ClassVar[str] = "hyperdoc2vec"
    resumes: ClassVar[bool] = True
    quick: ClassVar[tuple[str, ...]] = ("dim=16", "epochs=1", "citation_epochs=2")
    dim: int = 100
    window: int = 5
    negatives: int = 5
    epochs: int = 5
    min_count: int = 5
    sample: float = 1e-4
    citation_window: int = 20
    citation_negatives: int = 20
    citation_epochs: int = 50
    learning_rate: float = 0.025
    noise: str = setting("sources", choices=("sources", "citations"))
    query: str = setting("mean", choices=QUERIES)
    scoring: str = setting("out", choices=("out", "both"))
    updates: str = setting("in_order", choices=("in_order", "at_once"))

    def fit(self, store: CorpusStore, rng: np.random.Generator) -> dict[str, int]:
        """Train both phases on the training papers and their citation contexts."""
        from mpbert.methods.hyperdoc2vec.trainer import (
            CitationPhase,
            WordPhase,
            train_phases,
        )  # numba

        checkpoint = self.checkpoint_of(store, rng.bit_generator.state)
        sources = np.flatnonzero(store.paper_splits == "train")
        stream = read_words(store, sources, self.min_count)
        if not len(stream.tokens):
            raise CorpusError(
                f"no word occurs {self.min_count} times in the training split; choose other years "
                f"or --settings min_count=1"
            )
        citations = Citations.of_training(store, sources)
        if not len(citations.cited):
            raise CorpusError(
                f"{store.path}: no paper of the training split cites another; HyperDoc2Vec learns "
                f"from citations, choose other years"
            )
        self.words, self.counts = stream.vocabulary, stream.counts
        self.paper_ids = store.paper_ids
        self.word_in = self._random(len(self.words), rng)
        self.word_out = np.zeros_like(self.word_in)
        self.document_in = self._random(store.num_papers, rng)
        self.document_out = np.zeros_like(self.document_in)
        free = np.ones(store.num_papers, dtype=bool)
        phases = [
            WordPhase(self, stream, sources, True),
            CitationPhase(self, stream, citations, sources, free, True),
        ]
        train_phases(self, phases, rng, checkpoint)
        others = np.flatnonzero(store.paper_splits != "train")
        self.document_in[others] = 0
        if self.scoring == "both":
            self._infer_documents(store, others, rng)
        return {
            "words": len(self.words),
            "tokens": len(stream.tokens),
            "citations": len(citations.cited),
            "papers_never_cited_in_training": store.num_papers - len(np.unique(citations.cited)),
        }

    def embed_papers(self, store: CorpusStore) -> VectorStore:
        """Return the documents OUT, and with ``scoring=both`` the documents IN beside them."""
        vectors = self.document_out
        if self.scoring == "both":
            vectors = np.concatenate([self.document_out, self.document_in], axis=1)
        return VectorStore(store.paper_ids, vectors)

    def embed_queries(self, store: CorpusStore, queries: Queries) -> VectorStore:
        """Return the mean words IN of the texts, with ``scoring=both`` the OUT beside."""
        vectors = self.word_in
        if self.scoring == "both":
            vectors = np.concatenate([self.word_in, self.word_out], axis=1)
        return query_means(store, queries, self.words, vectors, self.query)

    def save(self, store: CorpusStore, directory: Path) -> None:
        """Write the four matrices, and the settings."""
        words = self.words.to_pylist()
        ids = (words, words, store.paper_ids, store.paper_ids)
        matrices = (self.word_in, self.word_out, self.document_in, self.document_out)
        for name, names, matrix in zip(_MATRICES, ids, matrices, strict=True):
            VectorStore(names, matrix).save(directory, name)
        np.save(directory / _COUNTS, self.counts)
        settings = json.dumps(dataclasses.asdict(self), indent=1)
        (directory / _SETTINGS).write_text(settings + "\n", encoding="utf-8")

    @classmethod
    def load(cls, directory: Path) -> "HyperDoc2Vec":
        """Return what :meth:`save` wrote.

        :raises VectorsError: a file is missing or malformed.
        """
        path = directory / _SETTINGS
        try:
            fitted = cls(**json.loads(path.read_text(encoding="utf-8")))
            fitted.counts = np.array(load_array(directory / _COUNTS))
        except (OSError, ValueError, TypeError, RecursionError) as error:
            reason = " ".join(str(error).split())
            raise VectorsError(
                f"{path}: unreadable ({reason}); expected a vectors directory of hyperdoc2vec, "
                f"made by mpbert fit or add-papers"
            ) from error
        stores = {name: VectorStore.load(directory, name) for name in _MATRICES}
        fitted.words = pa.array(stores["words.in"].ids, pa.large_string())
        fitted.paper_ids = stores["documents.in"].ids
        fitted.word_in, fitted.word_out, fitted.document_in, fitted.document_out = (
            np.array(stores[name].vectors)
            for name in _MATRICES  # mapped ones are read-only
        )
        return fitted

    def add_papers(self, store: CorpusStore, rng: np.random.Generator) -> dict[str, int]:
        """Train the papers of a store that are new; nothing else changes, to the bit.

        Their IN vectors follow from their text, their OUT vectors from the training contexts that
        cite them.

        :param store: old and new papers; old ones that it lacks are dropped.
        :returns: counts of what was used, for the manifest.
        :raises VectorsError: the store has none of the old papers.
        """
        from mpbert.methods.hyperdoc2vec.trainer import CitationPhase, train_phases  # numba

        row_of = {paper_id: row for row, paper_id in enumerate(self.paper_ids)}
        old_rows = np.array([row_of.get(paper_id, -1) for paper_id in store.paper_ids])
        is_new = old_rows < 0
        if is_new.all():
            raise VectorsError(
                f"{store.path}: found none of the {len(row_of):,} papers of these vectors; "
                f"expected the corpus they are of, with more papers"
            )
        old_in, old_out = self.document_in, self.document_out
        self.document_in = np.zeros((store.num_papers, self.dim), dtype=np.float32)
        self.document_out = np.zeros_like(self.document_in)
        self.document_in[~is_new] = old_in[old_rows[~is_new]]
        self.document_out[~is_new] = old_out[old_rows[~is_new]]
        self.paper_ids = store.paper_ids
        sources = np.flatnonzero(store.paper_splits == "train")
        stream = read_words(store, sources, vocabulary=self.words)
        self._infer_documents(store, np.flatnonzero(is_new), rng)
        citations = Citations.of_training(store, sources)
        phase = CitationPhase(self, stream, citations, sources, is_new, False)
        train_phases(self, [phase], rng)
        return {
            "papers_new": int(is_new.sum()),
            "papers_dropped": len(row_of) - int((~is_new).sum()),
            "citations_of_new_papers": int(is_new[citations.cited].sum()),
        }

    def _random(self, num: int, rng: np.random.Generator) -> np.ndarray:
        return (rng.random((num, self.dim), dtype=np.float32) - np.float32(0.5)) / self.dim

    def _infer_documents(
        self, store: CorpusStore, rows: np.ndarray, rng: np.random.Generator
    ) -> None:
        from mpbert.methods.hyperdoc2vec.trainer import WordPhase, train_phases  # numba

        self.document_in[rows] = self._random(len(rows), rng)
        stream = read_words(store, rows, vocabulary=self.words)
        train_phases(self, [WordPhase(self, stream, rows, False)], rng)
