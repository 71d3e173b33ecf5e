"""The readers of formats of others, on fixtures that tell of the same eight papers."""

import json
import pickle
import shutil
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from mpbert.corpus.build import iter_clean_papers
from mpbert.corpus.clean import CleanPaper, clean_paper
from mpbert.corpus.formats.base import READERS
from mpbert.foundation.engines import Engine, OwnProcesses

FIXTURES = Path(__file__).parents[2] / "fixtures"
READER_OF = {
    "s2orc_2020": "s2orc",
    "s2orc_api": "s2orc",
    "doc2json": "doc2json",
    "unarxive": "unarxive",
    "citeomatic": "citeomatic",
    "contexts": "contexts",
    "csv": "csv",
    "beir": "beir",
    "bibtex": "bibtex",
    "csl": "csl",
    "ris": "ris",
    "openalex": "openalex",
    "crossref": "crossref",
    "pdf": "pdf",
    "mixed": "mixed",
    **{name: name for name in ("arxiv", "dblp", "endnote", "pubmed", "semantic_scholar")},
    **{name: name for name in ("spreadsheet", "wos", "zotero", "zip")},
}
TESTED_IN = {
    "acl": "test_acl_reader.py",
    "jats": "test_xml_readers.py",
    "jsonl": "test_jsonl.py",
    "rfc": "test_rfc_reader.py",
    "tei": "test_xml_readers.py",
}


class Elsewhere(OwnProcesses):
    """An engine whose work and items are sent, as to another machine."""

    def results(self, work, items, parts):
        sent = (pickle.loads(pickle.dumps(item)) for item in items)
        return super().results(pickle.loads(pickle.dumps(work)), sent, parts)


def read(
    fixture: str, path: Path, engine: Engine | None = None
) -> tuple[list[CleanPaper], Counter[str]]:
    counts: Counter[str] = Counter()
    reader = READERS[READER_OF[fixture]]()
    engine = engine or OwnProcesses()
    return list(iter_clean_papers(reader, path, engine, counts, needs_year=False)), counts


def shown(paper: CleanPaper) -> dict[str, object]:
    """Return a paper for the golden file: of a sentence its heading, what it cites, its text."""
    cited = dict(paper.cited)
    sentences = []
    for position, text in enumerate(paper.sentences):
        section = int(paper.sections[position])
        heading = paper.headings[section - 1] if section else "(abstract)"
        sentences.append(f"{heading} {cited.get(position, [])} {text}")
    return {
        "paper_id": paper.paper_id,
        "title": paper.title,
        "year": paper.year,
        "split": paper.split,
        "authors": paper.authors,
        "venue": paper.venue,
        "references": list(paper.references),
        "sentences": sentences,
    }


def as_json(papers: list[CleanPaper], counts: Counter[str]) -> str:
    found = {"papers": [shown(p) for p in papers], "counts": {k: counts[k] for k in sorted(counts)}}
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


@pytest.mark.parametrize("fixture", READER_OF)
def test_a_fixture_gives_the_expected_papers_and_counts(fixture, golden):
    golden(f"readers/{fixture}.json", as_json(*read(fixture, FIXTURES / fixture)))


@pytest.mark.parametrize("fixture", READER_OF)
@pytest.mark.parametrize("engine", [OwnProcesses(2), Elsewhere()])
def test_other_processes_and_machines_find_the_same_as_one(fixture, engine):
    path = FIXTURES / fixture
    assert as_json(*read(fixture, path, engine)) == as_json(*read(fixture, path))


@pytest.mark.parametrize("fixture", READER_OF)
def test_packed_files_are_read_like_plain_ones(fixture, tmp_path):
    shutil.copytree(FIXTURES / fixture, tmp_path / fixture)
    for file in [path for path in (tmp_path / fixture).rglob("*") if path.is_file()]:
        if file.suffix != ".gz":
            with pa.CompressedOutputStream(f"{file}.zst", "zstd") as packed:
                packed.write(file.read_bytes())
            file.unlink()
    found, expected = read(fixture, tmp_path / fixture), read(fixture, FIXTURES / fixture)
    assert as_json(*found) == as_json(*expected)


def bodies(fixture: str) -> dict[str, list[tuple[str, list[str]]]]:
    """Return title -> (sentence, titles that it cites) of the bodies."""
    papers, _ = read(fixture, FIXTURES / fixture)
    title_of = {paper.paper_id: paper.title for paper in papers}
    found = {}
    for paper in papers:
        cited = dict(paper.cited)
        found[paper.title] = [
            (text, [title_of[i] for i in cited.get(position, [])])
            for position, text in enumerate(paper.sentences)
            if paper.sections[position]
        ]
    return found


@pytest.mark.parametrize("fixture", ["s2orc_api", "doc2json"])
def test_the_same_papers_in_two_formats_have_the_same_text_and_citations(fixture):
    expected = bodies("s2orc_2020")
    assert sum(len(ids) for body in expected.values() for _, ids in body) == 13
    assert bodies(fixture) == expected


def test_every_reader_without_a_test_of_its_own_has_a_fixture():
    assert set(READERS.names()) - set(TESTED_IN) == set(READER_OF.values())
    for reader, file in TESTED_IN.items():
        text = Path(__file__).with_name(file).read_text(encoding="utf-8")
        assert f'"{reader}"' in text or f"{READERS[reader].__name__}()" in text


def test_the_title_of_a_query_may_stand_in_its_metadata_and_is_cut_from_its_text():
    papers, counts = read("beir", FIXTURES / "beir")
    of = {paper.paper_id: paper for paper in papers}
    assert of["q8"].title == "Postage by distance"
    assert of["q8"].sentences == ["Nobody pays twice.", "The way is what counts."]
    assert of["d2"].references == ("d1",)  # the same id and title: the query is the candidate
    assert counts["queries_that_are_candidates"] == 2


@pytest.mark.parametrize("fixture", READER_OF)
def test_no_fixture_leaves_a_paper_without_text(fixture):
    for paper in READERS[READER_OF[fixture]]().read(FIXTURES / fixture):
        assert clean_paper(paper, Counter(), needs_year=False) is not None
