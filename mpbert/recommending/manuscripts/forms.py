"""Forms of manuscripts that are texts: which a file has, and the citations that stand in it."""

import re
from pathlib import Path

from mpbert.recommending.manuscripts import markdown, org, rst, typst
from mpbert.recommending.manuscripts.citation_commands import TEX_COMMENT, tex_citations
from mpbert.recommending.manuscripts.literal_tex import LITERAL
from mpbert.recommending.manuscripts.marks import Found, masked, plain_characters, split_keys
from mpbert.recommending.manuscripts.placeholders import open_places
from mpbert.recommending.manuscripts.sites import (
    ORG_KEY,
    PANDOC_KEY,
    TEX,
    Site,
    listed_keys,
    site_in_text,
)
from mpbert.recommending.manuscripts.source_text import SourceText
from mpbert.recommending.manuscripts.tex_sites import COMMAND_BEFORE, LONGEST_NAME

_SUFFIXES = {
    "tex": (".tex", ".ltx", ".latex"),
    "markdown": (".md", ".markdown", ".qmd", ".rmd"),
    "org": (".org",),
    "rst": (".rst", ".rest"),
    "typst": (".typ",),
}
_FORM_OF = {suffix: form for form, suffixes in _SUFFIXES.items() for suffix in suffixes}
_NOT_READ = re.compile(
    r"(?<!\\)(?:\\\\)*%[^\n]*|\\verb\*?([^\w\s*])[^\n]*?\1"
    rf"|\\begin\{{({'|'.join(map(re.escape, sorted(LITERAL)))})\}}.*?\\end\{{\2\}}",
    re.DOTALL,
)
_BRACES = re.compile(r"\{([^{}]*)\}")
Citations = list[tuple[Found, Site | None]]
_CITATIONS = {
    "markdown": markdown.citations_in,
    "org": org.citations_in,
    "rst": rst.citations_in,
    "typst": typst.citations_in,
}


def form_of(path: Path) -> str:
    """Return the form that the ending of a name tells; empty where it is none."""
    return _FORM_OF.get(path.suffix.lower(), "")


def citations_in(source: SourceText, form: str) -> Citations:
    """Return the citations of one file in their order, and where each stands; fast, for an editor.

    Commands that a manuscript defines are not followed, nor files that it includes.
    """
    kept: Citations = []
    found = _CITATIONS.get(form, _citations_in_tex)(source)
    for one, site in sorted(found, key=lambda each: (each[0].start, -each[0].end)):
        if not kept or one.start >= kept[-1][0].end:  # as mark_found
            kept.append((one, site))
    return [each for each in kept if each[0].is_place]


def key_spans(source: SourceText, found: Found) -> list[tuple[int, int, str]]:
    """Return (start, end, key) of each key of a citation, placeholders among them."""
    text = source.text[found.start : found.end]
    if "@" in text:
        keys = (ORG_KEY if text.startswith("[cite") else PANDOC_KEY).finditer(text)
        spans = [(*key.span(1 if key[1] else 2), key[1] or key[2]) for key in keys]
    elif text.startswith("\\"):
        groups = _BRACES.finditer(TEX_COMMENT.sub(lambda found: " " * len(found[0]), text))
        spans = [span for group in groups for span in listed_keys(group[1], group.start(1))]
    else:
        spans, end = [], len(text)
        for key in reversed(found.keys):
            start = text.rfind(key, 0, end)
            spans, end = [(start, start + len(key), key), *spans], start
    known = set(found.keys)
    return [(found.start + s, found.start + e, key) for s, e, key in spans if key in known]


def _citations_in_tex(source: SourceText) -> Citations:
    text = plain_characters(source.text)
    text = masked(text, [match.span() for match in _NOT_READ.finditer(text)])
    found: Citations = []
    for pattern in tex_citations(text):
        for match in pattern.finditer(text):
            written = source.text[match.start() : match.end()]
            keys = [key for group in _BRACES.findall(written) for key in split_keys(group)]
            if not any(set(key) & set("#\\") for key in keys):  # in the definition of a command
                start = match.start() + written.startswith("~")
                one = Found(start, match.end(), tuple(keys))
                found.append((one, site_in_text(source, *match.span())))
    for match in open_places(is_tex=True).finditer(text):
        if not COMMAND_BEFORE.search(text, max(match.start() - LONGEST_NAME, 0), match.start()):
            found.append((Found(*match.span()), Site(source, *match.span(), TEX)))
    return found
