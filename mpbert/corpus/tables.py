"""Writes the Parquet tables and the qrels of a corpus store: same papers, same bytes.

Tables are written block by block, so that memory holds a part of each.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.links import Links
from mpbert.corpus.qrels_files import QrelsFiles
from mpbert.corpus.repeats import KEY, Repeats, find_repeats
from mpbert.corpus.spill import PUBLISHED, StoredPapers, column_of_published
from mpbert.corpus.splits import SPLITS
from mpbert.corpus.table_file import JoinedTexts, TableFile
from mpbert.foundation.growing_arrays import release

_PAPERS_OF_A_GROUP_OF_SENTENCES, _BYTES_OF_A_GROUP_OF_SENTENCES = 1000, 48 << 20
_LINKS_OF_A_BLOCK = 1 << 16
_PAPERS_OF_A_GROUP = 1 << 15  # of their table, whose rows are long
_ROWS_OF_A_GROUP = 1 << 18  # of other tables

_PAPERS = pa.schema(
    [
        ("paper_id", pa.string()),
        ("title", pa.string()),
        ("authors", pa.list_(pa.string())),
        ("year", pa.int32()),
        ("venue", pa.string()),
        ("split", pa.string()),
        ("num_abstract", pa.int32()),
        ("num_sentences", pa.int32()),
        ("published", PUBLISHED),
    ]
)
_SECTIONS = pa.schema(
    [("paper_row", pa.int32()), ("section", pa.int16()), ("heading", pa.string())]
)
_CONTEXTS = pa.schema(
    [
        ("context_id", pa.string()),
        ("citing_row", pa.int32()),
        ("position", pa.int32()),
        ("cited_rows", pa.list_(pa.int32())),
        ("split", pa.string()),
        ("year", pa.int32()),
        ("is_repeat", pa.bool_()),
    ]
)
_CITATIONS = pa.schema([("citing_row", pa.int32()), ("cited_row", pa.int32())])
_SENTENCES = pa.schema(
    [
        ("paper_row", pa.int32()),
        ("position", pa.int32()),
        ("section", pa.int16()),
        ("text", pa.string()),
    ]
)


def write_tables(
    directory: Path, papers: StoredPapers, links: Links, splits: np.ndarray
) -> Counter[str]:
    """Write everything but the manifest.

    :param papers: sorted by id.
    :param splits: split of each paper.
    :returns: counts of what was written.
    """
    codes = np.zeros(len(splits), dtype=np.int8)  # texts of as many contexts are large
    for code, split in enumerate(SPLITS):
        codes[splits == split] = code
    of_contexts = codes[links.citing_rows]
    release(links.citing_rows)
    counts = _write_papers(directory, papers, splits)
    repeats = _find_repeats(links, of_contexts)
    is_repeat = np.zeros(len(of_contexts), dtype=bool)
    for split, found in repeats.items():
        is_repeat[of_contexts == SPLITS.index(split)] = found.is_repeat
    _write_contexts(directory, papers, links, splits, is_repeat)
    _write_citations(directory, papers, links, splits)
    return _counts(counts, links, codes, of_contexts, repeats)


def _find_repeats(links: Links, of_contexts: np.ndarray) -> dict[str, Repeats]:
    """Return the repeats of ``valid`` and ``test``, each in the order of their contexts.

    :param of_contexts: (C,) int8 places of the contexts' splits in ``SPLITS``.
    """
    return {
        split: find_repeats(
            np.concatenate([np.zeros(0, KEY), *_keys_of(links, of_contexts, place)]),
            _keys_of(links, of_contexts, SPLITS.index("train")),
        )
        for place, split in enumerate(SPLITS)
        if split != "train"
    }


def _keys_of(links: Links, of_contexts: np.ndarray, code: int) -> Iterator[np.ndarray]:
    """Yield the keys of the contexts of a split, a block at a time."""
    for rows in _blocks(len(of_contexts), _LINKS_OF_A_BLOCK):
        part = slice(rows.start, rows.stop)
        yield links.keys[part][of_contexts[part] == code]
        release(links.keys)


def _blocks(total: int, size: int) -> Iterator[range]:
    for start in range(0, total, size):
        yield range(start, min(start + size, total))


def _write_papers(directory: Path, papers: StoredPapers, splits: np.ndarray) -> Counter[str]:
    """Write papers, sections and sentences, and count them."""
    counts: Counter[str] = Counter()
    sentences = pq.ParquetWriter(
        directory / "sentences.parquet", _SENTENCES, compression="zstd", use_dictionary=False
    )
    with (
        TableFile(directory, "papers", _PAPERS, _PAPERS_OF_A_GROUP) as table,
        TableFile(directory, "sections", _SECTIONS, _ROWS_OF_A_GROUP) as sections,
        sentences,
    ):
        texts, start = JoinedTexts(), 0
        while start < len(papers):
            group = _next_group(papers, start, texts)
            rows = range(start, start + len(group))
            table.add(*_paper_columns(group, splits[rows.start : rows.stop]))
            sections.add(*_section_columns(group, rows))
            columns = _sentence_columns(group, rows, texts.array())
            sentences.write_table(pa.table(columns, schema=_SENTENCES))
            counts["sentences"] += sum(len(p.sections) for p in group)
            counts["papers_without_abstract"] += sum(p.num_abstract == 0 for p in group)
            start = rows.stop
            del group, columns  # they would be in memory beside the next ones
            pa.default_memory_pool().release_unused()  # pages of the file, 20 MiB
    return counts


def _next_group(papers: StoredPapers, start: int, texts: JoinedTexts) -> list[CleanPaper]:
    """Return the papers of a row group of sentences, which ``texts`` holds in their place.

    :param start: row of the first of them.
    """
    texts.clear()
    group: list[CleanPaper] = []
    for row in range(start, min(start + _PAPERS_OF_A_GROUP_OF_SENTENCES, len(papers))):
        paper = papers[row]
        if group and texts.size + sum(map(len, paper.sentences)) > _BYTES_OF_A_GROUP_OF_SENTENCES:
            break
        texts.add(paper.sentences)
        group.append(replace(paper, sentences=[]))
    return group


def _paper_columns(papers: list[CleanPaper], splits: np.ndarray) -> list[object]:
    return [
        pa.array([p.paper_id for p in papers], pa.string()),
        pa.array([p.title for p in papers], pa.string()),
        pa.array([p.authors for p in papers], pa.list_(pa.string())),
        pa.array([p.year for p in papers], pa.int32()),
        pa.array([p.venue for p in papers], pa.string()),
        pa.array(splits.tolist(), pa.string()),
        pa.array([p.num_abstract for p in papers], pa.int32()),
        pa.array([len(p.sections) for p in papers], pa.int32()),
        column_of_published([p.published for p in papers]),
    ]


def _section_columns(papers: list[CleanPaper], rows: range) -> list[object]:
    lengths = [len(p.headings) for p in papers]
    return [
        _repeated(rows, lengths),
        np.concatenate([np.arange(1, n + 1, dtype=np.int16) for n in lengths]),
        pa.array([h for p in papers for h in p.headings], pa.string()),
    ]


def _sentence_columns(papers: list[CleanPaper], rows: range, texts: pa.StringArray) -> list[object]:
    lengths = [len(p.sections) for p in papers]
    return [
        _repeated(rows, lengths),
        np.concatenate([np.arange(n, dtype=np.int32) for n in lengths]),
        np.concatenate([p.sections for p in papers]),
        texts,
    ]


def _repeated(rows: range, lengths: list[int]) -> np.ndarray:
    return np.repeat(np.arange(rows.start, rows.stop, dtype=np.int32), lengths)


def _write_contexts(
    directory: Path, papers: StoredPapers, links: Links, splits: np.ndarray, is_repeat: np.ndarray
) -> None:
    """Write the contexts, and what they cite as qrels: all of a split, and without repeats."""
    with (
        TableFile(directory, "contexts", _CONTEXTS, _ROWS_OF_A_GROUP) as table,
        QrelsFiles(directory, "local") as qrels,
    ):
        for rows in _blocks(len(links.citing_rows), _LINKS_OF_A_BLOCK):
            part = slice(rows.start, rows.stop)
            citing, positions = links.citing_rows[part], links.positions[part]
            offsets = links.cited_offsets[rows.start : rows.stop + 1]
            cited = links.cited_rows[offsets[0] : offsets[-1]]
            offsets = (offsets - offsets[0]).astype(np.int32)
            papers_of = papers.paper_ids.take(pa.array(citing)).to_pylist()
            ids = [f"{i}#{place}" for i, place in zip(papers_of, positions.tolist(), strict=True)]
            of_contexts = splits[citing].tolist()
            table.add(
                pa.array(ids, pa.string()),
                citing,
                positions,
                pa.ListArray.from_arrays(pa.array(offsets), pa.array(cited, pa.int32())),
                pa.array(of_contexts, pa.string()),
                papers.years[citing],
                is_repeat[part],
            )
            cited_ids = papers.paper_ids.take(pa.array(cited)).to_pylist()
            ends = offsets[1:].tolist()
            start = 0
            for number, end in enumerate(ends):
                of_split, twice = of_contexts[number], bool(is_repeat[rows.start + number])
                qrels.add(of_split, ids[number], cited_ids[start:end], twice)
                start = end
            for array in (links.citing_rows, links.positions, links.cited_rows):
                release(array)


def _write_citations(
    directory: Path, papers: StoredPapers, links: Links, splits: np.ndarray
) -> None:
    """Write the citations between papers, and the same as qrels of whole papers."""
    with (
        TableFile(directory, "citations", _CITATIONS, _ROWS_OF_A_GROUP) as table,
        QrelsFiles(directory, "global") as qrels,
    ):
        for rows in _blocks(len(links.citations), _LINKS_OF_A_BLOCK):
            citing, cited = links.citations[rows.start : rows.stop].T
            table.add(np.ascontiguousarray(citing), np.ascontiguousarray(cited))
            ids = (papers.paper_ids.take(pa.array(c)).to_pylist() for c in (citing, cited))
            for split, query, cited_id in zip(splits[citing].tolist(), *ids, strict=True):
                qrels.add(split, query, [cited_id], False)
            release(links.citations)


def _counts(
    found: Counter[str],
    links: Links,
    codes: np.ndarray,
    of_contexts: np.ndarray,
    repeats: dict[str, Repeats],
) -> Counter[str]:
    offsets, several = links.cited_offsets, 0
    for rows in _blocks(len(of_contexts), _LINKS_OF_A_BLOCK):
        several += int((np.diff(offsets[rows.start : rows.stop + 1]) >= 2).sum())
    release(offsets)
    counts = Counter(
        papers=len(codes),
        sentences=found["sentences"],
        papers_without_abstract=found["papers_without_abstract"],
        contexts=len(of_contexts),
        contexts_citing_2_or_more=several,
        in_text_citations=int(offsets[-1]),
        citations=len(links.citations),
    )
    is_citing = np.zeros(len(codes), dtype=bool)
    for rows in _blocks(len(links.citations), _LINKS_OF_A_BLOCK):
        is_citing[links.citations[rows.start : rows.stop, 0]] = True
    _count(counts, "papers_citing_", codes[is_citing])
    _count(counts, "papers_", codes)
    _count(counts, "contexts_", of_contexts)
    for split, repeated in repeats.items():
        counts[f"contexts_that_repeat_another_{split}"] = repeated.num_repeats
        counts[f"contexts_as_in_training_{split}"] = repeated.in_training
    return counts


def _count(counts: Counter[str], what: str, codes: np.ndarray) -> None:
    """Count the splits, in the order in which they come."""
    found = [code for code in range(len(SPLITS)) if (codes == code).any()]
    for code in sorted(found, key=lambda code: np.argmax(codes == code)):
        counts[f"{what}{SPLITS[code]}"] += int((codes == code).sum())
