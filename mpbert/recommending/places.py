"""The places of a manuscript, each with ranked papers and what the manuscript cites already."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mpbert.foundation.extras import imported
from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.answers import Recommendations, Records, as_percent
from mpbert.recommending.manuscripts.sentences import Manuscript
from mpbert.recommending.options import Options

if TYPE_CHECKING:
    import pandas as pd

HERE, ELSEWHERE, LISTED = "here", "elsewhere", "listed"


@dataclass(frozen=True)
class CitedPaper:
    """A paper of the index that the manuscript knows.

    :param cited: ``here``, in the clause of this place; ``elsewhere``; or ``listed`` among its
        references alone.
    """

    key: str
    paper_id: str
    cited: str


@dataclass(frozen=True, repr=False)
class PlaceAnswer:
    """The papers for one place, which print as a table below its sentence.

    :param place: its number, from 1.
    :param keys: that stand there already.
    :param is_whole: whether the answer is for a whole paper, not for a place.
    :param cited: papers of the index that the manuscript knows, those cited here first.
    """

    place: int
    sentence: str
    keys: tuple[str, ...]
    cited: tuple[CitedPaper, ...]
    papers: Recommendations
    is_whole: bool = False

    @property
    def head(self) -> str:
        """Which place it is, in one line."""
        keys = f" [{', '.join(self.keys)}]" if self.keys else ""
        return f"{'to read for' if self.is_whole else f'place {self.place}{keys}'}: {self.sentence}"

    def __repr__(self) -> str:
        return f"{self.head}\n{self.papers!r}"

    def _repr_html_(self) -> str:
        from html import escape  # a terminal need not wait for it

        return f"<p>{escape(self.head)}</p>{self.papers._repr_html_()}"

    def known(self, paper_id: str) -> CitedPaper | None:
        """Return what the manuscript knows of a paper."""
        return next((cited for cited in self.cited if cited.paper_id == paper_id), None)

    def as_json(self) -> dict[str, Any]:
        """Return what ``recommend --format json`` prints."""
        found = asdict(self)
        found["cited"] = [asdict(cited) for cited in self.cited if cited.cited == HERE]
        found["papers"] = list(map(asdict, self.papers))
        for paper in found["papers"]:
            cited = self.known(paper["paper_id"])
            paper |= {"cited": cited and cited.cited, "cited_as": cited and cited.key}
        is_whole = found.pop("is_whole")  # it stands last
        return {**found, **self.papers.judgement(), "is_whole": is_whole}


class Places(Records[PlaceAnswer]):
    """The places of a manuscript, each with its papers."""

    def __init__(self, places: Sequence[PlaceAnswer]) -> None:
        super().__init__(places.__getitem__, range(len(places)))

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self))

    def _repr_html_(self) -> str:
        return "\n".join(place._repr_html_() for place in self)

    def to_pandas(self) -> "pd.DataFrame":
        """Return the tables of all places, by ``place`` and ``rank``, from 1.

        >>> from pathlib import Path
        >>> from mpbert import Recommender
        >>> _ = Path("mail.txt").write_text("Mail is routed [CITATION]. Names are stored [?].")
        >>> found = Recommender("runs/index/rfc").recommend_file("mail.txt", top=2).to_pandas()
        >>> found.loc[2, ["sentence", "paper_id"]].shape, found.loc[(2, 1), "sentence"]
        ((2, 2), 'Names are stored.')

        Beside the columns of an answer there are ``sentence`` of the place, and ``keys``, a list of
        those that stand there.

        :raises MissingPackageError: pandas is not installed.
        """
        tables = {}
        for place in self:
            tables[place.place] = table = place.papers.to_pandas()
            table["sentence"] = place.sentence
            table["keys"] = [list(place.keys)] * len(table)
        return imported("pandas").concat(tables, names=["place", "rank"])


class PlaceRecommender:
    """Recommends papers for the places of one manuscript.

    :param known: key -> id, of papers of the index that the manuscript knows.
    :param keeps_cited: whether papers that are cited at a place stay in its list. Else they count
        as accepted there: what is cited together with them gains.
    """

    def __init__(
        self,
        index: AnsweringIndex,
        manuscript: Manuscript,
        known: dict[str, str],
        keeps_cited: bool = False,
    ) -> None:
        self._index, self._manuscript = index, manuscript
        self._known, self._keeps_cited = known, keeps_cited
        self._used = {key for keys in manuscript.keys for key in keys}

    def answer(self, number: int, options: Options) -> PlaceAnswer:
        """Return the papers for a place.

        :param number: from 0.
        :param options: papers that are cited at the place are accepted, too.
        """
        manuscript = self._manuscript
        keys = manuscript.keys[number]
        is_here = manuscript.places == manuscript.places[number]
        here = {key for n in np.flatnonzero(is_here) for key in manuscript.mentions[n].keys}
        cited = self._cited(here)
        if not self._keeps_cited:
            ids = dict.fromkeys(paper.paper_id for paper in cited if paper.cited == HERE)
            options = replace(options, accepted=(*options.accepted, *ids))
        papers = self._index.answer(self._index.asked_at(manuscript, number, options))
        sentence = manuscript.sentences[manuscript.places[number]]
        return PlaceAnswer(number + 1, sentence, keys, cited, papers)

    def _cited(self, keys: set[str]) -> tuple[CitedPaper, ...]:
        found = [
            CitedPaper(
                key, paper_id, HERE if key in keys else ELSEWHERE if key in self._used else LISTED
            )
            for key, paper_id in self._known.items()
        ]
        order = (HERE, ELSEWHERE, LISTED)
        return tuple(sorted(found, key=lambda cited: order.index(cited.cited)))


def whole_answer(index: AnsweringIndex, sentences: Sequence[str], options: Options) -> PlaceAnswer:
    """Return the papers to read for a whole paper, as those of one place with its first sentence.

    :param sentences: of title and abstract.
    """
    papers = index.answer(index.asked_whole(sentences, options))
    return PlaceAnswer(1, sentences[0], (), (), papers, is_whole=True)


def lines_of(answer: PlaceAnswer, year: int | None) -> list[str]:
    """Return the text for one place; a year leaves out the papers of later ones."""
    lines = [answer.head, *(f"  {line}" for line in answer.papers.cautions())]
    shown = {paper.paper_id for paper in answer.papers}
    lines += [
        f"  already cited here: {cited.paper_id} as {cited.key}"
        for cited in answer.cited
        if cited.cited == HERE and cited.paper_id not in shown
    ]
    what = "this paper" if answer.is_whole else "this place"
    if not answer.papers and year is not None:
        lines.append(f"  no paper of the index up to {year} matches {what}")
    elif not answer.papers:
        lines.append(f"  no paper of the index shares a word with {what}")
    for rank, paper in enumerate(answer.papers, start=1):
        authors = ", ".join(paper.authors[:3]) + (" et al." if len(paper.authors) > 3 else "")
        about = ", ".join(part for part in (authors, str(paper.year or "")) if part)
        numbers = f"{rank:>4}  {paper.score:.4f}  {as_percent(paper.probability):>4}"
        lines.append(f"{numbers}  {paper.paper_id}  {paper.title} ({about})")
        if cited := answer.known(paper.paper_id):
            lines.append(f"        {_SAID[cited.cited]} as {cited.key}")
        if passage := paper.why.evidence:
            lines.append(f"        it says, {passage.place}: {passage.text}")
        for citing in paper.why.citing[:1]:
            lines.append(f"        {citing.citing_id}, {citing.similarity:.2f}: {citing.text}")
        if paper.why.companions:
            companions = [f"{c.paper_id} ({c.count})" for c in paper.why.companions]
            lines.append(f"        cited together with {', '.join(companions)}")
    return lines


_SAID = {HERE: "already cited here", ELSEWHERE: "cited elsewhere", LISTED: "in the bibliography"}
