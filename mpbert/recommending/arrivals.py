"""Papers that come to an index: which are new, which are there already, and which have changed.

As in ``mpbert index``, papers of two sources with one DOI or one title are one paper. That of the
index keeps its id and its record; it takes the text of the other where it has none. Where the same
source also has the record of that paper, chapters of a book stay apart: see :func:`_is_copy`.
"""

from collections import Counter
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mpbert.corpus.clean import CleanPaper
from mpbert.corpus.raw.identifiers import Identifiers, normal_doi, normal_title
from mpbert.corpus.raw.linkage import CommonLinker
from mpbert.corpus.records import Paper
from mpbert.corpus.text import split_sentences
from mpbert.foundation.errors import CorpusError
from mpbert.recommending.bodies import pages_of, sentences_of
from mpbert.recommending.columns import ColumnTable, TextColumn
from mpbert.recommending.copies import (
    doi_of_paper,
    filled,
    renamed,
    with_record_of,
    without_copies,
)
from mpbert.recommending.dois import doi_of
from mpbert.recommending.likely_texts import may_be
from mpbert.recommending.ordered_texts import rows_in_order
from mpbert.recommending.published import DOI, doi_at, published_of
from mpbert.recommending.tables import IndexTables, digest


@dataclass(frozen=True)
class Arrival:
    """A paper to write into an index, under the id that it has there.

    :param digest: of its record, see :func:`mpbert.recommending.tables.digest`.
    :param keeps_abstract: whether the abstract of the paper that it replaces stays, with the
        sentences in which it cites; ``keeps_body`` whether the body does.
    """

    paper: CleanPaper
    digest: bytes
    keeps_abstract: bool = False
    keeps_body: bool = False


@dataclass
class Arrivals:
    """Papers by what is to be done with them.

    :param ids: of the index, in their order.
    :param new: of no paper of the index; ``changed`` replace one, by its row.
    :param there: are in the index already; ``met`` are rows of the index that some are of.
    """

    ids: TextColumn
    new: dict[str, CleanPaper] = field(default_factory=dict)
    changed: dict[int, Arrival] = field(default_factory=dict)
    there: dict[str, CleanPaper] = field(default_factory=dict)
    met: set[int] = field(default_factory=set)

    def papers(self) -> list[Arrival]:
        """Return what is to be written: new papers, then changed ones."""
        new = [Arrival(paper, digest_of(paper)) for paper in self.new.values()]
        return new + list(self.changed.values())

    def absent(self) -> TextColumn:
        """Return the ids of the index that no paper is of."""
        return self.ids.take(np.delete(np.arange(len(self.ids)), list(self.met)))


def arrivals(
    tables: IndexTables,
    papers: Sequence[CleanPaper],
    counts: Counter[str],
    updates: bool = False,
    merges: bool = False,
    drops_labels: bool = False,
) -> Arrivals:
    """Return what is to be done with papers.

    :param counts: receives what is there already, replaced and merged.
    :param updates: whether a paper whose record has changed replaces the old one.
    :param merges: whether papers with the DOI or the title of one of the index are that one.
    :param drops_labels: whether a record that lacks a tag or a collection of the index has changed.
    :raises CorpusError: an id occurs twice; or is in the index with another record.
    """
    known = _Indexed(tables, papers, drops_labels)
    papers = without_copies(papers, counts, known.row_of)
    same = known.copies(papers) if merges else {}
    found = Arrivals(known.ids)
    others: dict[str, None] = {}  # ids with other records
    for paper in _own_first(papers, same):
        row = known.row_of.get(same.get(paper.paper_id, paper.paper_id))
        if row is not None:
            found.met.add(row)
        if row is None:
            _check_once(paper.paper_id, found.new)
            found.new[paper.paper_id] = paper
        elif paper.paper_id in same:
            counts["copies_of_papers_of_the_index"] += 1
            if merged := known.with_text_of(row, paper, found.changed.get(row)):
                found.changed[row] = merged
        elif known.has(row, paper):
            _check_once(paper.paper_id, others)
            counts["papers_already_there"] += 1
            found.there[paper.paper_id] = paper
        else:
            _check_once(paper.paper_id, others.keys() | found.there.keys())
            others[paper.paper_id] = None
            found.changed[row] = known.replaced(row, paper)
    if others and not updates:
        first = next(iter(others))
        more = f" and {len(others) - 1} more are" if len(others) > 1 else " is"
        raise CorpusError(
            f"paper {first!r}{more} in the index with another record; nothing was added: "
            f"pass --update to replace what is there, or give the new record another id"
        )
    counts["papers_replaced"] += len(others)
    return found


def _check_once(paper_id: str, earlier: Container[str]) -> None:
    """Check that no earlier paper has an id."""
    if paper_id in earlier:
        raise CorpusError(
            f"paper id {paper_id!r} occurs twice; expected unique ids, remove one of the two papers"
        )


