"""Fixtures of the contracts: the corpus, its copies with other texts, and killed trainings."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mpbert.commands import retrieve
from mpbert.corpus.store import CorpusStore, Queries
from mpbert.corpus.tasks import TASKS
from mpbert.corpus.trec import matrices_of_run, read_run
from mpbert.foundation.config import from_settings
from mpbert.foundation.seeding import named_rng
from mpbert.methods import training
from mpbert.methods.checkpoint import Checkpoint
from mpbert.methods.embedding import Embedder, make_embedder
from mpbert.methods.rankings import Ranking
from mpbert.methods.reranking import RERANKERS, Reranker
from mpbert.vectors.normal import normalized


@pytest.fixture(scope="session")
def papers(rfc_corpus) -> CorpusStore:
    """Store of the 120 RFCs."""
    return CorpusStore(rfc_corpus)


@pytest.fixture(scope="module")
def store(rfc_corpus) -> CorpusStore:
    """The same store; a module has one of its own."""
    return CorpusStore(rfc_corpus)


@pytest.fixture(scope="session")
def other_texts(papers, tmp_path_factory) -> CorpusStore:
    """The same corpus, but for the words of papers that are not for training."""
    path = tmp_path_factory.mktemp("other") / "rfc"
    return with_texts(papers, path, "Unheard words are bound network strange{}.")


@pytest.fixture(scope="session")
def unknown_words(papers, tmp_path_factory) -> CorpusStore:
    """The same corpus, but papers that are not for training hold no word of the others."""
    return with_texts(papers, tmp_path_factory.mktemp("unknown") / "rfc", "Qzxv{0} vvkjq{0}.")


def with_texts(store: CorpusStore, path: Path, text: str) -> CorpusStore:
    """Copy a store; papers that are not for training consist of this text alone."""
    shutil.copytree(store.path, path)
    strange = store.paper_splits != "train"
    owners = np.repeat(np.arange(store.num_papers), np.diff(store.sentence_offsets))
    for name, column, rows in (
        ("papers", "title", np.flatnonzero(strange)),
        ("sentences", "text", np.flatnonzero(strange[owners])),
    ):
        table = pq.read_table(path / f"{name}.parquet")
        texts = np.array(table[column].to_pylist(), dtype=object)
        texts[rows] = [text.format(row % 9) for row in rows]
        place = table.column_names.index(column)
        table = table.set_column(place, column, pa.array(texts.tolist(), pa.string()))
        pq.write_table(table, path / f"{name}.parquet")
    return CorpusStore(path)


@pytest.fixture(scope="session")
def bm25(rfc_corpus, make_once) -> Path:
    """Folder of runs of BM25 for all splits, of contexts (local) and whole papers (global)."""

    def make(output: Path) -> None:
        for task in TASKS:
            options = {"lexical": "bm25", "splits": ["train", "valid", "test"], "top": 40}
            retrieve.run(retrieve.Config(rfc_corpus, output / task, task=task, **options))

    return make_once("runs/bm25", make)


@pytest.fixture(scope="module")
def lists(store, bm25) -> Callable[..., tuple[Queries, Ranking]]:
    """Function of a split, and of a task: its queries, and the first papers of their runs."""

    def read(split: str, task: str = "local", top: int = 30) -> tuple[Queries, Ranking]:
        queries, run = store.queries(split, task), read_run(bm25 / task / f"{split}.run")
        found = matrices_of_run(run, queries.query_ids, store.paper_ids, "run")
        return queries, Ranking(*found).first(top)

    return read


def fitted_embedder(name: str, store: CorpusStore, *settings: str, checkpoint=None) -> Embedder:
    """Return an embedder that has learnt from a store."""
    embedder = make_embedder(name, settings)
    embedder.checkpoint = checkpoint
    embedder.fit(store, named_rng(1, "test"))
    return embedder


def fitted_reranker(
    name: str, store: CorpusStore, queries: Queries, rankings: list[Ranking], *settings: str,
    checkpoint=None,
) -> Reranker:  # fmt: skip
    """Return a reranker that has learnt from queries, with its ``counts``."""
    reranker = from_settings(RERANKERS[name], settings, name)
    reranker.checkpoint = checkpoint
    reranker.check(store)
    rng = named_rng(1, "test")
    counts = reranker.prepare(store, rng)
    reranker.counts = counts | reranker.fit(store, queries, rankings, rng)
    return reranker


def recall(embedder: Embedder, store: CorpusStore, split: str, task: str, k: int) -> float:
    """Return which part of what the queries cite is among their k nearest papers."""
    queries, papers = store.queries(split, task), embedder.embed_papers(store).vectors
    asked = normalized(embedder.embed_queries(store, queries).vectors)
    scores = asked @ normalized(papers).T
    scores[np.arange(len(queries)), queries.citing_rows] = -2
    order = np.argsort(-scores, axis=1)[:, :k]
    return np.mean([np.isin(queries.cited(i), order[i]).mean() for i in range(len(queries))])


def taken(queries: Queries, num: int) -> Queries:
    """Return the first queries."""
    offsets = queries.cited_offsets[: num + 1]
    more = {"positions": queries.positions[:num]} if hasattr(queries, "positions") else {}
    return replace(
        queries,
        query_ids=queries.query_ids[:num],
        citing_rows=queries.citing_rows[:num],
        cited_offsets=offsets,
        cited_rows=queries.cited_rows[: offsets[-1]],
        years=queries.years[:num],
        is_repeat=queries.is_repeat[:num],
        **more,
    )


class Spy(CorpusStore):
    """Notes which splits are read, and refuses the citations of all of them."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.asked = []

    def contexts(self, split):
        self.asked.append(split)
        return super().contexts(split)

    def manuscripts(self, split):
        self.asked.append(split)
        return CorpusStore(self.path).manuscripts(split)

    def citations(self):
        raise AssertionError("citations of all splits are not for training")


@pytest.fixture
def goes_on(monkeypatch, tmp_path) -> Callable[[Callable[[Path | None], object]], tuple]:
    """Function of a training: what it returns as a whole, and killed in its midst and gone on.

    The training is a function of the directory of its checkpoint.
    """
    save, saved, last = Checkpoint.save, [], []

    def save_and_count(self, state):
        saved.append(self)
        if last:  # only what a killed training leaves is read again
            save(self, state)
        if last and len(saved) == last[0]:
            raise KeyboardInterrupt

    def run(train):
        monkeypatch.setattr(training, "SAVE_SECONDS", 0.0)
        monkeypatch.setattr(Checkpoint, "save", save_and_count)
        whole = train(tmp_path / "whole")
        total = len(saved)
        assert total > 1, "quick settings of one step show nothing"
        saved.clear()
        last.append(total // 2)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path / "killed")
        saved.clear()
        last.clear()
        found = train(tmp_path / "killed")
        assert len(saved) <= total - total // 2, "it began anew"
        return whole, found

    return run
