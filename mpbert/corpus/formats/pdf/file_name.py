"""What the name of a PDF file says of its paper: author, year and title, as managers write them.

Zotero and Mendeley write ``Marcu et al. - 2000 - Title.pdf``. An id of arXiv or of the ACL
Anthology tells the year, too. Any other number in a name, such as a date, is no year.
"""

import re
from dataclasses import dataclass

from mpbert.corpus.raw.names import persons
from mpbert.corpus.raw.values import year_of_id

_YEAR = r"(?P<year>(?:1[89]|20)\d\d)[a-z]?"
_AUTHOR, _TITLE = r"(?P<author>[^\d()\[\]]*?[^\W\d][^\d()\[\]]*?)", r"(?P<title>[^\W\d].+)"
_FORMS = [
    re.compile(form)
    for form in (
        rf"{_AUTHOR}\s+[-–—]\s+{_YEAR}\s+[-–—]\s+{_TITLE}",
        rf"{_YEAR}\s*[-–—]\s+{_AUTHOR}\s+[-–—]\s+{_TITLE}",
        rf"[(\[]?{_AUTHOR},?\s+[(\[]?{_YEAR}[)\]]?[\s.,:–—-]+{_TITLE}",
    )
]
_KEY = re.compile(rf"(?P<author>[^\W\d_]{{3,}}){_YEAR}(?P<title>)[a-z]*", re.IGNORECASE)
_OTHERS = re.compile(r"\s+et\s+al\b.*$", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*[,;&]\s*|\s+and\s+", re.IGNORECASE)
_MOST_WORDS = 4  # of a name


@dataclass(frozen=True)
class Named:
    """What a name says; empty or None where it does not.

    :param authors: mostly last names alone; behind "et al." the last one is ``others``, as BibTeX
        writes it.
    """

    authors: tuple[str, ...] = ()
    year: int | None = None
    title: str = ""


def named(name: str) -> Named:
    """Return what the name of a file says, without its suffix."""
    if year := year_of_id(name):
        return Named(year=year)
    text = name if " " in name.strip() else name.replace("_", " ")
    text = " ".join(text.split())
    found = next(filter(None, (form.fullmatch(text) for form in _FORMS)), None)
    if found is None:
        key = _KEY.fullmatch(text)
        return Named(year=int(key["year"])) if key else Named()
    listed = _BETWEEN.split(_OTHERS.sub("", found["author"]).strip(" -_"))
    authors = tuple(person for each in listed for person in persons(each))
    if any(len(author.split()) > _MOST_WORDS for author in authors):
        authors = ()
    if authors and _OTHERS.search(found["author"]):
        authors += ("others",)
    return Named(authors, int(found["year"]), found["title"].replace("_", " ").strip())
