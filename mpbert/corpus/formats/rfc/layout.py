"""The layout of RFCs: from pages of fixed-width lines to sections.

Old and new RFCs differ in indents, headings and page headers.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from mpbert.corpus.formats.rfc.prose import ART, BULLET, indent_of

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_FOOTER = re.compile(r"(?i)\[page [\divxlc]+\]")
_PAGE_HEADER = re.compile(rf"(?:RFC[ -]*\d+\b|{_MONTH} +(?:19|20)\d\d)")
_TOC_LINE = re.compile(r"\.(?: ?\.){3,} *\d*\s*$|^\s*(?:[\dA-Z]\.)\S* .*\s{3,}\d+$")
_NUMBERED_HEADING = re.compile(r"(?:\d{1,2}(?:\.\d+)*\.?|[A-Z](?:\.\d+)*\.)(?: - | {1,3})(?=[A-Z])")
_APPENDIX_HEADING = re.compile(r"(?i)(?:Appendix|Annex)\b")
_HEADING_NUMBER = re.compile(
    r"^(?:(?:Appendix|APPENDIX|Annex)\s+(?:[A-Z\d](?:\.\d+)*)?[.:]?|\d+(?:\.\d+)*\.?|[A-Z](?:\.\d+)*\.)"
    r"(?:\s*[-:–]\s+|\s+|$)"
)
_ALWAYS_HEADING = re.compile(
    r"(?i)(?:[\d.]+ +-? *)?(?:(?:normative|informative|informational) )?references$"
    r"|(?:[\d.]+ +)?bibliography$"
)
_LONGEST_LINE = 1000  # characters; RFCs have 72


@dataclass
class RfcSection:
    """A heading without its number, and the lines below it, blank ones included."""

    heading: str
    lines: list[str] = field(default_factory=list)


def split_sections(text: str, counts: Counter[str]) -> list[RfcSection]:
    """Return the sections of an RFC in order; the first holds the title page and has no heading.

    :param counts: receives the numbers of page headers, footers and contents lines removed.
    """
    lines = _without_page_breaks(text, counts)
    short = [line for line in lines if len(line) <= _LONGEST_LINE]
    if len(short) < len(lines):
        counts["lines_dropped_as_too_long"] += len(lines) - len(short)
        lines = short
    kept = [line for line in lines if not _TOC_LINE.search(line)]
    counts["contents_lines_dropped"] += len(lines) - len(kept)
    body_indent = _body_indent(kept)
    sections = [RfcSection("")]
    for place, line in enumerate(kept):
        before = kept[place - 1].strip() if place else ""
        after = kept[place + 1].strip() if place + 1 < len(kept) else ""
        if _is_heading(line, before, after, body_indent):
            sections.append(RfcSection(_HEADING_NUMBER.sub("", line.strip())))
        elif (
            before and not sections[-1].lines and body_indent and line.strip() and not after
        ):  # a heading's second line
            sections[-1].heading += " " + line.strip()
        else:
            sections[-1].lines.append(line)
    return sections


def _without_page_breaks(text: str, counts: Counter[str]) -> list[str]:
    lines: list[str] = []
    pages = text.replace("\r", "").split("\f")
    for number, page in enumerate(pages):
        page_lines = [line.rstrip() for line in page.expandtabs().split("\n")]
        content = [line for line in page_lines if not _FOOTER.search(line)]
        counts["page_footers_dropped"] += len(page_lines) - len(content)
        if number:
            content = _without_header(content, counts)
        content = _strip_blank(content)
        if lines and content and not _continues(lines[-1], content[0]):
            lines.append("")
        lines += content
    return lines


def _without_header(lines: list[str], counts: Counter[str]) -> list[str]:
    lines = _strip_blank(lines)
    height = next((i for i, line in enumerate(lines) if not line), len(lines))
    if height <= 3 and any(_PAGE_HEADER.search(line) for line in lines[:height]):
        counts["page_headers_dropped"] += height
        return lines[height:]
    if lines and re.match(r"RFC \d+ .*\d{4}$", lines[0]):
        counts["page_headers_dropped"] += 1
        return lines[1:]
    return lines


def _strip_blank(lines: list[str]) -> list[str]:
    filled = [i for i, line in enumerate(lines) if line]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _continues(last: str, first: str) -> bool:
    """Whether a paragraph runs over a page break: no full stop before it, same indent after it."""
    if not last or last.rstrip("\"')").endswith((".", ":", "!", "?")):
        return False
    first_text = first.strip()
    if BULLET.match(first_text) or ART.search(last) or ART.search(first):
        return False
    indent = indent_of(first)
    return indent_of(last) == indent or (
        bool(BULLET.match(last.strip())) and indent > indent_of(last)
    )


def _body_indent(lines: list[str]) -> int:
    """Indent of running text: the commonest among lines that are long and begin with a letter."""
    indents = Counter(
        indent_of(line) for line in lines if len(line) > 50 and line.lstrip()[0].isalpha()
    )
    return indents.most_common(1)[0][0] if indents else 0


def _is_heading(line: str, before: str, after: str, body_indent: int) -> bool:
    text = line.strip()
    if not text or before or len(text) > 90:
        return False
    if _ALWAYS_HEADING.match(text):
        return True
    if indent_of(line) or text.startswith(("[", "+", "|", "<", "--")) or "    " in text:
        return False
    if _NUMBERED_HEADING.match(text) or _APPENDIX_HEADING.match(text):
        return not after or body_indent > 0 or set(after) <= set("-=_")
    if not text[0].isalpha() or text.endswith((".", ",", ";")):
        return False
    return body_indent > 0 or (len(text) < 50 and (not after or set(after) <= set("-=_")))
