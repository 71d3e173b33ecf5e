"""Papers added to an index, and removed from it, without training: tables to tables.

Rows stay in the order of ids, and vectors and weights of all other papers are untouched: what was
added and removed again leaves the same bytes.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.text import split_sentences
from mpbert.foundation.errors import ConfigError, UnknownPaperError
from mpbert.foundation.ragged import row_numbers
from mpbert.recommending.arrivals import Arrival, Arrivals
from mpbert.recommending.citation_keys import citation_keys
from mpbert.recommending.column_making import empty_table
from mpbert.recommending.columns import ColumnTable, TextColumn
from mpbert.recommending.index_encoder import IndexEncoder
from mpbert.recommending.matching import PapersByToken
from mpbert.recommending.ordered_texts import order_of, places_of, rows_in_order
from mpbert.recommending.paper_rows import (
    bodies_table,
    contexts_table,
    keyless,
    merged_contexts,
    papers_table,
    texts_read,
)
from mpbert.recommending.published import rows_of_other_ids
from mpbert.recommending.splicing import Runs, moved_contexts
from mpbert.recommending.tables import BODIES, PAPERS, IndexTables
from mpbert.vectors.matches import TokenWeights


def with_arrivals(
    tables: IndexTables, found: Arrivals, encoder: IndexEncoder, counts: Counter[str]
) -> IndexTables:
    """Return the tables with what arrives, and the sentences in which it cites papers of the index.

    A paper that is there already with the same record is left alone; its sentences that cite the
    new papers are added, so that what ``removed`` took away comes back.

    :param encoder: makes vectors, and weights of exact matches, of new papers from their own text.
    :param counts: receives what is added.
    """
    written = found.papers()
    if not written:
        return tables
    new = [each.paper for each in written]
    source, row_of = _places(tables.papers, [p.paper_id for p in new], found.changed)
    runs = Runs.of(source)
    added_rows = papers_table(new, [e.digest for e in written], _keys_of(found, tables.papers))
    there = list(found.there.values())
    wanted = (
        i for p in (*there, *new) for each in ([p.paper_id], *(c for _, c in p.cited)) for i in each
    )
    there_already = rows_in_order(found.ids, wanted)
    rows = {paper_id: int(row_of[row]) for paper_id, row in there_already.items()}
    is_new = np.flatnonzero(source < 0).tolist()
    rows |= {new[-1 - source[row]].paper_id: row for row in is_new}
    vectors, matches = _read(new, encoder, tables.matches, source)
    counts["papers_added"] += len(found.new)
    new_rows = {paper_id: rows[paper_id] for paper_id in found.new}
    before = [
        moved_contexts(tables, row_of, np.ones(len(row_of), bool), _staying(tables, found.changed)),
        contexts_table(there, rows, new_rows),
    ]
    contexts = [*before, contexts_table(new, rows, rows, counts)]
    counts["citing_sentences_added"] = sum(table.num_rows for table in contexts[1:])
    bodies = tables.bodies
    return IndexTables(
        runs.table(tables.papers, added_rows),
        merged_contexts(ColumnTable.joined(contexts)),
        runs.array(tables.vectors, vectors),
        matches,
        None if bodies is None else runs.table(bodies, bodies_table(new)),
        runs.array(tables.origins(), np.full(len(new), -1))[:],
    )


def _places(
    old: ColumnTable, ids: Sequence[str], changed: Collection[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return where papers come from when new ones stand among old ones, in the order of ids.

    :param ids: of the new papers; ``changed`` are old rows that go, whose ids are among them.
    :returns: (N,) an old row, or -1 - a new one; and the new row of each old one.
    """
    kept = np.delete(np.arange(old.num_rows), list(changed))
    own = TextColumn.of(ids)
    order = order_of(own)
    places, _ = places_of(old["paper_id"], own.take(order))
    source = np.insert(kept, np.searchsorted(kept, places), -1 - order)
    row_of = np.empty(old.num_rows, dtype=np.int64)
    row_of[kept] = np.flatnonzero(source >= 0)
    new_of = dict(zip(places.tolist(), np.flatnonzero(source < 0).tolist(), strict=True))
    for row in changed:
        row_of[row] = new_of[row]
    return source, row_of


