"""Writes the Parquet tables and the qrels of a corpus store: same papers, same bytes."""

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.links import Links
from mpbert.corpus.queries import qrels_name
from mpbert.corpus.repeats import Key, Repeats, context_keys, find_repeats
from mpbert.corpus.splits import SPLITS

_PAPERS_PER_ROW_GROUP = 1000


def write_tables(
    directory: Path, papers: list[CleanPaper], links: Links, splits: np.ndarray
) -> Counter[str]:
    """Write everything but the manifest.

    :param papers: sorted by id.
    :param splits: split of each paper.
    :returns: counts of what was written.
    """
    repeats = _find_repeats(papers, links, splits)
    tables = {
        "papers": _papers(papers, splits),
        "sections": _sections(papers),
        "contexts": _contexts(papers, links, splits, repeats),
        "citations": pa.table(
            {"citing_row": links.citations[:, 0], "cited_row": links.citations[:, 1]}
        ),
    }
    for name, table in tables.items():
        pq.write_table(table, directory / f"{name}.parquet", compression="zstd")
    _write_sentences(directory / "sentences.parquet", papers)
    _write_all_qrels(directory, papers, links, splits, repeats)
    return _counts(papers, links, splits, repeats)


def _find_repeats(papers: list[CleanPaper], links: Links, splits: np.ndarray) -> dict[str, Repeats]:
    """Return the repeats of ``valid`` and ``test``, each in the order of their contexts."""
    texts = (papers[row].sentences[position].as_py() for row, position, _ in links.contexts)
    keys = context_keys(texts, (cited for _, _, cited in links.contexts))
    of_split: dict[str, list[Key]] = {split: [] for split in SPLITS}
    for key, (row, _, _) in zip(keys, links.contexts, strict=True):
        of_split[str(splits[row])].append(key)
    training = set(of_split["train"])
    return {split: find_repeats(of_split[split], training) for split in ("valid", "test")}


def _papers(papers: list[CleanPaper], splits: np.ndarray) -> pa.Table:
    return pa.table(
        {
            "paper_id": pa.array([p.paper_id for p in papers], pa.string()),
            "title": pa.array([p.title for p in papers], pa.string()),
            "authors": pa.array([p.authors for p in papers], pa.list_(pa.string())),
            "year": pa.array([p.year for p in papers], pa.int32()),
            "venue": pa.array([p.venue for p in papers], pa.string()),
            "split": pa.array(splits.tolist(), pa.string()),
            "num_abstract": pa.array([p.num_abstract for p in papers], pa.int32()),
            "num_sentences": pa.array([len(p.sentences) for p in papers], pa.int32()),
        }
    )


def _sections(papers: list[CleanPaper]) -> pa.Table:
    lengths = [len(p.headings) for p in papers]
    numbers = [np.arange(1, n + 1, dtype=np.int16) for n in lengths]
    return pa.table(
        {
            "paper_row": np.repeat(np.arange(len(papers), dtype=np.int32), lengths),
            "section": np.concatenate(numbers) if numbers else np.zeros(0, np.int16),
            "heading": pa.array([h for p in papers for h in p.headings], pa.string()),
        }
    )


def _contexts(
    papers: list[CleanPaper], links: Links, splits: np.ndarray, repeats: dict[str, Repeats]
) -> pa.Table:
    citing = [row for row, _, _ in links.contexts]
    is_repeat = np.zeros(len(citing), dtype=bool)
    for split, found in repeats.items():
        is_repeat[splits[citing] == split] = found.is_repeat
    positions = [position for _, position, _ in links.contexts]
    ids = [f"{papers[row].paper_id}#{position}" for row, position, _ in links.contexts]
    return pa.table(
        {
            "context_id": pa.array(ids, pa.string()),
            "citing_row": pa.array(citing, pa.int32()),
            "position": pa.array(positions, pa.int32()),
            "cited_rows": pa.array([rows for _, _, rows in links.contexts], pa.list_(pa.int32())),
            "split": pa.array(splits[citing].tolist() if citing else [], pa.string()),
            "year": pa.array([papers[row].year for row in citing], pa.int32()),
            "is_repeat": pa.array(is_repeat),
        }
    )


def _write_sentences(path: Path, papers: list[CleanPaper]) -> None:
    schema = pa.schema(
        [
            ("paper_row", pa.int32()),
            ("position", pa.int32()),
            ("section", pa.int16()),
            ("text", pa.string()),
        ]
    )
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as writer:
        for rows in _blocks(len(papers), _PAPERS_PER_ROW_GROUP):
            block = papers[rows.start : rows.stop]
            lengths = [len(p.sentences) for p in block]
            columns = [
                np.repeat(np.arange(rows.start, rows.stop, dtype=np.int32), lengths),
                np.concatenate([np.arange(n, dtype=np.int32) for n in lengths]),
                np.concatenate([p.sections for p in block]),
                pa.concat_arrays([p.sentences for p in block]),
            ]
            writer.write_table(pa.table(columns, schema=schema))


def _blocks(total: int, size: int) -> Iterator[range]:
    for start in range(0, total, size):
        yield range(start, min(start + size, total))


def _write_all_qrels(
    directory: Path,
    papers: list[CleanPaper],
    links: Links,
    splits: np.ndarray,
    repeats: dict[str, Repeats],
) -> None:
    contexts = [
        (f"{papers[row].paper_id}#{place}", row, cited) for row, place, cited in links.contexts
    ]
    whole = [(papers[row].paper_id, row, [cited]) for row, cited in links.citations.tolist()]
    for task, queries in (("local", contexts), ("global", whole)):
        for split in SPLITS:
            of_split = [query for query in queries if splits[query[1]] == split]
            _write_qrels(directory / qrels_name(task, split, "all"), papers, of_split)
    for split, found in repeats.items():
        of_split = [query for query in contexts if splits[query[1]] == split]
        distinct = list(itertools.compress(of_split, ~found.is_repeat))
        _write_qrels(directory / qrels_name("local", split), papers, distinct)


def _write_qrels(
    path: Path, papers: list[CleanPaper], queries: list[tuple[str, int, list[int]]]
) -> None:
    with path.open("w", encoding="utf-8") as file:
        for query, _, cited_rows in queries:
            file.writelines(f"{query} 0 {papers[row].paper_id} 1\n" for row in cited_rows)


def _counts(
    papers: list[CleanPaper], links: Links, splits: np.ndarray, repeats: dict[str, Repeats]
) -> Counter[str]:
    counts = Counter(
        papers=len(papers),
        sentences=sum(len(p.sentences) for p in papers),
        papers_without_abstract=sum(p.num_abstract == 0 for p in papers),
        contexts=len(links.contexts),
        contexts_citing_2_or_more=sum(len(rows) >= 2 for _, _, rows in links.contexts),
        in_text_citations=sum(len(rows) for _, _, rows in links.contexts),
        citations=len(links.citations),
    )
    citing = np.unique(links.citations[:, 0])
    counts.update(f"papers_citing_{split}" for split in splits[citing].tolist())
    counts.update(f"papers_{split}" for split in splits.tolist())
    counts.update(f"contexts_{splits[row]}" for row, _, _ in links.contexts)
    for split, found in repeats.items():
        counts[f"contexts_that_repeat_another_{split}"] = found.num_repeats
        counts[f"contexts_as_in_training_{split}"] = found.in_training
    return counts
