"""A transformer that reads query and candidate together and sorts the first papers of a ranking.

The reranker of two systems, whose settings differ:

* BM25 + Navigation (Nogueira, Jiang, Cho and Lin, 2020, Sec. 3 and 4.3), the defaults here: title
  and abstract of both, cross entropy, trained on the first 10 papers of BM25 with all that is not
  cited among them, learning rate 3e-6, one epoch, 1000 candidates reranked.
* HAtten (Gu, Gao and Hahnloser, ECIR 2022, Sec. 4.2, 4.3 and 5): ``query=context+abstract``, the
  default, ``loss=margin``, ``depth_train=2000 negatives=62 batch=1 learning_rate=1e-5``.

Where we differ, or the papers are silent:

* *Batches.* A batch is of queries with all their candidates, 13 of 10 papers for the 128 pairs of
  the first paper, so that one loop serves losses of pairs and of lists.
* *Optimiser.* That of :mod:`mpbert.methods.fine_tuning`: AdamW, warm-up in a tenth of
  the updates (the first paper: a thirtieth; the second: none), linear decay, gradients clipped.
* *One number* stands for the two classes of the first paper; their softmax is its sigmoid.
* *Cited papers that were not retrieved* are never added; HAtten's reranker always has them.
* *Dropout* is the model's own; HAtten's code trains without.
* ``joined``, ``begins``, ``citing``, ``matches``, ``blend``, ``listwise`` and ``max_queries`` are
  ours.

A reranker that was trained is one to load: ``model=OUTPUT/model epochs=0``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.random import Generator

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.corpus.tasks import QUERIES
from mpbert.foundation.config import setting
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.progress import progress
from mpbert.methods.cross_encoder.standardised import blended, standardised
from mpbert.methods.rankings import Ranking
from mpbert.methods.reranking import RERANKERS, Reranker, check_has_texts

if TYPE_CHECKING:
    from mpbert.foundation.ragged_rows import Ragged
    from mpbert.methods.cross_encoder.trainer import TrainingLists
    from mpbert.pretrained.encoder import PretrainedEncoder

_PAIRS = 1 << 14  # joined at once

# torch, Hugging Face's library and the trainer are imported by the methods that need them


@RERANKERS.register
@dataclass
class CrossEncoder(Reranker):
    """Scores of pairs by a transformer for the first papers; the others stay behind them.

    The settings: ``model``, see :mod:`mpbert.pretrained.models`; ``joined``, top layers that read
    both texts, above lower ones that stay as they are, see
    :mod:`mpbert.methods.cross_encoder.joined` (0: all layers read both); ``query``, ``begins``,
    ``query_tokens``, ``paper_tokens``, ``citing`` and ``matches``, see
    :mod:`mpbert.methods.cross_encoder.texts`; ``loss``, ``margin`` and ``negatives``, see
    :mod:`mpbert.methods.cross_encoder.trainer`; ``depth_train`` papers of ``max_queries``
    training lists (0: of all) are learnt from, ``depth`` are reranked; ``blend``, from 0 to 1, the
    weight of the score in the input ranking; ``epochs`` (0: the model as it is); ``batch``, queries
    of an update; ``batch_tokens`` in memory at once; ``vocab_size`` of a random model.
    """

    name: ClassVar[str] = "cross_encoder"
    resumes: ClassVar[bool] = True
    quick: ClassVar[tuple[str, ...]] = (
        *("model=random:1x32", "vocab_size=400", "query_tokens=30", "paper_tokens=30"),
        *("depth=10", "max_queries=60", "learning_rate=0.001"),
    )
    model: str = "allenai/scibert_scivocab_uncased"
    joined: int = setting(0, minimum=0)
    query: str = setting("context+abstract", choices=QUERIES)
    begins: str = setting("context", choices=("context", "sentence"))
    query_tokens: int = 256
    paper_tokens: int = 256
    citing: int = setting(0, minimum=0)
    matches: str = setting("unmarked", choices=("marked", "unmarked"))
    loss: str = setting("cross_entropy", choices=("cross_entropy", "listwise", "margin"))
    margin: float = 0.1
    depth_train: int = 10
    negatives: int = setting(0, minimum=0)
    max_queries: int = setting(0, minimum=0)
    depth: int = 1000
    blend: float = setting(0.0, minimum=0, maximum=1)
    epochs: int = setting(1, minimum=0)
    batch: int = 13
    learning_rate: float = 3e-6
    batch_tokens: int = 8192
    precision: str = setting("float32", choices=("bfloat16", "float32"))
    vocab_size: int = setting(8192, minimum=300)

    def __post_init__(self) -> None:
        if self.joined and (self.loss != "listwise" or self.negatives or self.blend):
            raise ConfigError(
                f"joined={self.joined}: found loss={self.loss}, negatives={self.negatives} and "
                f"blend={self.blend}; expected loss=listwise negatives=0 blend=0, as the score of "
                f"the list is learnt from"
            )

    @property
    def learns_from(self) -> str:
        """Training lists, unless the model is taken as it is."""
        return "train" if self.epochs else ""

    def check(self, store: CorpusStore) -> None:
        """Refuse a corpus without titles and abstracts, or without sentences that cite.

        :raises CorpusError: it has none.
        """
        check_has_texts(store, self.name)
        if self.citing and not len(store.contexts("train")):
            raise CorpusError(
                f"{store.path}: found no training sentence that cites; expected some for "
                f"citing={self.citing}, choose --settings citing=0"
            )

    def prepare(self, store: CorpusStore, rng: Generator) -> dict[str, int]:
        """Load the model, and tokenise the texts of the corpus."""
        from mpbert.pretrained.encoder import PretrainedEncoder
        from mpbert.pretrained.models import load
        from mpbert.pretrained.texts import training_texts

        self._seed = int(rng.integers(2**31))
        head = "none" if self.joined else "pair"
        model, tokenizer = load(
            self.model, head, self._seed, self.vocab_size, lambda: training_texts(store)
        )
        encoder = PretrainedEncoder(
            model, tokenizer, "cls", self.batch_tokens, self.precision == "bfloat16"
        )
        self._make_scorer(store, encoder)
        return {"parameters": sum(p.numel() for p in self._scorer.trained.model.parameters())}

    def fit(
        self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking], rng: Generator
    ) -> dict[str, int]:
        """Train the model, if there are epochs.

        :raises RunError: the lists have no paper that their query cites.
        """
        return self._train(store, queries, rankings[0], rng) if self.epochs else {}

    def rerank(self, store: CorpusStore, queries: Queries, rankings: Sequence[Ranking]) -> Ranking:
        """Return the first papers by the new score, then the others as they were."""
        first = rankings[0].first(self.depth)
        rows, old = first.rows, first.scores
        texts = self._texts.queries(queries, self.query, self.begins)
        scores = np.full(rows.shape, -np.inf)
        block = max(_PAIRS // rows.shape[1], 1)
        for start in progress(range(0, len(rows), block), "rerank", "block"):
            part = slice(start, start + block)
            scores[part] = self._scores(texts, queries, rows[part], start)
        if self.joined:
            scores = scores + self._scorer.of_list(standardised(old))
        elif self.blend:
            scores = blended(scores, old, self.blend)
        return rankings[0].reordered(scores)

    def save(self, directory: Path) -> None:
        """Write a trained model into ``model``, a folder that Hugging Face's library reads."""
        if self.epochs:
            self._scorer.save(directory / "model")

    def _make_scorer(self, store: CorpusStore, encoder: "PretrainedEncoder") -> None:
        if self.joined:
            from mpbert.methods.cross_encoder.joined import JoinedScorer
            from mpbert.methods.cross_encoder.near_texts import NearTexts

            self._scorer = JoinedScorer(encoder, self.matches == "marked", self.joined)
            self._scorer.load(Path(self.model))
            layout = self._scorer.layout(self.query_tokens, self.paper_tokens)
            self._texts = NearTexts(store, self._scorer.upper, layout, self.citing)
            return
        from mpbert.methods.cross_encoder.model import PairScorer
        from mpbert.methods.cross_encoder.texts import PairTexts

        self._scorer = PairScorer(encoder, self.matches == "marked")
        layout = self._scorer.layout(self.query_tokens, self.paper_tokens)
        self._texts = PairTexts(store, encoder.tokenize, layout, self.citing, self._seed)

    def _scores(
        self, texts: "Ragged", queries: Queries, rows: np.ndarray, start: int
    ) -> np.ndarray:
        scores, has = np.full(rows.shape, -np.inf), rows >= 0
        numbers = np.nonzero(has)[0] + start
        pairs = self._texts.pairs(texts, numbers, queries.citing_rows[numbers], rows[has])
        scores[has] = self._scorer.score(pairs)
        return scores

    def _train(
        self, store: CorpusStore, queries: Queries, ranking: Ranking, rng: Generator
    ) -> dict[str, int]:
        from mpbert.methods.cross_encoder.trainer import ListObjective, training_lists
        from mpbert.methods.fine_tuning import FineTuningSchedule, fine_tune

        lists = training_lists(store, queries, ranking, self.depth_train)
        examples = self._examples(lists, rng)
        queries, lists = queries.take(examples), lists.take(examples)
        texts = self._texts.queries(queries, self.query, self.begins)
        objective = ListObjective(
            self._scorer,
            self._texts,
            texts,
            queries,
            lists,
            self,
            self._learnt_start(texts, queries, lists) if self.joined else None,
        )
        schedule = FineTuningSchedule(self.epochs, self.batch, self.learning_rate)
        checkpoint = self.checkpoint_of_lists(store, self._seed, lists.rows)
        updates = fine_tune(self._scorer.trained.model, objective, schedule, self._seed, checkpoint)
        return {
            "updates": updates,
            "lists": len(examples),
            "candidates": int((lists.rows >= 0).sum()),
            "candidates_cited": int(lists.cited.sum()),
        }

    def _learnt_start(
        self, texts: "Ragged", queries: Queries, lists: "TrainingLists"
    ) -> np.ndarray:
        """Learn the linear part of the score; return what each list gives its candidates."""
        numbers, _ = np.nonzero(lists.rows >= 0)
        own, rows = queries.citing_rows[numbers], lists.rows[lists.rows >= 0]
        features = self._texts.features(texts, numbers, own, rows)
        self._scorer.learn_linear(lists.old, features, lists.cited)
        return self._scorer.of_list(lists.old)

    def _examples(self, lists: "TrainingLists", rng: Generator) -> np.ndarray:
        examples = lists.usable(self.loss)
        if self.max_queries and self.max_queries < len(examples):
            return np.sort(rng.choice(examples, self.max_queries, replace=False))
        return examples
