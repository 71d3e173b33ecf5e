"""Which reader a file or folder is for, by the names of its files and the beginning of the first.

Nothing is guessed where two readers would do: the caller is asked to name one.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mpbert.corpus.raw.files import LARGEST, open_file, walk, without_packing
from mpbert.foundation.errors import CorpusError

_BY_SUFFIX = {".bib": "bibtex", ".ris": "ris", ".nxml": "jats"}
_LOOKED_INTO = (".json", ".jsonl", ".xml")
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
    ("csl", {"id", "type"}),
    ("csl", {"items"}),
)


def guess_reader(path: Path, names: Sequence[str]) -> str:
    """Return the name of the one reader that a file or folder is for.

    :param names: of all readers, for the message.
    :raises CorpusError: there is no such path, or none or several readers would do.
    """
    files = walk(path, ("",))
    for name, wanted in _BY_NAMES.items():
        own = {without_packing(file).name for file in files if file.parent == path}
        if any(group <= own for group in wanted):
            return name
    first: dict[str, Path] = {}  # the first file of each suffix
    for file in files:
        first.setdefault(without_packing(file).suffix.lower(), file)
    found = {suffix: _reader_of(suffix, file) for suffix, file in first.items()}
    readers = sorted(set(filter(None, found.values())))
    if len(readers) == 1:
        return readers[0]
    if len(readers) > 1:
        raise CorpusError(
            f"{path}: found files for the readers {' and '.join(readers)}; expected those of one: "
            f"name it with --reader, or give one file"
        )
    raise CorpusError(
        f"{path}: found no file whose format can be told; expected .bib, .ris, .json, .jsonl, .xml "
        f"or papers.csv: name the reader with --reader, one of {', '.join(names)}"
    )


def _reader_of(suffix: str, file: Path) -> str | None:
    if suffix == ".tar" or ".tar" in file.suffixes:
        return "rfc" if file.name.startswith("rfc") else None
    if suffix not in _LOOKED_INTO:
        return _BY_SUFFIX.get(suffix)
    with open_file(file) as opened:
        text = opened.read(LARGEST).decode("utf-8-sig", errors="replace").lstrip()
    if suffix == ".xml":
        return "tei" if "<TEI" in text else "jats" if "<article" in text else None
    keys = _first_keys(text)
    known = (name for name, wanted in _BY_KEYS if wanted <= keys)
    # what is broken is told by the reader of JSON Lines, with its line
    return next(known, "jsonl" if suffix == ".jsonl" else None)


def _first_keys(text: str) -> set[Any]:
    """Return the keys of the first object of a JSON text, which may stand in an array."""
    start = text[1:].lstrip() if text.startswith("[") else text
    try:
        found, _ = json.JSONDecoder().raw_decode(start)
    except (ValueError, RecursionError):
        return set()
    return set(found) if isinstance(found, dict) else set()
