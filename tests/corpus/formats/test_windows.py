"""Files of published contexts, made of papers of another format, are read again."""

import importlib.util
import json
from pathlib import Path

import pytest

from mpbert.citations.records import Marker, RawSentence
from mpbert.commands import build_corpus
from mpbert.corpus.records import RawPaper, RawSection
from mpbert.corpus.store import CorpusStore

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "windows.py"
TEXT = "They follow (Lee, 2001; Poe, 2002) and (Roe, 1990)."
MARKERS = (Marker(13, 22, ("lee",)), Marker(24, 33, ("poe",)), Marker(40, 49))


@pytest.fixture(scope="module")
def windows():
    spec = importlib.util.spec_from_file_location("windows", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_citation_of_a_known_paper_has_a_window_with_the_others_beside_it(windows):
    sentences = RawSentence("x" * 300), RawSentence(TEXT, MARKERS), RawSentence("y" * 300)
    found = list(windows.windows_of(RawPaper("a", "A", 2003, (), (RawSection("", sentences),))))
    assert [cited for cited, _ in found] == ["lee", "poe"]
    first, second = (window for _, window in found)
    assert " They follow (TARGETCIT; OTHERCIT) and (OTHERCIT). yyy" in first
    assert " They follow (OTHERCIT; TARGETCIT) and (OTHERCIT). yyy" in second
    for window in (first, second):
        before, after = window.split("TARGETCIT")
        assert len(before) == len(after) == 200


def test_the_reader_finds_the_citations_again(windows, tmp_path):
    papers = [
        {
            "paper_id": f"p{year}",
            "title": f"A title of {year}",
            "year": year,
            "abstract": ["It is about mail."],
            "sections": [
                {
                    "heading": "One",
                    "sentences": [
                        "Something comes before it.",
                        {
                            "text": f"It follows [{year}] in this.",
                            "markers": [{"start": 11, "end": 17, "cited_ids": [f"p{year - 1}"]}],
                        },
                    ],
                }
            ],
        }
        for year in range(2008, 2022)
    ]
    source = tmp_path / "papers.jsonl"
    source.write_text("".join(json.dumps(paper) + "\n" for paper in papers))
    made = windows.write_windows(source, "jsonl", tmp_path / "raw")
    build_corpus.run(
        build_corpus.Config(tmp_path / "raw", tmp_path / "store", reader="contexts", split="given")
    )
    store = CorpusStore(tmp_path / "store")
    assert made["contexts"] == 14  # the first cites what is no paper of the corpus
    contexts = [store.contexts(split) for split in ("train", "valid", "test")]
    pairs = [
        (store.paper_ids[row], store.paper_ids[cited])
        for each in contexts
        for row, cited in zip(each.citing_rows, each.cited_rows, strict=True)
    ]
    assert sorted(pairs) == [(f"p{year}", f"p{year - 1}") for year in range(2009, 2022)]
