"""A check of a whole manuscript: its bibliography."""

from collections.abc import Sequence
from pathlib import Path

from mpbert.recommending.checking.bibliography_checks import (
    all_keys,
    bibliography_findings,
    read_whole,
    year_of_manuscript,
)
from mpbert.recommending.checking.findings import Finding
from mpbert.recommending.manuscripts.files import draft_with_text
from mpbert.recommending.manuscripts.sentences import manuscript_of


def check_file(
    file: Path, bibliographies: Sequence[Path] = (), year: int | None = None
) -> list[Finding]:
    """Return what is wrong with the keys and entries of a manuscript.

    :param file: its root, see :func:`mpbert.recommending.manuscripts.project.root_of`.
    :param bibliographies: files to read instead of those that it names.
    :param year: of the manuscript; None: what it says, else today's.
    :raises ManuscriptError: it cannot be read.
    """
    draft, text = draft_with_text(file)
    manuscript = manuscript_of(draft)
    bibliography = read_whole(manuscript, file, bibliographies)
    keys = all_keys(manuscript, file)
    year = year_of_manuscript(text) if year is None else year
    return bibliography_findings(keys, bibliography, file, year)
