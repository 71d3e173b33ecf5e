"""Types of publications in other formats, by the name that BibTeX has for them."""

_KINDS = {
    "article": "article-journal article-magazine article-newspaper journal-article journal "
    "JOUR EJOUR MGZN NEWS",
    "inproceedings": "paper-conference proceedings-article conference CONF CPAPER",
    "incollection": "chapter book-chapter book-section book-part reference-entry CHAP ECHAP",
    "book": "book monograph edited-book reference-book BOOK EBOOK EDBOOK",
    "proceedings": "proceedings",
    "phdthesis": "thesis dissertation THES",
    "techreport": "report RPRT",
    "misc": "posted-content preprint repository manuscript webpage post dataset software",
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}


def kind_of(name: str) -> str:
    """Return the type of an entry of BibTeX for a type of CSL, RIS, Crossref or OpenAlex.

    Empty for one that is not known.
    """
    return _KIND_OF.get(name, "")


def page_range(first: str, last: str) -> str:
    """Return pages from the first to the last."""
    return f"{first}-{last}" if first and last and first != last else first or last
