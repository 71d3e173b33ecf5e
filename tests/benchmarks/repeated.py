"""A corpus several times over: its papers again under new ids, where copies cite copies."""

import json
import lzma
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.records import RawPaper


def acl_records(raw: Path) -> Iterator[str]:
    """Yield the lines of ``papers.jsonl.xz`` of the ACL Anthology."""
    with lzma.open(raw, "rt", encoding="utf-8") as file:
        yield from file


def repeat_acl(records: Iterable[str], times: int, output: Path) -> None:
    """Write records of the ACL Anthology ``times`` times, for the same reader."""
    with output.open("w", encoding="utf-8") as file:
        for record in records:
            paper = json.loads(record)
            paper_id, cited = paper["info"]["id"], paper["references"]
            for copy in range(times):
                paper["info"]["id"] = f"{paper_id}-{copy}"
                paper["references"] = [f"{other}-{copy}" for other in cited]
                file.write(json.dumps(paper, ensure_ascii=False) + "\n")


def repeat_papers(raw: Path, reader: str, times: int, output: Path) -> None:
    """Write papers of any format ``times`` times as JSON Lines, but none without a year."""
    with output.open("w", encoding="utf-8") as file:
        for paper in READERS[reader]().read(raw):
            if paper.year is not None:
                for copy in range(times):
                    file.write(json.dumps(_as_record(paper, f"-{copy}"), ensure_ascii=False) + "\n")


def _as_record(paper: RawPaper, suffix: str) -> dict[str, object]:
    names = ("title", "year", "authors", "venue", "abstract", "sections")
    record = {name: value for name, value in asdict(paper).items() if name in names}
    for sentences in (record["abstract"], *(each["sentences"] for each in record["sections"])):
        for sentence in sentences:
            del sentence["page"]  # JSON Lines has none
        for marker in (marker for sentence in sentences for marker in sentence["markers"]):
            marker["cited_ids"] = [f"{cited}{suffix}" for cited in marker["cited_ids"]]
    ids = {"paper_id": paper.paper_id + suffix}
    return record | ids | {"references": [f"{cited}{suffix}" for cited in paper.references]}
