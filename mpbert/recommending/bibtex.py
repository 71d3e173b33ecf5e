"""Papers as BibTeX entries of plain ASCII where LaTeX has a command for a letter."""

import re
from functools import cache
from typing import TYPE_CHECKING

from mpbert.recommending.records import IndexedPaper

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder

_KEY_SAFE = re.compile(r"[A-Za-z0-9_.:/-]")


def bibtex_entry(paper: IndexedPaper, key: str) -> str:
    """Return the entry of a paper, of type misc, since a corpus does not say where it appeared."""
    fields = {
        "title": f"{{{escape(paper.title)}}}",  # a second pair of braces keeps capitals
        "author": " and ".join(map(_author, paper.authors)),
        "year": str(paper.year) if paper.year else "",
        "howpublished": escape(paper.venue),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])


def bibtex_key(paper_id: str, with_case: bool = False) -> str:
    """Return a key of letters, digits and ``_.:/+-`` that no other id has.

    A character that may not stand in a key becomes its number in hexadecimal between two ``+``.

    :param with_case: whether another id differs in case alone. BibTeX ignores case, so a capital X
        becomes ``++x``.
    """
    return "".join(
        f"++{character.lower()}"
        if with_case and "A" <= character <= "Z"
        else character
        if _KEY_SAFE.fullmatch(character)
        else f"+{ord(character):x}+"
        for character in paper_id
    )


def escape(text: str) -> str:
    """Return a text as LaTeX, with balanced braces."""
    return _encoder().unicode_to_latex(text)


def _author(name: str) -> str:
    """Return a name without the role of editor; with the word "and" in it, it is braced as one."""
    escaped = escape(re.sub(r",? \(?Eds?\.?\)?$", "", name))
    return f"{{{escaped}}}" if re.search(r"\band\b", name, re.IGNORECASE) else escaped


@cache
def _encoder() -> "UnicodeToLatexEncoder":
    from pylatexenc.latexencode import (
        RULE_DICT,
        UnicodeToLatexConversionRule,
        UnicodeToLatexEncoder,
    )

    # BibTeX counts the braces of \{ and \} too
    braces = {ord("{"): r"\textbraceleft", ord("}"): r"\textbraceright"}
    return UnicodeToLatexEncoder(
        conversion_rules=[UnicodeToLatexConversionRule(RULE_DICT, braces), "defaults"],
        replacement_latex_protection="braces-all",
        unknown_char_policy="keep",
        unknown_char_warning=False,
    )
