"""BM25 with words on disk, where tantivy proposes papers, beside BM25 in memory.

Run: ``TEXTS="20000 500000" PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_words.py`` and a
corpus store, runs/corpus/acl unless named; it needs ``pip install 'mpbert[words]'``. Each number of
TEXTS makes a row; 20000 unless set. Texts are three sentences of the corpus that follow one
another; contexts of its test split ask. Recall is that of the ten that are found in memory. On
disk, bytes are those of tantivy and of the counts of words. The last row is of ``retrieve`` with
all fields, by two commands; its memory holds pages of mapped files. Seconds are those of the
processor.
"""

import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from contest import ended_cpu_seconds, print_row, run_command
from scipy import sparse

from mpbert.corpus.bags import count_matrix
from mpbert.corpus.store import CorpusStore
from mpbert.methods.lexical.bm25 import Bm25
from mpbert.methods.lexical.index import LexicalIndex
from mpbert.methods.lexical.on_disk import WordsOnDisk

ALL_FIELDS = "fields=2*abstract+text+5*citing", "k1=16", "b=0.5", "citing_weight=5"
CUTOFF, QUERIES, JOINED, BLOCK = 10, 200, 3, 20_000


def main(corpus: str = "runs/corpus/acl") -> None:
    if importlib.util.find_spec("tantivy") is None:
        raise SystemExit("tantivy is not installed: pip install 'mpbert[words]'")
    store = CorpusStore(Path(corpus))
    asked = store.local_texts(store.contexts("test"))
    queries = [asked[place] for place in np.linspace(0, len(asked) - 1, QUERIES).astype(int)]
    for number in map(int, os.environ.get("TEXTS", "20000").split()):
        compare(texts_of(store, number), queries)
    compare_commands(Path(corpus))


def texts_of(store: CorpusStore, number: int) -> pa.Array:
    """Return the first texts of a corpus."""
    sentences = store.sentences[: number * JOINED]
    if len(sentences) < number * JOINED:
        raise SystemExit(
            f"TEXTS={number} needs {number * JOINED:,} sentences; {store.path} has "
            f"{len(sentences):,}: set fewer, or name a larger corpus"
        )
    return pa.array(
        [" ".join(sentences[i : i + JOINED].to_pylist()) for i in range(0, len(sentences), JOINED)]
    )


def compare(texts: pa.Array, queries: list[str]) -> None:
    """Print the row of a number of texts."""
    found, shown = {}, []
    for name, make in (("on disk", on_disk), ("in memory", in_memory)):
        start = time.process_time()
        index, size = make(texts)
        made = time.process_time()
        found[name], _ = index.search(queries, CUTOFF, np.full(len(queries), -1))
        each = 1000 * (time.process_time() - made) / len(queries)
        shown.append(f"made in {made - start:.3g} s, {size / 2**20:.0f} MiB, {each:.1f} ms a query")
        print(f"{name}: {shown[-1]}", flush=True)
    pairs = zip(found["in memory"], found["on disk"], strict=True)
    recall = np.mean([np.isin(ten, other).mean() for ten, other in pairs])
    what = f"words on disk, tantivy, {len(texts):,} texts, first {CUTOFF}"
    print_row(what, "BM25 of ours, in memory", "-", f"recall {recall:.4f}", *shown, "-")


def compare_commands(corpus: Path) -> None:
    """Print the row of the command."""
    runs, seconds, peaks = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, flags in (("on_disk", ["--approximate"]), ("in_memory", [])):
            given = [corpus, Path(folder) / name, "--splits=test", "--sample=1000", *flags]
            before = ended_cpu_seconds()
            _, peak = run_command("retrieve", *given, "--lexical=bm25", "--settings", *ALL_FIELDS)
            seconds.append(f"{ended_cpu_seconds() - before:.3g} s of CPU")
            peaks.append(f"{peak:,.0f}")
            lines = (Path(folder) / name / "test.run").read_text(encoding="utf-8").splitlines()
            runs.append([line.split()[:4] for line in lines])
    recall = []
    for cutoff in (CUTOFF, 100):
        found, every = (
            {(query, paper) for query, _, paper, rank in run if int(rank) <= cutoff} for run in runs
        )
        recall.append(f"{len(found & every) / len(every):.4f}")
    what = f"retrieve, words on disk, 1,000 contexts of {corpus.name}, first {CUTOFF} and 100"
    shown = f"recall {recall[0]}, {recall[1]}"
    print_row(what, "words in memory", "-", shown, *seconds, " / ".join(peaks))


def on_disk(texts: pa.Array) -> tuple[WordsOnDisk, int]:
    """Return a new index on disk, and its bytes there."""

    def blocks() -> Iterator[tuple[np.ndarray, sparse.csr_array, pa.Array]]:
        for start in range(0, len(texts), BLOCK):
            counts, words = count_matrix(texts[start : start + BLOCK], stemmed=True)
            yield np.zeros(counts.shape[0], np.int64), counts, words

    index = WordsOnDisk(Bm25(), blocks())
    return index, index.num_bytes


def in_memory(texts: pa.Array) -> tuple[LexicalIndex, int]:
    """Return an index in memory, and the bytes of its weights."""
    index = LexicalIndex(Bm25(), *count_matrix(texts, stemmed=True))
    held = index._weights
    size = held.data.nbytes + held.indices.nbytes + held.indptr.nbytes
    return index, size


if __name__ == "__main__":
    main(*sys.argv[1:])
