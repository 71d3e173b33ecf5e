"""Which reader each file of a library is for, by its name and its beginning."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mpbert.corpus.formats.spreadsheet import columns_in
from mpbert.corpus.raw.files import LARGEST, FileSet, Source, open_file, walk, without_packing
from mpbert.corpus.raw.text_files import UTF_16
from mpbert.foundation.errors import CorpusError

_BY_SUFFIX = {".bib": "bibtex", ".ris": "ris", ".nxml": "jats", ".pdf": "pdf"}
_TABLES = (".csv", ".tsv", ".txt")  # the last where tabs stand between the columns
_LOOKED_INTO = (
    ".json",
    ".jsonl",
    ".xml",
    ".nbib",
    ".ciw",
    ".ris",
    ".enw",
    ".isi",
    ".sqlite",
    ".bak",
    ".zip",
    *_TABLES,
)
_APART = {  # readers that refuse a file of another format
    *("pdf", "csl", "crossref", "openalex", "arxiv", "semantic_scholar", "dblp", "endnote"),
    *("pubmed", "spreadsheet", "wos", "zotero", "zip"),
}
_NAMES_BROKEN = {"jats", "tei"}  # readers that say themselves which .xml is none
_LISTS = ("results", "data", "recommendedPapers")  # of works in an answer
_NULLS = re.compile(r"^\[\s*(?:null\s*,\s*)*")  # an unknown id of a batch is null
_BEGINNING = 1 << 16  # bytes of a file that is looked into
# files of a folder, without suffixes of packing, that tell of a reader
_BY_NAMES = {
    "contexts": ({"papers.json", "contexts.json"},),
    "beir": ({"corpus.jsonl", "queries.jsonl"},),
    "csv": ({"papers.csv"}, {"papers.tsv"}),
    "zotero": ({"zotero.sqlite"},),
}
# how a file begins that is neither JSON nor XML
_BY_BEGINNING = (
    ("zotero", re.compile(rb"SQLite format 3\0")),
    ("endnote", re.compile(rb"\s*%0 [A-Z]")),
    ("zip", re.compile(rb"PK\x03\x04")),
    ("pubmed", re.compile(rb"\s*PMID *- ?\d")),
    ("ris", re.compile(rb"(?:[^\n]{0,200}\n){0,9}?\s*(?:\d+\.\s*)?TY  - [A-Z]")),
    ("bibtex", re.compile(rb"(?:\s|%[^\n]*\n)*+@[A-Za-z]+\s*\{\s*[^\s,{}\"]+,\s*\w+\s*=")),
    ("wos", re.compile(rb"\s*(?:FN (?:Clarivate|Thomson|ISI)|PT [A-Z]\r?\n)")),
)
_ROOTS = {  # element of XML -> reader
    **{"dblp": "dblp", "dblpperson": "dblp", "TEI": "tei", "article": "jats"},
    **{"PubmedArticleSet": "pubmed", "PubmedArticle": "pubmed", "PubmedBookArticle": "pubmed"},
}
_ENDNOTE = re.compile(rb"<record>.*<ref-type|<RECORD>\s*<REFERENCE_TYPE", re.DOTALL)
_ROOT = re.compile(rb"<(?:\w+:)?([A-Za-z]\w*)[\s/>]")
# keys of the first JSON object: the first line whose keys are all there
_BY_KEYS = (
    ("unarxive", {"paper_id", "discipline"}),
    ("acl", {"info", "sections"}),
    ("s2orc", {"corpusid"}),
    ("s2orc", {"paper_id", "has_pdf_parse"}),
    ("s2orc", {"paper_id", "_pdf_hash"}),
    ("doc2json", {"paper_id", "pdf_parse"}),
    ("doc2json", {"paper_id", "latex_parse"}),
    ("doc2json", {"paper_id", "body_text"}),
    ("citeomatic", {"id", "out_citations"}),
    ("citeomatic", {"id", "outCitations"}),
    ("jsonl", {"paper_id", "title"}),
    ("arxiv", {"id", "authors_parsed"}),
    ("arxiv", {"id", "categories", "abstract", "title"}),
    *(("semantic_scholar", {"paperId", name}) for name in ("title", "externalIds", "authors")),
    *(("semantic_scholar", {name}) for name in ("citingPaper", "citedPaper")),
    ("openalex", {"id", "referenced_works"}),
    ("openalex", {"id", "abstract_inverted_index"}),
    ("openalex", {"id", "authorships"}),
    ("crossref", {"DOI", "prefix"}),
    ("csl", {"id", "type"}),
    ("csl", {"items"}),
)


Unit = tuple[str, Source]
"""Name of a reader, and what it reads."""


def guess_reader(path: Path, names: Sequence[str]) -> str:
    """Return the name of the reader that a file or folder is for; ``mixed`` where there are more.

    :param names: of all readers, for the message.
    :raises CorpusError: there is no such path, or no reader would do.
    """
    units = units_of(path)
    if len(units) == 1 and (isinstance(units[0][1], Path) or units[0][0] == "pdf"):
        return units[0][0]
    if units:
        return "mixed"
    raise CorpusError(
        f"{path}: found no file whose format can be told; expected an export such as .bib, .ris, "
        f".nbib, .csv, .json, .jsonl or .xml, PDF files or the folder of Zotero: name the reader "
        f"with --reader, one of {', '.join(names)}"
    )


def unknown_files(path: Path) -> list[Path]:
    """Return the files of a folder whose format cannot be told, by name.

    :raises CorpusError: there is no such path, or a file cannot be read.
    """
    return _units_and_unknown(path)[1] if path.is_dir() else []


def units_of(path: Path) -> list[Unit]:
    """Return what each reader reads of a file or folder; files of no known format are left alone.

    A folder with the files of ``_BY_NAMES`` is read as one, whatever else lies in it.

    :raises CorpusError: there is no such path, or a file cannot be read.
    """
    return _units_and_unknown(path)[0]


def _units_and_unknown(path: Path) -> tuple[list[Unit], list[Path]]:
    files = walk(path, ("",))
    by_folder: dict[Path, set[str]] = {}
    for file in files:
        by_folder.setdefault(file.parent, set()).add(without_packing(file).name)
    units: list[Unit] = []
    for folder, own in by_folder.items():
        found = (n for n, groups in _BY_NAMES.items() if any(group <= own for group in groups))
        if path.is_dir() and (name := next(found, None)):
            units.append((name, folder))
    folders = [folder for _, folder in units]
    of_reader: dict[str, list[Path]] = {}
    for file in files:
        if not any(file.is_relative_to(folder) for folder in folders):
            reader = _reader_of(without_packing(file).suffix.lower(), file)
            of_reader.setdefault(reader or "", []).append(file)
    unknown = of_reader.pop("", [])
    if of_reader.keys() <= _NAMES_BROKEN:
        unknown = [file for file in unknown if without_packing(file).suffix.lower() != ".xml"]
    apart = "pdf" in of_reader or (unknown and of_reader.keys() & _APART)
    apart = apart or (path.is_dir() and any(_has_odd_name(*one) for one in of_reader.items()))
    if len(of_reader) == 1 and not units and not apart:
        return [(next(iter(of_reader)), path)], unknown
    units += [(name, FileSet(path, tuple(found))) for name, found in of_reader.items()]
    return units, unknown


def _has_odd_name(reader: str, files: Sequence[Path]) -> bool:
    """Whether a reader would not find all of these files in their folder by its own suffixes."""
    suffixes = {without_packing(file).suffix.lower() for file in files}
    by_suffix = {_BY_SUFFIX.get(suffix, reader) for suffix in suffixes}
    return by_suffix != {reader} or (reader in ("bibtex", "ris") and ".txt" in suffixes)


def _reader_of(suffix: str, file: Path) -> str | None:
    if suffix == ".tar" or ".tar" in file.suffixes:
        return "rfc" if file.name.startswith("rfc") else None
    if suffix not in _LOOKED_INTO:
        return _BY_SUFFIX.get(suffix)
    with open_file(file) as opened:
        data = opened.read(_BEGINNING)
        if suffix in (".json", ".jsonl"):
            first = _first_object(data)
            if first is None:  # it is longer
                first = _first_object(data + opened.read(LARGEST))
            # what is broken is told by the reader of JSON Lines, with its line
            found = None if first is None else _of_object(first)
            return found or ("jsonl" if suffix == ".jsonl" and not _is_answer(first) else None)
    if data.startswith(UTF_16):
        data = data.decode("utf-16", errors="replace").encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    if suffix == ".xml":
        return _of_xml(data)
    begun = (name for name, beginning in _BY_BEGINNING if beginning.match(data))
    return next(begun, _of_table(suffix, data) if suffix in _TABLES else _BY_SUFFIX.get(suffix))


def _of_xml(data: bytes) -> str | None:
    root = _ROOT.search(data)
    if root and (name := _ROOTS.get(root[1].decode())):
        return name
    if b"<TEI" in data:
        return "tei"
    if _ENDNOTE.search(data):
        return "endnote"
    return "jats" if b"<article" in data else None


def _of_table(suffix: str, data: bytes) -> str | None:
    text = data.decode(errors="replace")
    if suffix == ".txt" and "\t" not in text.partition("\n")[0]:
        return None
    return "spreadsheet" if len(columns_in(text)) > 1 else None  # a list of titles is no library


def _is_answer(first: dict[Any, Any] | None) -> bool:
    """Whether an object is an answer of Crossref, which may hold nothing."""
    return first is not None and isinstance(first.get("message"), dict)


def _of_object(first: dict[Any, Any]) -> str | None:
    keys = set(first)
    if _is_answer(first) and keys & {"message-type", "status"}:
        return "crossref" if first["message"] else None
    for name in _LISTS:
        if isinstance(found := first.get(name), list):
            keys.update(*(item for item in found[:1] if isinstance(item, dict)))
    if "DOI" in keys and isinstance(first.get("title"), list):
        return "crossref"
    return next((name for name, wanted in _BY_KEYS if wanted <= keys), None)


def _first_object(data: bytes) -> dict[Any, Any] | None:
    """Return the first object of a JSON text, which may stand in an array; None if it is none."""
    text = data.decode("utf-8-sig", errors="replace").lstrip()
    start = _NULLS.sub("", text)
    try:
        found, _ = json.JSONDecoder().raw_decode(start)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
