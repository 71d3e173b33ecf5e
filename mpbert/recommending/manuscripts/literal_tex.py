r"""TeX that is literal: ``\verb``, listings, and addresses of the web; and drawings."""

import re

from mpbert.recommending.manuscripts.macros import Frame
from mpbert.recommending.manuscripts.marks import masked
from mpbert.recommending.manuscripts.traced import Traced

INLINE_CODE = frozenset("verb lstinline mintinline".split())
URLS = frozenset("url path nolinkurl href".split())
LITERAL = frozenset(
    "verbatim verbatim* Verbatim lstlisting minted comment filecontents filecontents*".split()
)
# of which the parser knows no end: a $ of R within would begin a formula
CODE = frozenset("alltt Sinput Soutput knitrout Highlighting Verbatim BVerbatim".split())
LITERAL |= CODE
DRAWINGS = ("tikzpicture pgfpicture circuitikz tikzcd forest pspicture pspicture* picture").split()
_NAMES = "|".join(map(re.escape, (*LITERAL, *DRAWINGS)))
_PART = re.compile(
    rf"\\(begin|end)\{{({_NAMES})\}}|\\verb\*?([^\w\s*])[^\n]*?\3|\\.|%[^\n]*", re.DOTALL
)


def blanked(text: str) -> str:
    """Return TeX of the same length, with blanks for what stands in listings and drawings.

    A brace or a ``$`` there would shift the groups and formulas behind it.
    """
    spans: list[tuple[int, int]] = []
    opened: list[tuple[str, int]] = []  # drawings, which may stand in one another
    endless: set[str] = set()
    place = 0
    while match := _PART.search(text, place):
        kind, name, place = match[1], match[2], match.end()
        if kind == "begin" and name in DRAWINGS:
            opened.append((name, place))
        elif kind == "begin" and name not in endless:
            end = text.find(f"\\end{{{name}}}", place)
            if end < 0:
                endless.add(name)
            else:
                spans.append((place, end))
                place = end
        elif kind == "end" and opened and opened[-1][0] == name:
            start = opened.pop()[1]
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, match.start()))
    return masked(text, spans)


def literal(frame: Frame, start: int, name: str) -> list[Traced]:
    r"""Take ``\verb|...|`` or the argument of ``\url`` as it is; nothing of what minted sets.

    :param start: of the command, behind which the frame stands.
    """
    frame.star()
    if name in ("lstinline", "mintinline"):  # [options], and {language}
        frame.bracket()
        start = frame.position  # what stands before is no text
    if name == "mintinline":
        frame.token()
    closing = frame.text[frame.position : frame.position + 1]
    end = frame.text.find("}" if closing == "{" else closing, frame.position + 1)
    is_literal = closing == "{" or name in INLINE_CODE
    line_end = frame.text.find("\n", frame.position)
    if not closing.strip() or not is_literal or end < 0 or 0 <= line_end < end:
        end = frame.position - 1
    frame.position = start
    copied = frame.take(end + 1)
    if name != "verb":  # which the parser knows; elsewhere a % would begin a comment
        special = "$%" if closing == "{" else "$%{}\\"
        text = copied.text
        copied = Traced(text[:1] + re.sub(f"[{re.escape(special)}]", "_", text[1:]), copied.origins)
    return [] if name == "mintinline" else [copied]
