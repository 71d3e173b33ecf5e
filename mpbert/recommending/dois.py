"""DOIs of papers whose records say none, as far as their ids tell them."""

import re
from urllib.parse import quote

from mpbert.corpus.raw.identifiers import normal_doi
from mpbert.foundation.lazy_patterns import lazy_re

_RESOLVER = "https://doi.org/"
# agencies that give every paper of theirs a DOI made of its number
_SERIES = (
    (lazy_re(r"RFC0*(\d{1,5})", re.IGNORECASE), "10.17487/RFC{}"),
    (lazy_re(r"(?:arXiv:)?(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?",
                re.IGNORECASE), "10.48550/arXiv.{}"),
)  # fmt: skip


def doi_of(paper_id: str) -> str | None:
    """Return the DOI of a paper whose id is one, or a number of the RFCs or of arXiv."""
    for pattern, form in _SERIES:
        if found := pattern.fullmatch(paper_id):
            return form.format(found[1])
    is_doi = paper_id.lower().startswith(("10.", "doi:", "http"))
    return normal_doi(paper_id) if is_doi else None


def doi_url(doi: str) -> str:
    """Return the address that leads to a paper."""
    return _RESOLVER + quote(doi, safe="/:;().,_-")
