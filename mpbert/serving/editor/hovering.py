"""A key at the cursor: what is shown of its paper, where else it is cited, where its entry is."""

import os
from collections.abc import Iterator

from lsprotocol.types import Hover, Location, MarkupContent, MarkupKind

from mpbert.serving.editor.edits import Client
from mpbert.serving.editor.manuscript_state import ManuscriptState
from mpbert.serving.editor.telling import told_paper
from mpbert.serving.editor.uses import KeyUse

_MOST_PLACES = 10


def key_at(state: ManuscriptState, cursor: int) -> KeyUse | None:
    """Return the key at a place of the buffer."""
    uses = state.uses_of(state.buffer.path)
    return next((use for use in uses.keys if use.start <= cursor <= use.end), None)


def hover_at(state: ManuscriptState, cursor: int, client: Client) -> Hover | None:
    """Return what is shown for the key at a place of the buffer; None where there is none."""
    use = key_at(state, cursor)
    if use is None:
        return None
    paper_id, entry = state.paper_id(use.key), state.bibliography.entries.get(use.key)
    if paper_id is not None:
        told = told_paper(state.questions.edition.recommender.paper(paper_id))
    elif entry is not None:
        told = f"{entry.text}\n\nNo paper of the index."
    else:
        told = f"{use.key}: neither in a bibliography nor in the index."
    others = [other for other in _uses_of(state, use.key) if other != use]
    places = [_line(state, other) for other in others[:_MOST_PLACES]]
    if len(others) > _MOST_PLACES:
        places.append(f"and {len(others) - _MOST_PLACES} more places")
    also = "Also cited at:\n" + "\n".join(places) if others else "Cited here alone."
    content = MarkupContent(MarkupKind.PlainText, f"{told}\n\n{also}")
    return Hover(content, client.lines(state.buffer.text).range(use.start, use.end))


def definition_at(state: ManuscriptState, cursor: int, client: Client) -> Location | None:
    """Return where the entry of the key at a place of the buffer stands."""
    use = key_at(state, cursor)
    entry = use and state.bibliography.entries.get(use.key)
    if not entry:
        return None
    lines = client.lines(state.texts.text(entry.path) or "")
    return Location(state.texts.uri(entry.path), lines.range(entry.start, entry.end))


def references_at(state: ManuscriptState, cursor: int, client: Client) -> list[Location]:
    """Return all places that cite the key at a place of the buffer."""
    use = key_at(state, cursor)
    found = []
    for other in _uses_of(state, use.key) if use else ():
        lines = client.lines(state.texts.text(other.path) or "")
        found.append(Location(state.texts.uri(other.path), lines.range(other.start, other.end)))
    return found


def _uses_of(state: ManuscriptState, key: str) -> Iterator[KeyUse]:
    for path in state.project.files:
        yield from (use for use in state.uses_of(path).keys if use.key == key)


def _line(state: ManuscriptState, use: KeyUse) -> str:
    text = state.texts.text(use.path) or ""
    start, end = text.rfind("\n", 0, use.start) + 1, text.find("\n", use.end)
    shown = " ".join(text[start : end if end >= 0 else None].split())
    name = os.path.relpath(use.path, state.buffer.path.parent)
    shown = shown if len(shown) <= 100 else f"{shown[:100]}…"
    return f"- {name}:{text.count(chr(10), 0, start) + 1}: {shown}"
