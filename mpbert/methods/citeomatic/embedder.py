"""NNSelect, the first phase of Citeomatic: Bhagavatula et al. (NAACL 2018), Sec. 3.

A text is the weighted mean of its title and its abstract, each a sum of words with direction and
magnitude (Eq. 1); papers and manuscripts share one embedder. It learns to put the papers that a
training manuscript cites nearer to it than other papers, by triplets (Eq. 2, App. B and C).

Where the paper is silent, or differs from its code (allenai/citeomatic), and what we do:

* *Boost*: opposite signs, see :mod:`mpbert.methods.citeomatic.graded_triplets`; the default is
  ``boost=paper``.
  The numbers of citations are those of the training split.
* *Neighbours*: fetched exactly, where the paper has Annoy. Of these a negative shares fewer words
  with the query than the ``percentile`` of the papers it cites do (Jaccard, App. C): the 5th in
  the paper; the code's 0.05 reads as the 0.05th of numpy's percentiles, about the least.
* *Word dropout* leaves out words of a text, as the paper's name for it says; the code drops
  dimensions of the words.
* *Words* count as often as they occur, as in the code. There is no list of stop words: what more
  than half of the training papers hold is left out. Nothing cuts titles and abstracts.
* *Start*: directions are random and magnitudes are inverse document frequencies, ln(N / n_t), or
  small random numbers as in the code (``start=uniform``), which did worse. The authors took word
  vectors of seven million abstracts for directions; those of training abstracts did worse than
  random ones on the RFC corpus.
* *Local queries*: not in the paper. A citation context is a third field, with its own scalar; the
  citing paper's title and abstract are read beside it where ``query`` says so. With ``queries``
  local or both it learns from training contexts too; a paper that the manuscript cites elsewhere
  is never a negative.
* *More fields*: not in the paper. ``fields`` adds a paper's body, and the training sentences that
  cite it, each a field with its own scalar; manuscripts have neither. A cited paper is learnt from
  without the sentences of the manuscript that cites it in the triplet.
* *Negatives of the batch*: not in the paper either, see
  :mod:`mpbert.methods.citeomatic.nnselect_training`.
* *Left out*: the L2 penalty of directions, whose lengths do not matter, which the authors' tuning
  set to 0; the limit of 100 citations per query.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.methods.citeomatic.field_bags import (
    body_counts,
    inverse_frequencies,
    paper_fields,
    query_fields,
    training_vocabulary,
)
from mpbert.methods.embedding import EMBEDDERS, Embedder
from mpbert.methods.training_citations import training_citations
from mpbert.vectors.store import VectorStore

# torch is imported by the methods that need it: other methods shall not wait for it

_FIELDS = ("abstract", "abstract+body", "abstract+citing", "abstract+body+citing")
_NARROW = 0.05  # half the width of the uniform distribution of Keras


@EMBEDDERS.register
@dataclass
class NNSelect(Embedder):
    """Bags of words with directions and magnitudes, trained by triplets.

    The settings: ``triplets`` sampled for each of the ``epochs`` (0: none, words as they start);
    ``batch`` triplets of an update; ``neighbours`` fetched per query at each epoch; ``margin``, the
    multiplier γ; ``l1``, the penalty of magnitudes; ``queries`` to learn from; ``fields`` of a
    paper, of which ``abstract`` is title and abstract; ``loss``, of triplets or with the negatives
    of the whole ``batch``, by cosines over ``temperature``: that reads no margin and no boost.
    """

    name: ClassVar[str] = "nnselect"
    resumes: ClassVar[bool] = True
    quick: ClassVar[tuple[str, ...]] = ("dim=16", "epochs=2", "triplets=1000", "neighbours=5")
    dim: int = 300
    vocab_size: int = 200_000
    epochs: int = setting(5, minimum=0)
    triplets: int = 500_000
    batch: int = 256
    learning_rate: float = 0.01
    word_dropout: float = setting(0.6, minimum=0, maximum=0.99)
    margin: float = 1.0
    l1: float = setting(1e-7, minimum=0)
    boost: str = setting("paper", choices=("paper", "code", "none"))
    neighbours: int = setting(100, minimum=0)
    percentile: float = setting(5.0, minimum=0, maximum=100)
    start: str = setting("idf", choices=("idf", "uniform"))
    queries: str = setting("global", choices=("global", "local", "both"))
    query: str = setting("context", choices=("context", "context+abstract"))
    fields: str = setting("abstract", choices=_FIELDS)
    loss: str = setting("triplets", choices=("triplets", "batch"))
    temperature: float = 0.05

    def fit(self, store: CorpusStore, rng: np.random.Generator) -> dict[str, int]:
        """Learn the words of titles and abstracts of training papers."""
        import torch

        from mpbert.methods.citeomatic.word_bags import FieldEmbedder, MagnitudeDirection
        from mpbert.pretrained.device import trained_on

        seed = int(rng.integers(2**31))
        self._vocabulary, frequencies = training_vocabulary(store, self.vocab_size)
        self._read(store)
        if self.start == "idf":
            magnitudes = inverse_frequencies(store, frequencies)
        else:
            magnitudes = np.random.default_rng(seed).uniform(-_NARROW, _NARROW, len(frequencies))
        words = MagnitudeDirection(magnitudes, self.dim, torch.Generator().manual_seed(seed))
        self._embedder = FieldEmbedder(words, len(self._papers))
        self._embedder.to(trained_on())
        updates = self._train(store, seed) if self.epochs else 0
        return {"words": len(self._vocabulary), "updates": updates}

    def embed_papers(self, store: CorpusStore) -> VectorStore:
        """Return the vectors of titles and abstracts."""
        from mpbert.methods.citeomatic.nnselect_training import embed

        vectors = embed(self._embedder, self._papers, np.arange(store.num_papers))
        return VectorStore(store.paper_ids, vectors)

    def embed_queries(self, store: CorpusStore, queries: Queries) -> VectorStore:
        """Return the vectors of manuscripts or of contexts."""
        from mpbert.methods.citeomatic.nnselect_training import embed

        fields = query_fields(store, queries, self._vocabulary, self._papers, self.query)
        vectors = embed(self._embedder, fields, np.arange(len(queries)))
        return VectorStore(queries.query_ids, vectors)

    def save(self, store: CorpusStore, directory: Path) -> None:
        """Write the weights, and their words in the same order."""
        from mpbert.methods.torch_training import save_words_and_weights

        save_words_and_weights(self._embedder, self._vocabulary, directory)

    def _read(self, store: CorpusStore) -> None:
        """Count the words of the fields of papers."""
        from mpbert.methods.citeomatic.citing_words import CitingWords

        self._papers = paper_fields(store, self._vocabulary)
        more = self.fields.split("+")[1:]
        if "body" in more:
            self._papers.append(body_counts(store, self._vocabulary, self._papers))
        self._citing = CitingWords(store, self._vocabulary) if "citing" in more else None
        if self._citing:
            self._papers.append(self._citing.counts)

    def _train(self, store: CorpusStore, seed: int) -> int:
        from mpbert.methods.citeomatic.nnselect_examples import TripletExamples
        from mpbert.methods.citeomatic.nnselect_training import NNSelectLearner
        from mpbert.methods.training import train

        citations = training_citations(store)
        pool = np.flatnonzero(store.paper_splits == "train")
        examples = []
        for task in ("local", "global") if self.queries == "both" else (self.queries,):
            queries = store.queries("train", task)
            fields = query_fields(store, queries, self._vocabulary, self._papers, self.query)
            examples.append(
                TripletExamples(queries, fields, self._papers, citations, pool, self.percentile)
            )
        in_citations = citations.sum(axis=0)
        learner = NNSelectLearner(
            self._embedder, self, self._papers, self._citing, examples, pool, in_citations, seed
        )
        return train(learner, self.checkpoint_of(store, seed))
