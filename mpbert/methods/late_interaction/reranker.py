"""Late interaction over a pretrained encoder, after ColBERT: Khattab and Zaharia (SIGIR 2020).

Query and paper are read apart. Each token of the query then looks for the nearest token of the
paper, and the mean of these cosines is the score, ``max_sim``. A paper is scored by its title and
abstract, and by those training sentences that cite it whose mean states are nearest to those of the
query; of these the best counts, as papers are also known by what others say of them.

Where we differ from ColBERT:

* *The encoder* stays as it was pretrained, and its states keep their dimensions.
* *The list* that is reranked counts too: its scores and ranks, and both scores of late interaction,
  are features of :mod:`mpbert.methods.linear_fusion`, whose weights are learnt on validation. With
  ``score=abstract`` or ``score=citing`` nothing is learnt: one of both scores is the score. Such a
  run is an input for a fusion or for LambdaMART, which learn by themselves what it is worth.
* *Special tokens* are those of the encoder; neither masks nor marks of query and paper are added.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.random import Generator

from mpbert.corpus.store import CITING_FIRST, Contexts, CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.errors import ConfigError
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of, smallest_per_row
from mpbert.methods.linear_fusion import Candidates, LinearFusion
from mpbert.methods.rankings import Ranking, Union, union, with_rest
from mpbert.methods.reranking import RERANKERS, Reranker, check_has_texts
from mpbert.methods.training_contexts import TrainingContexts

if TYPE_CHECKING:
    from torch import Tensor

    from mpbert.methods.late_interaction.states import LastStates

_LEARNT_FROM = 2000  # validation queries; of the six weights that of has_it stays 0
_BLOCK = 1024  # queries whose states are kept at once
_DIGITS = 5  # sums of many threads differ in their last ones
_FEATURES = ("title and abstract", "nearest citing sentence", "has a citing sentence")
_ABSTRACT, _CITING, _IS_CITED = range(len(_FEATURES))

# torch and Hugging Face's library are imported by the methods that need them


@RERANKERS.register
@dataclass
class LateInteraction(Reranker):
    """The nearest tokens of a paper for each token of the query, for the first papers of a list.

    The settings: ``score``, that of the title and ``abstract``, or of the sentences that are
    ``citing`` the paper, for papers that have any, where others are left out; or all of this
    ``learnt`` together with the list, which stays below the papers that are reranked; ``model``,
    see :mod:`mpbert.pretrained.models`; ``query_tokens`` and ``paper_tokens`` that are read, of a
    citing sentence as many as of a query; ``citing``, most training sentences that are compared for
    a candidate; ``depth``, papers that are reranked; ``batch_tokens`` in memory at once;
    ``vocab_size`` of a random model.
    """

    name: ClassVar[str] = "late_interaction"
    quick: ClassVar[tuple[str, ...]] = (
        *("model=random:1x32", "vocab_size=400", "query_tokens=24", "paper_tokens=24"),
        *("citing=2", "depth=10"),
    )
    score: str = setting("learnt", choices=("learnt", "abstract", "citing"))
    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    query_tokens: int = setting(48, minimum=1)
    paper_tokens: int = setting(200, minimum=1)
    citing: int = setting(8, minimum=0)
    depth: int = setting(100, minimum=1)
    batch_tokens: int = 8192
    precision: str = setting("float32", choices=("bfloat16", "float32"))
    vocab_size: int = setting(8192, minimum=300)

    def __post_init__(self) -> None:
        if self.score == "citing" and not self.citing:
            raise ConfigError(
                "citing=0: found score=citing, the score of sentences that cite a paper; expected "
                "1 sentence or more, or choose score=abstract"
            )
        self.linear = LinearFusion(priors=False)
        self._reads_papers = self.score != "citing"
        self._reads_sentences = self.score != "abstract" and self.citing > 0

    @property
    def learns_from(self) -> str:
        """Validation queries, where the weights of the scores are learnt."""
        return "valid" if self.score == "learnt" else ""

    def check(self, store: CorpusStore) -> None:
        """Refuse a corpus without titles and abstracts, where these are read.

        :raises CorpusError: it has none.
        """
        if self._reads_papers:
            check_has_texts(store, self.name)

    def prepare(self, store: CorpusStore, rng: Generator) -> dict[str, int]:
        """Read the papers and the citing sentences that the score asks for."""
        self._read(store, int(rng.integers(2**31)))
        return {}

    def fit(
        self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking], rng: Generator
    ) -> dict[str, int]:
        """Learn the weights.

        :raises RunError: none of the cited papers is among those ranked.
        """
        if len(queries) > _LEARNT_FROM:
            places = np.sort(rng.choice(len(queries), _LEARNT_FROM, replace=False))
            queries, rankings = queries.take(places), [rankings[0].take(places)]
        found = self._candidates(store, queries, rankings[0])
        names = self.linear.feature_names(self.names_of(rankings)) + list(_FEATURES)
        return {"queries": len(queries), **self.linear.fit(store, queries, found, names)}

    def rerank(self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]) -> Ranking:
        """Return the first papers by the learnt score, then the others; or the former alone."""
        if self.score == "learnt":
            found = self._candidates(store, queries, rankings[0])
            return with_rest(found.papers.ranking(self.linear.scores(found)), rankings[0])
        papers = union([rankings[0].first(self.depth)], store.num_papers)
        features = self._features(store, queries, papers)
        if self.score == "abstract":
            return papers.ranking(features[:, _ABSTRACT])
        has = features[:, _IS_CITED] > 0
        cited = Union(
            offsets_of(np.bincount(papers.queries[has], minlength=len(queries))), papers.rows[has]
        )
        return cited.ranking(features[has, _CITING])

    def save(self, directory: Path) -> None:
        """Write the weights, if they are learnt."""
        if self.score == "learnt":
            self.linear.save(directory)

    def _read(self, store: CorpusStore, seed: int) -> None:
        """Make the states of all papers, and of all training sentences that cite, as is asked."""
        from mpbert.pretrained.encoder import PretrainedEncoder
        from mpbert.pretrained.models import load
        from mpbert.pretrained.texts import training_texts

        model, tokenizer = load(
            self.model, "none", seed, self.vocab_size, lambda: training_texts(store)
        )
        bfloat16 = self.precision == "bfloat16"
        self._encoder = PretrainedEncoder(model, tokenizer, "mean", self.batch_tokens, bfloat16)
        if self._reads_papers:
            papers = store.abstract_texts(np.arange(store.num_papers))
            self._papers = self._states(papers, self.paper_tokens, "states of papers")
        if self._reads_sentences:
            training = store.contexts("train")
            rows = store.sentence_offsets[training.citing_rows] + training.positions
            texts = store.sentence_texts(rows)
            self._sentences = self._states(texts, self.query_tokens, "states of citing sentences")
            self._means, self._citations = self._sentences.means(), TrainingContexts(store)

    def _states(self, texts: Sequence[str], limit: int, what: str) -> "LastStates":
        from mpbert.methods.late_interaction.states import LastStates

        return LastStates(self._encoder, texts, limit, what)

    def _candidates(self, store: CorpusStore, queries: Queries, ranking: Ranking) -> Candidates:
        """Return the first papers of each query with features of the list and of their tokens."""
        found = self.linear.candidates(store, queries, [ranking.first(self.depth)])
        columns = [found.features, self._features(store, queries, found.papers)]
        return replace(found, features=np.column_stack(columns))

    def _features(self, store: CorpusStore, queries: Queries, papers: Union) -> np.ndarray:
        """Return (M, 3) of :data:`_FEATURES`; what is not read is 0."""
        from mpbert.methods.late_interaction.states import max_sim

        offsets, rows = papers.offsets, papers.rows
        features = np.zeros((len(rows), len(_FEATURES)), np.float32)
        for start in progress(range(0, len(queries), _BLOCK), "late interaction", "block"):
            block = queries.take(np.arange(start, min(start + _BLOCK, len(queries))))
            states = self._states(_texts(store, block), self.query_tokens, "states of queries")
            means = states.means() if self._reads_sentences else None
            for number, own in enumerate(block.citing_rows.tolist()):
                part = slice(*offsets[start + number : start + number + 2])
                query, _ = states.of(np.array([number]))
                if self._reads_papers:
                    features[part, _ABSTRACT] = max_sim(query, *self._papers.of(rows[part]))
                if means is not None:
                    found = self._of_sentences(query, means[number], rows[part], own)
                    features[part, _CITING:] = found
        return features.round(_DIGITS)

    def _of_sentences(
        self, query: "Tensor", mean: np.ndarray, rows: np.ndarray, own: int
    ) -> np.ndarray:
        """Return (M, 2) the best score of a sentence that cites each paper, and whether it has one.

        :param query: (T, D) states; ``mean`` (D,) of them.
        :param own: row of the query's own paper.
        """
        from mpbert.methods.late_interaction.states import max_sim

        places, counts = self._citations.known(rows, np.full(len(rows), own))
        contexts = self._citations.contexts[places]
        nearest = smallest_per_row(-(self._means[contexts] @ mean), counts, self.citing)
        scores = max_sim(query, *self._sentences.of(contexts[nearest]))
        best, counts = np.zeros((len(rows), 2)), np.minimum(counts, self.citing)
        has = counts > 0
        if has.any():
            best[has, 0] = np.maximum.reduceat(scores, offsets_of(counts)[:-1][has])
        best[has, 1] = 1
        return best


def _texts(store: CorpusStore, queries: Queries) -> list[str]:
    """Return what is read of queries: a context from its citing sentence on, or an abstract."""
    if isinstance(queries, Contexts):
        return store.local_texts(queries, CITING_FIRST)
    return store.abstract_texts(queries.citing_rows)
