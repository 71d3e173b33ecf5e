"""Papers that come to an index: which are new, which are there already, and which have changed.

As in ``mpbert index``, papers of two sources with one DOI or one title are one paper. That of the
index keeps its id and its record; it takes the text of the other where it has none.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.published import published_of
from mpbert.corpus.raw.identifiers import Identifiers
from mpbert.corpus.raw.linkage import CommonLinker
from mpbert.corpus.text import split_sentences
from mpbert.foundation.errors import CorpusError
from mpbert.recommending.dois import doi_of
from mpbert.recommending.tables import IndexTables, digest


@dataclass(frozen=True)
class Arrival:
    """A paper to write into an index, under the id that it has there.

    :param digest: of its record, see :func:`mpbert.recommending.tables.digest`.
    :param keeps_citations: whether the sentences in which the paper that it replaces cites stay.
    """

    paper: CleanPaper
    digest: bytes
    keeps_citations: bool = False


@dataclass
class Arrivals:
    """Papers by what is to be done with them.

    :param new: of no paper of the index; ``changed`` replace one, by its row.
    :param there: are in the index already.
    """

    new: dict[str, CleanPaper] = field(default_factory=dict)
    changed: dict[int, Arrival] = field(default_factory=dict)
    there: dict[str, CleanPaper] = field(default_factory=dict)

    def papers(self) -> list[Arrival]:
        """Return what is to be written: new papers, then changed ones."""
        new = [Arrival(paper, digest_of(paper)) for paper in self.new.values()]
        return new + list(self.changed.values())


def arrivals(
    tables: IndexTables,
    papers: Sequence[CleanPaper],
    counts: Counter[str],
    updates: bool = False,
    merges: bool = False,
) -> Arrivals:
    """Return what is to be done with papers.

    :param counts: receives what is there already, replaced and merged.
    :param updates: whether a paper whose record has changed replaces the old one.
    :param merges: whether papers with the DOI or the title of one of the index are that one.
    :raises CorpusError: an id occurs twice; or is in the index with another record.
    """
    known = _Indexed(tables)
    same = known.copies(papers) if merges else {}
    found = Arrivals()
    others: list[str] = []  # ids with other records
    for paper in (_renamed(paper, same) for paper in papers) if same else papers:
        row = known.row_of.get(same.get(paper.paper_id, paper.paper_id))
        if row is None:
            if paper.paper_id in found.new:
                raise CorpusError(
                    f"paper id {paper.paper_id!r} occurs twice; expected unique ids, "
                    f"remove one of the two papers"
                )
            found.new[paper.paper_id] = paper
        elif paper.paper_id in same:
            counts["copies_of_papers_of_the_index"] += 1
            if row not in found.changed and (merged := known.with_text_of(row, paper)):
                found.changed[row] = merged
        elif known.has(row, paper, updates):
            counts["papers_already_there"] += 1
            found.there[paper.paper_id] = paper
        else:
            others.append(paper.paper_id)
            found.changed[row] = known.replaced(row, paper)
    if others and not updates:
        more = f" and {len(others) - 1} more are" if others[1:] else " is"
        raise CorpusError(
            f"paper {others[0]!r}{more} in the index with another record; nothing was added: "
            f"pass --update to replace what is there, or give the new record another id"
        )
    counts["papers_replaced"] += len(others)
    return found


class _Indexed:
    """The papers of an index.

    :ivar row_of: row of each id.
    """

    def __init__(self, tables: IndexTables) -> None:
        self._papers, self._bodies = tables.papers, tables.bodies
        self._ids: list[str] = tables.papers["paper_id"].to_pylist()
        self.row_of = {paper_id: row for row, paper_id in enumerate(self._ids)}
        self._digests = tables.papers["digest"].to_pylist()

    def copies(self, papers: Sequence[CleanPaper]) -> dict[str, str]:
        """Return the ids in the index of papers that are there under another one."""
        linker = CommonLinker()
        linker.begin()
        values = self._papers["published"].to_pylist(), self._papers["title"].to_pylist()
        for paper_id, value, title in zip(self._ids, *values, strict=True):
            doi = published_of(value).doi or doi_of(paper_id)
            linker.add(paper_id, Identifiers(doi=doi, title=title))
        linker.begin()
        # those with an id of the index first: another of their source is none of these
        for paper in sorted(papers, key=lambda paper: paper.paper_id not in self.row_of):
            doi = paper.published.doi or doi_of(paper.paper_id)
            linker.add(paper.paper_id, Identifiers(doi=doi, title=paper.title))
        return linker.same

    def has(self, row: int, paper: CleanPaper, exactly: bool) -> bool:
        """Return whether a paper is there with the same record.

        :param exactly: whether an index that does not hold where papers appeared lacks something.
        """
        if self._digests[row] != digest_of(paper):
            return False
        value = self._papers["published"][row].as_py()
        if value is None and not exactly:
            return True
        held = replace(published_of(value), id_is_key=paper.published.id_is_key)
        return paper.published.filled(held) == held

    def replaced(self, row: int, paper: CleanPaper) -> Arrival:
        """Return a paper with its new record; text that it lacks stays as it was."""
        abstract, body = _parts(paper)
        old_abstract, old_body = self._text(row)
        is_own = bool(old_abstract) and _is_title(abstract, paper.title)
        kept = _with_text(paper, old_abstract if is_own else None, None if body else old_body)
        return Arrival(kept, digest_of(paper), keeps_citations=bool(not body and old_body))

    def with_text_of(self, row: int, copy: CleanPaper) -> Arrival | None:
        """Return the paper of a row with the text of a copy; None where that brings none."""
        abstract, body = _parts(copy)
        old_abstract, old_body = self._text(row)
        takes_abstract = not old_abstract and not _is_title(abstract, copy.title)
        takes_body = bool(body) and not old_body
        if not takes_abstract and not (takes_body and self._bodies is not None):
            return None
        about = self._papers.slice(row, 1).to_pylist()[0]
        held = published_of(about["published"]).filled(copy.published)
        if not takes_abstract:
            old_abstract = old_abstract or split_sentences(about["title"])
        paper = replace(
            _with_text(
                copy, None if takes_abstract else old_abstract, None if takes_body else old_body
            ),
            paper_id=about["paper_id"],
            title=about["title"],
            year=about["year"] or copy.year,
            authors=about["authors"] or copy.authors,
            venue=about["venue"] or copy.venue,
            published=held,
        )
        return Arrival(paper, self._digests[row], keeps_citations=not takes_body)

    def _text(self, row: int) -> tuple[list[str], list[str]]:
        """Return the sentences of abstract and body of a row; none of one that is the title."""
        title, abstract = (self._papers[name][row].as_py() for name in ("title", "abstract"))
        body = "" if self._bodies is None else self._bodies["body"][row].as_py()
        return [] if abstract == title else split_sentences(abstract), split_sentences(body)


def digest_of(paper: CleanPaper) -> bytes:
    """Return the digest of a paper's record."""
    about = paper.title, paper.authors, paper.year, paper.venue, paper.num_abstract
    return digest(*about, paper.sentences.to_pylist())


