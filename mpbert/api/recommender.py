"""Ranked papers for a place in a text, as tables of pandas."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from mpbert.api.answers import answer_table
from mpbert.api.corpus_tables import years_of
from mpbert.recommending.manuscripts.files import read_manuscript_file
from mpbert.recommending.manuscripts.sentences import manuscript_at, whole_sentences, with_place
from mpbert.recommending.recommender import IndexRecommender


class Recommender:
    """Recommends papers of an index for a place in a text; it needs no corpus and no training.

    >>> from mpbert import Recommender
    >>> recommender = Recommender("runs/index/rfc")
    >>> papers = recommender.recommend("Names of hosts are resolved by the domain system", top=3)
    >>> papers[["paper_id", "title", "year"]].shape
    (3, 3)

    :param path: index made by ``mpbert index`` or ``mpbert build-index``.
    :raises IndexFormatError: it is no index, of another version, or damaged.
    :raises EncoderError: its encoder is damaged.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.index = IndexRecommender.open(self.path)

    def __repr__(self) -> str:
        return f"Recommender({str(self.path)!r}): {len(self):,} papers"

    def __len__(self) -> int:
        return len(self.index.paper_ids)

    @property
    def papers(self) -> pd.DataFrame:
        """All papers of the index: ``title`` and ``year``, NA where unknown, by ``paper_id``.

        >>> from mpbert import Recommender
        >>> recommender = Recommender("runs/index/rfc")
        >>> int(recommender.papers.loc["RFC2119", "year"])
        1997
        """
        columns = {"title": self.index.titles, "year": years_of(self.index.years)}
        return pd.DataFrame(columns, index=pd.Index(self.index.paper_ids, name="paper_id"))

    @property
    def vectors(self) -> np.ndarray:
        """(N, D) float32 vectors of the papers, of length 1, in their order; memory-mapped.

        >>> from mpbert import Recommender
        >>> recommender = Recommender("runs/index/rfc")
        >>> len(recommender.vectors) == len(recommender.papers)
        True
        """
        return self.index.vectors

    def recommend(
        self,
        text: str,
        place: int | None = None,
        title: str = "",
        abstract: str = "",
        top: int = 10,
        year: int | None = None,
        accepted: Sequence[str] = (),
        ranker: str = "both",
    ) -> pd.DataFrame:
        """Return papers for a place in a text, best first.

        >>> from mpbert import Recommender
        >>> recommender = Recommender("runs/index/rfc")
        >>> text = "Mail is routed by names. Names are resolved by servers. It is slow."
        >>> found = recommender.recommend(text, place=text.index(" Names"), top=5, year=2000)
        >>> list(found.columns)
        ['paper_id', 'title', 'authors', 'year', 'score', 'reasons', 'why']
        >>> bool(found["score"].is_monotonic_decreasing), int(found["year"].max()) <= 2000
        (True, True)

        :param text: the manuscript around the place; of a long one, the 10,000 characters before.
        :param place: a citation belongs before this character of ``text``, counted from 0; None
            for its end.
        :param title: of the manuscript, and ``abstract``; both are read as in training.
        :param top: how many papers to return at most.
        :param year: papers of later years are left out; those without a year stay.
        :param accepted: ids of papers already accepted at this place; they are not returned, and
            papers that are cited together with them gain.
        :param ranker: ``dense`` ranks by vectors, ``words`` by BM25, ``both`` by all that the index
            knows, with the weights that ``build-index`` learnt; an index without weights fuses the
            two, or adds exact matches to the cosine.
        :returns: up to ``top`` papers; the index is the rank, from 1. Columns:

            * ``paper_id``, ``title``; ``authors``, a list; ``year``, NA where unknown;
            * ``score``: larger is better; comparable within one answer alone;
            * ``reasons``: list of texts: sentences that cite the paper and are near to the place,
              papers that are cited together with it;
            * ``why``: the same as a record, :class:`mpbert.recommending.records.Why`.

            ``attrs["warning"]`` is a line where the text seems to be in another language than the
            papers, which is a ``UserWarning``, too; else empty.
        :raises ManuscriptError: the place is outside of the text, or there is no word.
        :raises UnknownPaperError: an accepted paper is not in the index.
        :raises ConfigError: ``top`` is less than 1, ``year`` is no whole number, ``accepted`` is
            one text, or there is no such ranker.
        """
        manuscript = manuscript_at(text, place, title, abstract)
        found = self.index.recommend_at(manuscript, 0, top, year, accepted, ranker)
        return _with_warning(answer_table(found), self.index.warning(manuscript))

    def recommend_whole(
        self,
        title: str,
        abstract: str = "",
        top: int = 10,
        year: int | None = None,
        accepted: Sequence[str] = (),
        ranker: str = "both",
    ) -> pd.DataFrame:
        """Return papers to read for a whole paper, best first.

        >>> from mpbert import Recommender
        >>> recommender = Recommender("runs/index/rfc")
        >>> found = recommender.recommend_whole("Routing of mail", "Mail is routed by names.")
        >>> len(found)
        10

        :param title: of the paper, and ``abstract``; one of them may be empty.
        :param accepted: ids of papers that are known already. They are not returned; papers that
            are cited together with them gain.
        :returns: as :meth:`recommend`; ``top``, ``year`` and ``ranker`` are as there.
        :raises ManuscriptError: there is no word.
        :raises UnknownPaperError: an accepted paper is not in the index.
        :raises ConfigError: as of :meth:`recommend`.
        """
        sentences = whole_sentences(title, abstract)
        found = self.index.recommend_whole(sentences, top, year, accepted, ranker)
        return _with_warning(answer_table(found), self.index.warning_of(" ".join(sentences)))

    def recommend_file(
        self, path: str | Path, top: int = 10, year: int | None = None, ranker: str = "both"
    ) -> pd.DataFrame:
        r"""Return papers for each place of a manuscript in a file.

        >>> from pathlib import Path
        >>> from mpbert import Recommender
        >>> _ = Path("mail.txt").write_text("Mail is routed [CITATION]. Names are stored [?].")
        >>> found = Recommender("runs/index/rfc").recommend_file("mail.txt", top=2)
        >>> found.loc[2, ["sentence", "paper_id"]].shape, found.loc[(2, 1), "sentence"]
        ((2, 2), 'Names are stored.')

        Papers that stand at a place already may be among those returned.

        :param path: .tex, .md, .txt, .json or another that ``mpbert recommend`` reads; places are
            ``\cite{...}``, ``[CITATION]``, ``[?]``, ``[@key]``, or the end where there is none.
        :param top: how many papers of a place at most.
        :param year: as in :meth:`recommend`, like ``ranker``.
        :returns: as :meth:`recommend`, with the number of the place, from 1, before the rank in the
            index, and two more columns: ``sentence`` of the place, ``keys`` that stand there.
        :raises ManuscriptError: the file cannot be read, or holds no word.
        :raises ConfigError: ``top`` is less than 1, ``year`` is no whole number, or there is no
            such ranker.
        """
        manuscript = with_place(read_manuscript_file(Path(path)), str(path))
        tables = {}
        for number, sentence in enumerate(manuscript.places.tolist()):
            found = self.index.recommend_at(manuscript, number, top, year, (), ranker)
            table = _with_warning(answer_table(found), self.index.warning(manuscript, number))
            table["sentence"] = manuscript.sentences[sentence]
            table["keys"] = [list(manuscript.keys[number])] * len(table)
            tables[number + 1] = table
        return pd.concat(tables, names=["place", "rank"])

    def bibtex(self, paper_id: str) -> str:
        """Return the BibTeX entry of a paper.

        >>> from mpbert import Recommender
        >>> print(Recommender("runs/index/rfc").bibtex("RFC2119"))
        @misc{RFC2119,
          title = {{Key words for use in RFCs to Indicate Requirement Levels}},
          author = {S. Bradner},
          year = {1997},
          ...

        :raises UnknownPaperError: the index does not hold it.
        """
        return self.index.bibtex(paper_id)


def _with_warning(table: pd.DataFrame, warning: str) -> pd.DataFrame:
    """Return a table with the warning of its place, which the caller is given, too."""
    table.attrs["warning"] = warning
    if warning:
        warnings.warn(warning, stacklevel=3)
    return table
