"""What readers of light markup share: Org, reStructuredText and Typst are read by patterns.

A text is marked first, so that each citation is known in the file. Then what is no word goes, and
headings, items and rows become paragraphs.
"""

import re

from mpbert.recommending.manuscripts.marks import MARK

HEADING = "\x02"  # begins a line that is a heading
_LONGEST_FORMULA = 20  # characters
BETWEEN_DOLLARS = r"\$\$(?:[^\n]|\n(?!\s*\n))*?\$\$"  # a formula ends with its paragraph
_FORMULA = re.compile(
    rf"{BETWEEN_DOLLARS}|(?<![\\\w$])\$(?=\S)((?:\\.|[^\\$\n]){{0,300}}?)(?<=\S)\$(?!\d)"
    r"|\\\(((?:(?!\\\(|\n\s*\n).)*?)\\\)|\\\[(?:(?!\\\[|\n\s*\n).)*?\\\]"
    r"|\\begin\{(equation|align|gather|multline)(\*?)\}.*?\\end\{\3\4\}",
    re.DOTALL,
)
# the heading above a list of references
REFERENCES = re.compile(
    r"(?i)\W*(?:[\d.]+\s)?(?:references|bibliography|literature|works cited|literatur\w*"
    r"|r\u00e9f\u00e9rences|bibliographie)\W*"
)
_ITEM = re.compile(r"^[ \t]*(?:(?:[-+*•]|#?\d{0,3}[.)])[ \t]+)+", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$", re.MULTILINE)
_HEADING = re.compile(rf"^{HEADING}(.*)$", re.MULTILINE)


def without_formulas(text: str) -> str:
    """Return a text with short formulas of TeX within a line, and no others."""

    def short(match: re.Match[str]) -> str:
        formula = match[1] or match[2] or ""
        return formula if len(formula) <= _LONGEST_FORMULA else " "

    return _FORMULA.sub(short, text)


def paragraphs(text: str) -> str:
    """Return a text in which items and rows stand apart; headings and rows without a mark go."""

    def heading(match: re.Match[str]) -> str:
        return f"\n\n{match[1] if MARK.search(match[1]) else ''}\n\n"

    def row(match: re.Match[str]) -> str:
        cells = [cell.strip() for cell in match[1].split("|")]
        return f"\n\n{', '.join(filter(None, cells))}\n\n" if MARK.search(match[1]) else "\n\n"

    parts = re.split(rf"^(?={HEADING})", text, flags=re.MULTILINE)
    kept = [part if MARK.search(part) else "\n\n" if _is_list(part) else part for part in parts]
    return _ITEM.sub("\n\n", _ROW.sub(row, _HEADING.sub(heading, "".join(kept))))


def _is_list(part: str) -> bool:
    """Return whether a part of a text, with its heading, is a list of references."""
    found = _HEADING.match(part)
    return found is not None and REFERENCES.fullmatch(found[1]) is not None


def taken_out(pattern: re.Pattern[str], text: str) -> tuple[str, list[str]]:
    """Return a text without what matches, and the first group of each match that has one."""
    apart = [match[1] for match in pattern.finditer(text) if match[1]]
    return pattern.sub("", text), apart
