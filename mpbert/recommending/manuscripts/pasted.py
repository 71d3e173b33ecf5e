"""A manuscript that is being written: a text without a file, its places, that of the cursor."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts import org, rst, typst
from mpbert.recommending.manuscripts.marks import PLACE, Mention, find_places, without_marks
from mpbert.recommending.manuscripts.sentences import (
    Draft,
    Manuscript,
    check_places,
    manuscript_of,
    read_text,
)
from mpbert.recommending.manuscripts.sites import PANDOC, TEX, Site
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

    :param form: one of ``FORMS``.
    :param title: and ``abstract``, where the text itself has none.
    :param cursor: before this character of ``text`` a citation belongs; within or beside a citation
        that one is meant.
    :returns: without a cursor all places that the text marks; where it marks none, that at its end.
    :raises ManuscriptError: it cannot be read, holds no word, or the cursor stands in nothing that
        is read.
    """
    inserted = cursor is not None and _citation_at(text, form, cursor) is None
    marked = text[:cursor] + PLACE + text[cursor:] if inserted else text
    draft = draft_of(marked, form, title, abstract)
    manuscript = manuscript_of(draft)
    if cursor is None:
        if len(manuscript.places) or not manuscript.sentences:
            check_places(manuscript, NAME)
            return Pasted(manuscript, draft.title)
        try:
            end = len(text.partition(r"\end{document}")[0].rstrip())
            return read_pasted(text, form, title, abstract, end)
        except ManuscriptError:  # it ends in code, or the like
            return Pasted(manuscript.at_end(), draft.title, 0)
    start, end = _citation_at(marked, form, cursor)
    number = next(
        (n for n, found in enumerate(manuscript.mentions) if _between(found, start, end)), None
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


def draft_of(text: str, form: str, title: str = "", abstract: str = "") -> Draft:
    """Return the draft of a text, all else as :func:`read_pasted`."""
    draft = _READERS[form](SourceText(Path(NAME), text))
    return dataclasses.replace(
        draft, title=draft.title or _as_draft(title), abstract=draft.abstract or _as_draft(abstract)
    )


def sites_at(text: str, form: str, cursors: Sequence[int]) -> list[Site | None]:
    """Return where keys are written for a new citation before each of some characters of a text.

    None where nothing is read, as in a formula.

    :param cursors: different ones.
    """
    marked, begins = text, {}
    for earlier, cursor in sorted(enumerate(sorted(cursors)), reverse=True):
        marked = marked[:cursor] + PLACE + marked[cursor:]
        begins[cursor] = cursor + earlier * len(PLACE)
    mentions = [
        each for each in manuscript_of(draft_of(marked, form)).mentions if not each.is_fixed
    ]
    source, sites = SourceText(Path(NAME), text), []
    for cursor, begin in ((cursor, begins[cursor]) for cursor in cursors):
        here = (each.site for each in mentions if _between(each, begin, begin + len(PLACE)))
        site = next(here, None)
        sites.append(site and dataclasses.replace(site, source=source, start=cursor, end=cursor))
    return sites


def site_of(pasted: Pasted, number: int) -> Site | None:
    """Return where keys are written for a place; None: nowhere."""
    mention = pasted.manuscript.mentions[number]
    return None if mention.is_fixed else mention.site


def _read_plain(source: SourceText) -> Draft:
    r"""Read a plain text, in which open places become ``\cite``."""
    draft = read_text(source)
    for number, mention in enumerate(draft.marks.mentions):
        site = mention.site
        if site and site.style == PANDOC and "@" not in source.text[site.start : site.end]:
            changed = dataclasses.replace(site, style=TEX)
            draft.marks.mentions[number] = Mention(mention.keys, changed)
    return draft


def _read_tex(source: SourceText) -> Draft:
    from mpbert.recommending.manuscripts.tex import read_tex

    return read_tex(source, includes=False)


def _read_markdown(source: SourceText) -> Draft:
    from mpbert.recommending.manuscripts.markdown import read_markdown

    return read_markdown(source, includes=False)


_READERS: dict[str, Callable[[SourceText], Draft]] = {
    "text": _read_plain,
    "tex": _read_tex,
    "markdown": _read_markdown,
    "org": org.read_org,
    "rst": partial(rst.read_rst, configured=False),
    "typst": partial(typst.read_typst, includes=False),
}
FORMS = tuple(_READERS)
_CITATIONS = {"org": (org.CITE, org.REF), "rst": (rst.ROLE,), "typst": (typst.CITE, typst.KEY)}


def _citation_at(text: str, form: str, cursor: int) -> tuple[int, int] | None:
    """Return [start, end) of the citation in or beside which the cursor stands."""
    found = find_places(text, in_text_keys=form == "markdown")
    spans = [(one.start, one.end) for one in found]
    spans += [match.span() for kind in _CITATIONS.get(form, ()) for match in kind.finditer(text)]
    return next(((start, end) for start, end in spans if start <= cursor <= end), None)


def _between(mention: Mention, start: int, end: int) -> bool:
    return mention.site is not None and start <= mention.site.start <= end


def _without_inserted(manuscript: Manuscript, text: str, cursor: int) -> Manuscript:
    """Return the manuscript with the sites of the text without the mark at the cursor."""
    source = SourceText(Path(NAME), text)
    moved = partial(_moved, source=source, cursor=cursor)
    return dataclasses.replace(manuscript, mentions=list(map(moved, manuscript.mentions)))


def _moved(mention: Mention, source: SourceText, cursor: int) -> Mention:
    site = mention.site
    if site is None:
        return mention
    start, end = (p if p <= cursor else max(p - len(PLACE), cursor) for p in (site.start, site.end))
    return Mention(mention.keys, dataclasses.replace(site, source=source, start=start, end=end))


def _as_draft(text: str) -> str:
    return without_marks(text)[:_MOST_ABOUT]
