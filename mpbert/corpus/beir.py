"""A corpus store as BEIR data: Thakur et al. (NeurIPS Datasets 2021), as MTEB and pyserini read it.

``corpus.jsonl`` holds all papers, ``queries.jsonl`` the queries of all splits, ``qrels/SPLIT.tsv``
what the queries of a split cite; ``valid`` is called ``dev`` there. Contexts that repeat another of
their split are left out. A query of the global task has
the id of its paper. That paper is in the corpus too: it is to be left out of its own results, as
BEIR's evaluation does where the two ids are the same.
"""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mpbert.corpus.queries import Contexts, Queries
from mpbert.corpus.splits import SPLITS
from mpbert.corpus.store import CorpusStore

_BLOCK = 4096  # papers or queries written at once
_NAME_OF = {"train": "train", "valid": "dev", "test": "test"}


def write_beir(corpus: CorpusStore, task: str, directory: Path) -> dict[str, int]:
    """Write the three kinds of files into a directory that exists.

    :param task: ``local`` or ``global``.
    :returns: how many papers, queries and judgements of each split were written.
    """
    counts = {"papers": corpus.num_papers}
    _write_papers(corpus, directory / "corpus.jsonl")
    (directory / "qrels").mkdir()
    with (directory / "queries.jsonl").open("w", encoding="utf-8") as file:
        for split in SPLITS:
            queries = corpus.queries(split, task).distinct()
            for line in _query_lines(corpus, queries):
                file.write(line)
            _write_judgements(corpus, queries, directory / "qrels" / f"{_NAME_OF[split]}.tsv")
            counts[f"queries_{split}"] = len(queries)
            counts[f"judgements_{split}"] = len(queries.cited_rows)
    return counts


def _write_papers(corpus: CorpusStore, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, corpus.num_papers, _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, corpus.num_papers))
            for row, abstract in zip(rows, corpus.abstracts(rows), strict=True):
                metadata = {
                    "year": int(corpus.years[row]),
                    "authors": corpus.authors[row],
                    "venue": corpus.venues[row],
                }
                title = corpus.titles[row]
                file.write(_line(corpus.paper_ids[row], metadata, title=title, text=abstract))


def _query_lines(corpus: CorpusStore, queries: Queries) -> Iterator[str]:
    """Yield a query each; the paper that asks is in the metadata."""
    if isinstance(queries, Contexts):
        texts = corpus.local_texts(queries)
    else:
        texts = corpus.abstract_texts(queries.citing_rows)
    for query_id, row, text in zip(queries.query_ids, queries.citing_rows, texts, strict=True):
        metadata = {
            "citing_id": corpus.paper_ids[row],
            "title": corpus.titles[row],
            "year": int(corpus.years[row]),
        }
        yield _line(query_id, metadata, text=text)


def _line(name: str, metadata: dict[str, object], **texts: str) -> str:
    return json.dumps({"_id": name, **texts, "metadata": metadata}, ensure_ascii=False) + "\n"


def _write_judgements(corpus: CorpusStore, queries: Queries, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, delimiter="\t", lineterminator="\n")
        lines.writerow(["query-id", "corpus-id", "score"])
        for i, query_id in enumerate(queries.query_ids):
            lines.writerows((query_id, corpus.paper_ids[row], 1) for row in queries.cited(i))
