"""What the first page of a paper says of it: title, year, identifiers, abstract.

Rules, each of which needs print or the file's own data to agree with it:

* the title is what the file says, where its letters are printed on the first page; else the
  largest upright letters of that page which are words, without banners of journals;
* the authors are those that the file names in full;
* the abstract is what stands behind its heading, up to the next heading;
* the year is that of the stamp of arXiv, or of a copyright, a conference or an issue above the
  abstract, and else that in which the file was made.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mpbert.corpus.formats.pdf.lines import SOFT_HYPHEN, Line, Printed
from mpbert.corpus.raw.identifiers import Identifiers, normal_title

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
    r"^(?:the )?(?:[a-z]+ ){0,2}(?:journal|proceedings|transactions|annals|letters)"
    r"(?: (?:of|on|in)\b|$)"
    r"|\bvol(?:ume|\.)|\biss[nu]|\bisbn|\barxiv\b|\bpreprint\b|\bwww\.|https?:"
    r"|^(?:research|original|review) (?:article|paper)",
    re.IGNORECASE,
)
_FOOT_MARKS = re.compile(r"[\s∗*†‡§¶⋆]+(?:\d)?$")
_STAMP = re.compile(r"arXiv:\s?(\S+?)(?:v\d+)?\s*\[[\w.-]+\]\s*\d{1,2} \w{3} ((?:19|20)\d\d)")
_DOI = re.compile(r"\bdoi\b[\s:./a-z]{0,20}(10\.\d{4,9}/\S+)", re.IGNORECASE)
_YEAR = r"((?:19|20)\d\d)(?!\d)"
_ISSUED = re.compile(
    rf"(?:©|\(c\)|copyright|published|accepted|proceedings|conference|workshop|symposium)"
    rf"[^.;\n]{{0,60}}?(?<!\d){_YEAR}",
    re.IGNORECASE,
)
_DATED = re.compile(
    rf"(?:vol\.|volume|january|february|march|april|may|june|july|august|september|october|november"
    rf"|december)[^.;\n]{{0,30}}?(?<!\d){_YEAR}",
    re.IGNORECASE,
)
_MADE = re.compile(r"D?:?((?:19|20)\d\d)\d\d")
_HEAD_LINES = 30  # that may stand above an abstract without a heading
_LEAST_LETTERS = 0.6  # part of a title's characters; that of a formula has less
_SAME = 0.03  # part by which letters of one size differ
_MOST_TITLE = 300  # characters


@dataclass(frozen=True)
class Front:
    """What the first pages say.

    :param body_page: page and line where the text behind the abstract begins.
    :param is_dated: whether the year is printed; else it is that in which the file was made.
    """

    title: str
    authors: tuple[str, ...]
    year: int | None
    is_dated: bool
    abstract: tuple[str, ...]
    identifiers: Identifiers
    body_page: tuple[int, int]


def front_of(printed: Printed) -> Front:
    """Return what the first pages of a file say; of a file without any lines, nothing."""
    first = printed.pages[0] if printed.pages else []
    text = "\n".join(line.text for line in first)
    stamp = next((found for line in first if (found := _STAMP.search(line.text))), None)
    start, abstract, end = _abstract(printed.pages[:2])
    head = first[:start] if start is not None else first
    title = title_of(printed.about.get("Title", ""), first, head)
    doi = _DOI.search(text.replace(f"{SOFT_HYPHEN}\n", ""))
    printed_year = int(stamp[2]) if stamp else _printed_year(first, head)
    made = _MADE.match(printed.about.get("CreationDate", ""))
    return Front(
        title=title,
        authors=_printed_names(printed.about.get("Author", ""), text),
        year=printed_year or (int(made[1]) if made else None),
        is_dated=printed_year is not None,
        abstract=abstract,
        identifiers=Identifiers(
            doi=doi[1] if doi else None, arxiv=stamp[1] if stamp else None, title=title
        ),
        body_page=end,
    )


def title_of(given: str, first: Sequence[Line], head: Sequence[Line]) -> str:
    """Return the title; empty where no rule finds one.

    :param given: by the file itself.
    :param first: lines of the first page, ``head`` those above the abstract.
    """
    page = _letters(" ".join(line.text for line in first))
    given = " ".join(given.split())
    if normal_title(given) and _letters(given) in page:
        return given
    upright = [line for line in head or first if line.is_upright and len(_letters(line.text)) > 2]
    sizes = sorted({line.size for line in upright}, reverse=True)
    for size in sizes[:4]:
        title = _FOOT_MARKS.sub("", _joined(_run(upright, size)))
        if _may_be_title(title):
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
    for lines, pattern in ((first, _ISSUED), (head[:_HEAD_LINES], _DATED)):
        years = [int(found[1]) for line in lines for found in pattern.finditer(line.text)]
        if years:
            return max(years)
    return None
