r"""A manuscript's own references, and which papers of an index they are.

Read are the files that it names (``\bibliography``, ``\addbibresource``, ``bibliography`` of
pandoc), ``thebibliography``, and the ``.bbl`` beside it where none of these can be read.
"""

import importlib
import logging
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mpbert.corpus.raw.identifiers import normal_title, plain_doi
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.lazy_patterns import lazy_re
from mpbert.recommending.hayagriva import SUFFIXES as HAYAGRIVA
from mpbert.recommending.hayagriva import read_hayagriva
from mpbert.recommending.manuscripts.references import printed_references
from mpbert.recommending.manuscripts.sentences import About, Manuscript
from mpbert.recommending.papers import IndexedPapers

if TYPE_CHECKING:  # what a manuscript without references need not wait for
    from mpbert.corpus.clean import CleanPaper
    from mpbert.corpus.records import RawPaper

logger = logging.getLogger(__name__)

# ending of a file of references -> module and class that read it
READERS = {".bib": "bibtex.BibtexReader", ".json": "csl.CslReader", ".ris": "ris.RisReader"}
_YEAR = lazy_re(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")
_START = 8  # letters of a title by which it is looked up in print
_NEAR = 1  # years between a preprint and what is printed
_MOST_BYTES = 1 << 26  # of a .bbl
_LARGE = 1 << 20  # bytes of BibTeX, for which pybtex takes two seconds
_ENTRY = lazy_re(r"^@[ \t]*(\w+)[ \t]*[{(]\s*([^\s,{}()=]*)", re.MULTILINE)


class OwnReference(NamedTuple):
    """What a manuscript says of a paper that it cites; empty where it does not.

    :param title: letters and digits, as of :func:`normal_title`.
    :param doi: in small letters.
    :param years: that it may have been published in.
    :param printed: of a reference without fields, all of it, in the same form as the title.
    """

    title: str = ""
    years: tuple[int, ...] = ()
    doi: str = ""
    printed: str = ""


@dataclass(frozen=True)
class OwnReferences:
    """References by their keys.

    :param files: of BibTeX that the manuscript names, whether they are there or not.
    """

    references: dict[str, OwnReference] = field(default_factory=dict)
    files: tuple[Path, ...] = ()


def read_bibliography(about: About, manuscript: Path, cited: Collection[str] = ()) -> OwnReferences:
    """Return the references of a manuscript; a file that cannot be read is one warning.

    :param manuscript: its file, beside which others are looked for.
    :param cited: keys that it cites. Of a large file of BibTeX only entries of these are read.
    """
    found: dict[str, OwnReference] = {}
    files = bibliography_files(about, manuscript)
    for path in files:
        if os.path.isfile(path):
            for key, reference in _of_file(path, cited):
                found.setdefault(key, reference)
        else:
            logger.warning("%s: names %s, and there is no such file", manuscript, path)
    printed = dict(about.printed)
    beside = manuscript.with_suffix(".bbl")
    if not found and not printed and manuscript.suffix.lower() == ".tex" and beside.is_file():
        data = beside.read_bytes()[:_MOST_BYTES]
        printed = printed_references(data.decode("utf-8", "replace"))
    for key, text in printed.items():
        found.setdefault(key, of_print(text))
    return OwnReferences(found, tuple(path for path in files if path.suffix.lower() == ".bib"))


def bibliography_files(about: About, manuscript: Path) -> list[Path]:
    """Return the files of references that a manuscript names, whether they are there or not."""
    return [_path_of(name, manuscript.parent) for name in about.bibliographies]


def _path_of(name: str, folder: Path) -> Path:
    suffix = os.path.splitext(name)[1].lower()
    file = name if suffix in (*READERS, *HAYAGRIVA) else f"{name}.bib"
    inside = file.lstrip("./")  # as an included file in a folder below names it
    found = next((each for each in (file, inside) if os.path.isfile(folder / each)), file)
    return Path(os.path.join(folder, found))


def _of_file(path: Path, cited: Collection[str]) -> Iterator[tuple[str, OwnReference]]:
    """Yield the references of a file up to one that is broken."""
    try:
        if path.suffix.lower() in HAYAGRIVA:
            for key, (title, date) in read_hayagriva(path).items():
                years = tuple(map(int, _YEAR.findall(date)))
                yield key, OwnReference(normal_title(title) or "", years)
            return
        reader = bibliography_reader(path.suffix.lower())
        if path.suffix.lower() == ".bib" and path.stat().st_size > _LARGE:
            from mpbert.corpus.raw.text_files import read_text

            records = reader.exports_in(path, _entries_of(read_text(path), cited))
        else:
            records = reader.exports(path)
        yield from _of_records(reader, records)
    except CorpusError as error:
        logger.warning("%s; its keys behind this are not matched to papers", error)
    else:
        if reader.problems:
            logger.warning("%s", told_problems(reader.problems))


def told_problems(problems: Sequence[CorpusError]) -> str:
    """Return one line that says what is wrong with the first broken entry, and how many there are.

    Empty for none.
    """
    said = f"broken entries, not matched to papers: {len(problems)}"
    return f"{problems[0]}; {said}" if problems else ""


def read_bibtex(text: str) -> tuple[dict[str, OwnReference], str]:
    """Return the references of a text of BibTeX by their keys, and what is wrong with others.

    :raises CorpusError: an entry has text that cannot be decoded.
    """
    reader = bibliography_reader(".bib")
    found: dict[str, OwnReference] = {}
    for key, reference in _of_records(reader, reader.exports_in(Path("bibliography"), text)):
        found.setdefault(key, reference)
    return found, told_problems(reader.problems)


def bibliography_reader(suffix: str) -> Any:
    """Return the reader of files with an ending of ``READERS``."""
    module, _, name = READERS[suffix].partition(".")
    return getattr(importlib.import_module(f"mpbert.corpus.formats.{module}"), name)()


def _of_records(reader: Any, records: Iterator[Any]) -> Iterator[tuple[str, OwnReference]]:
    for place, record in records:
        paper = reader.parse((place, record.key, record))
        if paper is not None:
            yield record.key, reference_of(paper)


def reference_of(paper: "RawPaper | CleanPaper") -> OwnReference:
    """Return what an entry says of its paper."""
    years = (paper.year,) if paper.year else ()
    return OwnReference(normal_title(paper.title) or "", years, paper.published.doi.lower())


def _entries_of(text: str, keys: Collection[str]) -> str:
    """Return BibTeX with the entries of some keys alone, each on the line where it stood."""
    starts = [*(match.start() for match in _ENTRY.finditer(text)), len(text)]
    parts = [text[: starts[0]]]
    for start, end in pairwise(starts):
        command, key = _ENTRY.match(text, start).groups()
        part = text[start:end]
        is_read = key in keys or command.lower() in ("string", "preamble")
        parts.append(part if is_read else "\n" * part.count("\n"))
    return "".join(parts)


def of_print(text: str) -> OwnReference:
    """Return what the text of a printed reference says."""
    from pylatexenc.latex2text import LatexNodes2Text

    try:
        plain = LatexNodes2Text().latex_to_text(text)
    except Exception:  # broken TeX, in which pylatexenc fails in many ways
        plain = text
    years = tuple(map(int, _YEAR.findall(plain)))
    return OwnReference("", years, plain_doi(plain).lower(), normal_title(plain) or "")


class PaperMatcher:
    """Finds the papers of an index that references are."""

    def __init__(self, recommender: IndexedPapers) -> None:
        self._recommender, self._years = recommender, recommender.years

    @cached_property
    def _titles(self) -> list[str]:
        return [normal_title(title) or "" for title in self._recommender.titles]

    @cached_property
    def _row_of_title(self) -> dict[str, list[int]]:
        rows: dict[str, list[int]] = {}
        for row, title in enumerate(self._titles):
            rows.setdefault(title, []).append(row)
        return rows

    @cached_property
    def _rows_by_start(self) -> dict[str, list[int]]:
        """Rows by the first letters of their titles; short titles have them all."""
        rows: dict[str, list[int]] = {}
        for row, title in enumerate(self._titles):
            rows.setdefault(title[:_START], []).append(row)
        return rows

    @cached_property
    def _row_of_id(self) -> dict[str, int]:
        """Rows by id, by key to cite them by, and by the ids of copies."""
        found = {key: row for row, key in enumerate(self._recommender.keys)}
        return (
            self._recommender.row_of_other_id
            | found
            | {paper_id: row for row, paper_id in enumerate(self._recommender.paper_ids)}
        )

    @cached_property
    def _row_of_doi(self) -> dict[str, int]:
        """Rows by DOI in small letters; one that papers share, as that of a book, tells none."""
        dois = [(doi or "").lower() for doi in self._recommender.dois]
        shared = Counter(dois)
        return {doi: row for row, doi in enumerate(dois) if doi and shared[doi] == 1}

    def paper_id(self, key: str, reference: OwnReference) -> str | None:
        """Return the id of a paper: by DOI, by title and year, or by a key that is its id.

        Years may differ by one, as those of a preprint do. A key counts where titles do not differ.
        """
        row = self._row_of_doi.get(reference.doi) if reference.doi else None
        if row is None and reference.title:
            rows = self._row_of_title.get(reference.title, [])
            row = next((row for row in rows if self._fits(row, reference.years)), None)
        if row is None and reference.printed:
            row = self._printed(reference)
        if row is None and not reference.title and not reference.printed:
            row = self._row_of_id.get(key)
        return None if row is None else self._recommender.paper_ids[row]

    def paper_ids(self, references: dict[str, OwnReference]) -> dict[str, str]:
        """Return key -> id of those references that are papers of the index."""
        found = {key: self.paper_id(key, reference) for key, reference in references.items()}
        return {key: paper_id for key, paper_id in found.items() if paper_id is not None}

    def _fits(self, row: int, years: tuple[int, ...]) -> bool:
        own = int(self._years[row])
        return not own or not years or any(abs(own - year) <= _NEAR for year in years)

    def _printed(self, reference: OwnReference) -> int | None:
        """Return the row of the longest title that a printed reference holds."""
        printed, rows = reference.printed, set()
        for place, length in product(range(len(printed)), range(1, _START + 1)):
            near = self._rows_by_start.get(printed[place : place + length], ())
            rows.update(row for row in near if printed.startswith(self._titles[row], place))
        fitting = [row for row in rows if self._fits(row, reference.years)]
        return max(fitting, key=lambda row: (len(self._titles[row]), -row), default=None)


def cited_papers(
    recommender: IndexedPapers, bibliography: OwnReferences, keys: list[str]
) -> dict[str, str]:
    """Return key -> id of the paper, of references and of the keys that a manuscript cites.

    :param keys: that it cites; one without a reference may be the id of a paper.
    """
    known = {key: OwnReference() for key in keys} | bibliography.references
    return PaperMatcher(recommender).paper_ids(known)


def known_papers(index: IndexedPapers, manuscript: Manuscript, file: Path) -> dict[str, str]:
    """Return key -> id, of the papers of an index that a manuscript cites or lists.

    :param file: of the manuscript, beside which its bibliography is looked for.
    """
    keys = [key for place in manuscript.keys for key in place]
    return cited_papers(index, read_bibliography(manuscript.about, file, keys), keys)
