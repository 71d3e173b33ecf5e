import tracemalloc
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from mpbert.corpus import tables
from mpbert.corpus.links import link_papers
from mpbert.corpus.spill import sort_papers
from mpbert.corpus.table_file import JoinedTexts
from tests.corpus.test_spill import paper_of

ONE = np.ones(1, np.int16)


def test_texts_are_those_that_were_added_one_after_the_other():
    texts = JoinedTexts()
    for added in (["One.", "", "ä"], [], ["b", "c"]):
        texts.add(added)
    found = texts.array()
    found.validate(full=True)
    assert found.to_pylist() == ["One.", "", "ä", "b", "c"]
    assert texts.size == len("One.ä".encode()) + 2


def test_the_buffer_serves_again_once_the_array_is_gone():
    texts = JoinedTexts()
    texts.add(["a long text"])
    found = texts.array()
    texts.clear()
    with pytest.raises(BufferError):
        texts.add(["a text that is much longer than the first one"])
    del found
    texts.clear()
    texts.add(["x"])
    assert texts.array().to_pylist() == ["x"]
    texts.clear()
    assert texts.array().to_pylist() == []


def test_texts_of_one_group_are_in_memory_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_PAPERS_OF_A_GROUP_OF_SENTENCES", 10)
    text = ["word " * 20_000]
    long = (replace(paper_of(n, 60), sentences=text, sections=ONE, cited=[]) for n in range(60))
    papers = sort_papers(long, tmp_path)
    links, splits = link_papers(papers, "drop", Counter()), np.array(["train", "valid"] * 30)
    tables.write_tables(tmp_path, papers, links, splits)  # what is imported and cached
    tracemalloc.start()
    tables.write_tables(tmp_path, papers, links, splits)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.7 * 10 * len(text[0])


def test_a_row_group_ends_before_the_paper_that_would_not_fit(tmp_path, monkeypatch):
    papers = sort_papers((paper_of(number, 10) for number in range(10)), tmp_path)
    size = max(sum(map(len, paper.sentences)) for paper in papers)
    links = link_papers(papers, "drop", Counter())
    splits = np.array(["train", "valid"] * 5)
    written = {}
    for most in (1 << 20, 3 * size, 1):
        monkeypatch.setattr(tables, "_BYTES_OF_A_GROUP_OF_SENTENCES", most)
        place = tmp_path / str(most)
        place.mkdir()
        tables.write_tables(place, papers, links, splits)
        file = pq.ParquetFile(place / "sentences.parquet")
        groups = range(file.num_row_groups)
        written[most] = [file.metadata.row_group(group).num_rows for group in groups], file.read()
    rows = [[200], [60, 60, 60, 20], [20] * 10]
    assert [groups for groups, _ in written.values()] == rows
    tables_of = [table.combine_chunks() for _, table in written.values()]
    assert tables_of[0].equals(tables_of[1]) and tables_of[0].equals(tables_of[2])
