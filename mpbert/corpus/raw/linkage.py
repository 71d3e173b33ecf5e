"""From what a reference prints of a paper to the paper's id in the corpus.

A reference is resolved by the first of :data:`KINDS` that finds exactly one paper. Identifiers are
compared in one normal form, titles by their letters and digits. What two papers share is ambiguous
and finds neither. The linker keeps a hash of each identifier, not the text.
"""

from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b

from mpbert.corpus.raw.identifiers import KINDS, Identifiers, normal_title, normal_values

_REASONS = (
    "references_outside_the_corpus",
    "references_ambiguous",
    "references_without_identifier_or_title",
)


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
        for kind, value in normal_values(known):
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
        values = normal_values(printed)
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


class CommonLinker(Linker):
    """One linker for several readers: papers that two of them know are one paper.

    They are one where their ids are equal, or where an identifier or the title finds exactly one
    paper of another reader. Papers of one reader stay apart.

    :ivar same: id of each copy -> id of the paper, which an earlier reader gave.
    :ivar copies: how many readers know each paper, by its id.
    """

    def __init__(self) -> None:
        super().__init__()
        self.same: dict[str, str] = {}
        self.copies: Counter[str] = Counter()
        self._own: set[str] = set()

    def begin(self) -> None:
        """Begin with the papers of another reader."""
        self._own = set()

    def add(self, paper_id: str, known: Identifiers) -> bool:
        """Make a paper known; return False where the reader itself knows the id already."""
        if paper_id in self._own:
            return False
        paper = paper_id if paper_id in self.paper_ids else self._copied(known)
        self._own.add(paper_id)
        if paper is None or paper == paper_id:
            super().add(paper_id, known)
        else:
            self.paper_ids.add(paper_id)
            self.same[paper_id] = paper
        paper = self.paper_of(paper_id)
        self.copies[paper] += 1
        for kind, value in normal_values(known):
            self._found.setdefault(_key(kind, value), paper)
        return True

    def paper_of(self, paper_id: str) -> str:
        """Return the id of the paper that a copy is of."""
        return self.same.get(paper_id, paper_id)

    def resolve(self, printed: Identifiers, counts: Counter[str]) -> str | None:
        """Return the id of the paper that a reference means, or None, as a linker does."""
        found = super().resolve(printed, counts)
        return None if found is None else self.paper_of(found)

    def _copied(self, known: Identifiers) -> str | None:
        """Return the paper of another reader that this is a copy of, or None."""
        for kind, value in normal_values(known):
            found = self._found.get(_key(kind, value))
            if found is not None:
                return found if found not in self._own else None
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


def _key(kind: str, value: str) -> int:
    # 64 bits: among 100 million identifiers two share a hash with probability 0.0003
    digest = blake2b(f"{kind}:{value}".encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
