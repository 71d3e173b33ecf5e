"""Paragraph vectors, D2V in MP-BERT4CR (Sec. 5.2-5.3): Le and Mikolov (ICML 2014).

Trained by gensim on the training papers: title, abstract and body. A citation vector is inferred
from the content words of the paper, a query vector is the mean of the word vectors of the local
context.

gensim's ``infer_vector`` gives another vector in each process, since it starts from Python's hash
of the words, and another one after other papers, since it goes on with the generator of the model.
Here the same steps start from a generator of the paper's own words, so that the vector depends on
the model and these words alone, not on order or threads.

Chosen on the validation split of the RFC corpus: vectors inferred from the whole text, better than
from title and abstract; window 20, better than gensim's 5; 10 epochs of each.
"""

import copy
import os
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.progress import progress
from mpbert.methods.embedding import EMBEDDERS, Embedder
from mpbert.methods.gensim_training import new_model, paper_lines, pieces, train
from mpbert.methods.word_means import QUERIES, query_means
from mpbert.vectors.store import VectorStore

if TYPE_CHECKING:  # gensim takes a second to import, which --help need not wait for
    from gensim.models import Doc2Vec as GensimDoc2Vec

_BLOCK = 64  # papers that a thread infers before it takes others
# arrays to work in, which gensim would make for itself and free too soon for several threads
_WORK = {"dm": ("work", "neu1"), "dbow": ("work",)}


@EMBEDDERS.register
@dataclass
class Doc2Vec(Embedder):
    """Means of word vectors as queries, vectors inferred from papers' words as citation vectors.

    Several workers are faster in training, but only one gives the same vectors every time.

    :param mode: distributed memory; or distributed bag of words, with word vectors by skip-gram.
    :param content: from what of a paper its vector is inferred.
    :param steps: epochs of inference.
    """

    name: ClassVar[str] = "doc2vec"
    resumes: ClassVar[bool] = True
    quick: ClassVar[tuple[str, ...]] = (
        *("dim=8", "epochs=2", "steps=1", "content=abstract", "window=5"),
    )
    mode: str = setting("dm", choices=("dm", "dbow"))
    content: str = setting("text", choices=("abstract", "text"))
    dim: int = 100
    window: int = 20
    negatives: int = 5
    min_count: int = 5
    epochs: int = 10
    steps: int = 10
    learning_rate: float = 0.025
    workers: int = 1
    query: str = setting("mean", choices=QUERIES)

    def fit(self, store: CorpusStore, rng: np.random.Generator) -> dict[str, int]:
        """Train words and training papers together, by negative sampling."""
        self._seed = int(rng.integers(2**31))
        # without dbow_words distributed bag of words has no word vectors for the queries
        kind = {"dm": int(self.mode == "dm"), "dbow_words": 1}
        self._model = new_model(self, self._seed, "Doc2Vec", **kind)
        lines = paper_lines(store, np.flatnonzero(store.paper_splits == "train"), whole=True)
        checkpoint = self.checkpoint_of(store, self._seed)
        train(self._model, lines, self.epochs, checkpoint=checkpoint)
        return {"words": len(self._model.wv), "documents": len(self._model.dv)}

    def embed_papers(self, store: CorpusStore) -> VectorStore:
        """Return the inferred vectors of all papers; zero for a paper without a known word."""
        starts = range(0, store.num_papers, _BLOCK)
        vectors = np.zeros((store.num_papers, self.dim), dtype=np.float32)

        def infer_block(start: int) -> None:
            model = copy.copy(self._model)  # which shares the weights, not the generator
            rows = range(start, min(start + _BLOCK, store.num_papers))
            for row, line in zip(
                rows, paper_lines(store, rows, self.content == "text"), strict=True
            ):
                vectors[row] = self._infer(model, line)

        with ThreadPoolExecutor(os.cpu_count()) as threads:
            for _ in progress(threads.map(infer_block, starts), "infer", "block", len(starts)):
                pass
        return VectorStore(store.paper_ids, vectors)

    def embed_queries(self, store: CorpusStore, queries: Queries) -> VectorStore:
        """Return the mean word vectors of the texts; unknown words are skipped."""
        words = pa.array(self._model.wv.index_to_key, pa.large_string())
        return query_means(store, queries, words, self._model.wv.vectors, self.query)

    def _infer(self, model: "GensimDoc2Vec", line: str) -> np.ndarray:
        """Return the vector of a paper: as infer_vector, but for the seed and for long papers."""
        from gensim.models.doc2vec import train_document_dbow, train_document_dm

        known = [word for word in line.split() if word in model.wv.key_to_index]
        if not known:
            return np.zeros(self.dim, dtype=np.float32)
        model.random = np.random.RandomState([self._seed, zlib.crc32(line.encode())])
        vector = ((model.random.random_sample((1, self.dim)) - 0.5) / self.dim).astype(np.float32)
        step = train_document_dm if self.mode == "dm" else train_document_dbow
        arrays = {name: np.zeros(self.dim, dtype=np.float32) for name in _WORK[self.mode]}
        arrays |= {"doctag_vectors": vector, "doctags_lockf": np.ones(1, dtype=np.float32)}
        for rate in np.linspace(self.learning_rate, self._model.min_alpha, self.steps):
            for piece in pieces(known):
                step(model, piece, [0], rate, learn_words=False, learn_hidden=False, **arrays)
        return vector[0]
