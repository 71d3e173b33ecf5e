"""NNRank, the second phase of Citeomatic: Bhagavatula et al. (NAACL 2018), Sec. 4.

The probability that a query cites a candidate, Eq. 3: a small network reads cosines of titles and
abstracts, weights of the words they share, the candidate's in-citations, the score of the ranking
that is reranked, and, with metadata, cosines of authors and venues. It learns by the triplets and
the loss of NNSelect, from the training queries and what was ranked for them.

Where the paper is silent, or differs from its code (allenai/citeomatic), and what we do:

* *Training lists* are best those of the ranking that is reranked, made for held-out parts of the
  training papers (``training: {row: ...}`` in a row). One that learnt from a query ranks what it
  cites too high, so that its scores mean more in training than later.
* *Near negatives* are the first ``depth`` papers of a list, without the Jaccard rule: they are what
  it will have to tell apart. Cited papers that a list lacks are positives all the same. With
  ``negatives=near`` there are no others, and what is reranked is what was learnt from.
* *Depth*: the first ``depth`` papers of a list are reranked; the others follow as they were.
* *Score of the ranking*: from 0 for the 50th to 1 for the first paper of a list; or the score as
  it is, as in the paper (``selector=score``). A paper that a list lacks has its lowest score.
* *Loss*: of probabilities, as in the paper; ``loss=odds``: of the logarithms of the odds, whose
  margins do not vanish where a probability is near 0 or 1.
* *Learning rate*: it falls in even steps to 0.
* *In-citations* are those by training papers of earlier years than the query's, ln(1 + n). The
  query's own citation is none of them; the code takes one off every candidate. Those of the same
  year are left out, too: queries to rank for know none of their own year, so that counts with them
  would mean less in training than later.
* *Words that are shared* have one weight wherever they stand; at first a twentieth of their inverse
  document frequency. L2 penalties are left out, and keyphrases, which no corpus of ours has.
* *Local queries*, which the paper has not: a context is compared with title and with abstract; the
  citing paper's title and abstract too, with ``query=context+abstract``. What the manuscript cites
  elsewhere may be a negative.
* *Output*: the logarithm of the odds, which ranks as the probability does, but without ties at 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.random import Generator

from mpbert.corpus.store import Contexts, CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.errors import CorpusError
from mpbert.methods.citeomatic.field_bags import (
    inverse_frequencies,
    paper_fields,
    query_fields,
    training_vocabulary,
)
from mpbert.methods.citeomatic.nnrank_features import PairFeatures, names_matrix
from mpbert.methods.citeomatic.triplets import KINDS, NEIGHBOUR, TripletSampler, cited_matrix
from mpbert.methods.rankings import Ranking
from mpbert.methods.reranking import RERANKERS, Reranker
from mpbert.methods.training_citations import training_citations

if TYPE_CHECKING:
    from mpbert.methods.citeomatic.nnrank_model import FeatureScorer

# torch is imported by the methods that need it: other rerankers shall not wait for it

_WEIGHT = 0.05  # of a shared word at the start, times its inverse document frequency


@RERANKERS.register
@dataclass
class NNRank(Reranker):
    """A network over features of pairs, trained by triplets.

    The settings: ``triplets`` sampled for each of the ``epochs``; ``batch`` triplets of an update;
    ``margin``, the multiplier γ; ``l1``, the penalty of magnitudes; ``metadata`` to compare;
    ``depth``, how many papers of a list are learnt from and reranked.
    """

    name: ClassVar[str] = "nnrank"
    learns_from: ClassVar[str] = "train"
    resumes: ClassVar[bool] = True
    quick: ClassVar[tuple[str, ...]] = ("dim=8", "metadata_dim=4", "epochs=2", "triplets=1000")
    dim: int = 175
    metadata_dim: int = 45
    vocab_size: int = 200_000
    epochs: int = setting(5, minimum=0)
    triplets: int = 500_000
    batch: int = 256
    learning_rate: float = 0.01
    word_dropout: float = setting(0.35, minimum=0, maximum=0.99)
    margin: float = 0.5
    l1: float = setting(1e-4, minimum=0)
    boost: str = setting("paper", choices=("paper", "code", "none"))
    metadata: str = setting("none", choices=("none", "authors", "venue", "authors+venue"))
    depth: int = 100
    negatives: str = setting("all", choices=("all", "near"))
    loss: str = setting("probability", choices=("probability", "odds"))
    selector: str = setting("scaled", choices=("scaled", "score", "off"))
    query: str = setting("context", choices=("context", "context+abstract"))

    def check(self, store: CorpusStore) -> None:
        """Refuse a corpus without the metadata that are asked for, or without words."""
        training = np.flatnonzero(store.paper_splits == "train")
        for what in self._metadata:
            names = self._names(store, what)
            if not any(names[row] for row in training):
                raise CorpusError(
                    f"{store.path}: no training paper has {what}, which metadata={self.metadata} "
                    f"reads; expected some, choose --settings metadata=none"
                )
        training_vocabulary(store, 1)

    def fit(
        self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking], rng: Generator
    ) -> dict[str, int]:
        """Learn from training queries and their lists."""
        from mpbert.methods.citeomatic.nnrank_training import NNRankLearner
        from mpbert.methods.training import train

        seed = int(rng.integers(2**31))
        self._vocabulary, frequencies = training_vocabulary(store, self.vocab_size)
        self._papers = paper_fields(store, self._vocabulary)
        is_training = store.paper_splits == "train"
        self._names_of = [
            names_matrix(self._names(store, what), is_training) for what in self._metadata
        ]
        self._citations = training_citations(store)
        inputs = self._inputs(store, queries)
        self._scorer = self._new_scorer(inverse_frequencies(store, frequencies), inputs, seed)
        sampler = TripletSampler(
            cited_matrix(queries, store.num_papers),
            queries.citing_rows,
            self._citations,
            np.flatnonzero(is_training),
            whole=False,
            kinds=(NEIGHBOUR,) if self.negatives == "near" else KINDS,
        )
        inputs.set_ranking(rankings[0], self.selector)
        near = rankings[0].without(~is_training[rankings[0].rows]).first(self.depth).rows
        learner = NNRankLearner(self._scorer, self, inputs, sampler, near, seed)
        updates = train(learner, self.checkpoint_of_lists(store, seed, rankings[0].rows))
        in_lists = inputs.is_ranked(*sampler.pairs)
        return {
            "words": len(self._vocabulary),
            "updates": updates,
            "pairs_cited": len(in_lists),
            "pairs_cited_in_lists": int(in_lists.sum()),
        }

    def _new_scorer(self, idf: np.ndarray, inputs: PairFeatures, seed: int) -> "FeatureScorer":
        import torch

        from mpbert.methods.citeomatic.nnrank_model import FeatureScorer
        from mpbert.pretrained.device import trained_on

        scorer = FeatureScorer(
            idf,
            _WEIGHT * idf,
            [matrix.shape[1] for matrix in self._names_of],
            len(inputs.field_pairs),
            self.dim,
            self.metadata_dim,
            torch.Generator().manual_seed(seed),
        )
        return scorer.to(trained_on())

    def rerank(self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]) -> Ranking:
        """Return the same papers, the first ones by the odds that the query cites them."""
        from mpbert.methods.citeomatic.nnrank_model import score_pairs

        rows = rankings[0].first(self.depth).rows
        inputs = self._inputs(store, queries)
        inputs.set_ranking(rankings[0], self.selector)
        query, place = np.nonzero(rows >= 0)
        scores = np.full(rows.shape, -np.inf)
        scores[query, place] = score_pairs(self._scorer, inputs, query, rows[query, place])
        return rankings[0].reordered(scores)

    def save(self, directory: Path) -> None:
        """Write the weights, and the words in the same order."""
        from mpbert.methods.torch_training import save_words_and_weights

        save_words_and_weights(self._scorer, self._vocabulary, directory)

    @property
    def _metadata(self) -> list[str]:
        return [] if self.metadata == "none" else self.metadata.split("+")

    @staticmethod
    def _names(store: CorpusStore, what: str) -> list[list[str]]:
        if what == "authors":
            return store.authors
        return [[venue] if venue else [] for venue in store.venues]

    def _inputs(self, store: CorpusStore, queries: Queries) -> PairFeatures:
        whole, local = [(0, 0), (1, 1)], [(2, 0), (2, 1)]
        pairs = whole
        if isinstance(queries, Contexts):
            pairs = whole + local if self.query == "context+abstract" else local
        return PairFeatures(
            query_fields(store, queries, self._vocabulary, self._papers, self.query),
            self._papers,
            pairs,
            self._names_of,
            queries.citing_rows,
            self._citations,
            store.years,
        )
