"""From what a reference prints of a paper to the paper's id in the corpus.

A reference is resolved by the first of :data:`KINDS` that finds exactly one paper. Identifiers are
compared in one normal form, titles by their letters and digits. What two papers share is ambiguous
and finds neither. The linker keeps a hash of each identifier, not the text.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

KINDS = ("corpus_id", "doi", "arxiv", "pubmed", "pmc", "title")

_REASONS = (
    "references_outside_the_corpus",
    "references_ambiguous",
    "references_without_identifier_or_title",
)
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)", re.IGNORECASE)
_ARXIV = re.compile(
    r"(?:^|arxiv[:./]|/)\s*(?:abs/|pdf/)?"
    r"(\d{4}\.\d{4,5}|[a-z]+(?:-[a-z]+)*(?:\.[a-z]{2})?/\d{7})(?:v\d+)?(?:\.pdf)?(?![\d.])",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:^|[^\d.])0*(\d{1,9})(?:\.\d+)?/?$")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_WORD = re.compile(r"[^\W_]+")
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


class Linker:
    """Finds papers of the corpus; :meth:`add` all of them first, then :meth:`resolve`."""

    def __init__(self) -> None:
        self.paper_ids: set[str] = set()
        self._found: dict[int, str | None] = {}  # hash of kind and value; None: several papers

    def add(self, paper_id: str, known: Identifiers) -> bool:
        """Make a paper known; ``known.corpus_id`` is not read, the paper's id is.

        :returns: False, and nothing is added, where the id is known already.
        """
        if paper_id in self.paper_ids:
            return False
        self.paper_ids.add(paper_id)
        for kind, value in _values(known):
            key = _key(kind, value)
            first = self._found.setdefault(key, paper_id)
            if first != paper_id:
                self._found[key] = None
        return True

    def knows_title(self, title: str) -> bool:
        """Return whether some paper has this title."""
        value = normal_title(title)
        return value is not None and _key("title", value) in self._found

    def resolve(self, printed: Identifiers, counts: Counter[str]) -> str | None:
        """Return the id of the paper that a reference means, or None.

        :param counts: receives ``references_read`` and either ``references_resolved_by_KIND`` or
            why not: ``references_outside_the_corpus``, ``references_ambiguous`` or
            ``references_without_identifier_or_title``.
        """
        counts["references_read"] += 1
        if printed.corpus_id and printed.corpus_id in self.paper_ids:
            counts["references_resolved_by_corpus_id"] += 1
            return printed.corpus_id
        values = _values(printed)
        is_ambiguous = False
        for kind, value in values:
            key = _key(kind, value)
            if paper_id := self._found.get(key):
                counts[f"references_resolved_by_{kind}"] += 1
                return paper_id
            is_ambiguous |= key in self._found
        if is_ambiguous:
            counts["references_ambiguous"] += 1
        elif values or printed.corpus_id:
            counts["references_outside_the_corpus"] += 1
        else:
            counts["references_without_identifier_or_title"] += 1
        return None


def linkage_report(counts: Mapping[str, int]) -> list[str]:
    """Return lines that say how many references were resolved, by what, and why others were not.

    Empty for a reader that resolves nothing by a :class:`Linker`.
    """
    read = counts.get("references_read", 0)
    if not read:
        return []
    names = [f"references_resolved_by_{kind}" for kind in KINDS] + list(_REASONS)
    shown = [(name, counts[name]) for name in names if counts.get(name)]
    width = max(len(name) for name, _ in shown)
    lines = [f"{name:<{width}} {count:>10,} {count / read:>7.1%}" for name, count in shown]
    return [f"{'references_read':<{width}} {read:>10,}", *lines]


def normal_doi(text: str) -> str | None:
    """Return a DOI in lower case without its resolver: ``"https://doi.org/10.1/A."`` -> ``10.1/a``.

    One that arXiv gave is no DOI here, since :func:`normal_arxiv` knows it.
    """
    found = _DOI.search(text)
    if found is None or _ARXIV_DOI.fullmatch(found.group()):
        return None
    return found.group().rstrip(".,;").lower()


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
    plain = unicodedata.normalize("NFKD", _TAG.sub("", text))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    words = _WORD.findall(plain.casefold())
    joined = "".join(words)
    return joined if len(words) >= _LEAST_WORDS or len(joined) >= _LEAST_LETTERS else None


def _values(known: Identifiers) -> list[tuple[str, str]]:
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


def _key(kind: str, value: str) -> int:
    # 64 bits: among 100 million identifiers two share a hash with probability 0.0003
    digest = blake2b(f"{kind}:{value}".encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
