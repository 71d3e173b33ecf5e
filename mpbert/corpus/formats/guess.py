"""Which reader each file of a library is for, by its name and its beginning."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mpbert.corpus.raw.files import LARGEST, FileSet, Source, open_file, walk, without_packing
from mpbert.foundation.errors import CorpusError

_BY_SUFFIX = {".bib": "bibtex", ".ris": "ris", ".nxml": "jats", ".pdf": "pdf"}
_LOOKED_INTO = (".json", ".jsonl", ".xml")
_APART = {"pdf", "csl", "crossref", "openalex"}  # readers that refuse a file of another format
_NAMES_BROKEN = {"jats", "tei"}  # readers that say themselves which .xml is none
_BEGINNING = 1 << 16  # bytes of a file that is looked into
# files of a folder, without suffixes of packing, that tell of a reader
_BY_NAMES = {
    "contexts": ({"papers.json", "contexts.json"},),
    "beir": ({"corpus.jsonl", "queries.jsonl"},),
    "csv": ({"papers.csv"}, {"papers.tsv"}),
}
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
        f"{path}: found no file whose format can be told; expected .bib, .ris, .json, .jsonl, "
        f".xml, .pdf or papers.csv: name the reader with --reader, one of {', '.join(names)}"
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
    if len(of_reader) == 1 and not units and not apart:
        return [(next(iter(of_reader)), path)], unknown
    units += [(name, FileSet(path, tuple(found))) for name, found in of_reader.items()]
    return units, unknown


def _reader_of(suffix: str, file: Path) -> str | None:
    if suffix == ".tar" or ".tar" in file.suffixes:
        return "rfc" if file.name.startswith("rfc") else None
    if suffix not in _LOOKED_INTO:
        return _BY_SUFFIX.get(suffix)
    with open_file(file) as opened:
        data = opened.read(_BEGINNING)
        if suffix == ".xml":
            return "tei" if b"<TEI" in data else "jats" if b"<article" in data else None
        first = _first_object(data)
        if first is None:  # it is longer
            first = _first_object(data + opened.read(LARGEST))
    if first is None:  # what is broken is told by the reader of JSON Lines, with its line
        return "jsonl" if suffix == ".jsonl" else None
    keys = set(first)
    if isinstance(message := first.get("message"), dict) and keys & {"message-type", "status"}:
        return "crossref" if message else None
    if isinstance(results := first.get("results"), list) and results:
        keys |= set(results[0]) if isinstance(results[0], dict) else set()
    if "DOI" in keys and isinstance(first.get("title"), list):
        return "crossref"
    known = (name for name, wanted in _BY_KEYS if wanted <= keys)
    return next(known, "jsonl" if suffix == ".jsonl" else None)


def _first_object(data: bytes) -> dict[Any, Any] | None:
    """Return the first object of a JSON text, which may stand in an array; None if it is none."""
    text = data.decode("utf-8-sig", errors="replace").lstrip()
    start = text[1:].lstrip() if text.startswith("[") else text
    try:
        found, _ = json.JSONDecoder().raw_decode(start)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
