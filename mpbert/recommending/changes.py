"""Papers added to an index, and removed from it, without training: tables to tables.

Rows stay in the order of ids, and vectors and weights of all other papers are untouched: what was
added and removed again leaves the same bytes.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from mpbert.corpus.clean import CleanPaper
from mpbert.foundation.errors import ConfigError, CorpusError, UnknownPaperError
from mpbert.foundation.ragged import row_numbers
from mpbert.recommending.encoders import IndexEncoder
from mpbert.recommending.matching import PapersByToken
from mpbert.recommending.tables import (
    BODIES,
    CONTEXTS,
    PAPERS,
    IndexTables,
    digest,
    lists_of,
    table_of,
)
from mpbert.vectors.matches import TokenWeights


def added(
    tables: IndexTables,
    papers: Sequence[CleanPaper],
    encoder: IndexEncoder,
    counts: Counter[str],
) -> IndexTables:
    """Return the tables with more papers, and the sentences in which they cite papers of the index.

    A paper that is there already with the same record is left alone, and counted; its sentences
    that cite the new papers are added, so that what ``removed`` took away comes back.

    :param encoder: makes vectors, and weights of exact matches, of new papers from their own text.
    :param counts: receives what is added and dropped.
    :raises CorpusError: an id occurs twice, or is in the index with another record.
    """
    new = _new_papers(tables, papers, counts)
    if not new:
        return tables
    ids = tables.papers["paper_id"].to_pylist() + [paper.paper_id for paper in new]
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__))
    row_of = np.empty(len(ids), dtype=np.int64)  # (N,) new row of each old or added paper
    row_of[order] = np.arange(len(ids))
    read = [(p.paper_id, [p.title, *_texts(p)], p.num_abstract + 1) for p in new]
    vectors, matches = encoder.embed_papers(read), tables.matches
    if matches is not None:
        from scipy import sparse

        weights = [encoder.weigh_paper(*paper).matrix() for paper in read]
        together = sparse.vstack([matches.matrix(), *weights], format="csr")
        matches = PapersByToken.of(TokenWeights.of(together[order]))
    counts["papers_added"] += len(new)
    rows = {ids[old]: row for row, old in enumerate(order)}
    new_rows = {paper.paper_id: rows[paper.paper_id] for paper in new}
    there = {p.paper_id: p for p in papers if p.paper_id not in new_rows}  # one may be given twice
    contexts = [
        _moved(tables, row_of, np.ones(len(ids), dtype=bool)),
        _contexts_of(list(there.values()), rows, new_rows),
        _contexts_of(new, rows, rows, counts),
    ]
    counts["citing_sentences_added"] = sum(table.num_rows for table in contexts[1:])
    return IndexTables(
        pa.concat_tables([tables.papers, _papers_table(new)]).take(order).combine_chunks(),
        _merged(pa.concat_tables(contexts)),
        np.concatenate([tables.vectors, vectors])[order],
        matches,
        _with_bodies(tables.bodies, new, order),
    )


def removed(tables: IndexTables, paper_ids: Sequence[str], counts: Counter[str]) -> IndexTables:
    """Return the tables without some papers, what they cite, and the citations of them.

    :param counts: receives what is removed.
    :raises UnknownPaperError: one of the papers is not in the index.
    :raises ConfigError: no paper would be left.
    """
    ids = tables.papers["paper_id"].to_pylist()
    gone = set(paper_ids)
    if unknown := sorted(gone - set(ids)):
        raise UnknownPaperError(
            f"no paper {unknown[0]!r} among the {len(ids):,} of the index"
            f"{f', nor {len(unknown) - 1} more' if unknown[1:] else ''}; expected ids as recommend "
            f"prints them, nothing was removed"
        )
    is_kept = np.array([paper_id not in gone for paper_id in ids])
    if not is_kept.any():
        raise ConfigError(f"all {len(ids):,} papers would be removed; expected one to stay")
    kept = np.flatnonzero(is_kept)
    contexts = _moved(tables, np.cumsum(is_kept) - 1, is_kept)
    offsets, cited = tables.cited()
    citing = tables.contexts["citing_row"].to_numpy()[row_numbers(np.diff(offsets))]
    counts["papers_removed"] = len(gone)
    counts["citations_by_others_removed"] = int((is_kept[citing] & ~is_kept[cited]).sum())
    papers = tables.papers.take(kept).combine_chunks()
    matches = tables.matches
    if matches is not None:
        matches = PapersByToken.of(TokenWeights.of(matches.matrix()[kept]))
    bodies = None if tables.bodies is None else tables.bodies.take(kept).combine_chunks()
    return IndexTables(papers, contexts, np.asarray(tables.vectors)[kept], matches, bodies)


def _new_papers(
    tables: IndexTables, papers: Sequence[CleanPaper], counts: Counter[str]
) -> list[CleanPaper]:
    columns = tables.papers["paper_id"].to_pylist(), tables.papers["digest"].to_pylist()
    known = dict(zip(*columns, strict=True))
    new: dict[str, CleanPaper] = {}
    for paper in papers:
        if paper.paper_id in new:
            raise CorpusError(
                f"paper id {paper.paper_id!r} occurs twice; expected unique ids, "
                f"remove one of the two papers"
            )
        if paper.paper_id not in known:
            new[paper.paper_id] = paper
        elif known[paper.paper_id] == _digest(paper):
            counts["papers_already_there"] += 1
        else:
            raise CorpusError(
                f"paper {paper.paper_id!r} is in the index with another record; give it another "
                f"id, or remove the old one with mpbert remove"
            )
    return list(new.values())


def _papers_table(papers: Sequence[CleanPaper]) -> pa.Table:
    records = [
        (
            *(p.paper_id, p.title, p.authors, p.year, p.venue),
            " ".join(_texts(p)[: p.num_abstract]),
            _digest(p),
        )
        for p in papers
    ]
    return table_of(list(zip(*records, strict=True)), PAPERS)


def _with_bodies(
    bodies: pa.Table | None, papers: Sequence[CleanPaper], order: np.ndarray
) -> pa.Table | None:
    """Return the bodies of old and new papers in their order; None where the index has none."""
    if bodies is None:
        return None
    texts = [" ".join(_texts(paper)[paper.num_abstract :]) for paper in papers]
    return pa.concat_tables([bodies, table_of([texts], BODIES)]).take(order).combine_chunks()


def _contexts_of(
    papers: Sequence[CleanPaper],
    row_of: dict[str, int],
    cited_row_of: dict[str, int],
    counts: Counter[str] | None = None,
) -> pa.Table:
    """Return the sentences in which papers cite papers, by their new rows.

    :param cited_row_of: rows of the papers whose citations are wanted.
    """
    counts = Counter() if counts is None else counts
    records = []
    for paper in papers:
        citing_row, texts = row_of[paper.paper_id], _texts(paper)
        for position, ids in paper.cited:
            rows = [cited_row_of[cited] for cited in ids if cited in cited_row_of]
            cited_rows = [row for row in rows if row != citing_row]
            counts["citations_of_papers_outside_the_index"] += len(ids) - len(rows)
            counts["citations_of_the_paper_itself"] += len(rows) - len(cited_rows)
            if cited_rows:
                records.append((citing_row, position, texts[position], cited_rows))
    return table_of(list(zip(*records, strict=True)) or [[]] * len(CONTEXTS), CONTEXTS)


def _merged(contexts: pa.Table) -> pa.Table:
    """Return contexts in their order, what is of one sentence as one."""
    keys = [contexts[name].to_numpy() for name in ("position", "citing_row")]
    order = np.lexsort(keys)
    contexts = contexts.take(order).combine_chunks()
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    first = np.flatnonzero(is_first)
    lists = contexts["cited_rows"].combine_chunks()
    lengths = np.add.reduceat(lists.value_lengths().to_numpy(zero_copy_only=False), first)
    columns = [contexts[name].combine_chunks().take(first) for name in contexts.column_names[:3]]
    return table_of([*columns, lists_of(lengths, lists.flatten())], CONTEXTS)


def _moved(tables: IndexTables, row_of: np.ndarray, is_kept: np.ndarray) -> pa.Table:
    """Return the contexts with other rows, without papers that are not kept.

    :param row_of: new row of each old one, ``is_kept`` whether it has one.
    """
    offsets, cited = tables.cited()
    citing = tables.contexts["citing_row"].to_numpy()
    owner = row_numbers(np.diff(offsets))
    stays = is_kept[cited] & is_kept[citing[owner]]
    lengths = np.bincount(owner[stays], minlength=len(citing))
    kept = np.flatnonzero(lengths)
    columns = [
        row_of[citing[kept]],
        tables.contexts["position"].to_numpy()[kept],
        tables.contexts["text"].take(kept).combine_chunks(),
        lists_of(lengths[kept], row_of[cited[stays]]),
    ]
    return table_of(columns, CONTEXTS)


def _texts(paper: CleanPaper) -> list[str]:
    return paper.sentences.to_pylist()


def _digest(paper: CleanPaper) -> bytes:
    about = paper.title, paper.authors, paper.year, paper.venue, paper.num_abstract
    return digest(*about, _texts(paper))
