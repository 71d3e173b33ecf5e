"""The places of a manuscript, each with ranked papers and what the manuscript cites already."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mpbert.recommending.manuscripts.sentences import Manuscript
from mpbert.recommending.recommender import IndexRecommender
from mpbert.recommending.records import Recommendation

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


@dataclass(frozen=True)
class PlaceAnswer:
    """The papers for one place.

    :param place: its number, from 1.
    :param keys: that stand there already.
    :param is_whole: whether the answer is for a whole paper, not for a place.
    :param cited: papers of the index that the manuscript knows, those cited here first.
    :param warning: a line where the index shares no language with the place; else empty.
    """

    place: int
    sentence: str
    keys: tuple[str, ...]
    cited: tuple[CitedPaper, ...]
    papers: list[Recommendation]
    warning: str = ""
    is_whole: bool = False

    def known(self, paper_id: str) -> CitedPaper | None:
        """Return what the manuscript knows of a paper."""
        return next((cited for cited in self.cited if cited.paper_id == paper_id), None)

    def as_json(self) -> dict[str, Any]:
        """Return what ``recommend --format json`` prints."""
        found = asdict(self)
        found["cited"] = [asdict(cited) for cited in self.cited if cited.cited == HERE]
        for paper in found["papers"]:
            cited = self.known(paper["paper_id"])
            paper |= {"cited": cited and cited.cited, "cited_as": cited and cited.key}
        return found


class PlaceRecommender:
    """Recommends papers for the places of one manuscript.

    :param known: key -> id, of papers of the index that the manuscript knows.
    :param keeps_cited: whether papers that are cited at a place stay in its list. Else they count
        as accepted there: what is cited together with them gains.
    """

    def __init__(
        self,
        recommender: IndexRecommender,
        manuscript: Manuscript,
        known: dict[str, str],
        keeps_cited: bool = False,
    ) -> None:
        self._recommender, self._manuscript = recommender, manuscript
        self._known, self._keeps_cited = known, keeps_cited
        self._used = {key for keys in manuscript.keys for key in keys}

    def answer(
        self, number: int, top: int, year: int | None = None, ranker: str = "both"
    ) -> PlaceAnswer:
        """Return the papers for a place.

        :param number: from 0; all else as of :meth:`IndexRecommender.recommend`.
        """
        manuscript = self._manuscript
        keys = manuscript.keys[number]
        is_here = manuscript.places == manuscript.places[number]
        here = {key for n in np.flatnonzero(is_here) for key in manuscript.mentions[n].keys}
        cited = self._cited(here)
        accepted = dict.fromkeys(paper.paper_id for paper in cited if paper.cited == HERE)
        papers = self._recommender.recommend_at(
            manuscript, number, top, year, () if self._keeps_cited else tuple(accepted), ranker
        )
        return PlaceAnswer(
            number + 1,
            manuscript.sentences[manuscript.places[number]],
            keys,
            cited,
            papers,
            self._recommender.warning(manuscript, number),
        )

    def _cited(self, keys: set[str]) -> tuple[CitedPaper, ...]:
        found = [
            CitedPaper(
                key,
                paper_id,
                HERE if key in keys else ELSEWHERE if key in self._used else LISTED,
            )
            for key, paper_id in self._known.items()
        ]
        order = (HERE, ELSEWHERE, LISTED)
        return tuple(sorted(found, key=lambda cited: order.index(cited.cited)))


def whole_answer(
    recommender: IndexRecommender,
    sentences: Sequence[str],
    top: int,
    year: int | None = None,
    ranker: str = "both",
    accepted: Sequence[str] = (),
) -> PlaceAnswer:
    """Return the papers to read for a whole paper, as those of one place with its first sentence.

    :param sentences: of title and abstract; all else as of :meth:`IndexRecommender.recommend`.
    """
    papers = recommender.recommend_whole(sentences, top, year, accepted, ranker)
    warning = recommender.warning_of(" ".join(sentences))
    return PlaceAnswer(1, sentences[0], (), (), papers, warning, is_whole=True)


def lines_of(answer: PlaceAnswer, year: int | None) -> list[str]:
    """Return the text for one place; a year leaves out the papers of later ones."""
    keys = f" [{', '.join(answer.keys)}]" if answer.keys else ""
    place = "to read for" if answer.is_whole else f"place {answer.place}{keys}"
    lines = [f"{place}: {answer.sentence}"]
    lines += [f"  warning: {answer.warning}"] if answer.warning else []
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
        lines.append(f"{rank:>4}  {paper.score:.4f}  {paper.paper_id}  {paper.title} ({about})")
        if cited := answer.known(paper.paper_id):
            lines.append(f"        {_SAID[cited.cited]} as {cited.key}")
        for citing in paper.why.citing[:1]:
            lines.append(f"        {citing.citing_id}, {citing.similarity:.2f}: {citing.text}")
        if paper.why.companions:
            companions = [f"{c.paper_id} ({c.count})" for c in paper.why.companions]
            lines.append(f"        cited together with {', '.join(companions)}")
    return lines


_SAID = {HERE: "already cited here", ELSEWHERE: "cited elsewhere", LISTED: "in the bibliography"}
