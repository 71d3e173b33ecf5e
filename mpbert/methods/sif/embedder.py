"""Weighted means of static word vectors, SIF: Arora, Liang and Ma (ICLR 2017), Algorithm 1.

    v(s) = 1/|s| · Σ_{w in s} a / (a + p(w)) · v(w),    then    v(s) - U·Uᵀ·v(s)

The columns of U, "common components", are the first right singular vectors of the matrix of all
v(s); here of those of the training papers alone, and every other vector is treated alike. The word
vectors v(w) and the frequencies p(w) come from the sentences of the training papers, by Word2Vec of
gensim. No citation is used, unless the field ``citing`` is chosen. A paper is its fields, see
:mod:`mpbert.corpus.fields`; a query is its local context.

Chosen on the validation split of the RFC corpus: whole texts, better than titles and abstracts;
window 20 and the learning rate 0.05 of word2vec's own continuous bag of words, better than gensim's
5 and 0.025. Skip-gram is 2 points of recall better still, but takes several times as long.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from mpbert.corpus.bags import count_matrix
from mpbert.corpus.fields import paper_counts, plain_texts, split_fields
from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.errors import ConfigError
from mpbert.methods.embedding import EMBEDDERS, Embedder
from mpbert.methods.gensim_training import new_model, sentence_lines, train
from mpbert.methods.word_means import means_of_counts
from mpbert.vectors.store import VectorStore


@EMBEDDERS.register
@dataclass
class Sif(Embedder):
    """Means of word vectors in which frequent words weigh less, without common components.

    Several workers are faster, but only one gives the same vectors every time.

    :param a: how fast the weight of a word falls with its frequency.
    :param components: how many common components are removed.
    :param fields: what of a paper is read.
    """

    name: ClassVar[str] = "sif"
    resumes: ClassVar[bool] = True
    quick: ClassVar[tuple[str, ...]] = ("dim=8", "epochs=2", "window=5")
    a: float = 1e-3
    components: int = setting(1, minimum=0)
    fields: str = setting("text")
    mode: str = setting("cbow", choices=("cbow", "skipgram"))
    dim: int = 100
    window: int = 20
    negatives: int = 5
    min_count: int = 5
    epochs: int = 5
    learning_rate: float = 0.05
    workers: int = 1

    def __post_init__(self) -> None:
        split_fields(self.fields)
        if self.components >= self.dim:
            raise ConfigError(
                f"components={self.components}: found dim={self.dim}; expected fewer components"
            )

    def fit(self, store: CorpusStore, rng: np.random.Generator) -> dict[str, int]:
        """Train word vectors, weigh them by frequency, and find the common components."""
        seed = int(rng.integers(2**31))
        model = new_model(self, seed, sg=int(self.mode == "skipgram"))
        checkpoint = self.checkpoint_of(store, seed)
        train(model, sentence_lines(store), self.epochs, checkpoint=checkpoint)
        self._words = pa.array(model.wv.index_to_key, pa.large_string())
        counts = np.array([model.wv.get_vecattr(word, "count") for word in model.wv.index_to_key])
        weights = sif_weights(counts / model.corpus_total_words, self.a)  # (V,)
        self._vectors = weights[:, None] * model.wv.vectors  # (V, D)
        papers = self._paper_means(store)[store.paper_splits == "train"]
        self._common = common_components(papers, self.components)  # (D, C)
        return {"words": len(self._words)}

    def embed_papers(self, store: CorpusStore) -> VectorStore:
        """Return the vectors of the papers' fields."""
        return VectorStore(store.paper_ids, self._without_common(self._paper_means(store)))

    def embed_queries(self, store: CorpusStore, queries: Queries) -> VectorStore:
        """Return the vectors of the texts."""
        texts = pa.array(plain_texts(store, queries), pa.large_string())
        counts, _ = count_matrix(texts, self._words)
        means = means_of_counts(counts, self._vectors)
        return VectorStore(queries.query_ids, self._without_common(means))

    def _paper_means(self, store: CorpusStore) -> np.ndarray:
        counts, _ = paper_counts(store, self.fields, self._words)
        return means_of_counts(counts, self._vectors)

    def _without_common(self, vectors: np.ndarray) -> np.ndarray:
        return (vectors - vectors @ self._common @ self._common.T).astype(np.float32)


def sif_weights(frequencies: np.ndarray, a: float) -> np.ndarray:
    """Return (V,) weights a / (a + p(w)).

    :param frequencies: (V,) part p(w) of a word among all words.
    """
    return a / (a + frequencies)


def common_components(vectors: np.ndarray, components: int) -> np.ndarray:
    """Return (D, C) first right singular vectors of (M, D) vectors, whose mean is not removed."""
    exact = vectors.astype(np.float64)
    _, eigenvectors = np.linalg.eigh(exact.T @ exact)  # (D, D), of ascending eigenvalues
    return eigenvectors[:, ::-1][:, :components]
