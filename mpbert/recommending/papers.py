"""The papers of an index: by id, by words of their title, as BibTeX."""

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mpbert.foundation.errors import ConfigError, UnknownPaperError
from mpbert.foundation.extras import imported
from mpbert.recommending.answers import Records, cells_of
from mpbert.recommending.bibtex import bibtex_entry
from mpbert.recommending.columns import ColumnTable, TextColumn
from mpbert.recommending.dois import doi_of
from mpbert.recommending.published import doi_at, published_of, rows_of_labels, rows_of_other_ids
from mpbert.recommending.records import IndexedPaper
from mpbert.recommending.titles import TitleIndex

if TYPE_CHECKING:
    import pandas as pd


class IndexedPapers:
    """Papers as an index knows them.

    :param papers: (N,) rows of schema ``PAPERS``.
    """

    def __init__(self, papers: ColumnTable) -> None:
        names = ("paper_id", "title", "authors", "venue", "abstract", "key", "published")
        self._columns: dict[str, Any] = {name: papers[name] for name in names}
        self._ids: TextColumn = self._columns["paper_id"]
        self._years = np.asarray(papers["year"])

    def __len__(self) -> int:
        return len(self._ids)

    @cached_property
    def paper_ids(self) -> list[str]:
        """Ids of all papers, in their order."""
        return self._ids.tolist()

    @property
    def titles(self) -> list[str]:
        """Titles of all papers, in the order of ``paper_ids``."""
        titles: list[str] = self._columns["title"].tolist()
        return titles

    @property
    def years(self) -> np.ndarray:
        """(N,) int32 years of all papers; 0 where the corpus has none."""
        return self._years

    @property
    def papers(self) -> "Papers":
        """All papers, in the order of ``paper_ids``; each is read when asked for.

        >>> from mpbert import Recommender
        >>> recommender = Recommender("runs/index/rfc")
        >>> recommender.papers[0].paper_id == recommender.paper_ids[0]
        True
        """
        return Papers(self)

    @cached_property
    def keys(self) -> list[str]:
        """Keys to cite all papers by, in the order of ``paper_ids``."""
        keys: list[str] = self._columns["key"].tolist()
        return keys

    @property
    def authors(self) -> list[list[str]]:
        """Authors of all papers, in the order of ``paper_ids``."""
        authors: list[list[str]] = self._columns["authors"].tolist()
        return authors

    @cached_property
    def row_of_other_id(self) -> dict[str, int]:
        """Rows by the ids of copies, such as a second key of a paper in its library."""
        return rows_of_other_ids(self._columns["published"])

    @cached_property
    def rows_of_labels(self) -> dict[str, list[int]]:
        """Rows by tag and collection, such as ``tag:to read``, in small letters."""
        return rows_of_labels(self._columns["published"])

    def rows_with(self, label: str) -> list[int]:
        """Return the rows of the papers that have a tag or are in a collection, such as ``tag:x``.

        :raises ConfigError: none has it.
        """
        rows = self.rows_of_labels.get(label.casefold())
        if rows is None:
            kind = label.partition(":")[0]
            known = [each for each in self.rows_of_labels if each.startswith(f"{kind}:")]
            import difflib  # a filter that is there need not wait for it

            close = difflib.get_close_matches(label.casefold(), known, 3, 0.4)
            hint = f", such as {', '.join(close)}" if close else ""
            raise ConfigError(
                f"filter {label!r}: no paper of the index has it; expected one of its "
                f"{len(known):,} {kind}s{hint}"
            )
        return rows

    @cached_property
    def dois(self) -> list[str | None]:
        """DOIs of all papers, in the order of ``paper_ids``."""
        return [self._doi(row) for row in range(len(self))]

    def paper(self, paper_id: str) -> IndexedPaper:
        """Return a paper.

        >>> from mpbert import Recommender
        >>> Recommender("runs/index/rfc").paper("RFC2119").year
        1997

        :raises UnknownPaperError: the index does not hold it.
        """
        return self.paper_at(self.row_of(paper_id))

    def search_titles(self, query: str, top: int = 10) -> list[IndexedPaper]:
        """Return papers whose title holds all words of the query, each as the start of a word.

        Titles that begin with the query come first, then short ones before long ones.
        """
        return [self.paper_at(row) for row in self._title_index.search(query, top)]

    @cached_property
    def _title_index(self) -> TitleIndex:
        return TitleIndex(self.titles)

    def bibtex(self, paper_id: str) -> str:
        """Return the BibTeX entry of a paper; its key is unique in the index.

        >>> from mpbert import Recommender
        >>> print(Recommender("runs/index/rfc").bibtex("RFC2119"))
        @misc{RFC2119,
          title = {{Key words for use in RFCs to Indicate Requirement Levels}},
          author = {S. Bradner},
          year = {1997},
          ...

        :raises UnknownPaperError: the index does not hold it.
        """
        return bibtex_entry(self.paper(paper_id), self.key_of(paper_id))

    def key_of(self, paper_id: str) -> str:
        """Return the key to cite a paper by, unique in the index.

        :raises UnknownPaperError: the index does not hold it.
        """
        key: str = self._columns["key"][self.row_of(paper_id)]
        return key

    def _doi(self, row: int) -> str | None:
        return doi_at(self._columns["published"], row) or doi_of(self._ids[row])

    def row_of(self, paper_id: str) -> int:
        """Return the row of a paper, also by the id of a copy.

        :raises UnknownPaperError: the index does not hold it.
        """
        row = bisect_left(self._ids, paper_id)  # they stand in the order of their letters
        if row < len(self) and self._ids[row] == paper_id:
            return row
        if paper_id in self.row_of_other_id:
            return self.row_of_other_id[paper_id]
        raise UnknownPaperError(
            f"no paper {paper_id!r} among the {len(self):,} of the index; expected an id as "
            f"recommend prints it"
        )

    def paper_at(self, row: int) -> IndexedPaper:
        """Return the paper of a row."""
        venue, abstract = (self._columns[name][row] for name in ("venue", "abstract"))
        published = published_of(self._columns["published"][row])
        return IndexedPaper(**self.shown(row), venue=venue, abstract=abstract, published=published)

    def shown(self, row: int) -> dict[str, Any]:
        """Return what an answer shows of a paper."""
        return {
            "paper_id": self._ids[row],
            "title": self._columns["title"][row],
            "authors": tuple(self._columns["authors"][row]),
            "year": int(self._years[row]) or None,
            "doi": self._doi(row),
        }


class Papers(Records[IndexedPaper]):
    """The papers of an index."""

    columns = ("paper_id", "title", "authors", "year")

    def __init__(self, index: IndexedPapers) -> None:
        super().__init__(index.paper_at, range(len(index)))
        self._index = index

    def cells(self, number: int) -> tuple[str, ...]:
        """Return the cells of a paper by its row."""
        return cells_of(self._index.paper_at(number))

    def to_pandas(self) -> "pd.DataFrame":
        """Return ``title`` and ``year``, NA where unknown, by ``paper_id``.

        >>> from mpbert import Recommender
        >>> papers = Recommender("runs/index/rfc").papers.to_pandas()
        >>> int(papers.loc["RFC2119", "year"])
        1997

        :raises MissingPackageError: pandas is not installed.
        """
        pd, own = imported("pandas"), self._index
        years = pd.array([int(year) or None for year in own.years], "Int32")
        ids = pd.Index(own.paper_ids, name="paper_id")
        return pd.DataFrame({"title": own.titles, "year": years}, index=ids).iloc[self._numbers]
