"""Words in an index of tantivy, on disk, beside our BM25, in memory.

Run: ``TEXTS="20000 500000" PYTHONPATH=. .venv/bin/python tests/benchmarks/bench_words.py`` and a
corpus store, runs/corpus/acl unless named; it needs ``pip install tantivy``. Each number of TEXTS
makes a row; 20000 unless set. Texts are three sentences of the corpus that follow one another;
contexts of its test split ask, one at a time. tantivy gets the stems that ours has. Its k1 and b
are fixed, so it proposes 1,000 texts, among which ours would choose: recall is that of our ten.
Seconds are those of the processor, with all threads. Weights of ours are those of bm25s.
"""

import importlib.util
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from contest import print_row

from mpbert.corpus.bags import count_matrix, spaced_words, stem
from mpbert.corpus.store import CorpusStore
from mpbert.methods.lexical.bm25 import Bm25
from mpbert.methods.lexical.index import LexicalIndex

CUTOFF, PROPOSED, QUERIES, JOINED, BLOCK = 10, 1000, 200, 3, 20_000
Search = Callable[[str], np.ndarray]  # from a text to rows, best first


def main(corpus: str = "runs/corpus/acl") -> None:
    if importlib.util.find_spec("tantivy") is None:
        raise SystemExit("tantivy is not installed: pip install tantivy")
    store = CorpusStore(Path(corpus))
    asked = store.local_texts(store.contexts("test"))
    queries = [asked[place] for place in np.linspace(0, len(asked) - 1, QUERIES).astype(int)]
    for number in map(int, os.environ.get("TEXTS", "20000").split()):
        compare(texts_of(store, number), queries)


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
    found, costs = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (
            ("tantivy", lambda: on_disk(texts, folder)),
            ("ours", lambda: ours(texts)),
        ):
            before = time.process_time()
            search, size = make()
            made = time.process_time() - before
            found[name], seconds = timed(search, queries)
            costs[name] = made, size / 2**20, 1000 * np.median(seconds)
            print(f"{name}: made in {made:.3g} s, {size / 2**20:.0f} MiB", flush=True)
    proposed, best = found["tantivy"], found["ours"]
    recall = np.mean(
        [np.isin(ten[:CUTOFF], all_).mean() for ten, all_ in zip(best, proposed, strict=True)]
    )
    what = f"tantivy, {len(texts):,} texts: first {PROPOSED:,} hold our {CUTOFF}"
    shown = [f"made in {c[0]:.3g} s, {c[1]:.0f} MiB, p50 {c[2]:.1f} ms" for c in costs.values()]
    print_row(what, "BM25 of ours, in memory", "-", f"recall {recall:.4f}", *shown, "-")


def on_disk(texts: pa.Array, folder: str) -> tuple[Search, int]:
    """Return a search of a new index of tantivy, and its bytes."""
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    schema.add_integer_field("row", stored=True, fast=True)
    built = schema.build()
    index = tantivy.Index(built, folder)
    writer = index.writer(heap_size=256 << 20, num_threads=1)
    for start in range(0, len(texts), BLOCK):
        for place, text in enumerate(stems_of(texts[start : start + BLOCK])):
            writer.add_document(tantivy.Document(text=text, row=start + place))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(text: str) -> np.ndarray:
        words = Counter(stems_of(pa.array([text]))[0].split())
        parts = [
            (
                tantivy.Occur.Should,
                tantivy.Query.boost_query(tantivy.Query.term_query(built, "text", word), count),
            )
            for word, count in words.items()
        ]
        hits = searcher.search(tantivy.Query.boolean_query(parts), PROPOSED, count=False).hits
        return np.array([searcher.doc(address)["row"][0] for _, address in hits])

    return search, sum(path.stat().st_size for path in Path(folder).rglob("*"))


def ours(texts: pa.Array) -> tuple[Search, int]:
    """Return a search by our BM25, and the bytes of its weights."""
    index = LexicalIndex(Bm25(), *count_matrix(texts, stemmed=True))
    held = index._weights
    nobody = np.array([-1])
    size = held.data.nbytes + held.indices.nbytes + held.indptr.nbytes
    return lambda text: index.search([text], CUTOFF, nobody)[0][0], size


def stems_of(texts: pa.Array) -> list[str]:
    """Return the stems of each text, with spaces between them."""
    lists = pc.split_pattern(spaced_words(texts), " ")
    joined = pa.ListArray.from_arrays(lists.offsets, stem(lists.values))
    return pc.binary_join(joined, " ").to_pylist()


def timed(search: Search, queries: list[str]) -> tuple[list[np.ndarray], np.ndarray]:
    """Return what each query found, and its seconds of the processor."""
    rows, seconds = [], []
    for query in queries:
        before = time.process_time()
        rows.append(search(query))
        seconds.append(time.process_time() - before)
    return rows, np.array(seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
