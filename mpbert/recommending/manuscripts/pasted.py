"""A manuscript that is being written: a text without a file, its places, that of the cursor."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.marks import PLACE, Mention, find_places, without_marks
from mpbert.recommending.manuscripts.sentences import (
    Draft,
    Manuscript,
    check_places,
    manuscript_of,
    read_text,
)
from mpbert.recommending.manuscripts.sites import Site
from mpbert.recommending.manuscripts.source_text import SourceText

NAME = "the text"
_MOST_ABOUT = 10_000  # characters read of a title or an abstract


@dataclass(frozen=True)
class Pasted:
    """A manuscript without a file.

    :param title: that it names itself; empty if none.
    :param at_cursor: number of the place at the cursor; None: no cursor was given.
    """

    manuscript: Manuscript
    title: str
    at_cursor: int | None = None


def read_pasted(
    text: str, form: str, title: str = "", abstract: str = "", cursor: int | None = None
) -> Pasted:
    r"""Return the manuscript of a text; no file is read.

    :param form: ``text``, ``tex`` or ``markdown``.
    :param title: and ``abstract``, where the text itself has none.
    :param cursor: before this character of ``text`` a citation belongs; within or beside a citation
        that one is meant.
    :raises ManuscriptError: it cannot be read, marks no place, or the cursor stands in nothing that
        is read.
    """
    inserted = cursor is not None and _citation_at(text, form, cursor) is None
    marked = text[:cursor] + PLACE + text[cursor:] if inserted else text
    draft = _READERS[form](SourceText(Path(NAME), marked))
    draft = dataclasses.replace(
        draft, title=draft.title or _as_draft(title), abstract=draft.abstract or _as_draft(abstract)
    )
    manuscript = manuscript_of(draft)
    if cursor is None:
        check_places(manuscript, NAME)
        return Pasted(manuscript, draft.title)
    start, end = _citation_at(marked, form, cursor)
    number = next(
        (n for n, place in enumerate(manuscript.mentions) if _between(place, start, end)), None
    )
    if number is None:
        raise ManuscriptError(
            "the cursor stands in no text that is read, but in a command, a comment, a formula, "
            "code or a heading; put it behind a word of a sentence"
        )
    if not manuscript.sentences:
        raise ManuscriptError(f"{NAME} holds no word; expected the sentences around the cursor")
    if inserted:
        manuscript = _without_inserted(manuscript, text, cursor)
    return Pasted(manuscript, draft.title, number)


def site_at(
    pasted: Pasted, number: int, cursor: int | None = None, text: str = "", form: str = "text"
) -> Site | None:
    """Return where keys are written for a place: its open citation, else its first; None: nowhere.

    :param cursor: of the place at it, the citation there is meant; ``text`` and ``form`` are those
        that were read.
    """
    mentions = pasted.manuscript.mentions[number]
    writable = [mention for mention in mentions if not mention.is_fixed]
    if cursor is not None:
        start, end = _citation_at(text, form, cursor) or (cursor, cursor)
        writable = [mention for mention in writable if _between([mention], start, end)]
    open_ones = [mention for mention in writable if not mention.keys]
    return next((mention.site for mention in [*open_ones, *writable]), None)


def _read_plain(source: SourceText) -> Draft:
    r"""Read a plain text, in which open places become ``\cite``."""
    draft = read_text(source)
    for number, mention in enumerate(draft.marks.mentions):
        site = mention.site
        if site and site.form == "group" and "@" not in source.text[site.start : site.end]:
            changed = dataclasses.replace(site, form="cite")
            draft.marks.mentions[number] = Mention(mention.keys, changed)
    return draft


def _read_tex(source: SourceText) -> Draft:
    from mpbert.recommending.manuscripts.tex import read_tex

    return read_tex(source, includes=False)


def _read_markdown(source: SourceText) -> Draft:
    from mpbert.recommending.manuscripts.markdown import read_markdown

    return read_markdown(source)


_READERS: dict[str, Callable[[SourceText], Draft]] = {
    "text": _read_plain,
    "tex": _read_tex,
    "markdown": _read_markdown,
}


def _citation_at(text: str, form: str, cursor: int) -> tuple[int, int] | None:
    """Return [start, end) of the citation in or beside which the cursor stands."""
    spans = find_places(text, in_text_keys=form == "markdown")
    return next(((start, end) for start, end, _ in spans if start <= cursor <= end), None)


def _between(mentions: Sequence[Mention], start: int, end: int) -> bool:
    return any(m.site is not None and start <= m.site.start <= end for m in mentions)


def _without_inserted(manuscript: Manuscript, text: str, cursor: int) -> Manuscript:
    """Return the manuscript with the sites of the text without the mark at the cursor."""
    source = SourceText(Path(NAME), text)
    moved = partial(_moved, source=source, cursor=cursor)
    mentions = [tuple(map(moved, place)) for place in manuscript.mentions]
    return dataclasses.replace(manuscript, mentions=mentions)


def _moved(mention: Mention, source: SourceText, cursor: int) -> Mention:
    site = mention.site
    if site is None:
        return mention
    start, end = (p if p <= cursor else max(p - len(PLACE), cursor) for p in (site.start, site.end))
    return Mention(mention.keys, dataclasses.replace(site, source=source, start=start, end=end))


def _as_draft(text: str) -> str:
    return without_marks(text)[:_MOST_ABOUT]
