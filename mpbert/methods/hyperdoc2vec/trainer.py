"""The two phases of HyperDoc2Vec, epoch by epoch; noise and subsampling go by counts of words.

``model`` is the embedder: its settings are read here, and its matrices are changed in place.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from mpbert.methods.checkpoint import Checkpoint, State
from mpbert.methods.hyperdoc2vec.citation_batches import BATCH_CITATIONS, train_citations
from mpbert.methods.hyperdoc2vec.examples import Citations, pieces_of
from mpbert.methods.hyperdoc2vec.negative_sampling import alias_table, subsample
from mpbert.methods.hyperdoc2vec.together import num_threads
from mpbert.methods.hyperdoc2vec.word_batches import BATCH_SEGMENTS, train_words
from mpbert.methods.hyperdoc2vec.word_stream import WordStream
from mpbert.methods.method import Method
from mpbert.methods.training import Learner, Plan, train

_POWER = 0.75
_LAST_RATE = 1e-4


class WordPhase:
    """Phase 1: every word from its neighbours and its document.

    :param stream: the documents; ``rows`` (M,) of them among the papers.
    :param train_all: whether words are changed too, not the documents alone.
    """

    def __init__(
        self, model: Method, stream: WordStream, rows: np.ndarray, train_all: bool
    ) -> None:
        self._model, self._stream, self._rows, self._train_all = model, stream, rows, train_all
        self.num_epochs = model.epochs
        self._kept = probability_kept(model)
        self._noise = alias_table(model.counts**_POWER)

    def run_epoch(self, number: int, rng: np.random.Generator) -> None:
        """Visit every piece of the documents once, in random order, as epoch ``number`` from 0."""
        m, stream = self._model, self._stream
        seeds = rng.integers(2**63, size=2, dtype=np.uint64)
        tokens, offsets = subsample(stream.tokens, stream.paper_offsets, self._kept, seeds[0])
        segments = pieces_of(offsets, self._rows)
        segments = segments[rng.permutation(len(segments))]
        num_batches = -(-len(segments) // BATCH_SEGMENTS)
        train_words(
            tokens, segments, m.word_in, m.word_out, m.document_in, *self._noise,
            m.negatives, m.window, rates_of(m, number, m.epochs, num_batches),
            seeds[1], self._train_all, num_threads(), m.updates == "at_once",
        )  # fmt: skip


class CitationPhase:
    """Phase 2: every citation, in text subsampled like that of phase 1.

    :param sources: (M,) rows of the documents of the stream.
    :param free: (N,) which documents OUT may change.
    :param train_all: whether words and citing documents are changed too.
    """

    def __init__(
        self,
        model: Method,
        stream: WordStream,
        citations: Citations,
        sources: np.ndarray,
        free: np.ndarray,
        train_all: bool,
    ) -> None:
        self._model, self._stream, self._citations = model, stream, citations
        self._free, self._train_all = free, train_all
        self.num_epochs = model.citation_epochs
        self._kept = probability_kept(model)
        alike = np.union1d(sources, citations.cited)
        noise = {"sources": alike, "citations": citations.cited}[model.noise]
        self._noise = alias_table(np.bincount(noise, minlength=len(free)) ** _POWER)

    def run_epoch(self, number: int, rng: np.random.Generator) -> None:
        """Visit every citation once, in random order."""
        m, stream = self._model, self._stream
        seeds = rng.integers(2**63, size=2, dtype=np.uint64)
        tokens, offsets = subsample(stream.tokens, stream.sentence_offsets, self._kept, seeds[0])
        examples = self._citations.among(offsets)
        num_batches = -(-len(examples) // BATCH_CITATIONS)
        train_citations(
            tokens, examples[rng.permutation(len(examples))], m.word_in, m.document_in,
            m.document_out, *self._noise, m.citation_negatives, m.citation_window,
            rates_of(m, number, m.citation_epochs, num_batches), seeds[1], self._free,
            self._train_all, num_threads(),
        )  # fmt: skip


Phase = WordPhase | CitationPhase


def train_phases(
    model: Method,
    phases: Sequence[Phase],
    rng: np.random.Generator,
    checkpoint: Checkpoint | None = None,
) -> None:
    """Do all epochs of all phases, one after another.

    :param rng: of all that is random; it goes on from epoch to epoch.
    """
    train(_PhasesLearner(model, phases, rng), checkpoint)


class _PhasesLearner(Learner):
    """An epoch a step; no loss is computed."""

    def __init__(self, model: Method, phases: Sequence[Phase], rng: np.random.Generator) -> None:
        self._rng = rng
        self._epochs = [(phase, i) for phase in phases for i in range(phase.num_epochs)]
        self.plan = Plan("hyperdoc2vec", len(self._epochs))
        self._matrices = {
            "words.in": model.word_in,
            "words.out": model.word_out,
            "documents.in": model.document_in,
            "documents.out": model.document_out,
        }

    def step(self, number: int) -> Iterator[float]:
        """Do an epoch of one of the phases."""
        phase, epoch = self._epochs[number]
        phase.run_epoch(epoch, self._rng)
        return iter(())

    def state(self) -> State:
        """Return the four matrices and the state of the generator."""
        return State(dict(self._matrices), {"random": self._rng.bit_generator.state})

    def restore(self, state: State) -> None:
        """Put back what :meth:`state` returned."""
        for name, matrix in self._matrices.items():
            matrix[:] = state.arrays[name]
        self._rng.bit_generator.state = state.values["random"]


def probability_kept(model: Method) -> np.ndarray:
    """Return (V,) how likely an occurrence of each word is read, as word2vec's code has it."""
    share = model.counts / model.counts.sum()
    return (np.sqrt(share / model.sample) + 1) * model.sample / share


def rates_of(model: Method, epoch: int, num_epochs: int, num_batches: int) -> np.ndarray:
    """Return the learning rates of an epoch's batches: a straight line over all epochs."""
    done = (epoch + np.arange(num_batches) / max(num_batches, 1)) / num_epochs
    rates = model.learning_rate + (_LAST_RATE - model.learning_rate) * done
    return rates.astype(np.float32)
