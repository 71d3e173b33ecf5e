"""Word2Vec with cited papers as words, W2V in MP-BERT4CR (Sec. 5.2-5.3).

Mikolov et al. (NIPS 2013) by gensim: continuous bag of words, negative sampling. The text is the
local contexts of the training citations, in the middle of each one word per paper it cites: the
store knows the sentence of a citation, not the place in it. A query vector is the mean of the word
vectors of the local context, a citation vector the input vector of the paper's word.

The paper says no more than "default parameters". With gensim's, window 5 and 5 epochs, the vector
of a paper gets few updates; a window over the whole context and 20 epochs were chosen on the
validation splits of the RFC and ACL corpora, as was the text: all sentences of the training papers
did worse.

Nor does it say what to do about a paper which no training sentence cites. Its vector is zero, and
it is ranked last; how many these are is counted. Means of the words of title and
abstract did worse: they lie closer to every query than any paper's own vector. Words that occur
fewer than ``min_count`` times are dropped, as gensim does, but never the word of a paper.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.methods.embedding import EMBEDDERS, Embedder
from mpbert.methods.gensim_training import context_lines, new_model, train
from mpbert.methods.word_means import QUERIES, query_means
from mpbert.vectors.store import VectorStore

_PREFIX = "paper:"  # no word holds a colon


@EMBEDDERS.register
@dataclass
class Word2Vec(Embedder):
    """Means of word vectors as queries, vectors of cited papers' words as citation vectors.

    Several workers are faster, but only one gives the same vectors every time: of four, a vector
    and itself of another run have a cosine of about 0.9.
    """

    name: ClassVar[str] = "word2vec"
    resumes: ClassVar[bool] = True
    quick: ClassVar[tuple[str, ...]] = ("dim=16", "epochs=2")
    dim: int = 100
    window: int = 20
    negatives: int = 5
    min_count: int = 5
    epochs: int = 20
    learning_rate: float = 0.025
    workers: int = 1
    query: str = setting("mean", choices=QUERIES)

    def fit(self, store: CorpusStore, rng: np.random.Generator) -> dict[str, int]:
        """Train by continuous bag of words and negative sampling."""
        seed = int(rng.integers(2**31))
        model = new_model(self, seed)
        checkpoint = self.checkpoint_of(store, seed)
        train(
            model, context_lines(store, _PREFIX), self.epochs, _keep_papers, checkpoint=checkpoint
        )
        words = model.wv.index_to_key
        is_paper = np.array([word.startswith(_PREFIX) for word in words])
        self._paper_rows = np.array(
            [int(word[len(_PREFIX) :]) for word in words if word.startswith(_PREFIX)], dtype=int
        )
        self._paper_vectors = model.wv.vectors[is_paper]
        self._words = pa.array(
            [word for word in words if not word.startswith(_PREFIX)], pa.large_string()
        )
        self._word_vectors = model.wv.vectors[~is_paper]
        return {
            "words": len(self._words),
            "papers_with_vector": len(self._paper_rows),
            "papers_never_cited_in_training": store.num_papers - len(self._paper_rows),
        }

    def embed_papers(self, store: CorpusStore) -> VectorStore:
        """Return the input vectors of the papers' words; zero for papers that have none."""
        vectors = np.zeros((store.num_papers, self.dim), dtype=np.float32)
        vectors[self._paper_rows] = self._paper_vectors
        return VectorStore(store.paper_ids, vectors)

    def embed_queries(self, store: CorpusStore, queries: Queries) -> VectorStore:
        """Return the mean word vectors of the texts; unknown words are skipped."""
        return query_means(store, queries, self._words, self._word_vectors, self.query)


def _keep_papers(word: str, count: int, min_count: int) -> int:
    from gensim import utils

    return utils.RULE_KEEP if word.startswith(_PREFIX) else utils.RULE_DEFAULT
