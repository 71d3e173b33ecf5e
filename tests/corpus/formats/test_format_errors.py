"""What the readers of formats of others say of broken files."""

import json
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.raw.values import names_of, year_of, year_of_id
from mpbert.foundation.errors import CorpusError


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


PAPER = '{"_id": "a", "title": "T", "text": "It is."}\n'
QUERY = '{"_id": "q", "text": "It is."}\n'


@pytest.mark.parametrize(
    ("reader", "files", "message"),
    [
        ("s2orc", {"x.txt": ""}, r"found no file \*\.jsonl or .* in this folder"),
        ("s2orc", {"x.jsonl": "{}\n"}, r"x\.jsonl:1: broken record \(KeyError: 'paper_id'\)"),
        ("s2orc", {"x.jsonl": "\n[1]\n"}, r"x\.jsonl:2: .* found a list, no object\); expected a"),
        (
            "s2orc",
            {"x.jsonl": '{"corpusid": 1}\n{"corpusid": 2, "year": 1}\n'},
            "x.jsonl:2: .*title",
        ),
        (
            "s2orc",
            {"x.jsonl": '{"corpusid": 1, "body": {"text": "", "annotations": {"bibref": "["}}}'},
            r"x\.jsonl:1: broken record \(JSONDecodeError",
        ),
        (
            "doc2json",
            {"x.json": '{"paper_id": "a b"}'},
            r"x\.json: .* the id 'a b', expected one w",
        ),
        ("doc2json", {"x.json": "{"}, r"x\.json: broken record"),
        ("unarxive", {"x.jsonl": '{"paper_id": null}'}, r"found None as the id of a paper"),
        ("citeomatic", {"x.json": '{"id": "a", "title": 7}'}, "found 7, expected a text"),
        ("contexts", {"papers.json": "{}"}, r"found no contexts\.json in it; expected a folder"),
        (
            "contexts",
            {"papers.json": '{"a": {}}', "contexts.json": '{"c": {"refid": "a"}}'},
            r"contexts\.json: context 'c': broken record \(KeyError: 'masked_text'\)",
        ),
        (
            "contexts",
            {"papers.json": '{"a": []}', "contexts.json": "{}"},
            r"papers\.json: paper 'a': broken record",
        ),
        ("csv", {"papers.csv": "paper_id,title\n"}, "found neither contexts.csv nor citations.csv"),
        ("csv", {"x.csv": ""}, r"found no papers\.csv in it"),
        (
            "csv",
            {"papers.csv": "id,title\n"},
            r"papers\.csv:1: found the columns id, title; expected also paper_id",
        ),
        (
            "csv",
            {"papers.csv": "paper_id,title\na,b\na,b,c\n"},
            r"papers\.csv:3: broken row \(found 3 fields\); expected 2 fields",
        ),
        (
            "csv",
            {"papers.csv": 'paper_id,title\na,"b\n'},
            r"papers\.csv:2: broken row \(unexpected end of data\)",
        ),
        (
            "csv",
            {
                "papers.csv": "paper_id,title,split\na,b,dev\n",
                "citations.csv": "citing_id,cited_id\n",
            },
            r"papers\.csv:2: .*found the split 'dev'.*one of train, valid, test",
        ),
        ("beir", {"corpus.jsonl": PAPER}, r"found no queries\.jsonl in it"),
        (
            "beir",
            {"corpus.jsonl": PAPER, "queries.jsonl": QUERY},
            r"qrels: no such folder; expected one with train\.tsv or test\.tsv",
        ),
        (
            "beir",
            {"corpus.jsonl": PAPER, "queries.jsonl": QUERY, "qrels/all.tsv": ""},
            r"all\.tsv: found judgements of 'all'; expected one of dev, test, train, val",
        ),
        (
            "beir",
            {"corpus.jsonl": PAPER, "queries.jsonl": QUERY, "qrels/test.tsv": "q\ta\n"},
            r"test\.tsv:1: broken record .* expected query-id, corpus-id and score",
        ),
        (
            "beir",
            {"corpus.jsonl": PAPER, "queries.jsonl": QUERY, "qrels/test.tsv": "q\ra\t1\n"},
            r"test\.tsv:1: broken record .* expected query-id, corpus-id and score",
        ),
    ],
)
def test_a_broken_file_is_one_line_that_says_where(tmp_path, reader, files, message):
    with pytest.raises(CorpusError, match=message) as error:
        list(READERS[reader]().read(write(tmp_path, files)))
    assert "\n" not in str(error.value)


