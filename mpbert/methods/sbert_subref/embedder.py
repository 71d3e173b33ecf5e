"""SBERT of SBERT + SubRef (ICPR 2020): one encoder of texts, trained on the citation graph.

Papers are title and abstract; so are queries of whole papers, and those of contexts are their
sentences. The vectors of cited texts come near those of the citing ones (Sec. IV): in pairs, whose
cosine shall be α^(d-1) for a paper d citations away and 0 for others (Siamese), or in triplets. The
second step, SubRef, is the reranker ``submodular``.

The defaults are the paper's: DistilBERT, a learning rate of 2e-5, batches of 16, α = 0.4 (Table I);
Siamese, two citations, farthest negatives (the best of Tables III and IV). Where it is silent or we
differ:

* *Target of a positive.* The exponent is lost in our text; α^(d-1) gives a cited paper 1.
* *Graph.* Training papers alone, along the direction of citing.
* *Negatives.* As many as positives for each anchor. Random ones are sampled afresh at each visit.
  For nearest and farthest ones the paper takes the space of its best model trained with random
  ones, and so do we if ``model`` is the folder of that model: it is the space of the model that
  training starts from.
* *Triplets.* The paper has several times as many as positives (Table I), in a number that it does
  not explain; we have one for each positive, with a negative of the same anchor.
* *A batch* counts pairs or triplets; of pairs one half are positives, each beside a negative of the
  same anchor, whose text is thus read once.
* *Contexts.* The paper ranks for titles and abstracts. With ``pairs=contexts`` or
  ``papers+contexts`` a training context is an anchor too, and what it cites its positives, at
  distance 1; its own manuscript is never its negative.
* *Citing contexts.* With ``citing_vectors`` the vectors of training contexts are added when
  training has ended: :mod:`mpbert.methods.citing_vectors`. Training is the same without them. The
  manuscript's title and abstract (``query``) and linear maps (``head_epochs``) come after it, too.
* *Layers.* ``trained_layers`` are the top ones that training changes (0: all, as in the paper). The
  layers below read each text only once: :mod:`mpbert.pretrained.frozen_layers`.
* *Schedule.* The rate rises in the first tenth of the updates and falls to 0 after, as is
  sentence-transformers' default. Its models run here, its trainer does not: the loop of
  :mod:`mpbert.methods.fine_tuning` can go on after a kill, and pads less.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from mpbert.corpus.store import Contexts, CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.ragged import offsets_of
from mpbert.foundation.ragged_rows import Ragged, stacked
from mpbert.methods.citing_embedder import CitingEmbedder
from mpbert.methods.embedding import EMBEDDERS
from mpbert.methods.sbert_subref import pairs as sbert_pairs
from mpbert.methods.sbert_subref.pairs import Negatives, Positives
from mpbert.pretrained.texts import training_texts
from mpbert.vectors.normal import normalized

# torch and sentence-transformers are imported by the methods that need them

PAIRS = ("contexts", "papers", "papers+contexts")
_EPOCHS = {"siamese": (20, 10, 5), "triplet": (10, 5, 3)}  # Table I, for distances 1, 2, 3


@EMBEDDERS.register
@dataclass
class Sbert(CitingEmbedder):
    """Sentence vectors of a Siamese or triplet network trained on citations.

    The settings: ``model``, see :mod:`mpbert.methods.sbert_subref.model`; ``distance``, most
    citations between a paper and its positives; ``epochs`` (-1: the paper's for objective and
    distance, 0: as it is); ``trained_layers``, top layers that are trained (0: all); ``batch``,
    pairs or triplets of an update; ``max_positives``, a random part of all positives (0: all);
    ``paper_tokens`` and ``context_tokens``, where texts are cut;
    ``batch_tokens`` in memory at once; ``vocab_size`` of a random model; and those of
    ``CitingEmbedder``.
    """

    name: ClassVar[str] = "sbert"
    resumes: ClassVar[bool] = True
    quick: ClassVar[tuple[str, ...]] = (
        *("model=random:1x32", "epochs=1", "vocab_size=400", "paper_tokens=30"),
        *("context_tokens=30", "pairs=papers+contexts", "max_positives=300", "learning_rate=0.001"),
    )
    model: str = "distilbert/distilbert-base-uncased"
    objective: str = setting("siamese", choices=("siamese", "triplet"))
    distance: int = 2
    negatives: str = setting("farthest", choices=("farthest", "nearest", "random"))
    pairs: str = setting("papers", choices=PAIRS)
    decay: float = setting(0.4, minimum=0)
    margin: float = 1.0
    epochs: int = setting(-1, minimum=-1)
    trained_layers: int = setting(0, minimum=0)
    batch: int = setting(16, minimum=2)
    learning_rate: float = 2e-5
    max_positives: int = setting(0, minimum=0)
    paper_tokens: int = 256
    context_tokens: int = 128
    batch_tokens: int = 8192
    precision: str = setting("float32", choices=("bfloat16", "float32"))
    vocab_size: int = setting(8192, minimum=300)

    @property
    def num_epochs(self) -> int:
        """Epochs of training, the paper's where none are given."""
        if self.epochs >= 0:
            return self.epochs
        return _EPOCHS[self.objective][min(self.distance, 3) - 1]

    def fit(self, store: CorpusStore, rng: np.random.Generator) -> dict[str, int]:
        """Load the model, and train it if there are epochs."""
        from mpbert.methods.sbert_subref import model as sbert_model

        self._seed = int(rng.integers(2**31))
        model = sbert_model.load(
            self.model, self._seed, self.vocab_size, lambda: training_texts(store)
        )
        budget = self.batch_tokens, self.precision == "bfloat16"
        self._encoder = sbert_model.encoder_of(model, *budget, self.trained_layers)
        self._layout = self._encoder.layout(self.paper_tokens, self.context_tokens)
        papers = store.abstract_texts(np.arange(store.num_papers))
        self._papers = self._rows(papers, self.paper_tokens)
        counts = self._train(store, rng) if self.num_epochs else {}
        if self.citing_vectors:
            own, contexts = self.read_papers(store), store.contexts("train")
            counts |= self.join(store, own, self.read_queries(store, contexts), self._seed)
        return {"parameters": sum(p.numel() for p in model.parameters()), **counts}

    def read_papers(self, store: CorpusStore) -> np.ndarray:
        """Return the vectors of titles and abstracts."""
        return self._encoder.embed(self._papers, "embed papers")

    def read_queries(self, store: CorpusStore, queries: Queries) -> np.ndarray:
        """Return the vectors of contexts, or of titles and abstracts."""
        if isinstance(queries, Contexts):
            texts = store.local_texts(queries), self.context_tokens
            return self._encoder.embed_texts(*texts, "embed queries")
        rows = self._papers.take(queries.citing_rows)
        return self._encoder.embed(rows, "embed queries")

    def save(self, store: CorpusStore, directory: Path) -> None:
        """Write a trained model into ``model``, which sentence-transformers reads, and a head."""
        super().save(store, directory)
        if self.num_epochs:
            self._encoder.save(directory / "model")

    def _rows(self, texts: list[str], limit: int) -> Ragged:
        return self._layout.rows(self._layout.ended(self._encoder.tokenize(texts, limit)))

    def _positives(self, store: CorpusStore) -> Positives:
        of_papers = sbert_pairs.paper_positives(store, self.distance)
        if self.pairs == "papers":
            return of_papers
        of_contexts = sbert_pairs.context_positives(store)
        if self.pairs == "contexts":
            return of_contexts
        return sbert_pairs.joined(of_papers, of_contexts)

    def _train(self, store: CorpusStore, rng: np.random.Generator) -> dict[str, int]:
        from mpbert.methods.fine_tuning import FineTuningSchedule, fine_tune
        from mpbert.methods.sbert_subref.trainer import PairObjective

        own = np.arange(store.num_papers)
        if self.pairs != "papers":
            own = np.concatenate([own, store.contexts("train").citing_rows])
        found = self._positives(store)
        negatives = Negatives(np.flatnonzero(store.paper_splits == "train"), found, own)
        positives = found.take(np.flatnonzero(negatives.sizes[found.anchors] > 0))
        without_negatives = len(found) - len(positives)
        if self.max_positives and len(positives) > self.max_positives:
            chosen = rng.choice(len(positives), self.max_positives, replace=False)
            positives = positives.take(np.sort(chosen))
        if len(positives) < 2:
            raise CorpusError(
                f"{store.path}: found {len(positives)} positives of training papers with "
                f"pairs={self.pairs}; expected 2 or more: choose other years, other pairs, or "
                f"--settings epochs=0"
            )
        texts = self._texts_of(store, positives)
        sample = self._sampler(texts, positives, negatives)
        objective = PairObjective(
            self._encoder, texts, positives, sample, self.objective, self.decay, self.margin
        )
        batch = self.batch // 2 if self.objective == "siamese" else self.batch
        schedule = FineTuningSchedule(self.num_epochs, batch, self.learning_rate)
        checkpoint = self.checkpoint_of(store, self._seed)
        updates = fine_tune(self._encoder.model, objective, schedule, self._seed, checkpoint)
        return {
            "updates": updates,
            "positives": len(positives),
            "positives_without_negatives": without_negatives,
        }

    def _texts_of(self, store: CorpusStore, positives: Positives) -> Ragged:
        """Return the tokens of anchors and papers by number; none of contexts without positives."""
        if self.pairs == "papers":
            return self._papers
        contexts = store.contexts("train")
        read = np.unique(positives.anchors)
        read = read[read >= store.num_papers] - store.num_papers
        rows = self._rows(store.local_texts(contexts.take(read)), self.context_tokens)
        lengths = np.zeros(len(contexts), dtype=np.int64)
        lengths[read] = rows.lengths
        return stacked([self._papers, Ragged(rows.items, offsets_of(lengths))])

    def _sampler(
        self, texts: Ragged, positives: Positives, negatives: Negatives
    ) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
        """Return a function of numbers of positives and a generator: a negative of each."""
        if self.negatives == "random":
            return lambda places, rng: negatives.sample(positives.anchors[places], rng)
        anchors = self._encoder.embed(texts.take(np.unique(positives.anchors)), "embed anchors")
        pool = self._encoder.embed(texts.take(negatives.pool), "embed negatives")
        vectors = normalized(anchors), normalized(pool)
        ranked = sbert_pairs.ranked_negatives(
            positives, negatives, *vectors, self.negatives == "nearest"
        )
        return lambda places, rng: ranked[places]
