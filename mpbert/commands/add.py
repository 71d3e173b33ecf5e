"""``add``: an index and new papers -> the same index with them, without training."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from mpbert.corpus.formats.base import READERS
from mpbert.foundation.config import option, positional
from mpbert.foundation.engines import OwnProcesses
from mpbert.foundation.errors import CorpusError, listed
from mpbert.retrieval.stores.urls import changed_store_option


@dataclass(frozen=True)
class Config:
    """Add papers to an index: vectors by its own encoder, words, and the sentences that cite."""

    index: Path = positional("index", "index to change")
    papers: Path = positional("papers", "papers in any format that index reads")
    reader: Optional[str] = option(
        None, "format of the papers; without it, told from the files", choices=READERS.names()
    )
    grobid: Optional[str] = option(
        None, "address of a GROBID server to read the PDF files; without it, mpbert reads them"
    )
    update: bool = option(
        False, "replace papers of the index whose record has changed; without it, they are refused"
    )
    prune: bool = option(False, "remove papers of the index that are not among these")
    store: str = changed_store_option()


def run(config: Config) -> None:
    """Change the index in one step, then its store; print what was added and dropped.

    :raises CorpusError: a record is broken, or its id is in the index with another record; or some
        were left out, and papers that are not there shall be removed.
    :raises StoreUnavailableError: the store does not answer; before the change nothing is changed.
    """
    from mpbert.corpus.formats.mixed import MERGED
    from mpbert.recommending.arrivals import arrivals
    from mpbert.recommending.changes import removed, with_arrivals
    from mpbert.recommending.columns import TextColumn
    from mpbert.recommending.directory import IndexData, change_index
    from mpbert.recommending.encoders import encoder_of_index
    from mpbert.recommending.index_manifest import read_index_manifest
    from mpbert.recommending.library import read_library, reader_name, told_counts
    from mpbert.recommending.stored import check_reached, read_stored
    from mpbert.recommending.tables import IndexTables

    if config.store:
        check_reached(config.index, config.store)
    read_index_manifest(config.index)
    counts: Counter[str] = Counter()
    reader = reader_name(config.papers, config.reader, counts)
    papers = read_library(config.papers, reader, OwnProcesses(), counts, config.grobid or "")
    if config.prune:
        _check_whole(config.papers, counts)
    absent = TextColumn.of([])

    def change(data: IndexData) -> tuple[IndexTables, dict[str, Any]]:
        nonlocal absent
        encoder = encoder_of_index(config.index, data)
        found = arrivals(data.tables, papers, counts, config.update, reader in MERGED)
        result = with_arrivals(data.tables, found, encoder, counts)
        if config.prune or config.update:
            absent = found.absent()
        if config.prune and len(absent):
            result = removed(result, absent, counts)
        return result, {"command": "add", **{name: n for name, n in sorted(counts.items()) if n}}

    total = change_index(config.index, change)
    if config.store:
        read_stored(config.index, config.store)
    replaced = f"{counts['papers_replaced']:,} replaced, " if config.update else ""
    print(
        f"{config.index}: {total['papers']:,} papers, {counts['papers_added']:,} of them new, "
        f"{replaced}"
        f"{counts['papers_already_there']:,} given were there already, "
        f"{counts['papers_without_text']:,} without text dropped"
    )
    for line in told_counts(counts):
        print(line)
    if len(absent):
        said = "removed" if config.prune else "--prune removes them"
        print(f"{len(absent):,} of the index not in {config.papers}, {said}: {listed(absent, 20)}")


def _check_whole(papers: Path, counts: Counter[str]) -> None:
    """Check that nothing of an export was left out, which would be removed for that.

    :raises CorpusError: something was.
    """
    from mpbert.recommending.library import LEFT_OUT, told_counts

    if lost := told_counts({name: counts[name] for name in LEFT_OUT}):
        raise CorpusError(
            f"{papers}: {', '.join(lost)}; nothing was changed: --prune needs an export that is "
            f"read whole, mend it or leave --prune out"
        )