def test_broken_utf8_in_a_table_is_an_error(tmp_path):
    (tmp_path / "papers.csv").write_bytes(b"paper_id,title\na,\xff\n")
    with pytest.raises(CorpusError, match=r"papers\.csv:2: found broken UTF-8 at byte 2 of"):
        list(READERS["csv"]().read(tmp_path))


@pytest.mark.parametrize(
    ("value", "year"),
    [
        *((2001, 2001), ("2011-11", 2011), ("Mon, 2 Apr 2007 19:18:42 GMT", 2007), ("", None)),
        *((None, None), (True, None), (0, None), ("20011", None), ("c1999", 1999), (1899.0, 1899)),
    ],
)
def test_years_are_found_in_numbers_and_dates(value, year):
    assert year_of(value) == year


@pytest.mark.parametrize(
    ("paper_id", "year"),
    [
        *(("P15-1001", 2015), ("J79-1001", 1979), ("2020.acl-main.447", 2020)),
        *(("1706.03762", 2017), ("0704.0001", 2007), ("hep-th/9901001", 1999)),
        *(("math.GT/0309136", 2003), ("x", None), ("1913.00001", None), ("P15-10", None)),
    ],
)
def test_ids_of_the_anthology_and_of_arxiv_tell_the_year(paper_id, year):
    assert year_of_id(paper_id) == year


def test_names_come_whole_or_in_parts():
    parts = {"first": "Ann", "middle": ["B.", ""], "last": "Postel", "suffix": None}
    assert names_of([parts, {"name": " Li "}, "Wu", "", None, {}]) == ("Ann B. Postel", "Li", "Wu")
    assert names_of(None) == ()


def test_full_texts_without_metadata_are_papers_with_what_they_say_themselves(tmp_path):
    text = "A title of a paper\nIt is so [1].\n[1] A title of another"
    annotations = {
        "title": '[{"start": "0", "end": "18"}]',
        "paragraph": [{"start": 19, "end": 32}],
        "bibref": '[{"start": 28, "end": 31, "attributes": {"ref_id": "b0"}}]',
        "bibentry": '[{"start": 33, "end": 55, "attributes": {"id": "b0"}}]',
        "bibtitle": '[{"start": 37, "end": 55}]',
    }
    first = {"corpusid": 1, "content": {"text": text, "annotations": annotations}}
    other = {"corpusid": 2, "content": {"text": "A title of another", "annotations": None}}
    other["content"]["annotations"] = {"title": '[{"start": 0, "end": 18}]'}
    lines = [json.dumps(record) for record in (first, other)]
    reader = READERS["s2orc"]()
    one, two = reader.read(write(tmp_path, {"s2orc.jsonl": "\n".join(lines)}))
    assert (one.title, one.year, one.references) == ("A title of a paper", None, ("2",))
    assert [s.markers[0].cited_ids for s in one.sections[0].sentences] == [("2",)]
    assert (two.title, two.abstract[0].text) == ("A title of another", "A title of another")
    assert reader.counts["papers_without_metadata"] == 2


def test_metadata_of_s2orc_is_not_held_in_memory(tmp_path):
    records = (
        {
            "paper_id": str(n),
            "title": f"Paper {n}",
            "abstract": f"Letter {n}. " * 2000,
            "year": 2000,
        }
        for n in range(300)
    )
    write(tmp_path, {"metadata/0.jsonl": "".join(json.dumps(record) + "\n" for record in records)})
    assert (tmp_path / "metadata" / "0.jsonl").stat().st_size > 6_000_000
    reader = READERS["s2orc"]()
    tracemalloc.start()
    reader.prepare(tmp_path)
    number = Counter(len(r) for r in reader.read_records(tmp_path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert number == {2: 300}
    assert peak < 1_500_000
