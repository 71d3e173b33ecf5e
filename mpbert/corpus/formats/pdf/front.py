"""What the first page of a paper says of it: title, year, identifiers, abstract.

Rules, each of which needs print or the file's own data to agree with it:

* the title is what the file says, where its letters are printed on the first page; else the
  largest upright letters of that page which are words, no paragraph, and no banner of a journal;
* the authors are those that the file names in full, or full names in the lines below the title;
* the abstract is what stands behind its heading, up to the next heading;
* the year is that of the stamp of arXiv, or of a copyright, a conference or an issue above the
  abstract.

The name of the file helps: its title and its year count where they are printed, and fill what the
page does not say. When the file was made says nothing of when the paper was published.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mpbert.corpus.formats.pdf.file_name import Named
from mpbert.corpus.formats.pdf.lines import SOFT_HYPHEN, Line, Printed
from mpbert.corpus.raw.identifiers import Identifiers, normal_title
from mpbert.corpus.raw.names import is_full_name

# one letter apart from the next, as Elsevier prints it, or not
_ABSTRACT = re.compile(
    r"\W*(?:a ?b ?s ?t ?r ?a ?c ?t|s ?u ?m ?m ?a ?r ?y|zusammenfassung|r[ée]sum[ée]|resumen)"
    r"(?:\s*[.:—–-]+\s*|\s+(?=[A-Z])|\W*$)",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"\W*(?:(?:\d{1,2}|[IVX]{1,4})?[.\s]*introduction\b\W*$|1[.\s]+[A-Z]|key ?-?words?\b"
    r"|index terms|categories and subject|ccs concepts|general terms|acm reference|pacs\b|jel\b"
    r"|msc\b|(?:©|\(c\)|copyright)|permission to (?:make|copy)|contents\W*$"
    r"|\d{4} (?:mathematics|elsevier))",
    re.IGNORECASE,
)
_LONGEST_ABSTRACT = 4000  # characters; longer ones have no heading behind them
_CUT_ABSTRACT = 1500
_BANNER = re.compile(
    r"^(?:the )?(?:[a-z]+ ){0,2}(?:journal|proceedings|transactions|annals)(?: (?:of|on|in)\b|$)"
    r"|\bvol(?:ume|\.)|\biss[nu]|\bisbn|\barxiv\b|\bpreprint\b|\bwww\.|https?:"
    r"|^(?:research|original|review) (?:article|paper)",
    re.IGNORECASE,
)
_FOOT_MARKS = re.compile(r"[\s∗*†‡§¶⋆]+(?:\d)?$")
_STAMP = re.compile(r"arXiv:\s?(\S+?)(?:v\d+)?\s*\[[\w.-]+\]\s*\d{1,2} \w{3} ((?:19|20)\d\d)")
_DOI = re.compile(r"\bdoi\b[\s:./a-z]{0,20}(10\.\d{4,9}/\S+)", re.IGNORECASE)
_YEAR = r"((?:19|20)\d\d)(?!\d)"
_ISSUED = re.compile(
    rf"(?:©|\(c\)|^c (?=\d)|copyright|published|accepted|proceedings|conference|workshop|symposium)"
    rf"[^.;\n]{{0,60}}?(?<!\d){_YEAR}",
    re.IGNORECASE,
)
_DATED = re.compile(
    rf"(?:vol\.|volume|january|february|march|april|may|june|july|august|september|october|november"
    rf"|december)[^.;\n]{{0,30}}?(?<!\d){_YEAR}",
    re.IGNORECASE,
)
_DAY = re.compile(r"(?:\d{1,2}\.? )?[A-Z][a-z]{2,8}\.?(?: \d{1,2},?)? (?:19|20)\d\d")
_HELD = re.compile(rf"\b[A-Z]{{3,}}(?:[-/][A-Z]+)*(?: |['’]){_YEAR}")  # a conference
_MARKS = re.compile(r"[\s∗*†‡§¶⋆\d]+(?=,|;|$|\s)|(?<=[a-z])[\d∗*†‡§¶⋆]+")  # behind an author
_NAMES = re.compile(r"\s*(?:[,;·•&]|\band\b)\s*")
_UNNAMED = Named()
_AUTHOR_LINES = 4  # below a title
_HEAD_LINES = 30  # that may stand above an abstract without a heading
_LEAST_LETTERS = 0.6  # part of a title's characters; that of a formula has less
_SAME = 0.03  # part by which letters of one size differ
_MOST_TITLE = 300  # characters
_MOST_LINES = 3  # of a title in letters of the size of the text


@dataclass(frozen=True)
class Front:
    """What the first pages say.

    :param body_page: page and line where the text behind the abstract begins.
    :param is_dated: whether the year is printed; else the name of the file says it.
    """

    title: str
    authors: tuple[str, ...]
    year: int | None
    is_dated: bool
    abstract: tuple[str, ...]
    identifiers: Identifiers
    body_page: tuple[int, int]


def front_of(printed: Printed, name: Named = _UNNAMED) -> Front:
    """Return what the first pages of a file say; of a file without any lines, what its name says.

    :param name: what the name of the file says.
    """
    first = printed.pages[0] if printed.pages else []
    text = "\n".join(line.text for line in first)
    stamp = next((found for line in first if (found := _STAMP.search(line.text))), None)
    start, abstract, end = _abstract(printed.pages[:2])
    head = first[:start] if start is not None else first
    given = printed.about.get("Title", "")
    title = title_of(given, first, head, name.title)
    doi = _DOI.search(text.replace(f"{SOFT_HYPHEN}\n", ""))
    is_printed = name.year is not None and re.search(rf"(?<!\d){name.year}(?!\d)", text)
    year = name.year if is_printed else int(stamp[2]) if stamp else _printed_year(first, head)
    if name.year and not stamp and str(year) in printed.about.get("CreationDate", "")[:6]:
        year = name.year if is_printed else None  # the date of today, which LaTeX prints
    authors = _printed_names(printed.about.get("Author", ""), text)
    return Front(
        title=title,
        authors=authors or names_below(title, head) or name.authors,
        year=year or name.year,
        is_dated=year is not None,
        abstract=abstract,
        identifiers=Identifiers(
            doi=doi[1] if doi else None, arxiv=stamp[1] if stamp else None, title=title
        ),
        body_page=end,
    )


def title_of(given: str, first: Sequence[Line], head: Sequence[Line], named: str = "") -> str:
    """Return the title; without a rule that finds one, that of the name.

    :param given: by the file itself, ``named`` by its name, where a title may be cut.
    :param first: lines of the first page, ``head`` those above the abstract.
    """
    page = _letters(" ".join(line.text for line in first))
    given = " ".join(given.split())
    if normal_title(given) and _letters(given) in page:
        return given
    found = _largest(first, head)
    if named and _letters(named) in page:
        return found if _letters(found).startswith(_letters(named)) else named
    return found or named


def _largest(first: Sequence[Line], head: Sequence[Line]) -> str:
    """Return the words in the largest letters; empty where no rule finds a title."""
    upright = [
        line
        for line in head or first
        if line.is_upright and len(_letters(line.text)) > 2 and not _is_of_authors(line.text)
    ]
    body = _body_size(first)
    for size in sorted({line.size for line in upright}, reverse=True)[:4]:
        lines = _run(upright, size)
        title = _FOOT_MARKS.sub("", _joined(lines))
        is_apart = size > (1 + _SAME) * body or len(lines) <= _MOST_LINES
        if is_apart and _may_be_title(title):
            return title
    return ""


def names_in(text: str) -> tuple[str, ...]:
    """Return names as a file gives them, in the order of speech; none unless each has two parts."""
    parts = [part.strip() for part in re.split(r";|\band\b|&", text) if part.strip()]
    if len(parts) == 1 and "," in text:
        pieces = [piece.strip() for piece in text.split(",") if piece.strip()]
        is_one = len(pieces) == 2 and len(pieces[0].split()) == 1  # Lopez, Patrice
        parts = [text] if is_one else pieces
    names = [" ".join(reversed(part.split(",", 1))).strip() for part in parts]
    names = [" ".join(name.split()) for name in names]
    return tuple(names) if all(" " in name and "@" not in name for name in names) else ()


def names_below(title: str, head: Sequence[Line]) -> tuple[str, ...]:
    """Return the authors in the lines below a title; none where a line there is of anything else.

    :param head: lines above the abstract.
    """
    whole, found = _letters(title), []
    lines = [_letters(line.text) for line in head]
    ends = [n for n, line in enumerate(lines) if len(line) > 1 and whole.endswith(line)]
    for line in head[ends[0] + 1 :][:_AUTHOR_LINES] if ends else ():
        if not (names := _names_of_line(line.text)):
            break
        found += names
    return tuple(found)


def _names_of_line(text: str) -> list[str]:
    """Return the full names that a line consists of; none where it has anything else."""
    names = [name for name in _NAMES.split(_MARKS.sub("", text).strip(" ,;")) if name]
    return names if all(map(is_full_name, names)) else []


def _is_of_authors(text: str) -> bool:
    """Whether a line is a date, or a list of authors of whom one has an initial."""
    names = _names_of_line(text)
    return bool(_DAY.fullmatch(text.strip()) or (names and re.search(r"\b[A-Z]\.", text)))


def _body_size(lines: Sequence[Line]) -> float:
    """Return the size in which most letters of a page are printed."""
    letters: Counter[float] = Counter()
    for line in lines:
        letters[line.size] += len(_letters(line.text))
    return letters.most_common(1)[0][0] if letters else 0.0


def _may_be_title(text: str) -> bool:
    letters = sum(c.isalpha() or c.isspace() for c in text)
    is_prose = _LEAST_LETTERS * len(text) <= letters and len(text) <= _MOST_TITLE
    return is_prose and normal_title(text) is not None and not _BANNER.search(text)


def _printed_names(given: str, text: str) -> tuple[str, ...]:
    """Return the names that a file gives, if the last part of each is printed on its first page."""
    names, page = names_in(given), _letters(text)
    return names if all(_letters(name.split()[-1]) in page for name in names) else ()


def _run(lines: Sequence[Line], size: float) -> list[str]:
    """Return the first neighbouring lines of this size."""
    found: list[str] = []
    for line in lines:
        if abs(line.size - size) <= _SAME * size:
            found.append(line.text)
        elif found:
            break
    return found


def _joined(lines: Sequence[str]) -> str:
    return " ".join(lines).replace(f"{SOFT_HYPHEN} ", "").replace(SOFT_HYPHEN, "-").strip()


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _abstract(
    pages: Sequence[Sequence[Line]],
) -> tuple[int | None, tuple[str, ...], tuple[int, int]]:
    """Return the line of its heading on the first page, its lines, and where the text goes on."""
    lines = [(p, n, line.text) for p, page in enumerate(pages) for n, line in enumerate(page)]
    for start, (page, place, text) in enumerate(lines):
        heading = _ABSTRACT.match(text)
        if heading is None:
            continue
        found, end, length = [text[heading.end() :]], start + 1, 0
        while end < len(lines) and length <= _LONGEST_ABSTRACT:
            if length and _NEXT.match(lines[end][2]):
                break
            found.append(lines[end][2])
            length += len(found[-1])
            end += 1
        if length > _LONGEST_ABSTRACT:  # no heading ends it: its beginning
            while len(found) > 1 and sum(map(len, found)) > _CUT_ABSTRACT:
                found.pop()
            end = start + len(found)
        behind = lines[end][:2] if end < len(lines) else (len(pages), 0)
        return (None if page else place), tuple(filter(None, found)), behind
    return None, (), (0, 0)


def _printed_year(first: Sequence[Line], head: Sequence[Line]) -> int | None:
    """Return the year of publication: of any place on the page, or of a date above the abstract."""
    for lines, pattern in ((first, _ISSUED), (head[:_HEAD_LINES], _DATED), (first, _HELD)):
        years = [int(found[1]) for line in lines for found in pattern.finditer(line.text)]
        if years:
            return max(years)
    return None
