"""The corpus store: a directory of Parquet files that everything after ``build-corpus`` reads.

Rows: a paper's row is its place in ``papers.parquet``, which is sorted by paper id; a sentence's
row is its place in ``sentences.parquet``, where papers follow one another in order.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mpbert.corpus.mapped_texts import mapped_column
from mpbert.corpus.published import published_of
from mpbert.corpus.queries import Contexts, Manuscripts, Queries
from mpbert.corpus.records import Paper
from mpbert.corpus.splits import check_split
from mpbert.corpus.tasks import TASKS
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.manifest import check_format
from mpbert.foundation.ragged import offsets_of, ranges

STORE_FILES = ("papers", "sentences", "sections", "contexts", "citations")
IN_ORDER, CITING_FIRST = (-1, 0, 1), (0, -1, 1)  # sentences of a context, 0 for the one that cites


class CorpusStore:
    """Read-only access to a corpus store; columns are loaded when first used.

    :param path: directory made by ``build-corpus``.
    :param known: splits whose contexts say what cites a paper, where words are ranked.
    :raises CorpusError: it is not a corpus store.
    :raises DamagedError: it is of another format.
    """

    def __init__(self, path: Path, known: Sequence[str] = ("train",)) -> None:
        self.path, self.known = Path(path), known
        missing = [name for name in STORE_FILES if not (self.path / f"{name}.parquet").is_file()]
        if missing:
            raise CorpusError(
                f"{self.path}: found no {missing[0]}.parquet; expected a corpus store, "
                f"make one with mpbert build-corpus"
            )
        check_format(self.path)

    def _read(self, name: str, columns: list[str] | None = None) -> pa.Table:
        path = self.path / f"{name}.parquet"
        try:
            return pq.read_table(path, columns=columns, memory_map=True)
        except (OSError, pa.ArrowException) as error:
            reason = " ".join(str(error).split())
            raise CorpusError(f"{path}: unreadable ({reason}); build the corpus again") from error

    @cached_property
    def _papers(self) -> pa.Table:
        return self._read("papers")

    @cached_property
    def paper_ids(self) -> list[str]:
        """(N,), ids of all papers, sorted."""
        return self._papers["paper_id"].to_pylist()

    @cached_property
    def titles(self) -> list[str]:
        """(N,), titles of all papers."""
        return self._papers["title"].to_pylist()

    @cached_property
    def authors(self) -> list[list[str]]:
        """(N,), authors of all papers."""
        return self._papers["authors"].to_pylist()

    @cached_property
    def venues(self) -> list[str]:
        """(N,), venues of all papers; empty where a paper has none."""
        return [venue or "" for venue in self._papers["venue"].to_pylist()]

    @cached_property
    def years(self) -> np.ndarray:
        """(N,), int32, years of publication."""
        return self._papers["year"].to_numpy()

    @cached_property
    def paper_splits(self) -> np.ndarray:
        """(N,), the split of each paper: ``train``, ``valid`` or ``test``."""
        return np.array(self._papers["split"].to_pylist(), dtype="<U5")

    @cached_property
    def num_abstract(self) -> np.ndarray:
        """(N,), int32, how many of a paper's sentences, the first ones, are its abstract."""
        return self._papers["num_abstract"].to_numpy()

    @cached_property
    def sentence_offsets(self) -> np.ndarray:
        """(N + 1,), int64: paper ``r`` owns sentences ``offsets[r]`` up to ``offsets[r + 1]``."""
        lengths = self._papers["num_sentences"].to_numpy().astype(np.int64)
        return np.concatenate([[0], np.cumsum(lengths)])

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Row of each paper id."""
        return {paper_id: row for row, paper_id in enumerate(self.paper_ids)}

    @property
    def num_papers(self) -> int:
        """Number of papers, N."""
        return self._papers.num_rows

    @cached_property
    def sentences(self) -> pa.LargeStringArray:
        """Texts of all sentences by sentence row, as one Arrow array."""
        texts = self._read("sentences", ["text"])["text"].cast(pa.large_string())
        return pa.concat_arrays(texts.chunks) if texts.num_chunks else pa.array([], texts.type)

    def map_sentences(self) -> None:
        """Keep sentences in a file of ``TMPDIR`` from now on, uncompressed: not in memory."""
        self.sentences = mapped_column(self.path / "sentences.parquet", "text")

    @cached_property
    def sentence_sections(self) -> np.ndarray:
        """Section of each sentence row, int16: 0 is the abstract, the body counts from 1."""
        return self._read("sentences", ["section"])["section"].to_numpy()

    def column(self, table: str, name: str, first: int, last: int) -> list[Any]:
        """Return rows ``first`` to ``last - 1`` of a column; no more than their groups is read."""
        ends = self._group_ends(table)
        groups = np.searchsorted(ends, [first, last - 1], side="right")
        if first >= last:
            return []
        found = self._file(table).read_row_groups(range(groups[0], groups[1] + 1), [name])
        start = first - (ends[groups[0] - 1] if groups[0] else 0)
        return found[name].slice(start, last - first).to_pylist()

    def iter_sentence_texts(self, rows: np.ndarray) -> Iterator[list[str]]:
        """Yield the texts of ascending sentence rows, those of a group of the file at a time."""
        ends = self._group_ends("sentences")
        starts = np.concatenate([[0], ends[:-1]])
        borders = np.searchsorted(rows, np.append(starts, ends[-1:]))
        for start, end, (first, last) in zip(starts, ends, pairwise(borders), strict=True):
            if first < last:
                texts = self.column("sentences", "text", int(start), int(end))
                yield [texts[place] for place in (rows[first:last] - start).tolist()]

    def _file(self, table: str) -> pq.ParquetFile:
        return pq.ParquetFile(self.path / f"{table}.parquet", memory_map=True)

    def _group_ends(self, table: str) -> np.ndarray:
        """Return (G,) the row after the last one of each group of rows."""
        metadata = self._file(table).metadata
        groups = range(metadata.num_row_groups)
        return np.cumsum([metadata.row_group(group).num_rows for group in groups], dtype=np.int64)

    def sentence_texts(self, rows: np.ndarray) -> list[str]:
        """Return the texts of the given sentence rows."""
        return self.sentences.take(pa.array(rows, pa.int64())).to_pylist()

    def paper(self, paper: int | str) -> Paper:
        """Return one paper by row or by id.

        :raises CorpusError: there is no such paper.
        """
        row = self.row_of.get(paper) if isinstance(paper, str) else int(paper)
        if row is None or not 0 <= row < self.num_papers:
            raise CorpusError(f"{self.path}: no paper {paper!r}; see the ids in papers.parquet")
        start, end = self.sentence_offsets[row : row + 2]
        return Paper(
            paper_id=self._papers["paper_id"][row].as_py(),
            title=self._papers["title"][row].as_py(),
            year=int(self.years[row]),
            split=str(self.paper_splits[row]),
            sentences=self.sentences[start:end].to_pylist(),
            num_abstract=int(self.num_abstract[row]),
            authors=self._papers["authors"][row].as_py(),
            venue=self._papers["venue"][row].as_py() or "",
            published=published_of(self._papers["published"][row].as_py()),
        )

    def papers(self, split: str | None = None) -> Iterator[Paper]:
        """Yield all papers, or those of one split, in row order."""
        for row in range(self.num_papers):
            if split is None or self.paper_splits[row] == split:
                yield self.paper(row)

    def headings(self, row: int) -> list[str]:
        """Headings of a paper's body sections, in order."""
        table = self._sections
        start, end = np.searchsorted(table["paper_row"].to_numpy(), [row, row + 1])
        return table["heading"][start:end].to_pylist()

    @cached_property
    def _sections(self) -> pa.Table:
        return self._read("sections")

    @cached_property
    def _contexts(self) -> pa.Table:
        return self._read("contexts")

    def contexts(self, *splits: str) -> Contexts:
        """Return all citation contexts of splits; training code asks for ``train`` alone.

        :raises ValueError: one of ``splits`` is none of train, valid and test.
        """
        for split in splits:
            check_split(split)
        chosen = pc.is_in(self._contexts["split"], pa.array(splits))
        table = self._contexts.filter(chosen).combine_chunks()
        lengths = pc.list_value_length(table["cited_rows"]).to_numpy().astype(np.int64)
        return Contexts(
            query_ids=table["context_id"].to_pylist(),
            citing_rows=table["citing_row"].to_numpy(),
            positions=table["position"].to_numpy(),
            cited_offsets=np.concatenate([[0], np.cumsum(lengths)]),
            cited_rows=pc.list_flatten(table["cited_rows"]).to_numpy(),
            years=table["year"].to_numpy(),
            is_repeat=table["is_repeat"].to_numpy(zero_copy_only=False),
        )

    def manuscripts(self, split: str) -> Manuscripts:
        """Return the papers of one split that cite papers of the corpus.

        :raises ValueError: ``split`` is none of train, valid and test.
        """
        check_split(split)
        citing, cited = self.citations()
        wanted = self.paper_splits[citing] == split
        rows, counts = np.unique(citing[wanted], return_counts=True)
        return Manuscripts(
            query_ids=[self.paper_ids[row] for row in rows],
            citing_rows=rows,
            cited_offsets=offsets_of(counts),
            cited_rows=cited[wanted],  # citations are sorted by citing row
            years=self.years[rows],
            is_repeat=np.zeros(len(rows), dtype=bool),
        )

    def queries(self, split: str, task: str) -> Queries:
        """Return the queries of a split for a task, ``local`` or ``global``.

        :raises ValueError: there is no such task or split.
        """
        if task not in TASKS:
            raise ValueError(f"task is {task!r}; expected one of {', '.join(TASKS)}")
        return self.contexts(split) if task == "local" else self.manuscripts(split)

    def abstracts(self, rows: np.ndarray) -> list[str]:
        """Return the abstracts of papers, as one text each; empty where a paper has none."""
        ends = offsets_of(self.num_abstract[rows])
        of_abstracts = ranges(self.sentence_offsets[rows], self.num_abstract[rows])
        sentences = self.sentence_texts(of_abstracts)
        return [" ".join(sentences[start:end]) for start, end in pairwise(ends)]

    def abstract_texts(self, rows: np.ndarray) -> list[str]:
        """Return title and abstract of papers, as one text each."""
        abstracts = self.abstracts(rows)
        return [
            f"{self.titles[row]} {abstract}" if abstract else self.titles[row]
            for row, abstract in zip(rows, abstracts, strict=True)
        ]

    def local_texts(self, contexts: Contexts, order: tuple[int, ...] = IN_ORDER) -> list[str]:
        """Return previous, citing and next sentence of each context, joined by spaces.

        The fundamental context of MP-BERT4CR (Sec. 4.1.1); neighbours lie in the same paper and on
        the same side of the border between abstract and body.

        :param order: of the sentences, ``IN_ORDER`` or ``CITING_FIRST``.
        """
        rows = contexts.citing_rows
        border = self.num_abstract[rows]
        in_abstract = contexts.positions < border
        first = np.where(in_abstract, 0, border)
        last = np.where(in_abstract, border, np.diff(self.sentence_offsets)[rows]) - 1
        window = contexts.positions[:, None] + np.array(order)  # (Q, 3)
        inside = (window >= first[:, None]) & (window <= last[:, None])
        sentence_rows = (self.sentence_offsets[rows][:, None] + window)[inside]
        texts = iter(self.sentence_texts(sentence_rows))
        return [" ".join(next(texts) for _ in range(n)) for n in inside.sum(axis=1)]

    def citations(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (citing rows, cited rows) of all citations between papers, all splits."""
        table = self._read("citations")
        return table["citing_row"].to_numpy(), table["cited_row"].to_numpy()
