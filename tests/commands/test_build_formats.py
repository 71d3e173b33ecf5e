"""build-corpus on formats of others: splits, linkage report, corpora for the global task."""

from pathlib import Path

import pytest

from mpbert.cli import main
from mpbert.commands import build_corpus
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.manifest import read_manifest

FIXTURES = Path(__file__).parents[1] / "fixtures"
YEARS = {"valid_year": 2015, "test_year": 2018}


def build(fixture: str, reader: str, output: Path, **options) -> CorpusStore:
    config = build_corpus.Config(FIXTURES / fixture, output, reader=reader, **options)
    build_corpus.run(config)
    return CorpusStore(output)


def test_the_linkage_report_is_printed_and_in_the_manifest(tmp_path, capsys):
    command = ["build-corpus", str(FIXTURES / "doc2json"), str(tmp_path / "s"), "--reader=doc2json"]
    assert main([*command, "--valid-year=2015", "--test-year=2018"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    report = {line[0]: line[1:] for line in lines if line[0].startswith("references_")}
    assert report == {
        "references_read": ["12"],
        "references_resolved_by_doi": ["3", "25.0%"],
        "references_resolved_by_arxiv": ["2", "16.7%"],
        "references_resolved_by_pubmed": ["1", "8.3%"],
        "references_resolved_by_title": ["5", "41.7%"],
        "references_outside_the_corpus": ["1", "8.3%"],
    }
    last = "contexts_as_in_training_test"  # of what was written
    begin = next(n for n, line in enumerate(lines) if line[0] == last) + 1
    in_text = {line[0]: int(line[1]) for line in lines[begin : begin + 6]}
    assert in_text == {
        **{"citation_spans": 18, "citation_spans_without_a_reference": 1},
        **{"citations_without_a_span": 2, "in_text_citations_of_the_paper_itself": 1},
        **{"markers_cut": 18, "markers_unresolved": 4},
    }
    counts = read_manifest(tmp_path / "s")["counts"]
    assert {name: [str(counts[name])] for name in report} == {k: v[:1] for k, v in report.items()}
    assert counts["contexts"] == 9
    assert counts["papers_without_year"] == 1


@pytest.mark.parametrize(
    ("fixture", "reader", "options", "contexts", "citations"),
    [
        ("s2orc_2020", "s2orc", YEARS, 10, 10),
        ("s2orc_api", "s2orc", YEARS, 9, 10),
        ("unarxive", "unarxive", YEARS, 9, 10),
        ("citeomatic", "citeomatic", YEARS, 0, 10),
        ("contexts", "contexts", YEARS, 8, 9),
        ("contexts", "contexts", {"split": "given"}, 8, 9),
        ("csv", "csv", YEARS, 6, 9),
        ("csv", "csv", {"split": "given"}, 6, 9),
        ("beir", "beir", {"split": "given"}, 0, 9),
        ("citeomatic", "citeomatic", {"split": "random", "seed": 1}, 0, 10),
    ],
)
def test_each_format_becomes_a_store(tmp_path, fixture, reader, options, contexts, citations):
    store = build(fixture, reader, tmp_path / "store", **options)
    assert sum(len(store.contexts(split)) for split in ("train", "valid", "test")) == contexts
    assert len(store.citations()[0]) == citations
    has_unknown_year = 0 in store.years.tolist()
    assert has_unknown_year == ("split" in options)


def test_judgements_of_beir_are_the_global_qrels_by_split(tmp_path):
    store = build("beir", "beir", tmp_path / "store", split="given")
    qrels = {
        split: (store.path / f"qrels.global.{split}.txt").read_text().split("\n")[:-1]
        for split in ("train", "valid", "test")
    }
    assert qrels == {
        "train": ["d3 0 d1 1", "d3 0 d2 1", "query:d4 0 d9 1"],
        "valid": ["q5 0 d1 1", "q5 0 d4 1"],
        "test": ["d2 0 d1 1", "q6 0 d3 1", "q6 0 d7 1", "q8 0 d2 1"],
    }


def test_a_corpus_without_splits_or_years_is_told_what_to_do(tmp_path):
    with pytest.raises(CorpusError, match="gives no splits; expected some: choose --split year or"):
        build("citeomatic", "citeomatic", tmp_path / "store", split="given")
    (tmp_path / "corpus.jsonl").write_text('{"id": "a", "title": "A", "abstract": "It is."}\n')
    config = build_corpus.Config(tmp_path / "corpus.jsonl", tmp_path / "s", reader="citeomatic")
    with pytest.raises(CorpusError, match="1 have no year, which --split random and --split given"):
        build_corpus.run(config)
    with pytest.raises(CorpusError, match="leaves valid without citations"):
        build("citeomatic", "citeomatic", tmp_path / "store", valid_year=2005, test_year=2006)
