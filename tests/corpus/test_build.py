import json
import multiprocessing
import os
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mpbert.commands import build_corpus
from mpbert.corpus import build as building
from mpbert.corpus.build import iter_clean_papers
from mpbert.corpus.formats.jsonl import JsonlReader
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.engines import Engine, OwnProcesses
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.manifest import read_manifest
from tests.papers import citing

PAPERS = [
    {
        "paper_id": "b",
        "title": "Second",
        "year": 2012,
        "abstract": ["We add.", citing("As in @, we do.", "a")],
        "sections": [{"heading": "Body", "sentences": [citing("Also @.", "a", "zz", "b"), "…"]}],
        "references": ["a", "yy"],
    },
    {"paper_id": "a", "title": "First", "year": 2000, "abstract": ["We begin."]},
    {
        "paper_id": "c",
        "title": "Third",
        "year": 2013,
        "sections": [{"sentences": ["It is so.", citing("See (@).", "b", "a"), "That is all."]}],
        "references": ["a", "b"],
    },
    {
        "paper_id": "a2",
        "title": "Early",
        "year": 2001,
        "sections": [{"heading": "One", "sentences": [citing("It follows @.", "a")]}],
    },
    {"paper_id": "d", "title": "Empty", "year": 2001, "abstract": []},
]


def write(path: Path, papers: list[dict]) -> Path:
    path.write_text("".join(json.dumps(paper) + "\n" for paper in papers), encoding="utf-8")
    return path


@pytest.fixture
def raw(tmp_path):
    return write(tmp_path / "papers.jsonl", PAPERS)


def build(raw: Path, output: Path, **options) -> CorpusStore:
    build_corpus.run(build_corpus.Config(raw, output, **options))
    return CorpusStore(output)


def test_a_store_holds_papers_by_id_and_text_without_markers(raw, tmp_path):
    store = build(raw, tmp_path / "store")
    assert store.paper_ids == ["a", "a2", "b", "c"]
    assert store.paper_splits.tolist() == ["train", "train", "valid", "test"]
    assert store.years.tolist() == [2000, 2001, 2012, 2013]
    assert store.sentence_offsets.tolist() == [0, 1, 2, 5, 8]
    paper = store.paper("b")
    assert paper.sentences == ["We add.", "As in, we do.", "Also."]
    assert paper.abstract == ["We add.", "As in, we do."]
    assert store.sentence_sections.tolist() == [0, 1, 0, 0, 1, 1, 1, 1]
    assert store.headings(2) == ["Body"]
    assert store.headings(0) == []


def test_contexts_cite_distinct_papers_of_the_corpus_in_order(raw, tmp_path):
    store = build(raw, tmp_path / "store")
    contexts = store.contexts("test")
    assert contexts.query_ids == ["c#1"]
    assert contexts.cited(0).tolist() == [store.row_of["b"], store.row_of["a"]]
    assert store.contexts("valid").query_ids == ["b#1", "b#2"]
    assert store.contexts("train").query_ids == ["a2#0"]
    assert store.contexts("valid").years.tolist() == [2012, 2012]
    assert store.local_texts(store.contexts("valid")) == ["We add. As in, we do.", "Also."]
    assert store.local_texts(contexts) == ["It is so. See. That is all."]
    citing_rows, cited_rows = store.citations()
    assert list(zip(citing_rows.tolist(), cited_rows.tolist(), strict=True)) == [
        (1, 0),
        (2, 0),
        (3, 0),
        (3, 2),
    ]
    assert (store.path / "qrels.test.txt").read_text() == "c#1 0 b 1\nc#1 0 a 1\n"


def test_everything_dropped_is_counted(raw, tmp_path):
    counts = read_manifest(build(raw, tmp_path / "store").path)["counts"]
    assert counts["papers"] == 4
    assert counts["papers_read"] == 5
    assert counts["papers_without_text"] == 1
    assert counts["sentences_without_words"] == 1
    assert counts["contexts"] == 4
    assert counts["contexts_citing_2_or_more"] == 1
    assert counts["in_text_citations_of_papers_outside_the_corpus"] == 1
    assert counts["in_text_citations_of_the_paper_itself"] == 1
    assert counts["references_of_papers_outside_the_corpus"] == 1
    assert counts["cited_in_text_but_not_in_references"] == 1


def test_the_same_papers_in_another_order_give_the_same_bytes(raw, tmp_path):
    mixed = write(tmp_path / "mixed.jsonl", PAPERS[::-1])
    first, second = build(raw, tmp_path / "one").path, build(mixed, tmp_path / "two").path
    for file in [*first.glob("*.parquet"), *first.glob("qrels*")]:
        assert file.read_bytes() == (second / file.name).read_bytes(), file.name


def test_citations_of_later_papers_are_counted(tmp_path):
    papers = [
        {"paper_id": name, "title": f"Paper {name}", "year": year, "abstract": ["One."],
         "references": references}
        for name, year, references in (("a", 2000, ["b"]), ("b", 2012, ["a"]), ("c", 2013, ["b"]))
    ]  # fmt: skip
    counts = read_manifest(build(write(tmp_path / "a.jsonl", papers), tmp_path / "store").path)[
        "counts"
    ]
    assert counts["citations_of_papers_of_later_years"] == 1  # of b by a


@pytest.fixture
def chain(tmp_path):
    """A hundred papers, each of which cites the one before it."""
    papers = [
        {
            "paper_id": f"p{n:03}",
            "title": f"Paper {n}",
            "year": 1900 + n,
            "abstract": [citing("It cites @ here.", f"p{n - 1:03}")],
        }
        for n in range(100)
    ]
    return write(tmp_path / "chain.jsonl", papers)