def _read(
    papers: Sequence[CleanPaper],
    encoder: IndexEncoder,
    matches: PapersByToken | None,
    source: np.ndarray,
) -> tuple[np.ndarray, PapersByToken | None]:
    """Return (M, D) vectors of papers, and the weights of old and new papers in their order.

    :param source: (N,) as of :func:`_places`.
    """
    read = list(map(texts_read, papers))
    vectors = encoder.embed_papers(read)
    if matches is None:
        return vectors, None
    weights = [encoder.weigh_paper(*paper) for paper in read]
    together = TokenWeights.joined([matches.by_paper(), *weights])
    rows = np.where(source < 0, len(matches) - 1 - source, source)
    return vectors, PapersByToken.of(together.take(rows))


def removed(tables: IndexTables, paper_ids: Iterable[str], counts: Counter[str]) -> IndexTables:
    """Return the tables without some papers, what they cite, and the citations of them.

    :param counts: receives what is removed.
    :raises UnknownPaperError: one of the papers is not in the index.
    :raises ConfigError: no paper would be left.
    """
    number, others = tables.papers.num_rows, rows_of_other_ids(tables.papers["published"])
    rows = rows_in_order(tables.papers["paper_id"], paper_ids)
    rows |= {i: others[i] for i in paper_ids if i in others and i not in rows}
    if unknown := sorted(set(paper_ids) - rows.keys()):
        raise UnknownPaperError(
            f"no paper {unknown[0]!r} among the {number:,} of the index"
            f"{f', nor {len(unknown) - 1} more' if unknown[1:] else ''}; expected ids as recommend "
            f"prints them, nothing was removed"
        )
    gone = {*rows.values()}
    if len(gone) == number:
        raise ConfigError(f"all {number:,} papers would be removed; expected one to stay")
    return without(tables, gone, counts)


def without(tables: IndexTables, gone: Collection[int], counts: Counter[str]) -> IndexTables:
    """Return the tables without the papers of some rows; they may be empty then.

    :param counts: receives what is removed.
    """
    is_kept = np.ones(tables.papers.num_rows, dtype=bool)
    is_kept[list(gone)] = False
    kept = np.flatnonzero(is_kept)
    cites = is_kept[tables.contexts["citing_row"]]
    contexts = moved_contexts(tables, np.cumsum(is_kept) - 1, is_kept, cites)
    offsets, cited = tables.cited()
    citing = tables.contexts["citing_row"][row_numbers(np.diff(offsets))]
    counts["papers_removed"] += int((~is_kept).sum())
    counts["citations_by_others_removed"] += int((is_kept[citing] & ~is_kept[cited]).sum())
    runs = Runs.of(kept)
    matches, bodies = tables.matches, tables.bodies
    return IndexTables(
        runs.table(tables.papers, empty_table(PAPERS)),
        contexts,
        runs.array(tables.vectors, tables.vectors[:0]),
        None if matches is None else PapersByToken.of(matches.by_paper().take(kept)),
        None if bodies is None else runs.table(bodies, empty_table(BODIES)),
        tables.origins()[kept],
    )


def _keys_of(found: Arrivals, old: ColumnTable) -> list[str]:
    """Return the key of each paper that is written; one that replaces another keeps its key."""
    made = citation_keys(list(map(keyless, found.new.values())), old["key"])
    return made + [old["key"][row] for row in found.changed]


def _staying(tables: IndexTables, changed: dict[int, Arrival]) -> np.ndarray:
    """Return (C,) whether a context stays: not one of text that a new record replaces."""
    citing = tables.contexts["citing_row"]
    stays = np.ones(len(citing), dtype=bool)
    for number in np.flatnonzero(np.isin(citing, list(changed))):
        arrival = changed[int(citing[number])]
        is_abstract = _is_of_abstract(tables, int(number))
        stays[number] = arrival.keeps_abstract if is_abstract else arrival.keeps_body
    return stays


def _is_of_abstract(tables: IndexTables, number: int) -> bool:
    """Whether a context is of the abstract; by its position where the body says the same."""
    context = tables.contexts.row(number)
    row, text = context["citing_row"], context["text"]
    abstract = tables.papers["abstract"][row]
    if text not in abstract:
        return False
    body = "" if tables.bodies is None else tables.bodies["body"][row]
    return text not in body or context["position"] < len(split_sentences(abstract))
