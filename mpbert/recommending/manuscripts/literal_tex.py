r"""TeX that is literal: ``\verb``, listings, and addresses of the web."""

from mpbert.recommending.manuscripts.macros import Frame
from mpbert.recommending.manuscripts.traced import Traced

INLINE_CODE = frozenset("verb lstinline mintinline".split())
URLS = frozenset("url path nolinkurl href".split())
LITERAL = frozenset(
    "verbatim verbatim* Verbatim lstlisting minted comment filecontents filecontents*".split()
)
# of which the parser knows no end: a $ of R within would begin a formula
CODE = frozenset("alltt Sinput Soutput knitrout Highlighting Verbatim BVerbatim".split())
LITERAL |= CODE


def literal(frame: Frame, start: int, name: str) -> list[Traced]:
    r"""Take ``\verb|...|`` or the argument of ``\url`` as it is; nothing of what minted sets.

    :param start: of the command, behind which the frame stands.
    """
    frame.star()
    if name == "mintinline":  # [options]{language}
        frame.bracket()
        frame.token()
    closing = frame.text[frame.position : frame.position + 1]
    end = frame.text.find("}" if closing == "{" else closing, frame.position + 1)
    is_literal = closing == "{" or name in INLINE_CODE
    line_end = frame.text.find("\n", frame.position)
    if not closing.strip() or not is_literal or end < 0 or 0 <= line_end < end:
        end = frame.position - 1
    frame.position = start
    copied = frame.take(end + 1)
    if name in URLS:  # whose % begins no comment
        copied = Traced(copied.text.replace("%", "_"), copied.origins)
    return [] if name == "mintinline" else [copied]
