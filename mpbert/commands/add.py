"""``add``: an index and new papers -> the same index with them, without training."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpbert.corpus.build import iter_clean_papers
from mpbert.corpus.formats.jsonl import JsonlReader
from mpbert.foundation.config import positional
from mpbert.foundation.errors import CorpusError
from mpbert.recommending.changes import added
from mpbert.recommending.directory import change_index, read_index
from mpbert.recommending.reading import EncoderReader
from mpbert.recommending.tables import IndexTables


@dataclass(frozen=True)
class Config:
    """Add papers to an index: vectors by its own encoder, words, and the sentences that cite."""

    index: Path = positional("index", "index to change")
    papers: Path = positional("papers", "papers as JSON Lines, as build-corpus reads them")


def run(config: Config) -> None:
    """Change the index in one step; print what was added and dropped.

    :raises CorpusError: a record is broken, or its id is in the index with another record.
    """
    data = read_index(config.index)
    if not config.papers.exists():
        raise CorpusError(f"{config.papers}: no such file; expected papers as JSON Lines")
    counts: Counter[str] = Counter()
    papers = list(iter_clean_papers(JsonlReader(), config.papers, 1, counts))
    reader = EncoderReader.of_index(config.index, data)

    def change(tables: IndexTables) -> tuple[IndexTables, dict[str, Any]]:
        result = added(tables, papers, reader, counts)
        return result, {"command": "add", **{name: n for name, n in sorted(counts.items()) if n}}

    total = change_index(config.index, change)
    print(
        f"{config.index}: {total['papers']:,} papers, {counts['papers_added']:,} of them new, "
        f"{counts['papers_already_there']:,} given were there already, "
        f"{counts['papers_without_text']:,} without text dropped"
    )
