import gzip
import json
import lzma
from pathlib import Path

import pytest

from mpbert.cli import main
from mpbert.commands import validate
from mpbert.corpus.formats.jsonl import JsonlReader, check_line
from mpbert.foundation.errors import CorpusError

GOOD = {"paper_id": "a", "title": "A", "year": 2000}
REPOSITORY = Path(__file__).parents[3]


def line(**fields) -> bytes:
    return json.dumps({**GOOD, **fields}).encode() + b"\n"


def check(path: Path) -> None:
    validate.run(validate.Config(path))


@pytest.mark.parametrize(
    ("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)]
)
def test_plain_and_compressed_files_are_read_alike(tmp_path, suffix, pack):
    path = tmp_path / f"papers.jsonl{suffix}"
    path.write_bytes(pack(line() + line(paper_id="b", abstract=["One.", {"text": "Two."}])))
    papers = list(JsonlReader().read(path))
    assert [paper.paper_id for paper in papers] == ["a", "b"]
    assert [sentence.text for sentence in papers[1].abstract] == ["One.", "Two."]


def test_a_folder_of_shards_is_read_in_the_order_of_names(tmp_path):
    for name in "b", "a":
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(line(paper_id=name)))
    assert [paper.paper_id for paper in JsonlReader().read(tmp_path)] == ["a", "b"]
    (tmp_path / "c.jsonl").write_bytes(line() + b"{}")
    with pytest.raises(CorpusError, match=r"c\.jsonl:2: .*'paper_id' is a required"):
        list(JsonlReader().read(tmp_path))


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_a_file_that_was_cut_off_is_an_error(tmp_path, suffix):
    path = tmp_path / f"papers.jsonl{suffix}"
    pack = {".gz": gzip.compress, ".xz": lzma.compress}[suffix]
    path.write_bytes(pack(line() * 1000)[:-20])
    with pytest.raises(CorpusError, match=r"papers\.jsonl.*unreadable .*copy the file again"):
        list(JsonlReader().read(path))


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (b"{", "found no JSON"),
        (b"", "found no JSON"),
        (b"[1]", "is not of type 'object'"),
        (b'{"x": NaN}', "NaN is no JSON number"),
        (b'{"paper_id": "\xff"}', "found broken UTF-8 at byte 14 of the line"),
        (b'{"title": "A", "year": 2000}', "'paper_id' is a required property"),
        (line(paper_id="a b"), "paper_id: 'a b' does not match"),
        (line(year="2000"), "year: '2000' is not of type 'integer'"),
        (line(year=None), "year: None is not of type 'integer'"),
        (line(abstrct=[]), "'abstrct' was unexpected"),
        (line(abstract="One."), "abstract: 'One.' is not of type 'array'"),
        (line(sections=[{"heading": "x"}]), "sections[0]: found 'sentences' is a required"),
        (
            line(abstract=["", {"text": "hi", "markers": [{"start": 1, "end": 3}]}]),
            "abstract[1]: found a marker from 1 to 3, expected 0 <= start < end <= 2",
        ),
        (
            line(
                sections=[
                    {
                        "sentences": [
                            {
                                "text": "abcdef",
                                "markers": [{"start": 0, "end": 3}, {"start": 2, "end": 4}],
                            }
                        ]
                    }
                ]
            ),
            "sections[0].sentences[0]: found a marker from 2 to 4, expected 3 <= start",
        ),
    ],
)
def test_each_kind_of_bad_record_is_described(record, problem):
    _, problems = check_line(record)
    assert len(problems) >= 1
    assert problem in problems[0]


def test_validate_lists_every_bad_record_with_its_line(tmp_path, capsys):
    path = tmp_path / "papers.jsonl"
    path.write_bytes(line() + line(year="x", title="") + b"\xff\n" + line(paper_id="b") + line())
    assert main(["validate", str(path)]) == 2
    output, errors = capsys.readouterr()
    lines = output.splitlines()
    assert [text.split(": ")[0] for text in lines] == [f"{path}:{n}" for n in (2, 2, 3, 5)]
    assert "found 'a' as on line 1, expected unique ids" in lines[3]
    assert "3 of 5 records are bad (4 problems)" in errors


def test_validate_prints_a_hundred_problems_and_counts_all(tmp_path, capsys):
    path = tmp_path / "papers.jsonl"
    path.write_bytes(b"{}\n" * 50)
    with pytest.raises(CorpusError, match=r"50 of 50 records are bad \(150 problems\)"):
        check(path)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 101
    assert lines[-1] == "... and 50 more problems, not shown"


def test_validate_says_when_all_is_good(tmp_path, capsys):
    path = tmp_path / "papers.jsonl"
    path.write_bytes(line() + line(paper_id="b"))
    check(path)
    assert capsys.readouterr().out == "2 records, all good\n"


def test_validate_refuses_an_empty_and_a_missing_file(tmp_path):
    path = tmp_path / "papers.jsonl"
    with pytest.raises(CorpusError, match="No such file"):
        check(path)
    path.write_bytes(b"")
    with pytest.raises(CorpusError, match="found no records"):
        check(path)


def test_the_schema_beside_the_recipes_is_the_one_in_use_and_the_readme_keeps_to_it():
    used = REPOSITORY / "mpbert" / "corpus" / "formats" / "jsonl.schema.json"
    assert (REPOSITORY / "datasets" / "jsonl.schema.json").read_bytes() == used.read_bytes()
    readme = (REPOSITORY / "docs" / "corpus.md").read_text(encoding="utf-8")
    example = readme.split("```json\n")[1].split("```")[0]
    assert check_line(json.dumps(json.loads(example)).encode())[1] == []
