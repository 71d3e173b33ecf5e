"""SciBERT, SPECTER or any encoder of Hugging Face, as it is or fine-tuned on augmented abstracts.

What MP-BERT4CR (Zhang and Ma, WI-IAT 2021) says of SciBERT and Specter, which it compares with:

* Sec. 5.2: "fine-tuned with the abstract combined with fundamental contexts (i.e. augmented
  abstracts), so that the learnt vectors carrying the semantics of the abstract and the citing
  intents", with "default parameters";
* Sec. 5.3: query vectors come from the fundamental context, citation vectors from "encoding and
  sum-pooling the augmented abstracts"; cosine.

What it does not say, and what we do:

* *Whose contexts augment an abstract.* Those of training sentences that cite the paper; one that
  training never cites has its title and abstract alone. A few, sampled at random, go into a text.
  With ``citing_vectors`` each is read alone, and its vector is added to that of title and
  abstract (:mod:`mpbert.methods.citing_vectors`). Training samples ``citing`` of them for a paper,
  and the vectors of papers have them all.
* *The manuscript.* With ``query=context+abstract`` the vector of its title and abstract is added to
  that of a context. With ``head_epochs`` finished vectors pass through linear maps that are learnt
  from all training contexts: :mod:`mpbert.methods.citation_head`.
* *The objective.* ``mlm``, masked tokens of augmented abstracts, is the literal reading: it needs
  nothing but the texts, and how these models are trained by default. ``contrastive``, the default
  here, learns from the same pairs of context and cited paper as MP-BERT4CR does, without which a
  comparison would show no more than that these were withheld. See
  :mod:`mpbert.methods.huggingface.objectives`.
* *Length.* A SciBERT reads 512 tokens: title and abstract are cut, then each context.
* *Layers.* ``trained_layers`` are the top ones that fine-tuning changes (0: all). The layers below
  then read each part of a text alone, and only once: :mod:`mpbert.pretrained.frozen_layers`.
* *Pooling.* Special tokens count. By cosine ``sum`` and ``mean`` rank alike: they differ in length.

Queries and papers share one encoder, since the paper names no second one.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from mpbert.corpus.store import Contexts, CorpusStore, Queries
from mpbert.foundation.config import setting
from mpbert.foundation.errors import ConfigError
from mpbert.methods.citing_embedder import CitingEmbedder
from mpbert.methods.embedding import EMBEDDERS
from mpbert.methods.huggingface.augmented_texts import AugmentedTexts
from mpbert.pretrained.texts import training_texts

# torch and Hugging Face's library are imported by the methods that need them: other methods
# shall neither wait for them nor have their memory counted


@EMBEDDERS.register
@dataclass
class Transformer(CitingEmbedder):
    """Pooled states of a transformer: contexts as queries, augmented abstracts as papers.

    The settings: ``model``, see :mod:`mpbert.pretrained.models`; ``epochs`` of
    fine-tuning (0: as it is); ``max_examples``, how many examples training visits, the same at each
    epoch (0: all); ``trained_layers``, top layers that are fine-tuned (0: all);
    ``batch``, contexts or papers of an update; ``citing``, most training contexts in the text of a
    paper; with ``citing_vectors`` contexts are read alone, and training adds the vectors of
    ``citing`` of them to a paper's; ``paper_tokens`` and
    ``context_tokens``, where title with abstract and where a context are cut; ``batch_tokens`` in
    memory at once; ``vocab_size`` of a random model; and those of ``CitingEmbedder``.
    """

    name: ClassVar[str] = "transformer"
    resumes: ClassVar[bool] = True
    quick: ClassVar[tuple[str, ...]] = (
        *("model=random:1x32", "epochs=1", "vocab_size=400"),
        *("paper_tokens=30", "context_tokens=30", "citing_vectors=true", "head_epochs=1"),
    )
    model: str = "allenai/scibert_scivocab_uncased"
    pooling: str = setting("sum", choices=("cls", "mean", "sum"))
    objective: str = setting("contrastive", choices=("contrastive", "mlm"))
    epochs: int = setting(3, minimum=0)
    max_examples: int = setting(0, minimum=0)
    trained_layers: int = setting(0, minimum=0)
    batch: int = setting(64, minimum=2)
    learning_rate: float = 2e-5
    temperature: float = 0.05
    citing: int = setting(2, minimum=0)
    paper_tokens: int = 256
    context_tokens: int = 128
    batch_tokens: int = 8192
    precision: str = setting("float32", choices=("bfloat16", "float32"))
    vocab_size: int = setting(8192, minimum=300)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.citing_vectors and self.objective == "mlm":
            raise ConfigError(
                "citing_vectors=true: found objective=mlm, which reads augmented abstracts; "
                "expected objective=contrastive, or citing_vectors=false"
            )
        if self.citing_vectors and self.epochs and not self.citing:
            raise ConfigError(
                "citing=0: found citing_vectors=true, which the vectors of papers would have and "
                "training would not; expected citing=1 or more"
            )
        if self.max_examples == 1:
            raise ConfigError("max_examples=1; expected 2 or more, or 0 for all")
        if self.trained_layers and self.objective == "mlm":
            raise ConfigError(
                f"trained_layers={self.trained_layers}: found objective=mlm, which masks what the "
                f"lower layers have read; expected objective=contrastive, or trained_layers=0"
            )

    def fit(self, store: CorpusStore, rng: np.random.Generator) -> dict[str, int]:
        """Load the model, and fine-tune it if there are epochs."""
        from mpbert.pretrained.encoder import PretrainedEncoder
        from mpbert.pretrained.frozen_layers import with_frozen_layers
        from mpbert.pretrained.models import load

        self._seed = int(rng.integers(2**31))
        head = "masked" if self.epochs > 0 and self.objective == "mlm" else "none"
        model, tokenizer = load(
            self.model, head, self._seed, self.vocab_size, lambda: training_texts(store)
        )
        whole = PretrainedEncoder(
            model, tokenizer, self.pooling, self.batch_tokens, self.precision == "bfloat16"
        )
        self._encoder = with_frozen_layers(whole, self.trained_layers)
        layout = self._encoder.layout(self.paper_tokens, self.context_tokens)
        self._texts = AugmentedTexts(store, self._encoder.tokenize, layout)
        updates = self._fine_tune(store) if self.epochs else 0
        counts = {}
        if self.citing_vectors:
            own = self._texts.papers_alone(np.arange(store.num_papers))
            contexts = self._texts.queries(np.arange(len(self._texts.training)))
            parts = (own, "embed papers"), (contexts, "embed contexts")
            vectors = (self._encoder.embed(*part) for part in parts)
            counts = self.join(store, *vectors, self._seed)
        return {
            "parameters": sum(p.numel() for p in model.parameters()),
            "updates": updates,
            "papers_without_citing_context": int((self._texts.num_citing == 0).sum()),
            **counts,
        }

    def read_papers(self, store: CorpusStore) -> np.ndarray:
        """Return the vectors of augmented abstracts."""
        rng = np.random.default_rng([self._seed, 1])
        rows = self._texts.papers(np.arange(store.num_papers), self.citing, rng)
        return self._encoder.embed(rows, "embed papers")

    def read_queries(self, store: CorpusStore, queries: Queries) -> np.ndarray:
        """Return the vectors of contexts, or of titles and abstracts."""
        if isinstance(queries, Contexts):
            texts = store.local_texts(queries), self.context_tokens
            return self._encoder.embed_texts(*texts, "embed queries")
        rows = self._texts.papers_alone(queries.citing_rows)
        return self._encoder.embed(rows, "embed queries")

    def save(self, store: CorpusStore, directory: Path) -> None:
        """Write a fine-tuned model, ``model`` for Hugging Face's library, and a head."""
        super().save(store, directory)
        if self.epochs:
            self._encoder.save(directory / "model")

    def _fine_tune(self, store: CorpusStore) -> int:
        from mpbert.methods.fine_tuning import FineTuningSchedule, fine_tune
        from mpbert.methods.huggingface.objectives import Contrastive, MaskedLanguage

        shared = self._encoder, self._texts, store, self.citing
        objective = (
            MaskedLanguage(*shared)
            if self.objective == "mlm"
            else Contrastive(*shared, self.temperature, self.citing_vectors)
        )
        if self.max_examples and len(objective.examples) > self.max_examples:
            rng = np.random.default_rng([self._seed, 2])
            objective.examples = rng.choice(objective.examples, self.max_examples, replace=False)
        schedule = FineTuningSchedule(self.epochs, self.batch, self.learning_rate)
        checkpoint = self.checkpoint_of(store, self._seed)
        return fine_tune(self._encoder.model, objective, schedule, self._seed, checkpoint)
