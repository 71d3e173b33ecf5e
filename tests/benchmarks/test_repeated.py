"""Repeated corpora, by which growth is measured: a copy is the corpus again, and cites itself."""

import json
from pathlib import Path

from mpbert.cli import main
from tests.benchmarks.repeated import repeat_acl, repeat_papers

PAPERS = Path(__file__).parents[1] / "fixtures" / "formats" / "papers.jsonl"
TOLD = ("papers", "sentences", "contexts", "in_text_citations", "citations")


def counts_of(papers: Path, corpus: Path) -> dict[str, int]:
    assert main(["build-corpus", str(papers), str(corpus), "--split=random"]) == 0
    counts = json.loads((corpus / "manifest.json").read_text())["counts"]
    return {name: counts.get(name, 0) for name in TOLD}


def test_three_times_a_corpus_is_three_corpora(tmp_path):
    repeat_papers(PAPERS, "jsonl", 3, tmp_path / "papers.jsonl")
    once = counts_of(PAPERS, tmp_path / "once")
    assert all(once.values())
    thrice = counts_of(tmp_path / "papers.jsonl", tmp_path / "thrice")
    assert thrice == {name: 3 * count for name, count in once.items()}


def test_records_of_acl_get_new_ids_and_cite_their_copy(tmp_path):
    records = [
        json.dumps({"info": {"id": "A", "year": 2001}, "references": ["B"], "sections": []}),
        json.dumps({"info": {"id": "B", "year": 2000}, "references": [], "sections": []}),
    ]
    repeat_acl(records, 2, tmp_path / "papers.jsonl")
    found = map(json.loads, (tmp_path / "papers.jsonl").read_text().splitlines())
    cited = {paper["info"]["id"]: paper["references"] for paper in found}
    assert cited == {"A-0": ["B-0"], "A-1": ["B-1"], "B-0": [], "B-1": []}
