import tracemalloc
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from mpbert.corpus import tables
from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.links import link_papers
from mpbert.corpus.published import Publication
from mpbert.corpus.spill import sort_papers, stored_papers
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.growing_arrays import Numbers

PAPER = CleanPaper(
    paper_id="b",
    title="Ein \U0001d538 ä",
    year=2001,
    authors=["A", "B"],
    venue="",
    num_abstract=1,
    sentences=["One.", "Two ä.", "Three."],
    sections=np.array([0, 1, 1], np.int16),
    headings=["Start"],
    cited=[(1, ["a", "c"]), (2, ["a"])],
    references=("a", "\ud800"),
    split="test",
    published=Publication(other_ids=("c",), labels=("tag:ä",)),
)


def paper_of(number: int, total: int) -> CleanPaper:
    cited = [f"p{(number * 7 + step) % total}" for step in range(1, 20)]
    texts = [f"It is {number} so {place}." for place in range(20)]
    return replace(
        PAPER,
        paper_id=f"p{number}",
        sentences=texts,
        sections=np.ones(20, np.int16),
        cited=[(place, cited[place : place + 2]) for place in range(4)],
        references=tuple(cited),
    )


def test_papers_come_back_sorted_after_the_file_has_no_name(tmp_path):
    others = [replace(PAPER, paper_id=name, year=0, split=None) for name in ("ä", "B", "a")]
    papers = sort_papers([PAPER, *others], tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert len(papers) == 4
    ids = [paper.paper_id for paper in papers]
    assert ids == papers.paper_ids.to_pylist() == sorted(ids) == ["B", "a", "b", "ä"]
    assert papers.years.tolist() == [0, 0, 2001, 0]
    assert papers.given_splits == [None, None, "test", None]
    found = papers[2]
    assert found.sections.tolist() == [0, 1, 1] and found.sections.dtype == np.int16
    assert replace(found, sections=PAPER.sections) == PAPER


def test_more_papers_than_ids_of_a_chunk_stay_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr("mpbert.corpus.spill._IDS_OF_A_CHUNK", 4)
    papers = sort_papers((paper_of(number, 10) for number in range(10)), tmp_path)
    assert [paper.references for paper in papers] == [paper_of(n, 10).references for n in range(10)]


def test_two_papers_of_one_id_are_refused_and_leave_nothing_behind(tmp_path):
    papers = [replace(PAPER, paper_id=name) for name in ("x", "y", "a", "y")]
    with pytest.raises(CorpusError, match="paper id 'y' occurs twice; expected unique ids"):
        sort_papers(papers, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_behind_by_an_error(tmp_path):
    with pytest.raises(KeyError), stored_papers(tmp_path) as stored:
        stored.add(PAPER)
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_numbers_grow_in_their_file():
    numbers = Numbers(np.int32)
    assert numbers.array().tolist() == []
    numbers.extend([3, 1])
    numbers.extend(np.array([[2], [7]]))
    assert numbers.array().tolist() == [3, 1, 2, 7]
    assert numbers.array().dtype == np.int32


def test_linking_a_list_is_linking_what_is_on_disk(tmp_path):
    papers = sorted((paper_of(n, 30) for n in range(20)), key=lambda paper: paper.paper_id)
    counts = Counter(), Counter()
    listed = link_papers(papers, "drop", counts[0])
    stored = link_papers(sort_papers(papers[::-1], tmp_path), "drop", counts[1])
    assert counts[0] == counts[1]
    assert counts[0]["references_of_papers_outside_the_corpus"] > 0
    for name in ("citing_rows", "positions", "cited_offsets", "cited_rows", "keys", "citations"):
        assert np.array_equal(getattr(listed, name), getattr(stored, name)), name


def peak_of(folder, total):
    """Bytes of Python and numpy, and bytes of Arrow, at their peak while a store is written."""
    folder.mkdir()
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    tracemalloc.start()
    papers = sort_papers((paper_of(number, total) for number in range(total)), folder)
    links = link_papers(papers, "drop", Counter())
    held = pool.bytes_allocated() - before
    tables.write_tables(folder, papers, links, np.array(["train", "valid"] * (total // 2)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, held


def test_memory_does_not_grow_with_the_corpus(tmp_path, monkeypatch):
    """Sixteen times the papers: what stays in memory are ids, years and rows of tables."""
    monkeypatch.setattr(tables, "_PAPERS_OF_A_GROUP_OF_SENTENCES", 50)
    monkeypatch.setattr(tables, "_LINKS_OF_A_BLOCK", 500)
    monkeypatch.setattr(tables, "_ROWS_OF_A_GROUP", 500)
    peak_of(tmp_path / "first", 60)  # what is imported and cached
    small, large = peak_of(tmp_path / "small", 60), peak_of(tmp_path / "large", 960)
    assert large[0] - small[0] < 900 * 1000  # bytes a paper, of which contexts are most
    assert large[1] - small[1] < 900 * 100
