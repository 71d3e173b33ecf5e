"""What a paper may be known by, in one normal form: DOI, arXiv id, PubMed ids, title."""

import re
import unicodedata
from dataclasses import dataclass

from mpbert.foundation.lazy_patterns import lazy_re

KINDS = ("corpus_id", "doi", "arxiv", "pubmed", "pmc", "title")
_DOI = lazy_re(r"10\.\d{4,9}/\S+")
_ARXIV_DOI = lazy_re(r"10\.48550/arxiv\.(.+)", re.IGNORECASE)
_ARXIV = lazy_re(
    r"(?:^|arxiv[:./]|/)\s*(?:abs/|pdf/)?"
    r"(\d{4}\.\d{4,5}|[a-z]+(?:-[a-z]+)*(?:\.[a-z]{2})?/\d{7})(?:v\d+)?(?:\.pdf)?(?![\d.])",
    re.IGNORECASE,
)
_NUMBER = lazy_re(r"(?:^|[^\d.])0*(\d{1,9})(?:\.\d+)?/?$")
_TAG = lazy_re(r"</?[a-zA-Z][^<>]*>")
_WORD = lazy_re(r"[^\W_]+")
_LEAST_WORDS, _LEAST_LETTERS = 3, 16  # "Preface" and "Random forests" name more than one paper


@dataclass(frozen=True, slots=True)
class Identifiers:
    """What a paper may be known by; as printed, empty or None where unknown.

    :param corpus_id: id that the raw corpus itself gives, the same as the paper's id here.
    """

    corpus_id: str | None = None
    doi: str | None = None
    arxiv: str | None = None
    pubmed: str | None = None
    pmc: str | None = None
    title: str | None = None


def plain_doi(text: str) -> str:
    """Return a DOI without its resolver, in its own letters; empty where there is none."""
    found = _DOI.search(text)
    return found.group().rstrip(".,;") if found else ""


def normal_doi(text: str) -> str | None:
    """Return a DOI in lower case without its resolver: ``"https://doi.org/10.1/A."`` -> ``10.1/a``.

    One that arXiv gave is no DOI here, since :func:`normal_arxiv` knows it.
    """
    found = plain_doi(text).lower()
    return None if not found or _ARXIV_DOI.fullmatch(found) else found


def normal_arxiv(text: str) -> str | None:
    """Return an arXiv id without version and subject class: ``math/0309136``, ``2005.00512``."""
    found = _ARXIV.search(text.strip())
    if found is None:
        return None
    archive, slash, number = found[1].lower().partition("/")
    return archive.partition(".")[0] + slash + number if slash else archive


def normal_number(text: str) -> str | None:
    """Return the digits of a PubMed or PubMed Central id: ``"PMC0123"`` -> ``123``."""
    found = _NUMBER.search(text.strip())
    return found[1] if found else None


def normal_title(text: str) -> str | None:
    """Return the letters and digits of a title in lower case, without accents and tags.

    None for a title that is too short to mean one paper.
    """
    plain = _TAG.sub("", text)
    if not plain.isascii():
        plain = unicodedata.normalize("NFKD", plain)
        plain = "".join(c for c in plain if not unicodedata.combining(c))
    words = _WORD.findall(plain.casefold())
    joined = "".join(words)
    return joined if len(words) >= _LEAST_WORDS or len(joined) >= _LEAST_LETTERS else None


def normal_values(known: Identifiers) -> list[tuple[str, str]]:
    """Return (kind, normal form) of all that is known, in the order of :data:`KINDS`."""
    arxiv = _ARXIV_DOI.search(known.doi or "")
    values = {
        "doi": normal_doi(known.doi or ""),
        "arxiv": normal_arxiv(known.arxiv or (arxiv[1] if arxiv else "")),
        "pubmed": normal_number(known.pubmed or ""),
        "pmc": normal_number(known.pmc or ""),
        "title": normal_title(known.title or ""),
    }
    return [(kind, value) for kind, value in values.items() if value]
