"""DualLCR sorts the first papers of a ranking: Medić and Šnajder (SDP 2020).

A BiLSTM reads context, candidate and the paper that cites; the cosine of context and candidate is
the semantic score. The bibliographic score reads the candidate's authors, its citations in each of
the last four years, and all of them. The context says what each score weighs
(:mod:`mpbert.methods.dual_lcr.model`). This is the variant that the paper calls DualEnh-ws.

We know the paper by its abstract and by its published code (zoranmedic/DualLCR), whose settings are
the defaults here. Where we differ from the code:

* *The list.* Its code ranks the candidates of BM25; here those of any ranking, ``depth`` of them.
* *The mark of the citation* (TARGETCIT) stands behind the sentence that cites: where a marker stood
  in it is not known any more.
* *Word vectors* are those of :mod:`mpbert.methods.word_vectors`, in the place of Citeomatic's; they
  are learnt on, as in the code.
* *Random negatives* are the same for all examples of a batch, which are read once. Papers that the
  manuscript cites elsewhere are none; in the code they may be. ``near`` negatives, the first papers
  of the query's list, are ours.
* *Citations* are those by training papers, as ln(1 + n), up to the year before the query's or the
  last of training; the code counts those of the query's own year too, the query's own among them.
* *Authors* of one training paper alone are not known.
* *The last epoch* counts; the code keeps the best by the loss on validation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.random import Generator

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.progress import progress
from mpbert.methods.rankings import Ranking
from mpbert.methods.reranking import RERANKERS, Reranker, check_has_texts

if TYPE_CHECKING:
    from torch import Tensor

    from mpbert.methods.dual_lcr.model import DualNetwork
    from mpbert.methods.dual_lcr.scoring import KeptStates

_QUERIES = 64  # scored at once
_PAIRS = 2048  # likewise

# torch and gensim are imported by the methods that need them


@RERANKERS.register
@dataclass
class DualLcr(Reranker):
    """A semantic and a bibliographic score, for the first papers of a ranking.

    The settings: ``dim``, ``word_epochs`` and ``min_count`` of word vectors, or the file
    ``word_vectors``; ``hidden`` states of a direction; ``longest`` text that is read, in words;
    ``author_dim``, ``most_authors`` that are read; ``batch`` examples of an update; random
    ``negatives`` of a batch, and ``near`` ones of each query; ``depth`` that is reranked.
    """

    name: ClassVar[str] = "dual_lcr"
    learns_from: ClassVar[str] = "train"
    resumes: ClassVar[bool] = True
    quick: ClassVar[tuple[str, ...]] = (
        *("dim=16", "hidden=8", "author_dim=4", "word_epochs=1", "epochs=2", "batch=160"),
        *("longest=24", "negatives=6", "near=2", "depth=15"),
    )
    dim: int = 200
    word_epochs: int = 5
    min_count: int = 5
    word_vectors: str = setting("")
    hidden: int = 100
    longest: int = setting(200, minimum=8)
    author_dim: int = 50
    most_authors: int = setting(5, minimum=2)
    epochs: int = 10
    batch: int = 6
    negatives: int = 50
    near: int = setting(0, minimum=0)
    margin: float = 0.3
    learning_rate: float = 0.001
    depth: int = 100

    def check(self, store: CorpusStore) -> None:
        """Refuse a corpus without titles and abstracts.

        :raises CorpusError: it has none.
        """
        check_has_texts(store, self.name)

    def fit(
        self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking], rng: Generator
    ) -> dict[str, int]:
        """Learn from training queries.

        :raises RunError: no training query cites a training paper.
        """
        from mpbert.methods.dual_lcr.bibliography import AuthorsAndCitations
        from mpbert.methods.dual_lcr.texts import TextReader
        from mpbert.methods.dual_lcr.trainer import DualExamples, DualLearner
        from mpbert.methods.training import train
        from mpbert.methods.word_vectors import words_of

        seed = int(rng.integers(2**31))
        self._vocabulary, vectors = words_of(self, store, seed)
        self._bibliography = AuthorsAndCitations(store, self.most_authors)
        self._texts = TextReader(store, self._vocabulary, self.longest)
        self._network = self._new_network(vectors, seed)
        examples = DualExamples.of(store, queries, rankings[0], self.near)
        learner = DualLearner(self._network, self, self._texts, self._bibliography, examples, seed)
        updates = train(learner, self.checkpoint_of_lists(store, seed, rankings[0].rows))
        return {
            **{"words": len(self._vocabulary), "authors": self._bibliography.num_authors},
            **{"pairs_cited": len(examples), "updates": updates},
        }

    def rerank(self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]) -> Ranking:
        """Return the first papers by their scores, then the others as they were."""
        import torch

        from mpbert.methods.dual_lcr.scoring import KeptStates, context_vectors

        ranking = rankings[0].first(self.depth)
        scores = np.full(ranking.rows.shape, -np.inf)
        kept, contexts = KeptStates(self._network, self._texts.papers), self._texts.queries(queries)
        for start in progress(range(0, len(queries), _QUERIES), "rerank", "block"):
            block = np.arange(start, min(start + _QUERIES, len(queries)))
            own = queries.take(block)
            with torch.no_grad():
                vectors = context_vectors(
                    self._network, contexts.take(block), own.citing_rows, self._texts.papers
                )
                scores[block] = self._scores(vectors, kept, own.years, ranking.rows[block])
        return rankings[0].reordered(scores)

    def save(self, directory: Path) -> None:
        """Write the weights, and the words in the same order."""
        from mpbert.methods.torch_training import save_words_and_weights

        save_words_and_weights(self._network, self._vocabulary, directory)

    def _scores(
        self, vectors: "Tensor", kept: "KeptStates", years: np.ndarray, papers: np.ndarray
    ) -> np.ndarray:
        """Return (B, K) scores of the papers of a block; -inf for none."""
        from mpbert.methods.dual_lcr.scoring import ContextPairs

        scores, has = np.full(papers.shape, -np.inf), papers >= 0
        context, found = np.nonzero(has)[0], []
        for start in range(0, len(context), _PAIRS):
            part = slice(start, start + _PAIRS)
            rows, place = np.unique(papers[has][part], return_inverse=True)
            pairs = ContextPairs(context[part], rows, place, years[context[part]])
            new = pairs.scores(self._network, vectors, kept.take(rows), self._bibliography)
            found.append(new.cpu().numpy())
        scores[has] = np.concatenate([np.zeros(0, np.float32), *found])
        return scores

    def _new_network(self, vectors: np.ndarray, seed: int) -> "DualNetwork":
        """Return the network as it starts: vectors of length 1 on average; two words more."""
        import torch

        from mpbert.methods.dual_lcr.model import DualNetwork
        from mpbert.pretrained.device import trained_on

        with torch.random.fork_rng():
            torch.manual_seed(seed)
            more = torch.randn(2, vectors.shape[1])
            words = torch.cat([torch.from_numpy(vectors), more]) / vectors.shape[1] ** 0.5
            network = DualNetwork(
                words, self.hidden, self._bibliography.num_authors, self.author_dim
            )
        return network.to(trained_on())
