"""What an index is asked: one place of a manuscript, read once for all that ranks by it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mpbert.foundation.errors import ManuscriptError
from mpbert.recommending.manuscripts.sentences import Manuscript
from mpbert.recommending.words import Words

_MOST_OF_WHOLE = 10  # sentences of title and abstract that are asked for
_CITING_WEIGHT = 3  # the citing sentence beside its neighbours, as in methods.lexical


@dataclass(frozen=True)
class Asked:
    """What is asked for one place.

    :param sentences: of the manuscript; ``sentence`` the number of that at the place.
    :param words: (U,) columns of the known stems around the place, and (U,) their counts.
    :param year: of the manuscript; None: that of the youngest paper of the index.
    :param accepted: (A,) rows of papers accepted at the place.
    :param is_of_whole: whether it is one of the questions of a whole paper.
    """

    sentences: Sequence[str]
    sentence: int
    words: tuple[np.ndarray, np.ndarray]
    year: int | None = None
    accepted: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    is_of_whole: bool = False


def around(manuscript: Manuscript, place: int) -> list[str]:
    """Return the sentence at a numbered place and its neighbours."""
    sentence = int(manuscript.places[place])
    return manuscript.sentences[max(sentence - 1, 0) : sentence + 2]


def questions_of_whole(
    sentences: Sequence[str], words: Words, year: int | None = None, accepted: Sequence[int] = ()
) -> list[Asked]:
    """Return the questions of a whole paper: one at each of its first sentences.

    :param sentences: title and abstract.
    :param accepted: rows of papers.
    :raises ManuscriptError: there is no sentence.
    """
    if not sentences:
        raise ManuscriptError("found no sentence; expected those of a title and an abstract")
    places = np.arange(min(len(sentences), _MOST_OF_WHOLE))
    manuscript = Manuscript(list(sentences), places)
    asked = [question_at(manuscript, place, words, year, accepted) for place in places.tolist()]
    return [replace(question, is_of_whole=True) for question in asked]


def question_at(
    manuscript: Manuscript,
    place: int,
    words: Words,
    year: int | None = None,
    accepted: Sequence[int] = (),
) -> Asked:
    """Return the question of a numbered place.

    The words are those of the sentence, counted three times, and of its neighbours.

    :param accepted: rows of papers.
    """
    sentences, sentence = manuscript.sentences, int(manuscript.places[place])
    again = [sentences[sentence]] * (_CITING_WEIGHT - 1)
    counts = words.counts(" ".join(around(manuscript, place)), *again)
    rows = np.array(accepted, dtype=np.int64)
    return Asked(sentences, sentence, counts, year, rows)
