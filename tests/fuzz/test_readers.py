"""Every reader of a raw corpus, on spoiled copies of its fixture; one in ten goes to the tables."""

import gzip
import io
import json
import random
import shutil
import tarfile
from collections import Counter
from pathlib import Path

import pytest
from mutations import mutate

from mpbert.corpus.build import iter_clean_papers
from mpbert.corpus.formats.base import READERS
from mpbert.corpus.links import link_papers
from mpbert.corpus.spill import sort_papers
from mpbert.corpus.splits import split_at_random
from mpbert.corpus.tables import write_tables
from mpbert.foundation.engines import OwnProcesses
from mpbert.foundation.seeding import named_rng

FIXTURES = Path(__file__).parents[1] / "fixtures"
# fixture -> reader, and inputs of the quick run
READER_OF = {
    **{name: (name, 40) for name in ("doc2json", "unarxive", "citeomatic", "contexts", "beir")},
    **{name: (name, 60) for name in ("csl", "ris", "openalex", "crossref")},
    **{name: (name, 60) for name in ("arxiv", "dblp", "endnote", "pubmed", "spreadsheet")},
    **{name: (name, 150) for name in ("bibtex", "wos")},  # few are refused
    **{"semantic_scholar": ("semantic_scholar", 60), "zotero": ("zotero", 40)},
    "zip": ("zip", 40),
    **{"pdf": ("pdf", 40), "mixed": ("mixed", 40)},
    **{"s2orc_2020": ("s2orc", 30), "s2orc_api": ("s2orc", 30), "csv": ("csv", 40)},
    **{name: (name, 50) for name in ("jats", "tei")},
    **{name: (name, 60) for name in ("acl", "jsonl", "rfc")},
}
# what becomes of a record that gives no paper
DROPS = (
    *("papers_without_text", "queries_without_judgements", "files_left_out_as_broken"),
    *("files_left_out_as_scanned", "files_left_out_as_encrypted"),
    *("records_without_a_title",),
    "lines_of_metadata_beside_full_texts",
)
RFC = """\
Network Working Group                                          A. Author
Request for Comments: {number}                                 March 2001

1.  Introduction

   This protocol is one of the many that are used by hosts.  It needs
   the rules of the network [RFC9] and of its links, e.g., those that
   are written by J. Doe in another place [NAMES].

Author                        Standards Track                   [Page 1]
\f
RFC {number}                   A Protocol                       March 2001

2.  References

   [RFC9]   Doe, J., "Rules of the Network", RFC 9, May 1999.

   [NAMES]  Doe, J., "Names", STD 13, RFC 11, May 1999.
"""


def records_of(name: str) -> list[dict[str, object]]:
    """Return three papers that cite one another, as the JSON of ``acl`` or ``jsonl``."""
    ids = ["P05-1001", "P06-1001", "P07-1001"]
    records = []
    for year, own in zip((2005, 2006, 2007), ids, strict=True):
        cited = [i for i in ids if i != own]
        text = ["We parse (Koo et al., 2005) fast.", "Koo (2006) and [1] parse too.", "12"]
        if name == "acl":
            info = {"authors": ["Terry Koo"], "book": "ACL", "id": own, "title": f"On {own}"}
            sections = [
                {"heading": "Abstract", "text": text},
                {"heading": "1 Work", "text": text},
                {"heading": "References", "text": ["Terry Koo. 2005. On it.", "[1] Koo. 2006."]},
            ]
            record = {"info": info | {"year": year}, "references": cited, "sections": sections}
        else:
            marked = {
                "text": "It is so [1].",
                "markers": [{"start": 9, "end": 12, "cited_ids": cited[:1]}],
            }
            record = {
                **{"paper_id": own, "title": f"On {own}", "year": year, "references": cited},
                **{"abstract": [marked, "It is."], "authors": ["T. Koo"], "venue": "ACL"},
                "sections": [{"heading": "1 Work", "sentences": [marked]}],
            }
        records.append(record)
    return records