def _parts(paper: CleanPaper) -> tuple[list[str], list[str]]:
    """Return the sentences of abstract and body."""
    texts = paper.sentences.to_pylist()
    return texts[: paper.num_abstract], texts[paper.num_abstract :]


def _is_title(abstract: Sequence[str], title: str) -> bool:
    """Whether an abstract says no more than the title."""
    return " ".join(abstract) in ("", title)


def _with_text(paper: CleanPaper, abstract: list[str] | None, body: list[str] | None) -> CleanPaper:
    """Return a paper with other sentences; None leaves its own, with what they cite."""
    if abstract is None and not body:
        return paper
    own = _parts(paper)
    cited = [
        (position, ids)
        for position, ids in paper.cited
        if (abstract if position < paper.num_abstract else body) is None
    ]
    texts = own[0] if abstract is None else abstract
    moved = len(texts) - paper.num_abstract
    sentences = texts + (own[1] if body is None else body)
    return replace(
        paper,
        num_abstract=len(texts),
        sentences=pa.array(sentences, pa.string()),
        sections=np.zeros(len(sentences), np.int16),
        cited=[(p + moved if p >= paper.num_abstract else p, ids) for p, ids in cited],
    )


def _renamed(paper: CleanPaper, same: dict[str, str]) -> CleanPaper:
    """Return a paper that cites papers by their ids in the index."""
    return replace(
        paper, cited=[(place, [same.get(i, i) for i in ids]) for place, ids in paper.cited]
    )
