r"""Files that a file of a manuscript names: those that it includes, and its bibliographies.

It is told by patterns, without reading the manuscript: an editor asks at each keystroke.
"""

import re
from functools import lru_cache
from pathlib import Path

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts import markdown, org, rst, typst
from mpbert.recommending.manuscripts.citation_commands import TEX_COMMENT
from mpbert.recommending.manuscripts.references import about_tex

_TEX = re.compile(
    r"\\(?:input|include|subfile|subfileinclude)\s*\{([^{}]+)\}"
    r"|\\(?:sub)?(?:import|inputfrom|includefrom)\*?\s*\{([^{}]*)\}\s*\{([^{}]+)\}"
)
_INCLUDED = {
    "markdown": re.compile(r"\{\{<\s*include\s+(\S{1,300})\s*>\}\}"),
    "org": re.compile(r"^[ \t]*#\+include:[ \t]*\"([^\"\n]+)\"", re.MULTILINE | re.IGNORECASE),
    "rst": re.compile(r"^[ \t]*\.\. include::[ \t]*(\S+)", re.MULTILINE),
    "typst": typst.INCLUDE,
}
_ROOT = re.compile(r"^%\s*!\s*T[eE]X\s+root\s*=\s*(\S.*?)\s*$", re.MULTILINE)
_DOCUMENT = re.compile(r"^[^%\n]*\\(?:documentclass|begin\s*\{document\})", re.MULTILINE)


def included_names(text: str, form: str) -> list[str]:
    """Return the names of files that a text includes, as it writes them."""
    if form != "tex":
        pattern = _INCLUDED.get(form)
        return [] if pattern is None else pattern.findall(text)
    found = _TEX.finditer(TEX_COMMENT.sub("", text))
    names = (each[1] or f"{each[2].rstrip('/')}/{each[3]}".lstrip("/") for each in found)
    return [name.strip().strip('"') for name in names]


def named_root(text: str) -> str:
    """Return the file that ``% !TEX root =`` names; empty where nothing does."""
    found = _ROOT.search(text[:2000])
    return found[1] if found else ""


def is_whole(text: str, form: str) -> bool:
    """Return whether a text is a manuscript of its own, not a part of one."""
    return form != "tex" or _DOCUMENT.search(text) is not None


def named_bibliographies(text: str, form: str, path: Path) -> tuple[str, ...]:
    """Return the files of references that a text names.

    :param path: of it; Sphinx's ``conf.py`` is looked for beside and above it.
    """
    if form == "tex":
        return about_tex(text).bibliographies
    if form == "markdown":
        return _of_head(markdown.head_of(text))
    if form == "rst":
        return rst.named_bibliographies(text, path)
    return {"org": org.named_bibliographies, "typst": typst.named_bibliographies}[form](text)


@lru_cache(maxsize=64)  # parsing YAML takes longer than all else
def _of_head(head: str) -> tuple[str, ...]:
    try:
        return markdown.bibliographies_of(markdown.read_head(head, "the block"))
    except ManuscriptError:  # as it is being written
        return ()
