"""HAtten, the prefetching of Gu, Gao and Hahnloser (ECIR 2022), Sec. 4.1 and 4.3.

One encoder reads queries and papers, see :mod:`mpbert.methods.hatten.model`; papers are ranked by
cosine. What the paper does not say is as in its code (nianlonggu/Local-Citation-Recommendation):
hidden size 1024, dropout 0.1, positions at both levels, levels of relevance, the moving average.
Where they differ, and where we do:

* *Margins.* The paper has one margin for every triplet, 0.1 as it seems; the code grades it, 0.05
  for each level between the two papers (0 query, 1 cited, 2 prefetched and alike, 3 other
  prefetched and random ones, 4 those of other queries), and sums over all triplets. The code is the
  default; ``margins=single`` with ``margin=0.1`` is the paper, whose alike papers are compared with
  random ones alone. An older version of the code has random papers on level 4 too.
* *Batches.* As the paper: 64 queries with 4 prefetched papers each; the code fits about 17 queries
  with 3 into 100 texts.
* *Known papers.* Other queries' papers that a query cites too, or that is its own citing paper, are
  negatives in the code, and are left out here.
* *Queries.* The code trains a model of local or of global queries: ``train_on``. The vectors hold
  queries of both tasks either way. A global query is the document of the paper itself.
* *Words.* Runs of letters and digits, not whitespace between them; vectors: see
  :mod:`mpbert.methods.word_vectors`. Words without a vector are left out, as in the code.
* *Start.* Word vectors of our size are fixed in the paper, and its vectors start almost alike:
  positions are added to the words, and the ReLU of the pooling keeps what all texts share.
  ``start=bag`` begins with a weighted bag of words instead, to which attention adds, from zero,
  see :mod:`mpbert.methods.hatten.model`. ``learn_words=1`` moves the vectors of the bag, too;
  attention reads them as they were. ``places=attention`` adds positions to what attention reads,
  not to the words. ``width`` narrows the levels. ``temperature`` has a softmax over the papers of a
  batch in place of triplets. All of these are ours, and off unless asked for.
* *Jaccard index.* Of stems, not lemmas, see :mod:`mpbert.methods.hatten.examples`.
* *Papers.* Those of later splits are neither positives nor negatives: their text is not for
  training. Later papers than the query are ranked, as in the paper.

On a CPU the result is the same bit for bit, as long as the number of threads is, also after a kill.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.corpus.tasks import TASKS
from mpbert.foundation.config import setting
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.methods.embedding import EMBEDDERS, Embedder
from mpbert.methods.hatten.documents import QUERIES, DocumentReader
from mpbert.methods.hatten.examples import read_training_queries
from mpbert.vectors.store import VectorStore, vectors_name

if TYPE_CHECKING:
    from mpbert.methods.hatten.examples import TrainingQueries
    from mpbert.methods.hatten.model import HattenEncoder

# torch is imported by the methods that need it: other methods shall not wait for it


@EMBEDDERS.register
@dataclass
class Hatten(Embedder):
    """Hierarchical attention over title, abstract and context, with fixed word vectors.

    The defaults are the paper's. ``dim``, ``word_epochs`` and ``min_count`` are of our word
    vectors; ``word_vectors``: a file or folder of one's own instead, see
    :mod:`mpbert.methods.word_vectors`. ``longest``: words of a paragraph that are read. ``query``:
    what a local query reads. ``loops`` of ``updates`` updates of ``batch`` queries; each has
    ``hard`` of its ``prefetched`` papers and ``easy`` random ones. ``mined``: most queries of a
    loop, for which papers are prefetched anew. ``average``: part of the moving average of the
    weights that an update leaves. Ours: ``width``, dimensions of the levels (0: of the word
    vectors); ``start=bag``, a weighted bag of words that attention changes from there;
    ``learn_words=1``, its vectors are learnt, too; ``places``, what positions are added to;
    ``word_dropout``, share of words left out in training; ``temperature`` of a softmax (0:
    triplets); ``bag_rate``, learning rate of the bag, as a multiple.
    """

    name: ClassVar[str] = "hatten"
    resumes: ClassVar[bool] = True
    quick: ClassVar[tuple[str, ...]] = (
        *("dim=16", "heads=2", "hidden=16", "longest=20", "word_epochs=1", "loops=2", "updates=3"),
        *("batch=16", "mined=200", "prefetched=10", "average=0.5"),
    )
    word_vectors: str = ""
    dim: int = 200
    word_epochs: int = 5
    min_count: int = 5
    heads: int = 8
    hidden: int = 1024
    width: int = setting(0, minimum=0)
    start: str = setting("attention", choices=("attention", "bag"))
    places: str = setting("words", choices=("attention", "words"))
    learn_words: int = setting(0, minimum=0)
    longest: int = 512
    query: str = setting("context+abstract", choices=QUERIES)
    train_on: str = setting("local", choices=("both", *TASKS))
    loops: int = 5
    updates: int = 5000
    batch: int = setting(64, minimum=2)
    hard: int = setting(4, minimum=0)
    easy: int = setting(1, minimum=0)
    prefetched: int = 100
    mined: int = 50000
    learning_rate: float = 1e-4
    weight_decay: float = setting(1e-5, minimum=0)
    margins: str = setting("graded", choices=("graded", "single"))
    margin: float = 0.05
    temperature: float = setting(0.0, minimum=0)
    bag_rate: float = 3.0
    dropout: float = setting(0.1, minimum=0)
    word_dropout: float = setting(0.0, minimum=0)
    average: float = setting(0.999, minimum=0)
    precision: str = setting("float32", choices=("bfloat16", "float32"))

    def __post_init__(self) -> None:
        for name in ("dropout", "word_dropout", "average"):
            if getattr(self, name) >= 1:
                raise ConfigError(f"--settings {name}={getattr(self, name)}: expected less than 1")
        if self.learn_words and self.start != "bag":
            raise ConfigError(
                f"--settings learn_words={self.learn_words}: found start={self.start}; the words "
                f"of a bag are learnt, expected start=bag or learn_words=0"
            )
        if self.width or not self.word_vectors:
            self._check_heads(self.dim, f"dim={self.dim}")

    def fit(self, store: CorpusStore, rng: np.random.Generator) -> dict[str, int]:
        """Train word vectors, unless there are some, then the encoder."""
        from mpbert.methods.hatten.trainer import train_encoder
        from mpbert.methods.word_vectors import words_of
        from mpbert.pretrained.device import trained_on

        seed = int(rng.integers(2**31))
        self._words, vectors = words_of(self, store, seed)
        self._check_heads(vectors.shape[1], f"word_vectors={self.word_vectors}")
        self._reader = DocumentReader(store, self._words, self.longest)
        examples = read_training_queries(store, self._reader, self._training_tasks, self.query)
        if len(examples) < 2:
            raise CorpusError(
                f"{store.path}: found {len(examples)} training queries that cite training papers; "
                f"HAtten learns from citations, expected some, choose other years"
            )
        encoder = self._new_encoder(vectors, examples, seed)
        self._encoder = encoder.to(trained_on())
        checkpoint = self.checkpoint_of(store, seed)
        updates = train_encoder(self._encoder, examples, self, seed, checkpoint)
        return {
            "words": len(self._words),
            "training_queries": len(examples),
            "parameters": sum(p.numel() for p in encoder.parameters()),
            "updates": updates,
        }

    def embed_papers(self, store: CorpusStore) -> VectorStore:
        """Return the vectors of titles and abstracts; zero where no word of them is known."""
        documents = self._reader.papers(np.arange(store.num_papers))
        return VectorStore(store.paper_ids, self._embed(documents))

    def embed_queries(self, store: CorpusStore, queries: Queries) -> VectorStore:
        """Return the vectors of queries; zero where no word of them is known."""
        documents = self._reader.queries(queries, self.query)
        return VectorStore(queries.query_ids, self._embed(documents))

    def vectors(self, store: CorpusStore) -> dict[str, VectorStore]:
        """Return also the training queries: a reranker learns from what is prefetched for them."""
        queries = {
            vectors_name(task, "train"): self.embed_queries(store, store.queries("train", task))
            for task in self._training_tasks
        }
        return {**super().vectors(store), **queries}

    @property
    def _training_tasks(self) -> tuple[str, ...]:
        return TASKS if self.train_on == "both" else (self.train_on,)

    def save(self, store: CorpusStore, directory: Path) -> None:
        """Write the weights and the word vectors, ``model.safetensors``, and ``words.json``.

        Of a bag also ``bag.log_start``: what its words weighed before training, as logarithms.
        """
        from safetensors.torch import save_file

        tensors = {name: p.detach() for name, p in self._encoder.named_parameters()}
        tensors["words"] = self._encoder.words
        if self._encoder.bag is not None:
            tensors["bag.log_start"] = self._encoder.bag.log_start
        save_file(
            {k: t.cpu().contiguous() for k, t in tensors.items()}, directory / "model.safetensors"
        )
        words = json.dumps(self._words.to_pylist(), ensure_ascii=False)
        (directory / "words.json").write_text(words, encoding="utf-8")

    def _embed(self, documents: object) -> np.ndarray:
        return self._encoder.embed(documents, self.precision == "bfloat16")

    def _new_encoder(
        self, vectors: np.ndarray, examples: "TrainingQueries", seed: int
    ) -> "HattenEncoder":
        import torch

        from mpbert.methods.hatten.bag import WordBag, inverse_frequencies
        from mpbert.methods.hatten.model import HattenEncoder, Shape

        in_states = self.places == "words"
        shape = Shape(
            self.heads, self.hidden, self.dropout, self.width, in_states, self.word_dropout
        )
        bag = None
        if self.start == "bag":
            read = examples.papers.read(examples.pool)
            weights = inverse_frequencies(read, len(vectors))
            bag = WordBag(torch.from_numpy(vectors), weights, bool(self.learn_words))
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return HattenEncoder(vectors, self.longest, shape, bag)

    def _check_heads(self, dim: int, source: str) -> None:
        if self.width:
            dim, source = self.width, f"width={self.width}"
        if dim % self.heads:
            raise ConfigError(
                f"--settings {source} heads={self.heads}: found vectors of {dim} dimensions; "
                f"hatten gives each head an equal part of them, expected heads that divide {dim}"
            )
