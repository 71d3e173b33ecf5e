"""The index of a library that is made in blocks is that of one block, byte for byte."""

import json
from collections import Counter

import numpy as np
import pytest

from mpbert.cli import main
from mpbert.corpus import word_counts
from mpbert.foundation import growing_arrays, transposing
from mpbert.foundation.engines import OwnProcesses
from mpbert.foundation.errors import CorpusError
from mpbert.recommending import (
    columns,
    directory,
    library_tables,
    lookup_building,
    postings_changes,
    read_papers,
    word_changes,
)
from mpbert.recommending.directory import data_of, write_data
from mpbert.recommending.index_encoder import IndexEncoder
from mpbert.recommending.library import read_library
from mpbert.recommending.paper_blocks import BlocksBy
from mpbert.vectors.matches import TokenWeights

WORDS = "routing of mail by names is slow where servers relay queries and answers".split()
BLOCKS = {
    **{(library_tables, "_BLOCK"): 7, (read_papers, "_BLOCK"): 5, (columns, "_BLOCK"): 3},
    **{(word_counts, "_ROWS"): 7, (transposing, "_AT_ONCE"): 11, (lookup_building, "_CONTEXTS"): 7},
    **{(growing_arrays, "_BYTES"): 64, (postings_changes, "_AT_ONCE"): 11},
    **{(postings_changes, "_SOUGHT"): 3},
}


@pytest.fixture
def in_blocks(monkeypatch):
    for (module, name), size in BLOCKS.items():
        monkeypatch.setattr(module, name, size)


class Letters(IndexEncoder):
    """An encoder whose vectors and weights tell of the text."""

    dim, num_matched = 2, 26

    def embed_papers(self, papers):
        return np.array([[len(texts), hash_of(texts)] for _, texts, _ in papers], np.float32)

    def weigh_paper(self, paper_id, sentences, num_abstract):
        tokens = np.unique([ord(c) - 97 for c in " ".join(sentences).lower() if "a" <= c <= "z"])
        weights = tokens.astype(np.float32) + len(sentences)
        return TokenWeights(np.array([0, len(tokens)]), tokens.astype(np.int32), weights, 26)


def hash_of(texts):
    return sum(map(ord, "".join(texts))) % 97


@pytest.fixture
def library(tmp_path):
    """60 papers that cite one another; two have one title, and two keys differ by case alone."""
    rng = np.random.default_rng(1)
    with (tmp_path / "library.jsonl").open("w") as file:
        for number in rng.permutation(60).tolist():
            sentences = [" ".join(rng.choice(WORDS, 6)).capitalize() + "." for _ in range(3)]
            cited = [f"P{n}" for n in rng.integers(0, 70, 2)]
            body = {"text": "As shown before [1] here.", "markers": [{"start": 16, "end": 19}]}
            body["markers"][0]["cited_ids"] = cited
            paper_id = {58: "a", 59: "A"}.get(number, f"P{number}")
            title = "Mail that is routed by names" if number < 2 else f"Title of paper {number}"
            record = {"paper_id": paper_id, "title": title, "year": 2000, "authors": ["A. Mann"]}
            record |= {"abstract": sentences, "sections": [{"sentences": [body, sentences[0]]}]}
            file.write(json.dumps(record) + "\n")
    return tmp_path / "library.jsonl"


def index_of(library, folder, encoder, engine=None):
    """Write an index; return its files and what was counted."""
    folder.mkdir()
    counts = Counter()
    papers = read_library(library, "jsonl", OwnProcesses(), counts)
    tables, words = library_tables.library_tables(papers, BlocksBy(encoder), counts, engine)
    write_data(folder, data_of(tables, 1, 1, fuses=True, words=words))
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}, counts, tables


@pytest.mark.parametrize("encoder", [IndexEncoder(), Letters()])
def test_blocks_change_no_byte(library, tmp_path, monkeypatch, encoder):
    expected, counts, tables = index_of(library, tmp_path / "one", encoder)
    for (module, name), size in BLOCKS.items():
        monkeypatch.setattr(module, name, size)
    for number in (1, 2):
        engine = OwnProcesses(number)
        found, of_blocks, _ = index_of(library, tmp_path / f"blocks {number}", encoder, engine)
        assert found == expected and of_blocks == counts
    ids = tables.papers["paper_id"].tolist()
    assert ids == sorted(ids) and len(ids) == 59
    assert counts["copies_merged_in_the_library"] == 1 and counts["papers_added"] == 59
    assert tables.contexts.num_rows == len({*tables.contexts["citing_row"].tolist()}) > 50
    assert len({key.casefold() for key in tables.papers["key"]}) == 59


def test_an_id_that_two_papers_have_is_told(library):
    first = library.read_text().splitlines()[0]
    twice = json.dumps(json.loads(first) | {"title": "Another title of that paper"})
    library.write_text(f"{library.read_text()}{twice}\n")
    papers = read_library(library, "jsonl", OwnProcesses(), Counter())
    with pytest.raises(CorpusError, match=f"paper id '{json.loads(first)['paper_id']}' occurs"):
        library_tables.library_tables(papers, BlocksBy(IndexEncoder()), Counter())


def files_of(index):
    return {file.name: file.read_bytes() for file in sorted(index.glob("data.*/*"))}


@pytest.mark.parametrize(
    "has_contexts, most", [(False, 1 << 24), (False, 9), (True, 1 << 24), (True, 9)]
)
def test_what_was_added_and_replaced_is_as_made_at_once(
    library, tmp_path, monkeypatch, in_blocks, has_contexts, most
):
    monkeypatch.setattr(word_changes, "_MOST", most)
    lines = map(json.loads, library.read_text().splitlines())
    records = [record for record in lines if record["paper_id"] != "P1"]  # no copies
    if not has_contexts:
        records = [r | {"sections": []} for r in records]
    old = {
        r["paper_id"]: r
        | {"title": f"An older title of zebra {r['paper_id']}", "authors": ["B. Older"]}
        for r in records[:3]
    }

    def write(name, some):
        (tmp_path / name).write_text("".join(f"{json.dumps(r)}\n" for r in some))
        return str(tmp_path / name)

    first = write("first.jsonl", [old.get(r["paper_id"], r) for r in records[:40]])
    others = write("all.jsonl", records)
    index, once = tmp_path / "index", tmp_path / "once"
    assert main(["index", first, str(index)]) == 0
    counted = []
    monkeypatch.setattr(directory, "data_of", lambda *a, **k: counted.append(a) or data_of(*a, **k))
    assert main(["add", str(index), others, "--update"]) == 0
    assert bool(counted) == (most == 9)
    extra = write(
        "extra.jsonl",
        [*records, {**records[0], "paper_id": "gone", "title": "Quagga", "sections": []}],
    )
    assert main(["index", others, str(once)]) == 0
    counted.clear()
    expected, found = files_of(once), files_of(index)
    kept = {f"papers.key.{name}.npy" for name in ("letters", "offsets")}  # a paper keeps its key
    kept |= {"contexts.cited_rows.values.npy"}  # a sentence cites in the order in which they came
    assert {
        n for n in expected if found[n] != expected[n]
    } <= kept and found.keys() == expected.keys()
    assert main(["add", str(index), extra]) == 0 and main(["remove", str(index), "gone"]) == 0
    assert {n for n in expected if files_of(index)[n] != expected[n]} <= kept
    first = records[0]["paper_id"]
    assert main(["remove", str(index), first]) == 0 and main(["add", str(index), others]) == 0
    assert {n for n in expected if files_of(index)[n] != expected[n]} <= kept
    assert bool(counted) == (most == 9)
