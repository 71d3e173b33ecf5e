"""Findings about keys and entries, which need no index: undefined, unused, twice, too new."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from mpbert.recommending.bibliography import bibliography_files
from mpbert.recommending.checking.entries import UNREAD, BibEntry, entries_of_text, read_entries
from mpbert.recommending.checking.findings import Finding
from mpbert.recommending.copies import merged
from mpbert.recommending.manuscripts.placeholders import is_placeholder
from mpbert.recommending.manuscripts.references import printed_references
from mpbert.recommending.manuscripts.sentences import Manuscript, NamedKey

BIBTEX = Path("bibliography")  # what a text of BibTeX is called
# come with LaTeX, and hold abbreviations of journals alone
_ABBREVIATIONS = frozenset(["ieeeabrv", "ieeefull", "ieee_abrv", "abbrv", "aomalias"])
_HINTS = 20  # keys for which one that is nearly the same is looked for
_DATE = re.compile(
    r"(?:\\date\s*\{|^date:|^#\+date:)[^\n}]{0,80}?(?<!\d)((?:19|20)\d\d)", re.M | re.I
)


@dataclass(frozen=True)
class WholeBibliography:
    """All that a manuscript's bibliographies say.

    :param entries: of its files, in their order.
    :param printed: key -> text, of references that it or its ``.bbl`` prints.
    :param is_whole: whether no file is missing or cannot be read.
    :param findings: about its files.
    """

    entries: list[BibEntry]
    printed: dict[str, str]
    is_whole: bool
    findings: list[Finding]


def read_whole(manuscript: Manuscript, file: Path, named: Sequence[Path] = ()) -> WholeBibliography:
    """Return the bibliography of a manuscript.

    :param file: of the manuscript.
    :param named: files to read instead of those that it names.
    """
    files = list(named) or bibliography_files(manuscript.about, file)
    files = [path for path in files if path.stem.lower() not in _ABBREVIATIONS]
    there = [path for path in dict.fromkeys(files) if path.is_file()]
    findings = [
        Finding("missing-bibliography", file, None, f"names {path}, and there is no such file")
        for path in files
        if path not in there
    ]
    entries, broken = read_entries(there)
    printed = dict(manuscript.about.printed)
    beside = file.with_suffix(".bbl")
    if not entries and not printed and file.suffix.lower() == ".tex" and beside.is_file():
        printed = printed_references(beside.read_text("utf-8", "replace"))
    is_whole = not findings and all(each.kind != UNREAD for each in broken)
    return WholeBibliography(entries, printed, is_whole, [*findings, *broken])


def bibliography_in(manuscript: Manuscript, bibtex: str) -> WholeBibliography:
    """Return the bibliography of a manuscript without a file.

    :param bibtex: its entries; empty where there are none.
    """
    entries, broken = entries_of_text(bibtex, BIBTEX)
    return WholeBibliography(entries, dict(manuscript.about.printed), True, broken)


def all_keys(manuscript: Manuscript, file: Path) -> list[NamedKey]:
    """Return all keys that a manuscript cites, in its order, each once a line."""
    found = list(manuscript.about.keys)
    known = {each.key for each in found}
    for mention in manuscript.mentions:
        site = mention.site
        where = (site.source.path, site.line) if site else (file, None)
        found += [NamedKey(key, *where) for key in mention.keys if key not in known]
    return [e for e in dict.fromkeys(found) if e.key == "*" or not is_placeholder(e.key)]


def year_of_manuscript(text: str) -> int:
    r"""Return the year that ``\date`` or the head of a Markdown file says; else that of today."""
    found = _DATE.search(text)
    return int(found[1]) if found else date.today().year


def bibliography_findings(
    keys: Sequence[NamedKey], found: WholeBibliography, file: Path, year: int
) -> list[Finding]:
    """Return the findings about a manuscript's keys and entries.

    :param keys: that it cites; ``file`` is its own.
    :param year: of the manuscript.
    """
    cited = {each.key for each in keys}
    return [
        *found.findings,
        *_undefined(keys, found, file),
        *_repeated(found.entries),
        *_same_works(found.entries, cited),
        *_newer(keys, found.entries, file, year),
        *_unused(found.entries, cited),
    ]


def _undefined(keys: Sequence[NamedKey], found: WholeBibliography, file: Path) -> Iterator[Finding]:
    defined = {key for entry in found.entries for key in (entry.key, *entry.aliases)}
    defined |= set(found.printed)
    if not defined:
        return  # it has no bibliography that is known
    near = {key.lower(): key for key in reversed(sorted(defined))}
    wrong = [each for each in keys if each.key != "*" and each.key not in defined]
    for key in [key for key in dict.fromkeys(e.key for e in wrong) if key.lower() not in near][
        :_HINTS
    ]:
        near[key.lower()] = next(iter(difflib.get_close_matches(key, defined, 1, 0.75)), "")
    for each in wrong:
        other = near.get(each.key.lower(), "")
        hint = f"; did you mean {other!r}?" if other else ""
        where = "" if found.is_whole else " of those that could be read"
        message = f"{each.key!r} is defined in no bibliography{where}{hint}"
        yield Finding("undefined-key", each.path or file, each.line, message, each.key, other)


def _repeated(entries: Sequence[BibEntry]) -> Iterator[Finding]:
    first: dict[str, BibEntry] = {}
    for entry in entries:
        known = first.setdefault(entry.key.lower(), entry)
        if known is not entry and entry.is_work:
            message = f"{entry.key!r} stands {_at(known, entry)} already, and that entry counts"
            yield Finding("repeated-key", entry.path, entry.line, message, entry.key, known.key)


def _same_works(entries: Sequence[BibEntry], cited: set[str]) -> Iterator[Finding]:
    by_key = {entry.key: entry for entry in reversed(entries) if entry.paper is not None}
    _, same = merged([entry.paper for entry in by_key.values() if entry.paper][::-1])
    for key, other in same.items():
        entry, first = by_key[key], by_key[other]
        both = ", and both are cited" if {key, other} <= cited else ""
        message = f"{key!r} is the same work as {other!r} {_at(first, entry)}{both}"
        yield Finding("same-work", entry.path, entry.line, message, key, other)


def _newer(
    keys: Sequence[NamedKey], entries: Sequence[BibEntry], file: Path, year: int
) -> Iterator[Finding]:
    years = {entry.key: entry.paper.year for entry in reversed(entries) if entry.paper}
    for each in keys:
        if (own := years.pop(each.key, 0)) > year:
            message = f"{each.key!r} is of {own}, the manuscript of {year}"
            yield Finding("newer-than-manuscript", each.path or file, each.line, message, each.key)


def _unused(entries: Sequence[BibEntry], cited: set[str]) -> Iterator[Finding]:
    if "*" in cited or not cited:
        return
    folded = {key.lower() for key in cited}
    used = {
        entry.key
        for entry in entries
        if not folded.isdisjoint(map(str.lower, (entry.key, *entry.aliases)))
    }
    while more := {
        name for entry in entries if entry.key in used for name in entry.names if name not in used
    }:
        used |= more
    used_folded = {key.lower() for key in used}
    for entry in entries:
        if entry.is_work and entry.key.lower() not in used_folded:
            message = f"{entry.key!r} is cited nowhere"
            yield Finding("unused-entry", entry.path, entry.line, message, entry.key)


def _at(entry: BibEntry, seen_from: BibEntry) -> str:
    """Return where an entry stands."""
    file = "" if entry.path == seen_from.path else f"in {entry.path} "
    return f"{file}on line {entry.line}" if entry.line else f"{file}above".strip()
