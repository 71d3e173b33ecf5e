"""DACR, a reconstruction: the dual attention model of Zhang and Ma (COLING 2020, arXiv 2010.00182).

No code of it is public. From the description: words of the local context, section and *structural
contexts* (the other papers that the manuscript cites) have vectors; self-attention relates them,
additive attention weighs them into one query vector, which shall be like the vector of the cited
paper. The vectors are trained before, by HyperDoc2Vec with structural contexts. What is not in the
description, and what we do:

* *Self-attention.* One over the words, one over the structural contexts, five heads each, with a
  residual connection; one additive attention over both. Untrained the query is the mean of all.
* *Section.* One more input beside the words. Kinds: abstract, the 50 commonest headings, others.
* *First vectors.* Words IN, documents IN (structural contexts) and OUT (targets) of our
  HyperDoc2Vec with noise by citation counts; it has no structural contexts of its own. DACR then
  trains all of them.
* *Loss.* Negative sampling with inner products (rank by them: ``--similarity dot``), noise by
  training citations to the power 3/4. The noise is sampled once per batch, and a context is spared
  its own citations. Papers that no training context cites are never noise, so they keep the vector
  that HyperDoc2Vec gave them, which is zero, and score 0 for every query. In a sum over a hundred
  noise papers nearly all scores become negative, and these papers stand above the others; so the
  noise terms have the weight ``noise_weight`` altogether. Score 0 is then that many times as likely
  as an average paper.
* *Learning.* Adam, batches of contexts, a learning rate that falls in a straight line to 0. Some
  inputs of each context are left out at random, and all structural contexts of some.

Two questions of evaluation:

* *What is known of the manuscript.* Other rows are not told what else it cites, so nor is this
  one: ``known_citations=none``. With ``others`` it gets all citations of the manuscript but those
  of the query context, also where the manuscript repeats them: more than other rows are told.
* *Query vector.* MP-BERT4CR (Sec. 5.3) ranks DACR by the mean word vectors of the local context,
  ``query=mean``: the attention would then only have served to train. By the description the query
  is what the attention puts out, which is the default.

The result is the same bit for bit, as long as the number of threads is.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.ragged_rows import Ragged
from mpbert.methods.dacr.examples import OTHER, common_headings, read_examples
from mpbert.methods.embedding import EMBEDDERS, Embedder
from mpbert.methods.word_means import query_means
from mpbert.vectors.store import VectorStore

# torch is imported by the methods that need it: other methods shall not wait for it

_HEADINGS = 50


@EMBEDDERS.register
@dataclass
class Dacr(Embedder):
    """Attention over words, section and known citations, trained from HyperDoc2Vec's vectors.

    ``word_epochs`` and ``citation_epochs`` are HyperDoc2Vec's, ``epochs`` are those after it.
    ``word_dropout``: share of words left out; ``known_dropout``: share of contexts that are
    trained without structural contexts; for ``noise_weight`` see the module.
    """

    name: ClassVar[str] = "dacr"
    tasks: ClassVar[tuple[str, ...]] = ("local",)
    resumes: ClassVar[bool] = True
    quick: ClassVar[tuple[str, ...]] = (
        *("dim=10", "heads=2", "word_epochs=1", "citation_epochs=1", "epochs=2"),
    )
    dim: int = 100
    heads: int = 5
    query_dim: int = 100
    negatives: int = 100
    noise_weight: float = 0.3
    word_epochs: int = 5
    citation_epochs: int = 50
    epochs: int = 20
    batch_size: int = 512
    learning_rate: float = 0.003
    word_dropout: float = setting(0.5, minimum=0, maximum=1)
    known_dropout: float = setting(0.5, minimum=0, maximum=1)
    known_citations: str = setting("none", choices=("none", "others"))
    query: str = setting("attention", choices=("attention", "mean"))

    def __post_init__(self) -> None:
        if self.dim % self.heads:
            raise ConfigError(
                f"--settings dim={self.dim} heads={self.heads}: dacr gives each head an equal part "
                f"of a vector; expected a dim that heads divides"
            )

    def fit(self, store: CorpusStore, rng: np.random.Generator) -> dict[str, int]:
        """Train HyperDoc2Vec, then the attention and all vectors."""
        from mpbert.methods.dacr.model import DualAttention, new_generator
        from mpbert.methods.dacr.trainer import DacrLearner
        from mpbert.methods.training import train

        checkpoint = self.checkpoint_of(store, rng.bit_generator.state)
        contexts = store.contexts("train")
        if not len(contexts):
            raise CorpusError(
                f"{store.path}: no paper of the training split cites another; DACR learns from "
                f"citations, choose other years"
            )
        start = self._start()
        counts = start.fit(store, rng)
        self._words = start.words
        self._headings = common_headings(store, contexts, _HEADINGS)
        examples = read_examples(store, contexts, self._words, self._headings)
        sections = np.zeros((OTHER + 1 + len(self._headings), self.dim), dtype=np.float32)
        self._model = DualAttention(
            np.concatenate([start.word_in, sections]),
            start.document_in,
            start.document_out,
            heads=self.heads,
            query_dim=self.query_dim,
            generator=new_generator(rng),
        )
        cited = Ragged(contexts.cited_rows, contexts.cited_offsets)
        train(DacrLearner(self._model, examples, cited, self, rng), checkpoint)
        return {
            **counts,
            "contexts_trained": len(contexts),
            "known_citations_per_1000_contexts": 1000 * len(examples.known.items) // len(contexts),
        }

    def embed_papers(self, store: CorpusStore) -> VectorStore:
        """Return the OUT vectors of the papers."""
        return VectorStore(store.paper_ids, self._model.targets.detach().numpy().copy())

    def embed_queries(self, store: CorpusStore, queries: Queries) -> VectorStore:
        """Return what the attention makes of the contexts, or the means of their words."""
        from mpbert.methods.dacr.trainer import embed

        if self.query == "mean":
            vectors = self._model.words.detach().numpy()[: len(self._words)]
            return query_means(store, queries, self._words, vectors)
        examples = read_examples(store, queries, self._words, self._headings)
        if self.known_citations == "none":
            examples = examples.without_known()
        return VectorStore(queries.query_ids, embed(self._model, examples, self.batch_size))

    def _start(self) -> Embedder:
        """Return the method whose vectors of words and papers are the first ones here."""
        start = EMBEDDERS["hyperdoc2vec"](
            dim=self.dim,
            epochs=self.word_epochs,
            citation_epochs=self.citation_epochs,
            noise="citations",
        )
        start.checkpoint = self.checkpoint
        return start
