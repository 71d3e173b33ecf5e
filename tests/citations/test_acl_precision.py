"""The hand-checked sample of resolved citations: its verdicts, and whether the code agrees."""

import json
from pathlib import Path

import pytest

from mpbert.citations.bibliography import Bibliography
from mpbert.citations.finder import CitationFinder
from mpbert.citations.references import Reference

FIXTURE = Path(__file__).parents[1] / "fixtures" / "acl_markers_200.jsonl"
LEAST_PRECISION = 0.97


@pytest.fixture(scope="module")
def sample():
    _header, *items = map(json.loads, FIXTURE.read_text(encoding="utf-8").splitlines())
    return items


def resolve(item):
    """Return the ids that the markers touching the item's span mean today."""
    references = [
        Reference(r["id"], tuple(r["authors"]), r["year"], r.get("title", ""))
        for r in item["references"]
    ]
    finder = CitationFinder(references, item["year"], Bibliography([]))
    sentence = finder.mark([item["sentence"], *item.get("elsewhere", ())])[0]
    touching = [m for m in sentence.markers if m.start < item["end"] and m.end > item["start"]]
    return {cited_id for marker in touching for cited_id in marker.cited_ids}


def test_the_sample_holds_200_verdicts_on_short_snippets(sample):
    assert len(sample) == 200
    assert {item["verdict"] for item in sample} <= {"right", "wrong"}
    assert max(len(item["sentence"]) for item in sample) <= 260
    for item in sample:
        assert item["cited"] in [reference["id"] for reference in item["references"]]


def test_at_least_97_of_100_resolved_citations_were_right(sample):
    right = sum(item["verdict"] == "right" for item in sample)
    assert right / len(sample) >= LEAST_PRECISION


def test_the_resolver_still_finds_what_is_right_and_no_more_that_is_wrong(sample):
    found = [(item["verdict"], item["cited"] in resolve(item)) for item in sample]
    right, wrong = found.count(("right", True)), found.count(("wrong", True))
    lost = [
        i["sentence"] for i in sample if i["verdict"] == "right" and i["cited"] not in resolve(i)
    ]
    assert lost == []
    assert right / (right + wrong) >= LEAST_PRECISION


def test_a_reference_of_another_year_or_name_is_not_taken_for_the_cited_one(sample):
    for item in sample:
        if item["note"] != "exact":
            continue
        moved = [dict(r, year=r["year"] - 7) for r in item["references"]]
        assert item["cited"] not in resolve(dict(item, references=moved))
        renamed = [dict(r, authors=["Xu Qqqqq"]) for r in item["references"]]
        assert item["cited"] not in resolve(dict(item, references=renamed))
