"""Reader of BEIR folders: Thakur et al. (NeurIPS 2021), for the global task.

``corpus.jsonl`` holds candidates, ``queries.jsonl`` papers that cite, ``qrels/*.tsv`` what they
cite, with a file for each split (``--split given``). A query whose id and title are those of a
candidate is that paper; any other becomes a paper too, and with that a candidate of other queries.
A title is ``title``, or ``title`` of the metadata, or the first sentence of the text.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.raw.disk_index import DiskIndex
from mpbert.corpus.raw.files import find_file, read_lines, read_records, walk, without_packing
from mpbert.corpus.raw.identifiers import Identifiers, normal_title
from mpbert.corpus.raw.shards import ShardReader
from mpbert.corpus.raw.spans import plain
from mpbert.corpus.raw.values import decode, names_of, reading, required_id, text_of, year_of
from mpbert.corpus.records import RawPaper
from mpbert.corpus.splits import YearSplits
from mpbert.corpus.text import split_sentences
from mpbert.foundation.errors import CorpusError

# split of each name of a file of judgements; a query in several is in the last of them
_SPLIT_OF = {"train": "train", "dev": "valid", "valid": "valid", "val": "valid", "test": "test"}
_ORDER = ("train", "valid", "test")


@READERS.register
class BeirReader(ShardReader):
    """Reads a folder of BEIR: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/``."""

    name = "beir"
    default_splits = YearSplits(valid_year=2018, test_year=2019)
    expected = "an object with _id, text and, in the corpus, title"

    def __init__(self) -> None:
        super().__init__()
        self._judgements = DiskIndex()
        self._query_titles: dict[str, str] = {}
        self._own_id: dict[str, str] = {}  # paper id of each query that is no candidate

    def prepare(self, path: Path) -> None:
        """Learn which queries are candidates, and put the judgements on disk by query."""
        for place, line in read_records(find_file(path, "queries.jsonl")):
            with reading(place, self.expected):
                record = decode(line)
                title = _compared(record)
                if self._query_titles.setdefault(required_id(record["_id"]), title) != title:
                    self.counts["queries_with_the_id_of_an_earlier_one"] += 1
        candidates: set[str] = set()
        for place, line in read_records(find_file(path, "corpus.jsonl")):
            with reading(place, self.expected):
                record = decode(line)
                if not self.learn(record):
                    self.repeated.add(place)
                elif self._is_query(record):
                    candidates.add(required_id(record["_id"]))
        self.counts["papers_with_the_id_of_an_earlier_one"] += len(self.repeated)
        self.counts["queries_that_are_candidates"] += len(candidates)
        for query_id in self._query_titles:
            if query_id not in candidates:
                taken = query_id in self.linker.paper_ids
                self._own_id[query_id] = f"query:{query_id}" if taken else query_id
        self._read_judgements(path / "qrels")

    def learn(self, record: dict[str, Any]) -> bool:
        """Make the id of a candidate known."""
        return self.linker.add(required_id(record["_id"]), Identifiers())

    def _is_query(self, record: dict[str, Any]) -> bool:
        title = self._query_titles.get(required_id(record["_id"]))
        return title is not None and title == _compared(record)

    def _read_judgements(self, folder: Path) -> None:
        if not folder.is_dir():
            raise CorpusError(f"{folder}: no such folder; expected one with train.tsv or test.tsv")
        for file in walk(folder, (".tsv",)):
            name = without_packing(file).stem
            if name not in _SPLIT_OF:
                raise CorpusError(
                    f"{file}: found judgements of {name!r}; expected one of "
                    f"{', '.join(sorted(_SPLIT_OF))}: rename the file or take it away"
                )
            for number, line in read_lines(file):
                with reading(f"{file}:{number}", "query-id, corpus-id and score between tabs"):
                    fields = _fields(line)
                    if number > 1 or fields[-1] != "score":
                        query_id, cited_id, score = fields
                        self._judge(query_id, cited_id, float(score), _SPLIT_OF[name])
        self._judgements.seal()

    def _judge(self, query_id: str, cited_id: str, score: float, split: str) -> None:
        if score <= 0:
            self.counts["judgements_of_papers_that_are_not_cited"] += 1
        elif query_id not in self._query_titles:
            self.counts["judgements_of_unknown_queries"] += 1
        else:
            self._judgements.add(query_id, (required_id(cited_id), split))

    def read_records(self, path: Path) -> Iterator[object]:
        """Yield (place, line, paper id): all candidates, without id, then all other queries."""
        for place, line in read_records(find_file(path, "corpus.jsonl")):
            if place not in self.repeated:
                yield place, line, None
        waiting = dict(self._own_id)
        for place, line in read_records(find_file(path, "queries.jsonl")):
            own_id = waiting.pop(required_id(decode(line)["_id"]), None)
            if own_id:
                yield place, line, own_id

    def parse(self, record: object) -> RawPaper | None:
        """Return the paper of a candidate or a query.

        :raises CorpusError: the record is broken.
        """
        place, line, own_id = record
        with reading(place, self.expected):
            return self.paper(decode(line), own_id)

    def paper(self, record: dict[str, Any], own_id: str | None = None) -> RawPaper | None:
        """Return the paper of a record; None for a query without judgements.

        :param own_id: paper id of a query that is no candidate.
        """
        query_id = required_id(record["_id"])
        is_query = own_id is not None or query_id not in self._own_id
        judgements = self._judgements.get(query_id) if is_query else []
        if own_id is not None and not judgements:
            self.counts["queries_without_judgements"] += 1
            return None
        about = record.get("metadata") or {}
        title, text = _title(record), text_of(record["text"])
        if not text_of(record.get("title")):
            text = text.removeprefix(title).lstrip()  # that of a query may begin with its title
        if not title:  # of most queries the first sentence is the only one
            title, *rest = split_sentences(text) or [""]
            text = " ".join(rest)
        cited = dict.fromkeys(cited_id for cited_id, _ in judgements)
        found = [self.linker.resolve(Identifiers(corpus_id=i), self.counts) for i in cited]
        return RawPaper(
            paper_id=own_id or query_id,
            title=title,
            year=year_of(about.get("year")),
            abstract=self.abstract_or_title(plain(text, self.counts), False, title),
            sections=(),
            authors=names_of(about.get("authors")),
            venue=text_of(about.get("venue")),
            references=tuple(filter(None, found)),
            split=max((split for _, split in judgements), key=_ORDER.index, default=None),
        )


def _fields(line: bytes) -> list[str]:
    """Return what stands between tabs; BEIR writes it as csv does, with quotes around quotes.

    :raises ValueError: the csv module cannot read it.
    """
    try:
        (fields,) = csv.reader([line.decode("utf-8").rstrip("\r\n")], delimiter="\t")
    except csv.Error as error:
        raise ValueError(str(error)) from error
    return fields


def _title(record: dict[str, Any]) -> str:
    about = record.get("metadata") or {}
    return text_of(record.get("title")) or text_of(about.get("title"))


def _compared(record: dict[str, Any]) -> str:
    """Return what two records of one paper have in common: the title, else the text."""
    words = _title(record) or text_of(record["text"])
    return normal_title(words) or words.casefold()  # short titles have no normal form
