"""Data and contestants of bench_opponents.py: what makes an index of texts, and asks it."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mpbert.corpus.store import CITING_FIRST, CorpusStore
from mpbert.retrieval.ranking import top_k

CORPUS, FIRST, QUERIES = Path("runs/corpus/acl"), 10, 1000
THREADS = int(os.environ.get("THREADS", "1"))
Ask = Callable[[Sequence[str]], np.ndarray]
"""Queries -> (Q, FIRST) rows."""


@dataclass
class Data:
    """What is indexed, what asks, and the rows that answer, if they are known."""

    texts: Sequence[str]
    queries: Sequence[str]
    cited: list[set[int]] | None = None


Make = Callable[[Data], Ask]
Embed = Callable[[Sequence[str]], np.ndarray]


def abstracts(num_papers: int | None = None, num_queries: int = QUERIES) -> Data:
    """Return the abstracts of the corpus, or some of which the queries cite some."""
    store = CorpusStore(CORPUS)
    contexts = store.contexts("test")
    contexts = contexts.take(np.linspace(0, len(contexts) - 1, num_queries).astype(int))
    cited = [contexts.cited(place).tolist() for place in range(num_queries)]
    rows = np.arange(store.num_papers)
    if num_papers:
        rows = np.unique(np.concatenate([*cited, rows[:: len(rows) // num_papers]]))
    place_of = {row: place for place, row in enumerate(rows.tolist())}
    known = [{place_of[row] for row in own} for own in cited]
    return Data(store.abstract_texts(rows), store.local_texts(contexts, CITING_FIRST), known)


def made(folder: Path) -> Data:
    """Return made abstracts, and words of some."""
    from bench_library import write_papers

    if not (folder / "papers.json").exists():
        write_papers(folder / "papers.json", int(os.environ.get("PAPERS", "30000")), 0)
    with (folder / "papers.json").open(encoding="utf-8") as file:
        texts = [f"{paper['title']}. {paper['abstract']}" for paper in map(json.loads, file)]
    rng = np.random.default_rng(3)
    words = [texts[row].split() for row in rng.integers(0, len(texts), QUERIES).tolist()]
    starts = [int(rng.integers(0, len(each) - 30)) for each in words]
    pairs = zip(words, starts, strict=True)
    return Data(texts, [" ".join(each[start : start + 30]) for each, start in pairs])


def words(data: Data) -> Ask:
    import pyarrow as pa

    from mpbert.corpus.bags import count_matrix
    from mpbert.methods.lexical.bm25 import Bm25
    from mpbert.methods.lexical.index import LexicalIndex

    texts = pa.array(data.texts, pa.large_string())
    index = LexicalIndex(Bm25(), *count_matrix(texts, stemmed=True))
    return lambda queries: index.search(queries, FIRST, np.full(len(queries), -1))[0]


def bm25s(library: str, stop_words: str | None, **settings: Any) -> Make:
    def make(data: Data) -> Ask:
        module = import_module(library)
        quiet = {"show_progress": False}
        read = {"stopwords": stop_words, **quiet}
        index = module.BM25(method="lucene", k1=2.0, b=0.75, backend="numba", **settings)
        index.index(module.tokenize(data.texts, **read), **quiet)

        def ask(queries: Sequence[str]) -> np.ndarray:
            asked = module.tokenize(queries, **read, return_ids=False)
            return index.retrieve(asked, k=FIRST, n_threads=THREADS, **quiet).documents

        return ask

    return make


def tantivy(data: Data) -> Ask:
    import tantivy

    from mpbert.corpus.text import words

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("words", index_option="freq")
    schema.add_integer_field("row", fast=True)
    schema = schema.build()
    index = tantivy.Index(schema)
    writer = index.writer(128 << 20, THREADS)
    for row, text in enumerate(data.texts):
        writer.add_document(tantivy.Document(words=text, row=row))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher, either = index.searcher(), tantivy.Occur.Should

    def ask(queries: Sequence[str]) -> np.ndarray:
        found = np.full((len(queries), FIRST), -1)
        for own, query in zip(found, queries, strict=True):
            terms = [tantivy.Query.term_query(schema, "words", word) for word in words(query)]
            query = tantivy.Query.boolean_query([(either, term) for term in terms])
            places = [place for _, place in searcher.search(query, FIRST, count=False).hits]
            own[: len(places)] = searcher.fast_field_values("row", places)
        return found

    return ask


def by_vectors(encoder: Callable[[], Embed]) -> Make:
    """Return what embeds texts, and then queries, whose largest inner products count."""

    def make(data: Data) -> Ask:
        embed = encoder()
        held = embed(data.texts)

        def ask(queries: Sequence[str]) -> np.ndarray:
            scores = embed(queries) @ held.T
            return top_k(scores, FIRST, np.full(len(queries), -1))[0]

        return ask

    return make


def bag() -> Embed:
    from mpbert.model.bag_reader import BagReader
    from mpbert.model.description import read_description
    from mpbert.model.sampling import SampledSentences
    from mpbert.vectors.normal import normalized

    path = Path(os.environ["BAG"])
    reader = BagReader(path, read_description(path))

    def embed(texts: Sequence[str]) -> np.ndarray:
        each = np.arange(len(texts))
        read = SampledSentences(each, np.ones_like(each), np.zeros_like(each))
        return normalized(reader.embed_papers(texts, read))

    return embed


def static() -> Embed:
    from model2vec import StaticModel

    model = StaticModel.from_pretrained(os.environ["STATIC"], normalize=True)
    return lambda texts: model.encode(texts, use_multiprocessing=False).astype(np.float32)


def citation() -> Embed:
    import torch

    from mpbert.pretrained.folders import folder_of
    from mpbert.pretrained.sentence_encoder import SentenceEncoder

    torch.set_num_threads(THREADS)
    return SentenceEncoder(folder_of("incite-app/minilm-citation-v4")).encode


def incite() -> Embed:
    from incite.embeddings import finetuned
    from onnxruntime import InferenceSession, SessionOptions
    from transformers import AutoTokenizer

    own = finetuned.OnnxMiniLMEmbedder()
    folder = Path(finetuned.__file__).parents[1] / own.PACKAGE_MODEL_DIR
    options = SessionOptions()
    options.intra_op_num_threads = THREADS
    session = InferenceSession(folder / "model.onnx", options)
    names = [each.name for each in session.get_inputs()]
    own._tokenizer = AutoTokenizer.from_pretrained(folder)
    own._model = lambda **given: session.run(None, {name: given[name] for name in names})
    return own.embed


LEXICAL = [
    ("bm25s", ", all words", bm25s("bm25s", None)),
    ("bm25s", "", bm25s("bm25s", "en")),
    ("bm25q", ", all words", bm25s("bm25q", None, quantize="adaptive")),
    ("bm25q", "", bm25s("bm25q", "en", quantize="adaptive")),
    ("tantivy", "", tantivy),
]
# of each task: its data, what makes ours, and peers: distribution, what else the row says, maker
TASKS: dict[str, tuple[Callable[[Path], Data], Make, list[tuple[str, str, Make]]]] = {
    "words": (lambda _: abstracts(), words, LEXICAL),
    "made": (made, words, LEXICAL),
    "bags": (lambda _: abstracts(), by_vectors(bag), [("model2vec", "", by_vectors(static))]),
    "onnx": (
        lambda _: abstracts(100, 50),
        by_vectors(citation),
        [("incite-app", ", onnxruntime", by_vectors(incite))],
    ),
}
