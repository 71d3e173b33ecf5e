"""The entries of a manuscript's bibliographies, with the lines on which they stand."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpbert.corpus.clean import CleanPaper, clean_paper
from mpbert.corpus.raw.bibtex_entries import in_comment
from mpbert.corpus.raw.exports import Export
from mpbert.corpus.raw.text_files import read_text
from mpbert.foundation.errors import CorpusError
from mpbert.recommending.bibliography import READERS, bibliography_reader
from mpbert.recommending.checking.findings import Finding
from mpbert.recommending.hayagriva import SUFFIXES as HAYAGRIVA
from mpbert.recommending.hayagriva import read_hayagriva

UNREAD = "unread-bibliography"  # kind of the finding for a file of which nothing is read
_OTHER_KINDS = {*READERS, *HAYAGRIVA} - {".bib"}
_KEY = re.compile(r"@[ \t]*(\w+)[ \t]*[{(]\s*([^\s,{}()=\"]+)\s*,")
_NAMING = ("crossref", "xref", "xdata", "entryset", "related")  # fields that name entries
# kinds of entries that are no works: settings of styles, and what others take fields from
_NO_WORKS = frozenset("control ieeetranbstctl bstcontrol xdata set comment string preamble".split())
_GIVE_KEY = "expected one to cite it by, such as @article{knuth1984, ...}"
_WHERE = re.compile(r"^.*?:(\d+): ")


@dataclass(frozen=True)
class BibEntry:
    """An entry of a bibliography.

    :param line: on which it begins, from 1; None where the file has no lines to look up.
    :param paper: what it tells of a paper; None: it is none, or has no title.
    :param aliases: other keys to cite it by; ``names`` keys of entries that it takes fields from.
    """

    key: str
    path: Path
    line: int | None = None
    paper: CleanPaper | None = None
    kind: str = ""
    aliases: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def is_work(self) -> bool:
        """Whether it is there to be cited."""
        return self.kind not in _NO_WORKS


def read_entries(paths: Sequence[Path]) -> tuple[list[BibEntry], list[Finding]]:
    """Return the entries of files ``.bib``, ``.json`` of CSL, ``.ris`` and ``.yml``, and what is
    broken.

    An entry that is broken is there by its key.

    :param paths: that exist.
    """
    entries: list[BibEntry] = []
    findings: list[Finding] = []
    for path in paths:
        try:
            if path.suffix.lower() in _OTHER_KINDS:
                found, broken = list(_of_other_kind(path)), []
            else:
                found, broken = entries_of_text(read_text(path), path)
        except (CorpusError, OSError) as error:
            found, broken = [], [_broken(path, error, UNREAD)]
        entries += found
        findings += broken
    return entries, findings


def _of_other_kind(path: Path) -> Iterator[BibEntry]:
    if path.suffix.lower() in HAYAGRIVA:
        yield from (BibEntry(key, path) for key in read_hayagriva(path))
        return
    reader = bibliography_reader(path.suffix.lower())
    for place, record in reader.exports(path):
        yield BibEntry(record.key, path, None, _paper(reader, place, record), record.kind)


def entries_of_text(text: str, name: Path) -> tuple[list[BibEntry], list[Finding]]:
    """Return the entries of a text of BibTeX, and what is broken.

    :param name: of the text.
    """
    reader = bibliography_reader(".bib")
    try:
        found = list(_of_bibtex(reader, text, name))
    except CorpusError as error:
        return [], [_broken(name, error, UNREAD)]
    findings = [_broken(name, problem) for problem in reader.problems]
    findings += [
        Finding("broken-entry", name, entry.line, f"found an entry without a key: {_GIVE_KEY}")
        for entry in found
        if not entry.key
    ]
    found = [entry for entry in found if entry.key]
    if reader.problems:
        known = {entry.key for entry in found}
        found += [entry for entry in _scanned(text, name) if entry.key not in known]
    return found, findings


def _of_bibtex(reader: Any, text: str, path: Path) -> Iterator[BibEntry]:
    for line, record, fields in reader.entries_in(path, text):
        aliases, names = _keys(fields, "ids"), _keys(fields, *_NAMING)
        paper = _paper(reader, f"{path}:{line}", record)
        yield BibEntry(record.key, path, line, paper, record.kind, aliases, names)


def _paper(reader: Any, place: str, record: Export) -> CleanPaper | None:
    raw = reader.parse((place, record.key, record))
    return raw and clean_paper(raw, Counter(), needs_year=False)


def _keys(fields: dict[str, str], *names: str) -> tuple[str, ...]:
    listed = (key.strip() for name in names for key in fields.get(name, "").split(","))
    return tuple(filter(None, listed))


def _scanned(text: str, path: Path) -> Iterator[BibEntry]:
    """Yield all entries of a text by their keys alone."""
    for match in _KEY.finditer(text):
        if in_comment(text, match.start()):
            continue
        line = text.count("\n", 0, match.start()) + 1
        yield BibEntry(match[2], path, line, kind=match[1].lower())


def _broken(path: Path, error: Exception, kind: str = "broken-entry") -> Finding:
    said = str(error)
    where = _WHERE.match(said)
    line = int(where[1]) if where else None
    return Finding(kind, path, line, said[where.end() :] if where else said)