def files_of(name: str) -> dict[str, bytes]:
    """Return the files of a good corpus by name, unpacked."""
    if name in ("acl", "jsonl"):
        lines = [json.dumps(record, separators=(",", ":")) for record in records_of(name)]
        return {"papers.jsonl": "\n".join(lines).encode()}
    if name == "rfc":
        files = {}
        for number in (9, 10, 11):
            about = {"title": "A Protocol", "authors": ["A. Author"], "pub_date": "March 2001"}
            about |= {"abstract": None, "see_also": ["STD0013"], "source": "IETF"}
            files[f"rfc{number}.json"] = json.dumps(about).encode()
            files[f"rfc{number}.txt"] = RFC.format(number=number).encode()
        return files
    files = {}
    for path in sorted((FIXTURES / name).rglob("*")):
        if path.is_file() and path.name not in ("README.md", "expected.json", "make.py"):
            data = path.read_bytes()
            is_packed = path.suffix == ".gz"
            key = str(path.relative_to(FIXTURES / name)).removesuffix(".gz")
            files[key] = gzip.decompress(data) if is_packed else data
    return files


def write_corpus(name: str, files: dict[str, bytes], folder: Path) -> Path:
    """Write a corpus; return what ``build-corpus`` would be given."""
    if name == "rfc":
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for file, data in files.items():
                member = tarfile.TarInfo(file)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        (folder / "rfc.tar").write_bytes(buffer.getvalue())
        return folder / "rfc.tar"
    for file, data in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(data)
    return folder / "papers.jsonl" if name in ("acl", "jsonl") else folder


def build(reader_name: str, source: Path, folder: Path, to_tables: bool = True) -> None:
    """Read, clean, link and perhaps write a corpus; every record must be kept or counted."""
    counts: Counter[str] = Counter()
    reader = READERS[reader_name]()
    papers = list(iter_clean_papers(reader, source, OwnProcesses(1), counts, needs_year=False))
    dropped = sum(counts[name] for name in DROPS)
    if reader_name == "acl":
        dropped += counts["papers_without_year"]
    assert counts["papers_read"] <= len(papers) + dropped, counts
    if to_tables:
        papers = sort_papers(iter(papers), folder)
    links = link_papers(papers, "drop", counts)
    if to_tables:
        splits = split_at_random(len(papers), named_rng(1, "split"))
        write_tables(folder, papers, links, splits)


@pytest.mark.parametrize(
    ("fixture", "number"),
    [
        *((name, quick) for name, (_, quick) in READER_OF.items()),
        *(
            pytest.param(name, None, marks=pytest.mark.exhaustive, id=f"{name}-all")
            for name in READER_OF
        ),
    ],
    indirect=["number"],
)
def test_a_spoiled_corpus_is_read_or_refused_in_one_line(fixture, number, tmp_path, try_all):
    reader, good = READER_OF[fixture][0], files_of(fixture)
    source = write_corpus(fixture, good, tmp_path)
    output = tmp_path.parent / f"{tmp_path.name}.out"
    output.mkdir()
    build(reader, source, output)  # as it is, it is read

    leaves_out = fixture in (
        "jats",
        "tei",
        "pdf",
    )  # a broken file, and the others are read all the same

    def act(rng: random.Random) -> None:
        names = list(good) if leaves_out else [rng.choice(list(good))]
        to_tables = rng.random() < 0.1  # these take most of the time
        spoiled = {**good, **{name: mutate(good[name], rng, name) for name in names}}
        if fixture == "rfc":
            write_corpus(fixture, spoiled, tmp_path)
            if rng.random() < 0.2:
                source.write_bytes(mutate(source.read_bytes(), rng, "rfc.tar"))
            build(reader, source, output, to_tables)
            return
        for name in names:
            (tmp_path / name).write_bytes(spoiled[name])
        try:
            build(reader, source, output, to_tables)
        finally:
            for name in names:
                (tmp_path / name).write_bytes(good[name])

    rounds = -(-number // len(good)) if leaves_out else number
    ends = try_all(rounds, act)
    assert ends["read"] > rounds // 20 or fixture == "zip"  # which has checksums
    assert ends["refused"] > rounds // 20 or leaves_out
    shutil.rmtree(output)
