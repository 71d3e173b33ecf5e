r"""What a manuscript says of its references: the files that it names, and those that it prints."""

import re

from mpbert.foundation.lazy_patterns import lazy_re
from mpbert.recommending.manuscripts.citation_commands import TEX_COMMENT
from mpbert.recommending.manuscripts.sentences import About

_NAMED = lazy_re(
    r"\\(?:bibliography|nobibliography|addbibresource|addglobalbib)\*?\s*(?:\[[^\]]{0,200}\]\s*)?"
    r"\{([^{}]{1,1000})\}"
)
_PRINTED = lazy_re(r"\\begin\{thebibliography\}(.*?)(?:\\end\{thebibliography\}|\Z)", re.DOTALL)
# of BibTeX; of biber, whose entries end in \endentry
_ITEM = lazy_re(r"\\bibitem\s*(?:\[(?:[^\[\]{}]|\{(?:[^{}]|\{[^{}]*\})*+\})*+\])?\s*\{([^{}]+)\}")
_ENTRY = lazy_re(r"\\entry\{([^{}]+)\}")
_END = lazy_re(r"\\end\{thebibliography\}.*", re.DOTALL)
_LONGEST = 4000  # characters of a reference that are read


def about_tex(text: str) -> About:
    r"""Return what ``\bibliography``, ``\addbibresource`` and ``thebibliography`` say."""
    text = TEX_COMMENT.sub("", text)
    named = [name.strip() for names in _NAMED.findall(text) for name in names.split(",")]
    printed: dict[str, str] = {}
    for part in _PRINTED.findall(text):
        printed |= printed_references(part)
    return About(tuple(dict.fromkeys(filter(None, named))), printed)


def printed_references(text: str) -> dict[str, str]:
    r"""Return key -> reference, in TeX, of each ``\bibitem`` of BibTeX or ``\entry`` of biber."""
    text, found = _END.sub("", text), {}
    for pattern in (_ITEM, _ENTRY):
        matches = list(pattern.finditer(text))
        ends = [*(match.start() for match in matches), len(text)][1:]
        for match, end in zip(matches, ends, strict=True):
            found.setdefault(match[1].strip(), text[match.end() : min(end, match.end() + _LONGEST)])
    return found
