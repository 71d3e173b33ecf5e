"""Papers of any format as the files of DualLCR and HAtten: published citation contexts.

usage: windows.py INPUT READER OUT [EVERY]     e.g. papers.jsonl.xz acl runs/windows/acl

OUT holds papers.json (title, abstract, authors, year), contexts.json and the splits by year. A
context is 200 characters on either side of one citation of one paper: TARGETCIT stands for it, and
OTHERCIT for all other citations. A word at the border is cut, as there. Of papers of validation and
test, one in EVERY has contexts (1).
"""

import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mpbert.corpus.formats.base import READERS
from mpbert.corpus.records import RawPaper
from mpbert.corpus.splits import split_by_year
from mpbert.foundation.errors import MpbertError
from mpbert.foundation.progress import progress

LETTERS = 200  # on either side
_TARGET, _OTHER = "TARGETCIT", "OTHERCIT"


def windows_of(paper: RawPaper) -> Iterator[tuple[str, str]]:
    """Yield the cited paper and the window of each citation of a paper that is known."""
    for section in paper.sections:
        parts: list[tuple[str, tuple[str, ...] | None]] = []  # texts, and ids of what is cited
        for sentence in section.sentences:
            end = 0
            for marker in sorted(sentence.markers, key=lambda marker: marker.start):
                parts += [(sentence.text[end : marker.start], None), (_OTHER, marker.cited_ids)]
                end = marker.end
            parts.append((sentence.text[end:] + " ", None))
        texts = [text for text, _ in parts]
        for place, (_, cited_ids) in enumerate(parts):
            for cited in cited_ids or ():
                before = _joined(reversed(texts[:place]), before=True)
                yield cited, f"{before}{_TARGET}{_joined(texts[place + 1 :], before=False)}"


def _joined(texts: Iterator[str] | list[str], before: bool) -> str:
    """Return so many letters of texts, which come nearest first."""
    found = ""
    for text in texts:
        found = text + found if before else found + text
        if len(found) >= LETTERS:
            break
    return found[-LETTERS:] if before else found[:LETTERS]


def write_windows(source: Path, name: str, out: Path, every: int = 1) -> dict[str, int]:
    """Write the files; return how many papers and contexts there are.

    :param name: of the reader, whose years divide the papers.
    """
    reader, numbers = READERS[name](), Counter()
    reader.prepare(source)
    papers, contexts, splits = {}, {}, {"train": [], "valid": [], "test": []}
    for record in progress(reader.read_records(source), "read papers", "paper"):
        paper = reader.parse(record)
        if paper is None or paper.year is None:
            continue
        fields = {"title": paper.title, "abstract": " ".join(s.text for s in paper.abstract)}
        papers[paper.paper_id] = fields | {"authors": list(paper.authors), "year": paper.year}
        split = str(split_by_year([paper.year], reader.default_splits)[0])
        if split != "train" and zlib.crc32(paper.paper_id.encode()) % every:
            continue
        for cited, window in windows_of(paper):
            pair = f"{paper.paper_id}_{cited}"
            key = f"{pair}_{numbers[pair]}"
            numbers[pair] += 1
            context = {"masked_text": window, "context_id": key, "citing_id": paper.paper_id}
            contexts[key] = context | {"refid": cited}
            splits[split].append({"context_id": key, "positive_ids": [cited]})
    out.mkdir(parents=True)
    files = {"papers": papers, "contexts": contexts, "train": splits["train"]}
    files |= {"val": splits["valid"], "test": splits["test"]}
    for file, content in files.items():
        (out / f"{file}.json").write_text(json.dumps(content, indent=0), encoding="utf-8")
    return {file: len(content) for file, content in files.items()}


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    try:
        source, name, out, *every = sys.argv[1:]
        made = write_windows(Path(source), name, Path(out), *map(int, every))
        for file, number in made.items():
            print(f"{file:<10}{number:>9,}")
    except (MpbertError, OSError, ValueError) as error:
        sys.exit(f"{sys.argv[0]}: {error}")