class _Indexed:
    """The papers of an index that others may be.

    :ivar row_of: row of each id that another has, or a copy of another.
    """

    def __init__(
        self, tables: IndexTables, papers: Sequence[CleanPaper], drops_labels: bool
    ) -> None:
        self._papers, self._bodies = tables.papers, tables.bodies
        self._drops_labels = drops_labels
        self.ids: TextColumn = tables.papers["paper_id"]
        self.row_of = rows_in_order(self.ids, (paper.paper_id for paper in papers))
        self._digests = tables.papers["digest"]

    def copies(self, papers: Sequence[CleanPaper]) -> dict[str, str]:
        """Return the ids in the index of papers that are there under another one."""
        linker = CommonLinker()
        linker.begin()
        for paper_id, known in alike(self._papers, papers).items():
            linker.add(paper_id, known)
        own = {paper.paper_id: paper for paper in papers if paper.paper_id in self.row_of}
        others = {paper.paper_id: paper for paper in papers if paper.paper_id not in own}
        for group in (own, others):
            linker.begin()
            for paper in group.values():
                linker.add(paper.paper_id, Identifiers(doi=doi_of_paper(paper), title=paper.title))
        self.row_of |= rows_in_order(self.ids, linker.same.values())
        return {
            other: paper_id
            for other, paper_id in linker.same.items()
            if paper_id not in own or _is_copy(others[other], own[paper_id])
        }

    def has(self, row: int, paper: CleanPaper) -> bool:
        """Return whether a paper is there with the same record."""
        if self._digests[row].tobytes() != digest_of(paper):
            return False
        held = published_of(self._papers["published"][row])
        held = replace(held, id_is_key=paper.published.id_is_key)
        if self._drops_labels and not {*held.labels} <= {*paper.published.labels}:
            return False
        return paper.published.filled(held) == held

    def replaced(self, row: int, paper: CleanPaper) -> Arrival:
        """Return a paper with its new record; text that it lacks stays as it was."""
        held = self._held(row)
        kept, keeps_abstract, keeps_body = filled(paper, held)
        ids = tuple(dict.fromkeys((*held.published.other_ids, *paper.published.other_ids)))
        kept = replace(kept, published=replace(kept.published, other_ids=ids))
        return Arrival(kept, digest_of(paper), keeps_abstract, keeps_body)

    def with_text_of(self, row: int, copy: CleanPaper, changed: Arrival | None) -> Arrival | None:
        """Return the paper of a row with what a copy knows more of it; None: nothing that counts.

        :param changed: the paper as the papers before the copy change it.
        """
        held = self._held(row) if changed is None else changed.paper
        before = changed or Arrival(held, self._digests[row].tobytes(), True, True)
        paper, takes_abstract, takes_body = with_record_of(held, copy)
        is_more = takes_body or _about(paper) != _about(held)
        # an index without bodies: what vectors and weights say of the body could not be made again
        if not takes_abstract and (self._bodies is None or not is_more):
            return None
        keeps_abstract = before.keeps_abstract and not takes_abstract
        return Arrival(paper, before.digest, keeps_abstract, before.keeps_body and not takes_body)

    def _held(self, row: int) -> CleanPaper:
        """Return the paper of a row, without what it cites."""
        about = self._papers.row(row)
        abstract = split_sentences(about["abstract"])
        body = "" if self._bodies is None else self._bodies["body"][row]
        sentences = abstract + sentences_of(body)
        pages = pages_of(body)
        return CleanPaper(
            **{name: about[name] for name in ("paper_id", "title", "year", "authors", "venue")},
            num_abstract=len(abstract),
            sentences=sentences,
            sections=np.zeros(len(sentences), np.int16),
            headings=[],
            cited=[],
            references=(),
            published=published_of(about["published"]),
            pages=(0,) * len(abstract) + pages if pages else (),
        )


def alike(table: ColumnTable, papers: Sequence[CleanPaper]) -> dict[str, Identifiers]:
    """Return what papers of an index are known by that have the DOI or the title of one of these.

    :param table: (N,) rows of schema ``PAPERS``; the ids are in their order.
    """
    dois = {normal_doi(doi_of_paper(paper) or "") for paper in papers} - {None}
    titles = {normal_title(paper.title) or paper.title.casefold() for paper in papers}
    found: dict[str, Identifiers] = {}
    may_have = may_be(table["title"], titles)
    for row in np.flatnonzero(may_have | _may_have_doi(table, dois)).tolist():
        paper_id, title = table["paper_id"][row], table["title"][row]
        doi = doi_at(table["published"], row) or doi_of(paper_id)
        if (normal_title(title) or title.casefold()) in titles or (doi and normal_doi(doi) in dois):
            found[paper_id] = Identifiers(doi=doi, title=title)
    return found


def _may_have_doi(table: ColumnTable, dois: Collection[str]) -> np.ndarray:
    """Return (N,) whether a paper may have one of some DOIs, which its id may tell."""
    if not dois:
        return np.zeros(table.num_rows, dtype=bool)
    values, places = table["published"].values, table["published"].offsets[:-1] + DOI
    return may_be(values, dois)[places] | (values.offsets[places] == values.offsets[places + 1])


def digest_of(paper: CleanPaper | Paper) -> bytes:
    """Return the digest of a paper's record."""
    about = paper.title, paper.authors, paper.year, paper.venue, paper.num_abstract
    return digest(*about, paper.sentences)


def _about(paper: CleanPaper) -> tuple[object, ...]:
    return paper.year, paper.authors, paper.venue, paper.published


def _is_copy(other: CleanPaper, paper: CleanPaper) -> bool:
    """Whether two records of one source tell of one paper: one title, and not two DOIs.

    Chapters share the DOI of their book, and issues the title of their preface.
    """
    titles = {normal_title(each.title) or each.title for each in (other, paper)}
    dois = {doi_of_paper(each) for each in (other, paper)} - {None}
    return len(titles) == 1 and len({normal_doi(doi) for doi in dois}) < 2


def _own_first(papers: Sequence[CleanPaper], same: dict[str, str]) -> list[CleanPaper]:
    """Return papers that cite by the ids of the index; copies stand behind what they may fill."""
    if not same:
        return list(papers)
    others = (renamed(paper, same) for paper in papers)
    return sorted(others, key=lambda paper: paper.paper_id in same)
