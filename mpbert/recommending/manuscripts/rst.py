r"""Manuscripts in reStructuredText: ``:cite:`key``` of sphinxcontrib-bibtex, and ``[Key]_``.

Left out are comments, directives that print no text, literal blocks, formulas and headings without
a citation. Citations that the text prints itself, ``.. [Key] Author: Title``, are its references.
"""

import re
from dataclasses import replace
from pathlib import Path

from mpbert.recommending.manuscripts.light import paragraphs
from mpbert.recommending.manuscripts.marks import (
    NOUN,
    Found,
    Marks,
    find_places,
    mark_found,
    masked,
    outermost,
    plain_characters,
)
from mpbert.recommending.manuscripts.rst_lines import RstLines
from mpbert.recommending.manuscripts.sentences import About, Draft
from mpbert.recommending.manuscripts.sites import RST, Site, Style, among, listed_keys, site_in_text
from mpbert.recommending.manuscripts.source_text import SourceText

_LITERAL = re.compile(
    r"``.+?``(?!`)|(?<!\w):(?!(?:foot)?cite)[\w:+.-]{1,40}:`[^`]+`|(?<![:`\w])`[^`\n]+`_{0,2}|https?://\S+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})++"
)
ROLE = re.compile(r":((?:foot)?cite[a-z]{0,12}(?::[a-z]{1,12})?):`([^`<>]{0,2000})`")
_BRACES = re.compile(r"\{[^{}]*\}")
_NOUN_ROLES = ("t", "ts", "ct", "cts", "citet", "author", "authors")
_KEYED = re.compile(r"\[([A-Za-z][\w.:+-]*)\]_(?!\w)")
_CONFIGURED = re.compile(r"bibtex_bibfiles\s*=\s*\[([^\]]*)\]")
_CODE = re.compile(r"``.*?``(?!`)")
_ROLES = re.compile(r":[\w:+.-]{1,40}:`([^`<]*?)(?:[ ]?<[^<>]*>)?`")
_TEXT = re.compile(r"`([^`<]+?)(?:[ ]<[^<>]*>)?`_{0,2}|\[[#*]?[\w-]*\]_|\|([^|\n]+)\|_{0,2}")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2})(?=\S)([^*\n]{1,300}?)(?<=\S)\1(?![\w*])")
_WITH_BRACKETS = Style(" [", "]_ [", "]_")


def read_rst(source: SourceText, configured: bool = True) -> Draft:
    """Return the draft in a file of reStructuredText.

    :param configured: whether Sphinx's ``conf.py`` is looked for; a text that came over the network
        has none.
    """
    text, marks = plain_characters(source.text), Marks()
    lines = RstLines(text)
    marked = mark_found(text, marks, citations_in(source))
    body = RstLines(marked)
    kept = _CODE.sub("", paragraphs("\n".join(body.kept)))
    plain = _TEXT.sub(lambda found: found[1] or found[2] or "", _ROLES.sub(r"\1", kept))
    about = About(
        tuple(lines.files) or (_configured(source.path) if configured else ()), lines.printed
    )
    return Draft(_EMPHASIS.sub(r"\2", plain), marks, body.title, "", about)


def named_bibliographies(text: str, path: Path) -> tuple[str, ...]:
    """Return the files of references that a text names, or Sphinx's ``conf.py`` for it."""
    return tuple(RstLines(plain_characters(text)).files) or _configured(path)


def _configured(path: Path) -> tuple[str, ...]:
    """Return the files that Sphinx's ``conf.py`` names, from the folder of the manuscript."""
    for folder in list(path.absolute().parents)[:4]:
        file = folder / "conf.py"
        if file.is_file():
            listed = _CONFIGURED.search(file.read_text("utf-8", "replace"))
            names = re.findall(r"[\"']([^\"']+)[\"']", listed[1]) if listed else []
            return tuple(str(folder / name) for name in names)
    return ()


def citations_in(source: SourceText) -> list[tuple[Found, Site | None]]:
    """Return the citations of a file, and where each stands."""
    text = plain_characters(source.text)
    literal = [*RstLines(text).dropped, *(match.span() for match in _LITERAL.finditer(text))]
    text = masked(text, outermost(literal))
    found: list[tuple[Found, Site | None]] = []
    for match in ROLE.finditer(text):
        keyed = _BRACES.sub(lambda said: " " * len(said[0]), match[2])  # {see}key{p. 3}
        items = listed_keys(keyed, match.start(2))
        keys = tuple(key for _, _, key in items if key)
        noun = NOUN if match[1].rpartition(":")[2] in _NOUN_ROLES else ""
        found.append((Found(*match.span(), keys, noun), among(source, items, match.end(2), RST)))
    for match in _KEYED.finditer(text):
        items = [(*match.span(1), match[1])]
        site = among(source, items, match.end(), _WITH_BRACKETS)
        if site.start == match.end():  # behind it
            site = replace(site, style=_WITH_BRACKETS)
        found.append((Found(*match.span(), (match[1],)), site))
    for one in find_places(text):
        site = site_in_text(source, one.start, one.end)
        is_open = not one.keys and not text[one.start : one.end].startswith("\\")
        found.append((one, replace(site, style=RST) if is_open else site))
    return found
