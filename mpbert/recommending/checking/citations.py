"""How well each cited paper fits its sentence: its rank, its probability, and a better paper."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mpbert.recommending.answering import AnsweringIndex
from mpbert.recommending.checking.doubt import read_doubts
from mpbert.recommending.checking.standing import ABSTRACTS, TEXTS, TITLES, VECTORS, standing
from mpbert.recommending.learnt import COSINE
from mpbert.recommending.manuscripts.sentences import Manuscript
from mpbert.recommending.questions import Asked

_LEAST = 0.5  # probability of a paper that fits
_OTHERS = 3  # first papers that may fit better
_LEAST_POOL = 10  # papers among which a rank says something


@dataclass(frozen=True)
class BetterPaper:
    """A paper that fits a sentence better than the cited one.

    :param key: to cite it by: that of the manuscript, or else of the index.
    """

    paper_id: str
    title: str
    key: str
    probability: float


@dataclass(frozen=True)
class CheckedCitation:
    """A citation whose paper the index holds.

    :param path: the file that it stands in, and ``line`` from 1; None: it is not known.
    :param rank: of the paper as the index ranks, from 1, among ``papers``: those that the place
        does not cite, and itself.
    :param probability: that it belongs here, where one citation in twenty is wrong.
    :param better: a paper that fits where this one does not; None: there is none.
    """

    key: str
    paper_id: str
    title: str
    path: Path
    line: int | None
    sentence: str
    rank: int
    papers: int
    probability: float
    better: BetterPaper | None = None

    @property
    def verdict(self) -> Literal["fits", "doubtful"]:
        """``doubtful`` where it is more probably wrong than right."""
        return "fits" if self.probability >= _LEAST else "doubtful"

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        return (
            f"{self.path}{line}: {self.verdict}, probability {self.probability:.2f}: "
            f"{self.key!r} ({self.title}), rank {self.rank:,} of {self.papers:,}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return what ``check-citations --format json`` prints."""
        found = {**asdict(self), "path": str(self.path), "verdict": self.verdict}
        return found | {"probability": round(self.probability, 4)}


def checked_citations(
    index: AnsweringIndex,
    manuscript: Manuscript,
    file: Path,
    known: Mapping[str, str],
    year: int,
    numbers: Iterable[int],
) -> list[CheckedCitation]:
    """Return the citations whose papers an index holds, doubtful ones first.

    A place without a word that the index knows is left out.

    :param known: key -> id, of papers of the index.
    :param year: of the manuscript; a later paper is not cited instead.
    :param numbers: of the places to check.
    """
    if not any(key in known for keys in manuscript.keys for key in keys):
        return []
    key_of = {paper_id: key for key, paper_id in reversed(known.items())}
    checker = _Checker(index, key_of, year)
    found = [one for number in numbers for one in checker.checked(manuscript, number, file, known)]
    return sorted(found, key=lambda one: one.probability)


class _Checker:
    def __init__(self, index: AnsweringIndex, key_of: dict[str, str], year: int) -> None:
        self._index, self._key_of, self._doubts = index, key_of, read_doubts()
        self._may_be = index.years <= year

    def checked(
        self, manuscript: Manuscript, number: int, file: Path, known: Mapping[str, str]
    ) -> Iterator[CheckedCitation]:
        """Yield the checked citations of a place."""
        mention = manuscript.mentions[number]
        same = manuscript.places == manuscript.places[number]
        here = {k for n in np.flatnonzero(same) for k in manuscript.mentions[n].keys if k in known}
        question = self._index.question(manuscript, number)
        cited = np.array([self._index.row_of(known[key]) for key in sorted(here)], dtype=np.int64)
        pool = self._may_be.copy()
        pool[cited] = False
        keys = [key for key in dict.fromkeys(mention.keys) if key in known]
        if not keys or not len(question.words[0]) or np.count_nonzero(pool) < _LEAST_POOL:
            return
        rows = np.array([self._index.row_of(known[key]) for key in keys])
        allowed = pool.copy()
        allowed[rows] = True
        ranked = self._index.rank([question], allowed, len(allowed)).rows[0]
        others = ranked[pool[ranked]]
        asked = np.concatenate([rows, others[:_OTHERS]])
        fits = self._fits(question, pool, asked)
        site = mention.site
        where = (site.source.path, site.line) if site else (file, None)
        sentence = manuscript.sentences[manuscript.places[number]]
        for key, row, fit in zip(keys, rows.tolist(), fits.tolist(), strict=False):
            ahead = np.flatnonzero(ranked == row)[:1]
            rank = np.count_nonzero(pool[ranked[: ahead[0]]]) if len(ahead) else len(others)
            better = self._better(others[:_OTHERS], fits[len(rows) :]) if fit < _LEAST else None
            yield CheckedCitation(
                *(key, known[key], self._index.titles[row], *where, sentence),
                *(int(rank) + 1, int(np.count_nonzero(pool)) + 1, fit, better),
            )

    def _fits(self, question: Asked, pool: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the (M,) probabilities that papers belong at a place."""
        evidence = self._index.evidence(question)
        kinds = (TITLES, ABSTRACTS, VECTORS if COSINE in evidence else TEXTS)
        features = standing(evidence, pool, rows)
        doubts = [self._doubts[kind].probabilities(features) for kind in kinds]
        return 1 - np.choose(self._index.knowledge[rows], doubts)

    def _better(self, rows: np.ndarray, fits: np.ndarray) -> BetterPaper | None:
        if not len(fits) or fits.max() < _LEAST:
            return None
        row = int(rows[fits.argmax()])
        paper_id = self._index.paper_ids[row]
        key = self._key_of.get(paper_id, self._index.keys[row])
        return BetterPaper(paper_id, self._index.titles[row], key, float(fits.max()))
