"""``remove``: an index and ids -> the same index without these papers."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpbert.foundation.config import positional
from mpbert.retrieval.stores.urls import changed_store_option


@dataclass(frozen=True)
class Config:
    """Remove papers from an index, with what they say of others and what is said of them."""

    index: Path = positional("index", "index to change")
    paper_ids: list[str] = positional("paper_ids", "ids of the papers to remove", nargs="+")
    store: str = changed_store_option()


def run(config: Config) -> None:
    """Change the index in one step, then its store; print how many papers are left.

    :raises UnknownPaperError: a paper is not in the index; nothing is removed then.
    :raises StoreUnavailableError: the store does not answer; before the change nothing is changed.
    """
    from mpbert.recommending.changes import removed
    from mpbert.recommending.directory import IndexData, change_index
    from mpbert.recommending.stored import check_reached, read_stored
    from mpbert.recommending.tables import IndexTables

    if config.store:
        check_reached(config.index, config.store)

    def change(data: IndexData) -> tuple[IndexTables, dict[str, Any]]:
        counts: Counter[str] = Counter()
        result = removed(data.tables, config.paper_ids, counts)
        return result, {"command": "remove", **counts}

    total = change_index(config.index, change)
    if config.store:
        read_stored(config.index, config.store)
    counts = total["latest_change"]
    print(
        f"{config.index}: {total['papers']:,} papers, {counts['papers_removed']:,} removed and "
        f"{counts['citations_by_others_removed']:,} citations of them by others; those come back "
        f"where add is given the papers and those that cite them"
    )
