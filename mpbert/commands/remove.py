"""``remove``: an index and ids -> the same index without these papers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpbert.config import positional
from mpbert.recommending.changes import removed
from mpbert.recommending.directory import change_index
from mpbert.recommending.tables import IndexTables


@dataclass(frozen=True)
class Config:
    """Remove papers from an index, with what they say of others and what is said of them."""

    index: Path = positional("index", "index to change")
    paper_ids: list[str] = positional("paper_ids", "ids of the papers to remove", nargs="+")


def run(config: Config) -> None:
    """Change the index in one step; print how many papers are left.

    :raises UnknownPaperError: a paper is not in the index; nothing is removed then.
    """

    def change(tables: IndexTables) -> tuple[IndexTables, dict[str, Any]]:
        result = removed(tables, config.paper_ids)
        gone = tables.papers.num_rows - result.papers.num_rows
        return result, {"command": "remove", "papers_removed": gone}

    total = change_index(config.index, change)
    gone = total["latest_change"]["papers_removed"]
    print(f"{config.index}: {total['papers']:,} papers, {gone:,} removed")
