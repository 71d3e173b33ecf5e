"""An index is brought up to date with its library: by the records that differ, in one step."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.formats.mixed import MERGED
from mpbert.foundation.errors import ConfigError
from mpbert.recommending.arrivals import alike, arrivals
from mpbert.recommending.changes import with_arrivals, without
from mpbert.recommending.directory import change_index, read_index
from mpbert.recommending.encoders import encoder_of_index
from mpbert.recommending.following.noted import note, noted
from mpbert.recommending.following.snapshots import BROKEN, snapshot_of
from mpbert.recommending.index_encoder import IndexEncoder
from mpbert.recommending.index_manifest import read_index_manifest
from mpbert.recommending.library import reader_name
from mpbert.recommending.ordered_texts import rows_in_order
from mpbert.recommending.published import published_of, rows_of_other_ids
from mpbert.recommending.stored import check_reached, read_stored
from mpbert.recommending.tables import IndexTables


@dataclass(frozen=True)
class Followed:
    """A library and its index.

    :param reader: name of the library's reader; None: told from the files.
    :param grobid: address of a service that reads PDF files; ``store`` URL of a store that proposes
        papers; empty: none.
    """

    library: Path
    index: Path
    reader: str | None = None
    grobid: str = ""
    store: str = ""


@dataclass(frozen=True)
class Update:
    """What came of it.

    :param papers: in the index; ``added`` and what follows are numbers of papers.
    :param broken: records that were left out, so that nothing was removed.
    :param others: papers of the index that a library has not which is read for the first time.
    """

    papers: int
    added: int
    replaced: int
    removed: int
    broken: int
    others: list[str]


def update(followed: Followed) -> Update | None:
    """Bring an index up to date with its library; None: no record has changed.

    What goes is what was noted before and is gone, so papers that came from elsewhere stay. While
    a record is broken nothing goes, since its id is not known.

    :raises CorpusError: the library cannot be read.
    :raises ConfigError: no paper would be left.
    :raises OutputError: another process is changing the index, or the disk refuses it.
    :raises StoreUnavailableError: the store does not answer; before the change nothing is changed.
    """
    index, library = followed.index, followed.library
    read_index_manifest(index)  # where it is away now, nothing is noted of it
    reader = reader_name(library, followed.reader, Counter())
    before = noted(index, library)
    now = snapshot_of(library, reader, followed.grobid)
    differing = {paper_id for paper_id, _ in now.digests.items() ^ before.items()}
    if not differing:
        return None
    if followed.store:
        check_reached(index, followed.store)
    data = read_index(index)
    ids = _with_copies(data.tables, differing)
    counts: Counter[str] = Counter()
    papers = now.read(ids & now.digests.keys(), counts)
    if more := alike(data.tables.papers, papers).keys() & now.digests.keys() - ids:
        ids |= _with_copies(data.tables, more)
        papers = now.read(ids & now.digests.keys(), counts := Counter())
    gone = set() if counts[BROKEN] else ids - now.digests.keys()
    change = _Change(papers, gone, reader in MERGED, counts)
    encoder = encoder_of_index(index, data)
    total = change_index(index, lambda held: change(held.tables, encoder))
    if followed.store:
        read_stored(index, followed.store)
    read = {paper.paper_id for paper in papers}
    settled = read | gone if counts[BROKEN] else ids
    digests = {i: d for i, d in before.items() if i not in settled}
    digests |= {i: now.digests[i] for i in settled & now.digests.keys()}
    note(index, library, digests)
    names = ("papers_added", "papers_replaced", "papers_removed", BROKEN)
    others = [] if before else change.absent
    return Update(total["papers"], *(counts[name] for name in names), others)


def _with_copies(tables: IndexTables, ids: Collection[str]) -> set[str]:
    """Return ids, with those of records that are one paper with one of them."""
    published = tables.papers["published"]
    rows = rows_of_other_ids(published)
    own, found = tables.papers["paper_id"], set(ids)
    copied = {rows[each] for each in ids if each in rows}
    for row in {*rows.values()} if rows else ():
        if row in copied or own[row] in ids:
            found |= {own[row], *published_of(published[row]).other_ids}
    return found


@dataclass(frozen=True)
class _Change:
    """Tables to those without what is gone, with what is new or changed.

    :param papers: of records that differ, and of their copies.
    :param gone: ids of records that are no more.
    :ivar absent: papers that are none of these.
    """

    papers: list[CleanPaper]
    gone: Collection[str]
    merges: bool
    counts: Counter[str]
    absent: list[str] = field(default_factory=list)

    def __call__(
        self, tables: IndexTables, encoder: IndexEncoder
    ) -> tuple[IndexTables, dict[str, Any]]:
        counts = self.counts
        gone = rows_in_order(tables.papers["paper_id"], self.gone)
        kept = without(tables, gone.values(), counts) if gone else tables
        found = arrivals(kept, self.papers, counts, True, self.merges, drops_labels=True)
        result = with_arrivals(kept, found, encoder, counts)
        # what is a copy of another paper now
        absent = found.absent()
        copies = {paper.paper_id for paper in self.papers}.intersection(absent)
        rows = rows_in_order(result.papers["paper_id"], copies)
        result = without(result, rows.values(), counts) if copies else result
        self.absent[:] = (each for each in absent if each not in copies)
        if not result.papers.num_rows:
            raise ConfigError(
                f"all {tables.papers.num_rows:,} papers would be removed; expected one to stay"
            )
        return result, {"command": "watch", **{name: n for name, n in sorted(counts.items()) if n}}