class Lengths(Engine):
    """Makes all parts here, and keeps how many records each was made of."""

    def __init__(self):
        self.found = []

    def results(self, work, items, parts):
        make = work.open()
        for records in items:
            self.found.append(len(records))
            yield make(records)


@pytest.mark.parametrize(("most", "lengths"), [(1 << 22, [5]), (1, [1] * 5), (600, [3, 2])])
def test_a_part_ends_with_so_many_bytes_and_its_size_changes_no_paper(
    raw, monkeypatch, most, lengths
):
    monkeypatch.setattr(building, "_BYTES", most)
    engine, counts = Lengths(), Counter()
    papers = list(iter_clean_papers(JsonlReader(), raw, engine, counts))
    assert (engine.found, counts["papers_read"]) == (lengths, 5)
    assert [paper.paper_id for paper in papers] == ["b", "a", "c", "a2"]


def test_a_part_holds_one_parsed_paper_at_a_time(raw, monkeypatch):
    events = []
    parse, clean = JsonlReader.parse, building.clean_paper
    monkeypatch.setattr(JsonlReader, "parse", lambda *a: events.append("parse") or parse(*a))
    monkeypatch.setattr(building, "clean_paper", lambda *a: events.append("clean") or clean(*a))
    list(iter_clean_papers(JsonlReader(), raw, OwnProcesses(1), Counter()))
    assert events == ["parse", "clean"] * 5


def test_a_process_with_threads_is_not_forked(chain, monkeypatch):
    """A kernel of a notebook hung once: a forked process waited for a lock of a thread."""

    def refuse(method):
        raise AssertionError(f"{method} beside a thread")

    monkeypatch.setattr(multiprocessing, "get_context", refuse)
    with monkeypatch.context() as alone, pytest.raises(AssertionError, match="fork beside"):
        alone.setattr(threading, "enumerate", lambda: [threading.main_thread()])
        list(iter_clean_papers(JsonlReader(), chain, OwnProcesses(2), Counter()))
    is_over = threading.Event()
    thread = threading.Thread(target=is_over.wait)
    thread.start()
    try:
        counts = Counter()
        assert len(list(iter_clean_papers(JsonlReader(), chain, OwnProcesses(2), counts))) > 0
        assert counts["papers_read"] > 0
    finally:
        is_over.set()
        thread.join()


def test_one_process_and_two_write_the_same_bytes(chain, tmp_path, monkeypatch):
    stores = []
    for processes in (1, 2):
        monkeypatch.setattr(os, "cpu_count", lambda processes=processes: processes)
        path = build(chain, tmp_path / f"store-{processes}", split="random").path
        files = (file for file in path.iterdir() if file.name != "log.txt")  # which holds seconds
        stores.append({file.name: file.read_bytes() for file in files})
    assert "sentences.parquet" in stores[0]
    assert {name for name in stores[0] if stores[0][name] != stores[1][name]} <= {"config.yaml"}
    assert stores[0].keys() == stores[1].keys()


def test_a_finished_store_is_reused(raw, tmp_path, capsys):
    output = build(raw, tmp_path / "store").path
    build_corpus.run(build_corpus.Config(raw, output))
    assert "exists, reused" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"paper_id": "a"}, {}, "paper id 'a' occurs twice"),
        ({"references": ["q"]}, {"unknown_cited": "error"}, "cites 'q', which is not in the"),
        ({}, {"test_year": 2030}, r"without papers \(2 train, 2 valid, 0 test\)"),
        ({}, {"valid_year": 2001, "test_year": 2012}, "leaves train without contexts"),
        ({"year": "2012"}, {}, r"papers\.jsonl:1: year: '2012' is not of type 'integer'"),
    ],
)
def test_wrong_input_is_one_line_that_says_where(tmp_path, change, options, message):
    papers = [{**PAPERS[0], "references": [], **change}, *PAPERS[1:]]
    papers[0]["sections"] = []
    raw = write(tmp_path / "papers.jsonl", papers)
    with pytest.raises(CorpusError, match=message):
        build(raw, tmp_path / "store", **options)
    assert not (tmp_path / "store").exists()


def test_a_missing_corpus_is_said_to_be_missing(tmp_path):
    with pytest.raises(CorpusError, match="no such file; expected a raw corpus"):
        build(tmp_path / "none.jsonl", tmp_path / "store")


@pytest.mark.parametrize("output", ["bi", "bi/out", "bi/../bi/deep/out"])
def test_a_store_within_the_raw_corpus_is_refused_at_once(tmp_path, output):
    (tmp_path / "bi").mkdir()
    write(tmp_path / "bi" / "papers.jsonl", PAPERS)
    with pytest.raises(ConfigError, match=r"lies in the raw corpus .*bi, which it would"):
        build(tmp_path / "bi", tmp_path / output)
    assert len([*tmp_path.rglob("*")]) == 2


def test_years_do_not_go_with_a_random_split(tmp_path):
    with pytest.raises(ConfigError, match="need --split year"):
        build_corpus.Config(tmp_path, tmp_path, split="random", valid_year=2000)


def test_the_random_split_divides_papers_by_the_seed(chain, tmp_path):
    stores = [
        build(chain, tmp_path / name, split="random", seed=seed)
        for name, seed in (("one", 1), ("two", 2))
    ]
    for store in stores:
        assert [(store.paper_splits == s).sum() for s in ("train", "valid", "test")] == [72, 8, 20]
        rows = store.contexts("test").citing_rows
        assert len(rows) in (19, 20)
        assert (store.paper_splits[rows] == "test").all()
    assert np.any(stores[0].paper_splits != stores[1].paper_splits)


def test_a_reader_that_parses_in_this_process_yields_every_record(raw):
    assert [paper.paper_id for paper in JsonlReader().read(raw)] == ["b", "a", "c", "a2", "d"]
