"""Papers as users have them -> the sentences that an encoder reads."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mpbert.corpus.records import Paper
from mpbert.corpus.text import clean_characters
from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.sentences import manuscript_of, read_text
from mpbert.recommending.manuscripts.source_text import SourceText

AnyPaper = Paper | Mapping[str, Any] | str
"""A paper of a corpus; a mapping with title, abstract, body and paper_id; or title and abstract."""


def paper_texts(paper: AnyPaper, number: int) -> tuple[str, list[str], int]:
    """Return id, sentences with the title first, and how many of these are title and abstract.

    :param number: its place among the papers, for the messages.
    """
    if isinstance(paper, Paper):
        return paper.paper_id, [paper.title, *paper.sentences], paper.num_abstract + 1
    if not isinstance(paper, (Mapping, str)):
        raise ManuscriptError(
            f"paper {number} is a {type(paper).__name__}; expected a mapping, a text or a paper"
        )
    paper = {"abstract": paper} if isinstance(paper, str) else paper
    title = clean_characters(_text(paper, "title"))
    abstract, body = (_sentences(_text(paper, key)) for key in ("abstract", "body"))
    front = [title, *abstract] if any(map(str.isalpha, title)) else abstract
    if not front and not body:
        raise ManuscriptError(f"paper {number} holds no word; expected a title, abstract or body")
    return _text(paper, "paper_id") or " ".join(front[:1]), [*front, *body], len(front)


def _text(paper: Mapping[str, Any], key: str) -> str:
    """Return a text of a paper; empty where it has none, of which pandas makes a number."""
    found = paper.get(key)
    return found if isinstance(found, str) else ""


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text without what looks like a citation marker."""
    return manuscript_of(read_text(SourceText(Path("a paper"), text))).sentences
