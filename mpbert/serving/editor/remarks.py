"""What a manuscript in an editor still needs: citations to choose, keys without an entry, and more.

All of it is told while one writes, but for doubtful citations and sentences that lack one: these
are looked for when a text is opened or saved.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mpbert.recommending.checking.bibliography_checks import year_of_manuscript
from mpbert.recommending.checking.citations import CheckedCitation, checked_citations
from mpbert.recommending.manuscripts.pasted import draft_of
from mpbert.recommending.manuscripts.sentences import Manuscript, manuscript_of
from mpbert.recommending.options import Options
from mpbert.recommending.unmarked.finding import find_unmarked
from mpbert.serving.editor.manuscript_state import ManuscriptState
from mpbert.serving.editor.projects import texts_below
from mpbert.serving.editor.uses import read_uses

OPEN, UNDEFINED, UNUSED = "open-place", "undefined-key", "unused-entry"
DOUBTFUL, UNMARKED = "doubtful-citation", "unmarked"
_PRINTED = {
    "tex": re.compile(r"\\bibitem\s*(?:\[[^\[\]]*\])?\s*\{([^{}]+)\}|\\entry\{([^{}]+)\}"),
    "rst": re.compile(r"^\.\. \[([^\[\]]+)\]()", re.MULTILINE),
    "markdown": re.compile(r"^[ \t]*-?[ \t]*id:[ \t]*[\"']?([\w:./-]+)()", re.MULTILINE),
}
_NAMING = re.compile(r"\b(?:crossref|xref|xdata|entryset|related|ids)\s*=\s*[{\"]([^{}\"]+)", re.I)
_ALL = re.compile(r"\\nocite\{\s*\*\s*\}|(?<![\w@])@\*")


@dataclass(frozen=True)
class Remark:
    """A remark on [start, end) of the text of a file."""

    kind: str
    path: Path
    start: int
    end: int
    message: str
    key: str = ""


def remarks_on_buffer(state: ManuscriptState) -> Iterator[Remark]:
    """Yield what a buffer still needs."""
    uses, path = state.uses_of(state.buffer.path), state.buffer.path
    for found, _ in uses.open_places:
        yield Remark(OPEN, path, found.start, found.end, "a citation is to be chosen here")
    entries = state.bibliography.entries
    defined = {key.casefold() for key in entries} | _others(state)
    if not defined and all(state.texts.text(p) is None for p in state.project.bibliographies):
        return  # no bibliography is known
    labels = {label for p in state.project.files for label in state.uses_of(p).labels}
    for use in uses.keys:
        if use.key.casefold() not in defined and use.key not in labels:
            paper_id = state.paper_id(use.key)
            known = "" if paper_id is None else "; it is a paper of the index"
            message = f"{use.key!r} is defined in no bibliography{known}"
            yield Remark(UNDEFINED, path, use.start, use.end, message, use.key)


def unused_entries(state: ManuscriptState) -> Iterator[Remark]:
    """Yield the entries that neither the manuscript of a buffer cites, nor a text below its folder.

    A manuscript may include files by commands of its own.
    """
    root, form = state.project.files[0], state.buffer.form
    files = dict.fromkeys([*state.project.files, *texts_below(root.parent, form)])
    if any(_ALL.search(state.texts.text(path) or "") for path in files):
        return
    used = {word for path in files for word in state.uses_of(path).words}
    entries = state.bibliography.entries
    used |= {key.casefold() for entry in entries.values() for key in _named_by(entry.text)}
    for key, entry in entries.items():
        names = {key.casefold(), *(each.casefold() for each in _named_by(entry.text))}
        if used.isdisjoint(names if "ids" in entry.text else {key.casefold()}):
            message = f"{key!r} is cited nowhere"
            yield Remark(UNUSED, entry.path, entry.start, entry.end, message, key)


def studied(state: ManuscriptState, doubtful: bool, unmarked: int) -> Iterator[Remark]:
    """Yield what takes longer to find in a buffer.

    :param doubtful: whether to look for citations that do not fit their sentences.
    :param unmarked: sentences that probably lack a citation, at most.
    :raises ManuscriptError: the text cannot be read.
    """
    buffer, recommender = state.buffer, state.questions.edition.recommender
    draft = draft_of(buffer.text, buffer.form)
    if doubtful:
        yield from _doubtful(state, manuscript_of(draft))
    if not unmarked:
        return
    for found in find_unmarked(recommender, draft, buffer.text, {}, unmarked, Options(top=1)):
        if found.span is not None:
            message = f"this sentence may need a citation ({found.probability:.0%})"
            yield Remark(UNMARKED, buffer.path, *found.span, message)


def _doubtful(state: ManuscriptState, manuscript: Manuscript) -> Iterator[Remark]:
    buffer, recommender = state.buffer, state.questions.edition.recommender
    uses = read_uses(buffer.source, buffer.form).keys
    known = {use.key: paper_id for use in uses if (paper_id := state.paper_id(use.key))}
    year = year_of_manuscript(buffer.text)
    every = range(len(manuscript.places))
    for one in checked_citations(recommender, manuscript, buffer.path, known, year, every):
        if one.verdict == "doubtful":
            line = buffer.text.count
            near = [use for use in uses if use.key == one.key]
            use = min(near, key=lambda use: abs(line("\n", 0, use.start) + 1 - (one.line or 0)))
            yield Remark(DOUBTFUL, use.path, use.start, use.end, _doubt(one), one.key)


def _doubt(one: CheckedCitation) -> str:
    said = (
        f"{one.title!r} does not fit this sentence: rank {one.rank:,} of {one.papers:,}, "
        f"probability {one.probability:.2f}"
    )
    return said if one.better is None else f"{said}; {one.better.title!r} fits better"


def _others(state: ManuscriptState) -> set[str]:
    """Return keys that are defined elsewhere than as an entry of a ``.bib``, in small letters."""
    found = [key for entry in state.bibliography.entries.values() for key in _named_by(entry.text)]
    pattern = _PRINTED.get(state.buffer.form)
    for path in state.project.files if pattern else ():
        keys = pattern.findall(state.texts.text(path) or "")
        found += [first or second for first, second in keys]
    return {key.strip().casefold() for key in found}


def _named_by(entry: str) -> list[str]:
    """Return keys that an entry names: other keys of its own, and entries that it belongs to."""
    return [key.strip() for keys in _NAMING.findall(entry) for key in keys.split(",")]
