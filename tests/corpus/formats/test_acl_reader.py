import gzip
import json
import lzma
import pickle
from pathlib import Path

import pytest

from mpbert.commands import build_corpus
from mpbert.corpus.formats.base import READERS
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.manifest import read_manifest

EXPECTED = Path(__file__).parents[3] / "datasets" / "acl" / "expected.json"
BUILT = Path(__file__).parents[3] / "runs" / "corpus" / "acl"


def record(paper_id, authors, year, references=(), sections=()):
    info = {"authors": authors, "book": "ACL", "id": paper_id, "title": f"On {paper_id}"}
    info |= {"url": "", "year": year}
    return {"info": info, "references": list(references), "sections": list(sections)}


CITED = [
    record(
        "a",
        ["Terry Koo", "Xavier Carreras", "Michael Collins"],
        2008,
        (),
        [{"text": ["We parse simply."]}],
    ),
    record(
        "b",
        ["Michael Collins"],
        2003,
        (),
        [{"heading": "Abstract", "text": ["We parse with heads."]}],
    ),
]
SECTIONS = [
    {"text": ["We parse (Koo et al.", ", 2008) fast.", "12"]},
    {
        "heading": "1 Beyond Collins (2003)",
        "text": ["Collins (2003) and Smith (1999) parse.", "= +"],
    },
    {"heading": "REFERENCES", "text": ["Michael Collins.", "2003.", "Head-Driven Models."]},
]


def corpus(tmp_path, records, name="papers.jsonl"):
    path = tmp_path / name
    lines = "".join(json.dumps(r, separators=(",", ":")) + "\n" for r in records)
    opened = lzma.open(path, "wt") if name.endswith(".xz") else path.open("w")
    with opened as file:
        file.write(lines)
    return path


@pytest.mark.parametrize("name", ["papers.jsonl", "papers.jsonl.xz"])
def test_a_paper_is_read_with_abstract_body_and_markers(tmp_path, name):
    path = corpus(tmp_path, [*CITED, record("c", ["A B"], 2010, ["a", "b", "x"], SECTIONS)], name)
    reader = READERS["acl"]()
    paper = list(reader.read(path))[2]
    (sentence,) = paper.abstract
    assert sentence.text == "We parse (Koo et al. , 2008) fast."
    assert [m.cited_ids for m in sentence.markers] == [("a",)]
    (section,) = paper.sections
    assert section.heading == "1 Beyond"
    assert [m.cited_ids for m in section.sentences[0].markers] == [("b",), ()]
    assert paper.references == ("a", "b", "x")
    assert reader.counts["sentences_of_lists_of_references"] == 3
    assert reader.counts["sentences_dropped_as_page_numbers"] == 1
    assert reader.counts["sentences_dropped_as_debris_without_words"] == 1


def test_a_long_text_without_heading_gives_15_sentences_of_abstract(tmp_path):
    text = [f"Sentence number {n} is here." for n in range(40)]
    path = corpus(tmp_path, [record("c", ["A B"], 2010, (), [{"text": text}])])
    (paper,) = READERS["acl"]().read(path)
    assert len(paper.abstract) == 15
    assert len(paper.sections[0].sentences) == 25


def test_a_store_is_split_at_2012_and_2013(tmp_path):
    papers = [
        record(f"c{year}", ["A B"], year, ["a"], [{"text": ["It is (Koo et al., 2008)."]}])
        for year in (2011, 2012, 2013)
    ]
    path = corpus(tmp_path, [*CITED, *papers])
    build_corpus.run(build_corpus.Config(path, tmp_path / "acl", reader="acl"))
    store = CorpusStore(tmp_path / "acl")
    assert store.contexts("train").query_ids == ["c2011#0"]
    assert store.contexts("valid").query_ids == ["c2012#0"]
    assert store.contexts("test").query_ids == ["c2013#0"]
    assert store.local_texts(store.contexts("test")) == ["It is."]


def test_a_broken_record_is_named_by_its_line(tmp_path):
    path = tmp_path / "papers.jsonl"
    path.write_text(json.dumps(CITED[0]) + "\n" + '{"info": {"id": "z"}}\n')
    with pytest.raises(CorpusError, match=r"papers.jsonl:2: broken record \(KeyError"):
        list(READERS["acl"]().read(path))


def test_a_folder_of_techknacq_is_read_as_its_toolkit_writes_it(tmp_path):
    folder = tmp_path / "acl"
    folder.mkdir()
    citing = record("c", ["A B"], "2010", ["a", "b"], SECTIONS)
    undated = record("d", ["A B"], "", ["a"]) | {"sections": None}
    for paper in [*CITED, citing, undated]:
        text = json.dumps(paper, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        (folder / f"{paper['info']['id']}.json").write_text(text, encoding="utf-8")
    nameless = record("", ["A B"], 2011, ["c"], [{"text": ["It is so."]}])
    del nameless["info"]["id"]
    (folder / "acl-P11-1001.json.gz").write_bytes(gzip.compress(json.dumps(nameless).encode()))
    in_one_file = corpus(tmp_path, [*CITED, citing])
    reader = READERS["acl"]()
    found = {paper.paper_id: paper for paper in reader.read(folder)}
    assert list(found) == ["a", "acl-P11-1001", "b", "c"]
    assert [found[i] for i in "abc"] == list(READERS["acl"]().read(in_one_file))
    assert found["c"].year == 2010
    assert reader.counts["papers_without_year"] == 1


def test_a_damaged_archive_is_named(tmp_path):
    path = tmp_path / "papers.jsonl.xz"
    path.write_bytes(b"no archive")
    with pytest.raises(CorpusError, match=r"papers.jsonl.xz:1: unreadable .*copy the file again"):
        list(READERS["acl"]().read(path))


@pytest.mark.skipif(not BUILT.is_dir(), reason="runs/corpus/acl is not built")
def test_the_built_corpus_has_exactly_the_expected_counts():
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    assert read_manifest(BUILT)["counts"] == expected


def test_papers_that_others_cite_stay_on_disk(tmp_path):
    """Each process that parses gets the reader: it does not grow with the corpus."""

    def size(number):
        path = corpus(tmp_path, [record(f"p{i}", ["Ann Lee"], 2000) for i in range(number)])
        reader = READERS["acl"]()
        reader.prepare(path)
        return len(pickle.dumps(reader))

    assert size(2000) < size(2) + 100


def test_of_repeated_papers_the_last_is_cited(tmp_path):
    older, newer = record("a", ["Terry Koo"], 2007), record("a", ["Michael Collins"], 2008)
    citing = record("c", ["Ann Lee"], 2010, ["a"], [{"text": ["Collins (2008) and Koo (2007)."]}])
    path = corpus(tmp_path, [older, newer, citing])
    reader = READERS["acl"]()
    reader.prepare(path)
    *_, last = reader.read_records(path)
    (sentence,) = reader.parse(last).abstract
    assert [marker.cited_ids for marker in sentence.markers] == [("a",), ()]
