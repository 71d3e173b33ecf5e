"""What shows whether an answer is right: a few numbers of each of its papers.

They are read from the answer alone, in units that mean the same in libraries of every size:

* ``share``: logarithm of the odds of the paper, its near copies with it, among the first hundred,
  if scores were logarithms of odds; those that nobody learnt are, where the best is 20;
* ``lead``, ``depth``: how far it is above the next paper that is no near copy, and above the tenth,
  in the same unit; ``rank``: ln of its rank;
* ``score``: as it is where it was learnt, else over Σ_w count(w) · idf(w) of the question;
* ``nearest`` and ``second``: similarities of the known sentences that cite it; ``citing``: ln(1 +
  how many there are);
* ``title``: part of the title that stands around the place, each stem weighed by its idf;
  ``title_here``: the same, in the sentence; ``rarest``: the largest idf of a stem of both;
* ``known``: part of the sentence's words that a paper holds; ``rare``: the same of words that not
  one paper in fifty holds.
"""

from collections.abc import Sequence

import numpy as np

from mpbert.foundation.ragged import distinct, row_numbers
from mpbert.recommending.questions import Asked
from mpbert.recommending.records import CitingSentence
from mpbert.recommending.words import Words

NAMES = (
    *("share", "lead", "depth", "rank", "score", "nearest", "second", "citing"),
    *("title", "title_here", "rarest", "rare", "known"),
)
# signs of an answer as a whole: those of its first paper, and the best of some among its first
BEST = ("nearest", "title", "title_here", "rarest")
NAMES_OF_ANSWER = (*NAMES, *(f"best_{name}" for name in BEST))
FIRST = 10  # papers that are looked at
_DEPTH, _SCALE, _RARE = 100, 20.0, 0.02
_SAME = 0.8  # part of the stems of two titles that both have, of near copies


def signs_of(
    scores: np.ndarray,
    citing: Sequence[Sequence[CitingSentence]],
    number_citing: np.ndarray,
    titles: Sequence[np.ndarray],
    questions: Sequence[Asked],
    words: Words,
    is_learnt: bool,
) -> np.ndarray:
    """Return the (K, 13) signs of the first K papers of an answer.

    :param scores: (M,) of all ranked papers, descending; M is K or more.
    :param citing: of each paper the known sentences nearest to the place, nearest first.
    :param number_citing: (K,) known sentences that cite each; ``titles`` their known stems, each
        once.
    :param questions: that were asked, one for each sentence of a whole paper.
    :param is_learnt: whether scores are logarithms of odds.
    """
    here = np.concatenate([words.stems(each.sentences[each.sentence]) for each in questions])
    around = distinct(np.concatenate([each.words[0] for each in questions]))
    odds = scores if is_learnt else scores * (_SCALE / max(float(scores.max()), 1e-9))
    number = len(citing)
    level = scores[:number]
    if not is_learnt:
        mass = sum(float(words.weights(*question.words).sum()) for question in questions)
        level = level * (len(questions) / max(mass, 1e-9))
    columns = [
        *_of_scores(odds, _near_copies(titles)),
        level,
        *(np.array([_similarity(each, place) for each in citing]) for place in (0, 1)),
        np.log1p(number_citing),
        *_of_titles(titles, around, here, words),
        *([share] * number for share in _held(here, words)),
    ]
    return np.stack(columns, axis=1)


def signs_of_answer(signs: np.ndarray) -> np.ndarray:
    """Return the (17,) signs of an answer as a whole, by the (K, 13) of its papers, K >= 1."""
    best = signs[:FIRST, [NAMES.index(name) for name in BEST]].max(axis=0)
    return np.concatenate([signs[0], best])


def _near_copies(titles: Sequence[np.ndarray]) -> np.ndarray:
    """Return (K, K) whether two papers, of the first hundred, are one work, or nearly."""
    first = titles[:_DEPTH]
    owners = row_numbers(np.array(list(map(len, first)), dtype=np.int64))
    flat = np.concatenate(first)
    stems = distinct(flat)
    holds = np.zeros((len(first), len(stems)))
    holds[owners, np.searchsorted(stems, flat)] = 1
    both, sizes = holds @ holds.T, holds.sum(axis=1)
    either = sizes[:, None] + sizes - both
    copies = np.eye(len(titles), dtype=bool)
    copies[: len(first), : len(first)] |= both >= _SAME * np.maximum(either, 1)
    return copies


def _of_scores(odds: np.ndarray, copies: np.ndarray) -> list[np.ndarray]:
    """Return the (K,) values of share, lead, depth and rank.

    :param copies: (K, K) of :func:`_near_copies`.
    """
    first, number = odds[:_DEPTH], len(copies)
    mine = copies @ np.exp(odds[:number] - first[0])
    share = np.log(mine) - np.log(np.maximum(np.exp(first - first[0]).sum() - mine, 1e-6))
    may_be_next = np.triu(np.ones((number, number + 1), dtype=bool), 1)
    may_be_next[:, :number] &= ~copies
    lead = odds[:number] - np.append(odds, odds[-1])[may_be_next.argmax(axis=1)]
    tenth = first[min(FIRST, len(first) - 1)]
    return [share, lead, odds[:number] - tenth, np.log(np.arange(number) + 1)]


def _similarity(citing: Sequence[CitingSentence], place: int) -> float:
    return citing[place].similarity if place < len(citing) else 0.0


def _of_titles(
    titles: Sequence[np.ndarray], around: np.ndarray, here: np.ndarray, words: Words
) -> list[np.ndarray]:
    """Return the (K,) values of title, title_here and rarest.

    :param titles: known stems of each, ascending.
    :param around: stems around the place, ``here`` of the sentence.
    """
    number, owners = len(titles), row_numbers(np.array(list(map(len, titles)), dtype=np.int64))
    stems = np.concatenate(titles)
    idf = words.weights(stems)
    total = np.maximum(np.bincount(owners, idf, number), 1e-9)
    of_here = idf * _among(stems, np.sort(here))
    rarest = np.zeros(number)
    np.maximum.at(rarest, owners, of_here)
    of_around = np.bincount(owners, idf * _among(stems, around), number)
    return [of_around / total, np.bincount(owners, of_here, number) / total, rarest]


def _among(values: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    """Return (M,) whether each value is one of others; of few, numpy's own takes far longer."""
    if not len(ascending):
        return np.zeros(len(values), dtype=bool)
    return ascending.take(np.searchsorted(ascending, values), mode="clip") == values


def _held(here: np.ndarray, words: Words) -> tuple[float, float]:
    """Return rare and known, of a sentence's (T,) stems."""
    if not len(here):
        return 0.0, 0.0
    held = words.frequencies_of(here)
    return float(((held > 0) & (held < _RARE)).mean()), float((held > 0).mean())
