"""A library is read: papers in any format, with citations or without.

No split, no year and no training is needed to make an index of it, see
:mod:`mpbert.recommending.library_tables`.
"""

import logging
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from mpbert.corpus.build import iter_clean_lines
from mpbert.corpus.formats.base import READERS
from mpbert.corpus.formats.guess import guess_reader, unknown_files
from mpbert.corpus.formats.mixed import library_reader
from mpbert.foundation.engines import Engine
from mpbert.foundation.errors import CorpusError, listed
from mpbert.foundation.parts import PartFiles
from mpbert.foundation.progress import progress
from mpbert.recommending.columns import ColumnTable
from mpbert.recommending.lookup import TIMES
from mpbert.recommending.read_papers import ReadPapers
from mpbert.recommending.tables import IndexTables

logger = logging.getLogger(__name__)
ENOUGH = 3000  # citing sentences from which on training pays
# what was kept or dropped that a user should hear of: name of a count -> what is said
_SAID = {
    "papers_without_year": "kept without a year",
    "papers_known_by_their_title_alone": "kept with a title alone",
    "records_without_a_title": "dropped without a title",
    "papers_without_text": "dropped without an abstract or a text",
    "papers_with_the_id_of_an_earlier_one": "dropped with the key of an earlier one",
    "copies_merged_in_the_library": "copies of a paper in the same library, merged with it",
    "copies_of_papers_of_the_index": "copies of papers of the index, merged with them",
    "copies_of_papers_merged": "copies of a paper in another format, merged with it",
    "files_read_by_grobid": "PDF files read by GROBID",
    "pdf_files_without_an_abstract": "PDF files without the heading of an abstract",
    "years_by_the_name_of_the_file": "years taken from the name of a PDF file",
    "attached_files_not_found": "attached files not found",
    "attached_files_left_unread": "attached PDF files left unread",
    "attachments_and_notes_left_out": "attachments and notes that stand alone, left out",
    "lines_between_records": "lines between records, left out",
    "records_left_out_as_broken": "records left out as broken",
    "files_left_out_as_broken": "files left out as broken",
    "files_of_unknown_format": "files left out, of no known format",
    "files_left_out_as_encrypted": "PDF files left out as encrypted",
    "files_left_out_as_scanned": "PDF files left out as scanned",
}

LEFT_OUT = tuple(name for name in _SAID if "_left_out_as_" in name or name.startswith("files_of_"))


def reader_name(path: Path, named: str | None, counts: Counter[str]) -> str:
    """Return the name of the reader of a library: the one that was named, or the one it is for.

    Where it was not named, one line of the log says which files no reader is for.

    :param counts: receives how many these are.

    :raises CorpusError: there is no such path, or no reader would do.
    """
    if not path.exists():
        raise CorpusError(f"{path}: no such file; expected a file or a folder of papers")
    if named:
        return named
    reader = guess_reader(path, READERS.names())
    if unknown := unknown_files(path):
        counts["files_of_unknown_format"] = len(unknown)
        told = listed([str(file.relative_to(path)) for file in unknown])
        logger.warning("%s: left out, of no known format: %s", path, told)
    return reader


def read_library(
    path: Path,
    reader: str,
    engine: Engine,
    counts: Counter[str],
    grobid: str = "",
    parts: PartFiles | None = None,
) -> ReadPapers:
    """Return the papers of a library, those without a year among them: an index holds them all.

    :param reader: name of a reader.
    :param engine: where papers are parsed.
    :param counts: receives what the reader and the cleaning count; papers without a year are kept.
    :param grobid: address of a service that reads PDF files; empty: they are read here.
    :param parts: where clean papers stay for a later run; None: nowhere.
    :raises CorpusError: the file or a record is broken.
    :raises ConfigError: no service answers there, or the library has no PDF files to send.
    """
    made = library_reader(path, reader, grobid)
    made.needs_citations = False
    lines = iter_clean_lines(made, path, engine, counts, needs_year=False, parts=parts)
    return ReadPapers(progress(lines, "read papers", "paper"))


def told_counts(counts: Mapping[str, int]) -> list[str]:
    """Return lines that say what of a library was kept, merged and left out."""
    return [f"{said}: {counts[name]:,}" for name, said in _SAID.items() if counts.get(name)]


def told_parts(tables: IndexTables, encoder: str) -> list[str]:
    """Return lines that say what an index ranks by, how that was chosen, and what training adds.

    :param encoder: its name; empty: there is none.
    """
    abstracts = _number_of_abstracts(tables.papers)
    bodies = int((tables.bodies["body"].lengths > 0).sum())
    citing = tables.contexts.num_rows
    lines = [
        f"ranked by words of: titles of {tables.papers.num_rows:,} papers and abstracts of "
        f"{abstracts:,}, counted {TIMES[0]} times; texts of {bodies:,}; {citing:,} citing "
        f"sentences, counted {TIMES[1]} times"
    ]
    if encoder:
        matches = " and exact matches" * (tables.matches is not None)
        lines.append(
            f"and by vectors{matches} of {encoder}, which counts half as much, since it was not "
            f"trained on this library"
        )
    weighed = ", and the half with encoders of other corpora" * bool(encoder)
    lines.append(
        f"chosen on validation contexts of RFCs and of the ACL, as the row 'BM25, fields weighed'"
        f"{weighed}; nothing was learnt from this library"
    )
    if citing < ENOUGH:
        lines.append(
            f"training would add vectors and weights of its own; it needs about {ENOUGH:,} citing "
            f"sentences, this library has {citing:,}"
        )
    return lines


def _number_of_abstracts(papers: ColumnTable) -> int:
    """Return how many papers have one; of a paper known by its title alone, it is the title."""
    pairs = zip(papers["title"], papers["abstract"], strict=True)
    return sum(abstract.rstrip(".") not in ("", title.rstrip(".")) for title, abstract in pairs)
