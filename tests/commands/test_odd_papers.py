"""Papers that are allowed and odd, from the raw file to runs, vectors and an index."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from mpbert.cli import main
from mpbert.corpus.formats.base import READERS
from mpbert.corpus.store import CorpusStore
from mpbert.corpus.trec import read_qrels, read_run
from mpbert.foundation.manifest import read_manifest
from mpbert.model.config import Configuration, ModelConfig, ReadingConfig
from mpbert.model.description import EncoderDescription
from mpbert.model.directory import save_encoder
from mpbert.model.encoder import TwoTower
from mpbert.vectors.store import VectorStore

CITES = " [7]"
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def citing(text: str, *ids: str) -> dict:
    marker = {"start": len(text), "end": len(text) + len(CITES), "cited_ids": ids}
    return {"text": text + CITES + ".", "markers": [marker]}


def paper(paper_id: str, year: int, *sentences, title: str = "A title", **more) -> dict:
    sections = [{"heading": "One", "sentences": sentences}] if sentences else []
    return {"paper_id": paper_id, "title": title, "year": year, "sections": sections, **more}


OUTSIDE = [
    "../outside",
    "../../outside",
    "/outside",
    "..",
    ".",
    "a/../../outside",
    "~",
    "nul\\..\\x",
]
PAPERS = [
    *(paper(paper_id, 2001, "It is outside.") for paper_id in OUTSIDE),
    # a cycle of three, contexts at the first and the last sentence, and the only one
    paper("A", 2003, citing("First of all", "B"), "Between.", citing("Last of all", "C")),
    paper("B", 2004, citing("Only one", "C")),
    paper("C", 2005, citing("First", "A"), citing("second", "A", "A", "../outside")),
    paper("itself", 2005, citing("It cites itself", "itself"), references=["itself", "A", "A"]),
    paper("unknown", 2006, citing("It cites what is not there", "nowhere"), references=["gone"]),
    paper("empty", 2006),
    paper("empty-texts", 2006, "", "  ", "12", "[1]", "...", abstract=[""]),
    paper("no-title", 2007, "It has none.", title="\x00"),
    paper("controls", 2008, "NUL \x00 and \x1b[31m red", "Half \ud83d of a sign \ud800.",
          citing("Turned \u202e round", "../../outside"), title="\x00\ud800 T\x07\n\u2028itle"),
    paper("year-1400", 1400, "It is old."),
    paper("year-2200", 2200, citing("It is not yet written", "A", "/outside")),
    paper("valid", 2012, citing("It is of the split valid", "A", "..")),
    paper("test", 2013, citing("It is of the split test", "B", "../outside")),
]  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """A folder deep enough that ../../outside lies within what is looked at."""
    root = tmp_path_factory.mktemp("odd")
    work = root / "a" / "b"
    work.mkdir(parents=True)
    text = "\n".join(map(json.dumps, PAPERS))
    (work / "papers.jsonl").write_text(text + "\n", encoding="utf-8")
    assert main(["build-corpus", str(work / "papers.jsonl"), str(work / "corpus")]) == 0
    return root


@pytest.fixture(scope="module")
def corpus(root) -> CorpusStore:
    return CorpusStore(root / "a" / "b" / "corpus")


def test_each_is_kept_or_counted(corpus):
    counts = read_manifest(corpus.path)["counts"]
    dropped = {"empty", "empty-texts"}
    assert set(corpus.paper_ids) == {p["paper_id"] for p in PAPERS} - dropped
    expected = {
        "papers_read": len(PAPERS),
        "papers": len(PAPERS) - 2,
        "papers_without_text": 2,
        "in_text_citations_of_the_paper_itself": 1,
        "references_of_the_paper_itself": 1,
        "in_text_citations_of_papers_outside_the_corpus": 1,
        "references_of_papers_outside_the_corpus": 1,
    }
    assert {name: counts.get(name) for name in expected} == expected


def test_contexts_are_those_of_papers_of_the_corpus(corpus):
    found = {}
    for split in ("train", "valid", "test"):
        queries = corpus.queries(split, "local")
        for place, query_id in enumerate(queries.query_ids):
            found[query_id] = {corpus.paper_ids[row] for row in queries.cited(place)}
    assert sorted(map(sorted, found.values())) == sorted(
        [
            *(["B"], ["C"], ["C"], ["A"], ["../outside", "A"], ["../../outside"]),
            *(["/outside", "A"], ["..", "A"], ["../outside", "B"]),
        ]
    )


def test_no_control_character_and_no_marker_is_left(corpus):
    for paper_id in corpus.paper_ids:
        found = corpus.paper(paper_id)
        for text in (found.title, *found.sentences):
            assert not CONTROL.search(text) and "[7]" not in text, (paper_id, text)


def test_no_path_of_an_id_leaves_the_outputs(root, corpus, capsys):
    work, ids = root / "a" / "b", corpus.paper_ids
    before = {path for path in root.rglob("*") if work / "corpus" not in path.parents}
    train = ["binarize", "corpus", "binary", "--vocab-size=300", "--sentence-tokens=12"]
    assert main([train[0], *(str(work / name) for name in train[1:3]), *train[3:]]) == 0
    bm25 = ["retrieve", str(work / "corpus"), str(work / "bm25"), "--lexical=bm25"]
    assert main(bm25) == 0
    for task in ("local", "global"):
        exported = [str(work / "corpus"), str(work / f"beir-{task}"), f"--task={task}"]
        assert main(["export-data", *exported]) == 0
    sizes = ModelConfig(300, 8, 16, 2, 1, 1, 1, 0.0, 0.0, 0.0)
    torch.manual_seed(1)
    (work / "encoder").mkdir()
    tokenizer = work / "binary" / "tokenizer.json"
    state = TwoTower(sizes).state_dict()
    configuration = Configuration(sizes, ReadingConfig(sentence_tokens=12))
    description = EncoderDescription("two-tower", configuration)
    save_encoder(work / "encoder", description, state, tokenizer)
    (work / "vectors").mkdir()
    vectors = np.random.default_rng(1).standard_normal((len(ids), 8)).astype(np.float32)
    VectorStore(ids, vectors).save(work / "vectors", "papers")
    places = [str(work / name) for name in ("corpus", "encoder", "vectors", "index")]
    assert main(["build-index", *places, "--readings=1"]) == 0
    one = work / "one.jsonl"
    one.write_text(json.dumps(paper("../added", 2014, citing("It is new", "../outside"))))
    assert main(["add", str(work / "index"), str(one)]) == 0
    capsys.readouterr()
    outputs = {"binary", "bm25", "beir-local", "beir-global", "encoder", "vectors", "index"}
    after = {path for path in root.rglob("*")}
    new = {path.relative_to(work).parts[0] for path in after - before if work in path.parents}
    assert new - {"corpus"} == outputs | {"one.jsonl"}
    assert {path for path in after if work not in path.parents} == {root / "a", work}
    qrels, run = read_qrels(work / "corpus" / "qrels.test.txt"), read_run(work / "bm25/test.run")
    assert set(qrels.query_ids) == set(run.query_ids)
    (exported,) = (READERS["beir"]().read(work / "beir-local"),)
    assert {found.paper_id for found in exported} >= set(OUTSIDE)
