"""Fixtures of the contracts: the corpus, its copies with other texts, and killed trainings."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mpbert.corpus.store import CorpusStore, Queries
from mpbert.methods import training
from mpbert.methods.checkpoint import Checkpoint


@pytest.fixture(scope="session")
def papers(rfc_corpus) -> CorpusStore:
    """Store of the 120 RFCs."""
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
def goes_on(monkeypatch, tmp_path) -> Callable[[Callable[[Path | None], object]], object]:
    """Function of a training: kill it in its midst, let it go on, and return what it returns.

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
        train(tmp_path / "whole")
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
        return found

    return run
