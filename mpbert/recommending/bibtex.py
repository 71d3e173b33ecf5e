"""Papers as BibTeX entries of plain ASCII where LaTeX has a command for a letter."""

import re
from functools import cache
from typing import TYPE_CHECKING

from mpbert.corpus.raw.names import persons
from mpbert.recommending.records import IndexedPaper

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder

# field of the venue, by the type of an entry; of others howpublished
_VENUE = {
    "article": "journal",
    **dict.fromkeys(("inproceedings", "conference", "incollection", "inbook"), "booktitle"),
    **dict.fromkeys(("phdthesis", "mastersthesis"), "school"),
    **dict.fromkeys(("techreport", "report", "thesis"), "institution"),
    **dict.fromkeys(("book", "proceedings", "collection"), "publisher"),
}
_DASHES = re.compile(r"\s*[-\u2010-\u2015]+\s*")


def bibtex_entry(paper: IndexedPaper, key: str) -> str:
    """Return the entry of a paper: of the type that its library says, or else misc."""
    known = paper.published
    venue = _VENUE.get(known.kind, "howpublished")
    fields = {
        "title": f"{{{escape(paper.title)}}}",  # a second pair of braces keeps capitals
        "author": " and ".join(_author(name) for each in paper.authors for name in persons(each)),
        "year": str(paper.year) if paper.year else "",
        venue: escape(paper.venue),
        "volume": escape(known.volume),
        "number": escape(known.number),
        "pages": escape(_DASHES.sub("--", known.pages)),
    }
    fields["publisher"] = escape(known.publisher) or fields.get("publisher", "")
    # as it is: packages for links read no commands in it
    fields["doi"] = "" if re.search(r"[{}\\]", paper.doi or "") else paper.doi or ""
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{known.kind or 'misc'}{{{key},", *lines, "}"])


def citation_text(paper: IndexedPaper) -> str:
    """Return authors and year, as a text cites a paper: "Marcu and Wong, 2002"."""
    names = [re.sub(r",? \(?Eds?\.?\)?$", "", name) for name in paper.authors]
    families = [
        name.partition(",")[0].strip() if "," in name else name.split()[-1]
        for name in names
        if name.strip()
    ]
    listed = f"{families[0]} et al." if len(families) > 2 else " and ".join(families)
    return ", ".join(filter(None, [listed or paper.title, str(paper.year or "")]))


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
