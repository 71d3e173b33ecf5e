"""Phase 1 of HyperDoc2Vec beside gensim's Doc2Vec (PV-DM), in words per second, as a ratio.

Run: ``PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_hyperdoc2vec.py [corpus store]``; the
default is runs/corpus/rfc. Both train on the same words of the training papers, with the same
vocabulary, dimension, negatives, subsampling and threads; the best of three epochs counts, of each
in turn, since machines are noisy. Words are counted before subsampling. gensim reads the text from
a file (``corpus_file``, its fastest way, though in 4.4 its windows are then not sampled) and one by
one (``corpus_iterable``). "At once" is the setting ``updates=at_once``, whose bits differ from run
to run. Two threads are also set beside one, and the tasks of an epoch are shared out again without
work: what equal bits cost in waiting, if no thread lacks a core. The goal is 2; with equal bits on
two threads it is 1.3.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from contest import print_row
from gensim.models import Doc2Vec
from gensim.models.doc2vec import TaggedLineDocument
from numba import njit

from mpbert.corpus.store import CorpusStore
from mpbert.methods.hyperdoc2vec.embedder import HyperDoc2Vec
from mpbert.methods.hyperdoc2vec.examples import SEGMENT
from mpbert.methods.hyperdoc2vec.together import run_together, tasks_of
from mpbert.methods.hyperdoc2vec.trainer import WordPhase
from mpbert.methods.hyperdoc2vec.word_batches import BATCH_SEGMENTS
from mpbert.methods.hyperdoc2vec.word_stream import WordStream, read_words

DIM, NEGATIVES, SAMPLE, MOST_WORDS = 100, 5, 1e-3, 8_000_000
LINE = 10_000  # gensim leaves out the rest of a longer document


def seconds(action: Callable[[], None]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def prepare_ours(
    stream: WordStream, window: int, threads: int, updates: str = "in_order"
) -> Callable[[], None]:
    sizes = {"dim": DIM, "window": window, "negatives": NEGATIVES, "sample": SAMPLE}
    model = HyperDoc2Vec(**sizes, epochs=1, citation_epochs=1, updates=updates)
    rng = np.random.default_rng(1)
    num_papers = len(stream.paper_offsets) - 1
    model.counts = stream.counts
    model.word_in = model._random(len(stream.vocabulary), rng)
    model.word_out = np.zeros_like(model.word_in)
    model.document_in = model._random(num_papers, rng)

    phase = WordPhase(model, stream, np.arange(num_papers), train_all=True)

    def epoch() -> None:
        os.environ["NUMBA_NUM_THREADS"] = str(threads)
        phase.run_epoch(0, rng)

    return epoch


@njit(nogil=True)
def _pass_stages(batches: int, tasks: tuple[int, ...], counters: np.ndarray) -> None:
    """Take and finish all tasks of the stages, without work."""
    end = np.int64(0)
    for _ in range(batches):
        for count in tasks:
            begin, end = end, end + count
            for _ in tasks_of(counters, begin, end):
                pass


def print_scaling(num_words: int, window: int, best: dict[int, float]) -> None:
    """Print the row of two threads beside one, and what it costs to share out an epoch's tasks."""
    batches = num_words // (SEGMENT * BATCH_SEGMENTS)  # at most: subsampling leaves fewer
    run_together(partial(_pass_stages, 1, (BATCH_SEGMENTS, 2)), 2)  # compiles
    pass_all = partial(_pass_stages, batches, (BATCH_SEGMENTS, 2))
    waiting = min(seconds(lambda: run_together(pass_all, 2)) for _ in range(3))
    print_row(
        f"HyperDoc2Vec, window {window}, two threads: tasks and barriers of {batches:,} batches",
        "an epoch",
        "-",
        f"{waiting / best[2]:.1%}",
        f"{waiting:.4f} s",
        f"{best[2]:.3f} s",
        "-",
    )
    print_row(
        f"HyperDoc2Vec, window {window}, two threads, same bits",
        "one thread",
        "-",
        best[1] / best[2],
        f"{num_words / best[2]:,.0f} words/s",
        f"{num_words / best[1]:,.0f} words/s",
        "-",
    )


def prepare_gensim(path: Path, window: int, threads: int, by_file: bool) -> Callable[[], None]:
    text = {"corpus_file": str(path)} if by_file else {"corpus_iterable": TaggedLineDocument(path)}
    model = Doc2Vec(
        vector_size=DIM,
        window=window,
        negative=NEGATIVES,
        sample=SAMPLE,
        min_count=1,
        dm=1,
        workers=threads,
    )
    model.build_vocab(**text)

    def epoch() -> None:
        model.train(
            **text,
            total_examples=model.corpus_count,
            total_words=model.corpus_total_words,
            epochs=1,
        )

    return epoch


def print_contest_of_threads(stream: WordStream, path: Path, window: int, threads: int) -> float:
    """Print the rows of both ways of ours beside gensim; return seconds of ours, in order."""
    num_words = len(stream.tokens)
    ours = {
        "": prepare_ours(stream, window, threads),
        ", at once": prepare_ours(stream, window, threads, "at_once"),
    }
    peers = {
        "gensim, file": prepare_gensim(path, window, threads, by_file=True),
        "gensim, one by one": prepare_gensim(path, window, threads, by_file=False),
    }
    for compile_it in ours.values():
        compile_it()
    best = dict.fromkeys([*ours, *peers], np.inf)
    for _ in range(3):
        for name, epoch in (ours | peers).items():
            best[name] = min(best[name], seconds(epoch))
    peer = min(peers, key=best.get)
    for name in ours:
        print_row(
            f"HyperDoc2Vec{name}, {num_words:,} words, window {window}, threads {threads}",
            f"Doc2Vec of {peer}",
            ">= 1.3" if threads > 1 and name == "" else ">= 2",
            best[peer] / best[name],
            f"{num_words / best[name]:,.0f} words/s",
            f"{num_words / best[peer]:,.0f} words/s",
            "-",
        )
    return best[""]


def main(corpus: str = "runs/corpus/rfc") -> None:
    store = CorpusStore(Path(corpus))
    rows = np.flatnonzero(store.paper_splits == "train")
    stream = read_words(store, rows, min_count=5)
    few = int(np.searchsorted(stream.paper_offsets, MOST_WORDS, side="right")) - 1
    stream = read_words(store, rows[: max(few, 1)], min_count=5)
    num_words = len(stream.tokens)
    print(f"{num_words:,} words, {len(stream.vocabulary):,} of them different, {DIM} dimensions")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "text"
        with path.open("w") as file:
            for start, end in zip(stream.paper_offsets, stream.paper_offsets[1:], strict=False):
                for place in range(start, end, LINE):
                    words = stream.tokens[place : min(place + LINE, end)]
                    file.write(" ".join(map(str, words)) + "\n")
        for window in (5, 20):
            ours = {}
            for threads in (1, 2):
                ours[threads] = print_contest_of_threads(stream, path, window, threads)
            print_scaling(num_words, window, ours)


if __name__ == "__main__":
    main(*sys.argv[1:])
