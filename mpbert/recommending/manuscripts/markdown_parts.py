r"""Parts of Markdown, of pandoc, Quarto and bookdown, that are no words of a sentence.

They are found by patterns, before the text is parsed: what is literal, such as code and formulas,
holds no citation; attributes, tags and fences of a page go, and notes and captions stand apart.
"""

import re
from collections.abc import Iterator

from mpbert.recommending.manuscripts.light import BETWEEN_DOLLARS
from mpbert.recommending.manuscripts.marks import MARK, outermost
from mpbert.recommending.manuscripts.raw_tex import parts_apart
from mpbert.recommending.manuscripts.sites import SIMPLE_KEY

# what holds no citation, the first that begins counts
_LITERAL = re.compile(
    rf"""
      ^[ \t>]*(?P<fence>`{{3,}}|~{{3,}})[^\n]*\n(?:.*?^[ \t>]*(?P=fence)[`~]*[ \t]*$|.*\Z)
    | (?<![\w@])@(?P<key>\{{[^{{}}\s]+\}}|{SIMPLE_KEY})
    | <!--(?:(?!<!--).)*?-->
    | <(?P<tag>script|style|pre|code)\b.*?</(?P=tag)>
    | (?<![`\\])(?P<ticks>`+)(?!`)(?:[^\n]|\n(?![ \t]*\n)){{1,400}}?(?<!`)(?P=ticks)(?!`)
    | {BETWEEN_DOLLARS}
    | (?<![\\\w$])\$(?=\S)(?:\\.|[^\\$\n]|\n(?!\s*\n)){{0,300}}?(?<=\S)\$(?!\d)
    | \\begin\{{(?P<name>equation|align|gather|multline|eqnarray|math|displaymath|tikzpicture
        |verbatim|lstlisting)(?P<star>\*?)\}}.*?\\end\{{(?P=name)(?P=star)\}}
    | \{{\{{[<%](?:(?!\{{\{{).)*?[>%]\}}\}}
    | (?<=\]\()(?:[^()\n]|\([^()\n]*\)){{1,500}}(?=\))
    | <?(?:https?|ftp|doi)://[^\s<>"]+
    | (?<![\w.+-])[\w.+-]{{1,64}}@[\w-]{{1,64}}(?:\.[\w-]{{1,64}})++
    | </?[A-Za-z][^<>\n]{{0,500}}>
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_PRINTING = (
    "note warning attention caution danger error hint important tip admonition seealso figure "
    "table list-table margin sidebar topic epigraph card dropdown prf:\\w+"
).replace(" ", "|")
_DIRECTIVE = re.compile(  # of MyST
    rf"(?<![ \t>])[ \t>]*+(?<![`~:])(?P<ticks>`{{3,}}|~{{3,}}|:{{3,}})"
    rf"\{{(?P<name>{_PRINTING})\}}(?P<said>[^\n]*)\n"
    r"(?P<body>(?:[^\n]*\n){0,400}?)[ \t>]*(?P=ticks)[`~:]*[ \t]*$",
    re.MULTILINE,
)
_OPTION = re.compile(r"^[ \t]*:[\w-]+:[^\n]*$", re.MULTILINE)
_CHUNK_CAPTION = re.compile(
    r"^#\|[ \t]*(?:fig|tbl|lst)-(?:sub)?cap:[ \t]*([^\n]+)$"
    r"|^[ \t>]*`{3,}\{[^\n]*?\b(?:fig|tbl|lst)[-.]cap\s*=\s*(\"[^\"\n]*\"|'[^'\n]*')",
    re.MULTILINE,
)
_DEFINED = re.compile(r"^ {0,3}\[([^\[\]^@\n]{1,100})\]:[ \t]*\S", re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]\n]{1,100})\](?:\[([^\[\]\n]{0,100})\])?")
_RAISED = re.compile(rf"\^(?={MARK.pattern})")
_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
_RAW = re.compile(r"\{\{[<%](?:(?!\{\{).)*?[>%]\}\}|<(script|style)\b.*?</\1>", re.DOTALL)
_BLOCK_TAG = re.compile(
    r"^[ \t]*</?(?:div|p|figure|figcaption|table|thead|tbody|tr|td|th|ul|ol|li|section|aside"
    r"|details|summary|center|blockquote|h[1-6])\b[^<>\n]{0,500}>|</(?:p|figcaption|td|th|li|summary)>",
    re.MULTILINE | re.IGNORECASE,
)
_TAG = re.compile(r"</?(?!https?:|mailto:)[A-Za-z][\w-]*(?:\s[^<>]{0,500})?/?>")
_FENCE = re.compile(r"^[ \t>]*:{3,}[^\n]*$", re.MULTILINE)
_ONE = r"""(?:[#.=][\w:./-]++|[\w.:-]++=(?:"[^"\n]*+"|'[^'\n]*+'|[^\s{}"']++)|-)"""
_ATTRIBUTES = re.compile(rf"(?<![\\$])[ \t]?\{{:?\s*(?:{_ONE}[\s,]*+)++\}}")
_CAPTION = re.compile(r"""\b(?:fig|tbl|lst)[-.]cap=("[^"\n]*"|'[^'\n]*')""")
_SPAN = re.compile(r"\[([^\[\]\n]+)\](?=\{[.#])")
_BOOKDOWN = re.compile(r"\(\\#[\w:-]+\)|^\(ref:[\w-]+\)[ \t]*|\\?@ref\([^()\n]*\)", re.MULTILINE)
_NOTE = re.compile(  # with paragraphs that are indented below it
    r"^\[\^[^\[\]\s]{1,200}\]:([^\n]*(?:\n(?:[ \t]+\S[^\n]*|[ \t]*(?=\n[ \t]+\S)))*)", re.MULTILINE
)
_BRACKET = re.compile(r"[\[\]]|\n\s*\n")
_LONGEST_NOTE = 1000  # characters
_LABEL = re.compile(r"^[ \t]*(?:[Tt]able)?:[ \t]+(?=\S)", re.MULTILINE)


def literal_spans(text: str) -> list[tuple[int, int]]:
    """Return the [start, end) of code, formulas, links and the like, in order."""
    spans = [span for match in _LITERAL.finditer(text) for span in _literal_in(match)]
    labels = {label.casefold() for label in _DEFINED.findall(text)}
    if labels:  # [cite] is a link where it is defined
        links = (m for m in _LINK.finditer(text) if (m[2] or m[1]).casefold() in labels)
        spans += [match.span() for match in links]
    return outermost(spans)


def _literal_in(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield what is literal of a match: of code all but captions, of a directive what is within."""
    if match["key"]:  # of a citation, an address of the web, too
        return
    start, end = match.span()
    directive = _DIRECTIVE.match(match[0])
    if directive:
        inner = directive.start("body")
        for first, last in literal_spans(directive["body"]):
            yield start + inner + first, start + inner + last
        return
    captions = _CHUNK_CAPTION.finditer(match[0]) if match["fence"] else ()
    for caption in captions:
        first, last = caption.span(1 if caption[1] else 2)
        yield start, match.start() + first
        start = match.start() + last
    yield start, end


def plain_markdown(text: str) -> tuple[str, list[str]]:
    """Return Markdown without what is no word, and captions and notes that stand apart."""
    apart: list[str] = []

    def without_attributes(match: re.Match[str]) -> str:
        apart.extend(caption[1:-1] for caption in _CAPTION.findall(match[0]))
        return ""

    for match in _CHUNK_CAPTION.finditer(text):
        apart.append((match[1] or match[2]).strip("\"'"))
    text = _RAISED.sub("", _DIRECTIVE.sub(_as_div, text))
    text = _RAW.sub("", _COMMENT.sub("", parts_apart(text)))
    text = _TAG.sub(" ", _BLOCK_TAG.sub("\n\n", text))
    text = _BOOKDOWN.sub("", _NOTE.sub(_as_text, _FENCE.sub("\n\n", text)))
    text = _ATTRIBUTES.sub(without_attributes, _SPAN.sub(r"\1", text))
    return _LABEL.sub("", _without_notes(text, apart)), apart


def _as_div(directive: re.Match[str]) -> str:
    said = "" if directive["name"] == "figure" else directive["said"]
    return f"\n\n{said}\n\n{_OPTION.sub('', directive['body'])}\n\n"


def _as_text(note: re.Match[str]) -> str:
    return "\n\n" + "\n".join(line.strip() for line in note[1].split("\n")) + "\n\n"


def _without_notes(text: str, apart: list[str]) -> str:
    """Take notes such as ``^[of this]`` out of a text."""
    closing = _closing_brackets(text)
    pieces, last = [], 0
    while (start := text.find("^[", last)) >= 0:
        end = closing.get(start + 1)
        if end is None or end - start > _LONGEST_NOTE:
            pieces.append(text[last : start + 2])
            last = start + 2
        else:
            pieces.append(text[last:start])
            apart.append(text[start + 2 : end])
            last = end + 1
    return "".join([*pieces, text[last:]])


def _closing_brackets(text: str) -> dict[int, int]:
    """Return the place of the bracket that closes each, within its paragraph."""
    opened: list[int] = []
    closing = {}
    for bracket in _BRACKET.finditer(text):
        if bracket[0] == "[":
            opened.append(bracket.start())
        elif bracket[0] != "]":
            opened.clear()
        elif opened:
            closing[opened.pop()] = bracket.start()
    return closing
