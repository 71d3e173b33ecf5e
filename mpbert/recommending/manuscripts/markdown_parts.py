r"""Parts of Markdown, of pandoc, Quarto and bookdown, that are no words of a sentence.

They are found by patterns, before the text is parsed: what is literal, such as code and formulas,
holds no citation; attributes, tags and fences of a page go, and notes and captions stand apart.
"""

import re

# what holds no citation, the first that begins counts
_LITERAL = re.compile(
    r"""
      ^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*\n(?:.*?^[ \t>]*(?P=fence)[`~]*[ \t]*$|.*\Z)
    | <!--(?:(?!<!--).)*?-->
    | <(?P<tag>script|style|pre|code)\b.*?</(?P=tag)>
    | (?<![`\\])(?P<ticks>`+)(?!`)(?:[^\n]|\n(?![ \t]*\n)){1,400}?(?<!`)(?P=ticks)(?!`)
    | \$\$.*?\$\$
    | (?<![\\\w$])\$(?=\S)(?:[^$\n]|\n(?!\s*\n)){0,300}?(?<=\S)\$(?!\d)
    | \\begin\{(?P<name>equation|align|gather|multline|eqnarray|math|displaymath|tikzpicture
        |verbatim|lstlisting)(?P<star>\*?)\}.*?\\end\{(?P=name)(?P=star)\}
    | \{\{[<%](?:(?!\{\{).)*?[>%]\}\}
    | (?<=\]\()(?:[^()\n]|\([^()\n]*\)){1,500}(?=\))
    | <?(?:https?|ftp|doi)://[^\s<>"]+ | (?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})++
    | </?[A-Za-z][^<>\n]{0,500}>
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
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
_NOTE = re.compile(r"^\[\^[^\]\s]+\]:[ \t]*", re.MULTILINE)
_BRACKET = re.compile(r"[\[\]]|\n\s*\n")
_LONGEST_NOTE = 1000  # characters
_LABEL = re.compile(r"^[ \t]*(?:[Tt]able)?:[ \t]+(?=\S)", re.MULTILINE)


def literal_spans(text: str) -> list[tuple[int, int]]:
    """Return the [start, end) of code, formulas, links and the like, in order."""
    return [match.span() for match in _LITERAL.finditer(text)]


def plain_markdown(text: str) -> tuple[str, list[str]]:
    """Return Markdown without what is no word, and captions and notes that stand apart."""
    apart: list[str] = []

    def without_attributes(match: re.Match[str]) -> str:
        apart.extend(caption[1:-1] for caption in _CAPTION.findall(match[0]))
        return ""

    text = _RAW.sub("", _COMMENT.sub("", text))
    text = _TAG.sub(" ", _BLOCK_TAG.sub("\n\n", text))
    text = _BOOKDOWN.sub("", _NOTE.sub("\n\n", _FENCE.sub("\n\n", text)))
    text = _ATTRIBUTES.sub(without_attributes, _SPAN.sub(r"\1", text))
    return _LABEL.sub("", _without_notes(text, apart)), apart


def _without_notes(text: str, apart: list[str]) -> str:
    """Take notes such as ``^[of this]`` out of a text."""
    pieces, last = [], 0
    while (start := text.find("^[", last)) >= 0:
        depth, end = 0, None
        for bracket in _BRACKET.finditer(text, start, start + _LONGEST_NOTE):
            depth += {"[": 1, "]": -1}.get(bracket[0], 0)
            if depth == 0 or len(bracket[0]) > 1:
                end = bracket.end() if depth == 0 else None
                break
        if end is None:
            pieces.append(text[last : start + 2])
            last = start + 2
        else:
            pieces.append(text[last:start])
            apart.append(text[start + 2 : end - 1])
            last = end
    return "".join([*pieces, text[last:]])
