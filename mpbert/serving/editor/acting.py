"""Actions on a place: cite one of the best papers there, or add the entry that a key lacks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lsprotocol.types import CodeAction, CodeActionKind, Diagnostic

from mpbert.recommending.bibtex import citation_text
from mpbert.recommending.manuscripts.sites import ORG, PANDOC, RST, TEX, TYPST, Site
from mpbert.recommending.records import IndexedPaper
from mpbert.serving.editor.edits import Client
from mpbert.serving.editor.manuscript_state import ManuscriptState
from mpbert.serving.editor.remarks import OPEN, UNDEFINED, UNMARKED

_TOP = 5  # papers that are offered
_LONGEST = 60  # characters of a title
_STYLES = {"tex": TEX, "markdown": PANDOC, "org": ORG, "rst": RST, "typst": TYPST}
Span = tuple[int, int]


def actions_at(
    state: ManuscriptState, span: Span, told: Sequence[Diagnostic], client: Client
) -> list[CodeAction]:
    """Return the actions of a part of a buffer.

    :param told: diagnostics that the editor shows there.
    """
    uses, lines = state.uses_of(state.buffer.path), client.lines(state.buffer.text)
    found: list[CodeAction] = []
    for place, site in uses.open_places:
        if _touch((place.start, place.end), span) and site is not None and not site.hindrance:
            known = state.paper_ids(place.keys)
            about = [each for each in told if each.code == OPEN]
            found += _citing(state, site, (place.start, place.end), known, about, client)
    for each in told:
        if each.code == UNMARKED and not found:
            end = lines.offset(each.range.end)
            found += _citing(state, _behind(state, end), (end, end), [], [each], client)
    for use in uses.keys:
        if _touch((use.start, use.end), span) and use.key not in state.bibliography.entries:
            about = [each for each in told if each.code == UNDEFINED]
            found += _defining(state, use.key, about, client)
    return found


def _citing(
    state: ManuscriptState,
    site: Site,
    place: Span,
    known: Sequence[str],
    told: Sequence[Diagnostic],
    client: Client,
) -> Iterator[CodeAction]:
    """Yield actions that cite one of the papers that belong at a place."""
    recommender = state.questions.edition.recommender
    buffer = state.buffer
    for rank, found in enumerate(
        state.questions.answer(buffer.text, buffer.form, place, known, _TOP)
    ):
        paper = recommender.paper(found.paper_id)
        key = state.key_of.get(paper.paper_id) or state.new_entries().key(paper.paper_id)
        changes = {buffer.path: [(site.start, site.end, site.written([key]))]}
        changes |= _entry(state, paper, key, client)
        edit = client.edit(changes, state.texts)
        title = f"Cite {_named(paper)}"
        kind = CodeActionKind.QuickFix
        yield CodeAction(title, kind, list(told), is_preferred=rank == 0, edit=edit)


def _defining(
    state: ManuscriptState, key: str, told: Sequence[Diagnostic], client: Client
) -> Iterator[CodeAction]:
    """Yield the action that adds the entry of a key that is that of a paper."""
    paper_id = state.paper_id(key)
    if paper_id is None:
        return
    paper = state.questions.edition.recommender.paper(paper_id)
    if changes := _entry(state, paper, key, client):
        edit = client.edit(changes, state.texts)
        title = f"Add the entry of {_named(paper)}"
        yield CodeAction(title, CodeActionKind.QuickFix, list(told), is_preferred=True, edit=edit)


def _entry(
    state: ManuscriptState, paper: IndexedPaper, key: str, client: Client
) -> dict[Path, list[tuple[int, int, str]]]:
    """Return the change of the bibliography; none where it has the key, or is not."""
    text = state.texts.text(state.bib) if state.bib else None
    if state.bib is None or key in state.bibliography.entries:
        return {}
    if text is None and not client.creates_files:
        return {}
    entries, end = state.new_entries(), len(text or "")
    entries.add(paper.paper_id, key)
    return {state.bib: [(end, end, entries.added)]}


def _behind(state: ManuscriptState, end: int) -> Site:
    """Return the site of a new citation behind a word."""
    style = _STYLES[state.buffer.form]
    gap = "~" if style is TEX else " "
    return Site(state.buffer.source, end, end, replace(style, before=gap + style.before))


def _named(paper: IndexedPaper) -> str:
    title = paper.title if len(paper.title) <= _LONGEST else f"{paper.title[:_LONGEST]}…"
    return f"{citation_text(paper)}: {title}"


def _touch(one: Span, other: Span) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
