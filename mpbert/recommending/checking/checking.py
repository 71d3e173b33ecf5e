"""A check of a whole manuscript: its bibliography, and how well each cited paper fits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpbert.foundation.progress import progress
from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.bibliography import OwnReference, PaperMatcher, of_print, reference_of
from mpbert.recommending.checking.bibliography_checks import (
    WholeBibliography,
    all_keys,
    bibliography_findings,
    bibliography_in,
    read_whole,
    year_of_manuscript,
)
from mpbert.recommending.checking.citations import CheckedCitation, checked_citations
from mpbert.recommending.checking.findings import Finding
from mpbert.recommending.manuscripts.files import draft_with_text
from mpbert.recommending.manuscripts.pasted import NAME, draft_of
from mpbert.recommending.manuscripts.sentences import Manuscript, manuscript_of


@dataclass(frozen=True)
class CheckedManuscript:
    """What a check found.

    :param citations: whose papers the index holds, doubtful ones first.
    :param findings: all that is to be looked at: of citations the doubtful ones.
    :param unchecked: keys whose papers the index does not hold.
    :param num_places: of the manuscript.
    """

    citations: list[CheckedCitation]
    findings: list[Finding]
    unchecked: list[str]
    num_places: int

    @property
    def doubtful(self) -> list[CheckedCitation]:
        """Citations that are more probably wrong than right."""
        return [one for one in self.citations if one.verdict == "doubtful"]

    def as_json(self) -> dict[str, Any]:
        """Return what ``check-citations --format json`` prints."""
        return {
            "citations": [one.as_json() for one in self.citations],
            "findings": [one.as_json() for one in self.findings],
            "unchecked": self.unchecked,
        }


def check_file(
    index: AnsweringIndex, file: Path, bibliographies: Sequence[Path] = (), year: int | None = None
) -> CheckedManuscript:
    """Check a manuscript in a file.

    :param file: its root, see :func:`mpbert.recommending.manuscripts.project.root_of`.
    :param bibliographies: files to read instead of those that it names.
    :param year: of the manuscript; None: what it says, else today's.
    :raises ManuscriptError: it cannot be read.
    """
    draft, text = draft_with_text(file)
    manuscript = manuscript_of(draft)
    bibliography = read_whole(manuscript, file, bibliographies)
    year = year_of_manuscript(text) if year is None else year
    numbers = progress(range(len(manuscript.places)), "check citations", "place")
    return checked(index, manuscript, bibliography, file, year, numbers)


def check_bibliography(
    file: Path, bibliographies: Sequence[Path] = (), year: int | None = None
) -> list[Finding]:
    """Return what is wrong with keys and entries of a manuscript; this needs no index.

    :param file: and the others, and errors, as of :func:`check_file`.
    """
    draft, text = draft_with_text(file)
    manuscript = manuscript_of(draft)
    bibliography = read_whole(manuscript, file, bibliographies)
    year = year_of_manuscript(text) if year is None else year
    return bibliography_findings(all_keys(manuscript, file), bibliography, file, year)


def check_text(
    index: AnsweringIndex,
    text: str,
    form: str = "text",
    bibtex: str = "",
    year: int | None = None,
    places: slice = slice(None),
) -> CheckedManuscript:
    """Check a manuscript that is a text; no file is read.

    :param form: one of :data:`mpbert.recommending.manuscripts.pasted.FORMS`.
    :param bibtex: entries of its bibliography; ``year`` as of :func:`check_file`.
    :param places: whose citations are checked.
    """
    manuscript = manuscript_of(draft_of(text, form))
    bibliography = bibliography_in(manuscript, bibtex)
    year = year_of_manuscript(text) if year is None else year
    numbers = range(len(manuscript.places))[places]
    return checked(index, manuscript, bibliography, Path(NAME), year, numbers)


def checked(
    index: AnsweringIndex,
    manuscript: Manuscript,
    bibliography: WholeBibliography,
    file: Path,
    year: int,
    numbers: Iterable[int],
) -> CheckedManuscript:
    """Check a manuscript that was read, with its bibliography.

    :param file: of the manuscript; ``year`` of it.
    :param numbers: of the places to check.
    """
    keys = all_keys(manuscript, file)
    known = _known(index, manuscript, bibliography)
    citations = checked_citations(index, manuscript, file, known, year, numbers)
    doubtful = [_finding(one) for one in citations if one.verdict == "doubtful"]
    findings = bibliography_findings(keys, bibliography, file, year)
    unchecked = dict.fromkeys(one.key for one in keys if one.key not in known and one.key != "*")
    return CheckedManuscript(
        citations, [*doubtful, *findings], list(unchecked), len(manuscript.places)
    )


def _known(
    index: AnsweringIndex, manuscript: Manuscript, bibliography: WholeBibliography
) -> dict[str, str]:
    """Return key -> id of the papers of the index that a manuscript cites or lists."""
    cited = {key: OwnReference() for keys in manuscript.keys for key in keys}
    printed = {key: of_print(text) for key, text in bibliography.printed.items()}
    told = {
        key: reference_of(entry.paper)
        for entry in reversed(bibliography.entries)
        if entry.paper is not None
        for key in (entry.key, *entry.aliases)
    }
    return PaperMatcher(index).paper_ids(cited | printed | told)


def _finding(one: CheckedCitation) -> Finding:
    message = (
        f"{one.key!r} ({one.title}) does not fit this sentence: rank {one.rank:,} of "
        f"{one.papers:,}, probability {one.probability:.2f}"
    )
    better = one.better
    if better:
        message += f"; {better.key!r} ({better.title}) fits better, {better.probability:.2f}"
    return Finding(
        "doubtful-citation", one.path, one.line, message, one.key, better.key if better else ""
    )
