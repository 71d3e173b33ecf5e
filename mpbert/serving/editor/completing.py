"""Completion of a citation: papers that belong at the place, best first, as items of the editor."""

from collections.abc import Iterator

from lsprotocol.types import (
    Command,
    CompletionItem,
    CompletionItemKind,
    CompletionItemLabelDetails,
    CompletionList,
    MarkupContent,
    MarkupKind,
    TextEdit,
)

from mpbert.recommending.answers import as_percent
from mpbert.recommending.bibtex import citation_text
from mpbert.recommending.entries import NewEntries
from mpbert.recommending.records import IndexedPaper, Recommendation
from mpbert.serving.editor.at_cursor import Typing
from mpbert.serving.editor.manuscript_state import ManuscriptState
from mpbert.serving.editor.positions import Lines
from mpbert.serving.editor.telling import told_paper

ADD_ENTRY = "mpbert.addEntry"
_TOP = 12  # papers of a list
_LONGEST = 80  # characters of a title


def completion_list(state: ManuscriptState, typing: Typing, lines: Lines) -> CompletionList:
    """Return the papers for a citation that is being typed.

    The list is never complete: each key that is typed asks again, among all papers.
    """
    entries = state.new_entries()
    items = [
        _item(state, entries, typing, lines, rank, *found)
        for rank, found in enumerate(_papers(state, typing))
    ]
    return CompletionList(is_incomplete=True, items=items)


def _papers(
    state: ManuscriptState, typing: Typing
) -> Iterator[tuple[IndexedPaper, list[str], float | None]]:
    """Yield papers, what speaks for each, and the probability that it belongs there.

    Ranked ones come first, then others that what was typed may mean.
    """
    recommender = state.questions.edition.recommender
    cited, span = state.paper_ids(typing.keys), (typing.start, typing.end)
    mask = state.questions.search.mask(typing.typed)
    answer = state.questions.answer(state.buffer.text, state.buffer.form, span, cited, _TOP, mask)
    found: list[Recommendation] = list(answer)
    for paper in found:
        reasons = [*filter(None, [answer.doubt]), *paper.reasons]
        yield recommender.paper(paper.paper_id), reasons, paper.probability
    if mask.all():
        return
    shown = {paper.paper_id for paper in found} | set(cited)
    for row in mask.nonzero()[0].tolist():
        if len(shown) >= _TOP:
            return
        paper = recommender.paper_at(row)
        if paper.paper_id not in shown:
            shown.add(paper.paper_id)
            yield paper, [], None


def _item(
    state: ManuscriptState,
    entries: NewEntries,
    typing: Typing,
    lines: Lines,
    rank: int,
    paper: IndexedPaper,
    reasons: list[str],
    probability: float | None,
) -> CompletionItem:
    known = state.key_of.get(paper.paper_id)
    key = known or entries.key(paper.paper_id)
    start, written = typing.written(key)
    said = citation_text(paper)
    if probability is not None:
        said = f"{said} · {as_percent(probability)}"
    title = paper.title if len(paper.title) <= _LONGEST else f"{paper.title[:_LONGEST]}…"
    arguments = [state.buffer.uri, paper.paper_id, key]
    return CompletionItem(
        label=title,
        label_details=CompletionItemLabelDetails(description=said),
        kind=CompletionItemKind.Reference,
        detail=f"{key} · {said}",
        documentation=MarkupContent(MarkupKind.PlainText, told_paper(paper, reasons)),
        preselect=rank == 0,
        sort_text=f"{rank:04}",
        filter_text=f"{typing.typed} {key} {' '.join(paper.authors)} {paper.title} {paper.year}",
        text_edit=TextEdit(lines.range(start, typing.key_end), written),
        command=None if known else Command("Add the entry", ADD_ENTRY, arguments=arguments),
        data=paper.paper_id,
    )
