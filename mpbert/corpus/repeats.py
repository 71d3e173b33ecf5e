"""Contexts that say what an earlier one says: the same words, and the same papers cited.

Standards repeat whole sentences ("The key words MUST ..."). Measures count such a sentence once in
a split. Words are those of :func:`mpbert.corpus.text.words` after case folding, in their order.
Neither the neighbours of the sentence nor its paper matter, nor the order of the cited papers.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.corpus.text import words

Key = tuple[str, frozenset[int]]  # words of the citing sentence, rows of the papers it cites


@dataclass(frozen=True)
class Repeats:
    """Which contexts of a split repeat an earlier one of it.

    :param is_repeat: (Q,) bool; the first of equal contexts is none.
    :param largest: how many contexts the largest group of equal ones has; 0 without any context.
    :param in_training: contexts that are no repeats, but equal a training context.
    """

    is_repeat: np.ndarray
    largest: int
    in_training: int

    @property
    def num_contexts(self) -> int:
        """Number of contexts, repeats among them."""
        return len(self.is_repeat)

    @property
    def num_repeats(self) -> int:
        """Number of contexts that repeat an earlier one."""
        return int(self.is_repeat.sum())


def context_keys(sentences: Iterable[str], cited: Iterable[Iterable[int]]) -> list[Key]:
    """Return what two contexts share where one repeats the other.

    :param sentences: (Q,) texts of the citing sentences.
    :param cited: (Q,) rows of the papers that each cites.
    """
    return [
        (" ".join(words(text.casefold())), frozenset(rows))
        for text, rows in zip(sentences, cited, strict=True)
    ]


def find_repeats(keys: Sequence[Key], training: Set[Key]) -> Repeats:
    """Return which contexts of a split repeat an earlier one.

    :param keys: (Q,) of :func:`context_keys`, in the order of the corpus.
    :param training: those of the training contexts.
    """
    places: dict[Key, int] = {}
    group = np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int64)  # (Q,)
    is_repeat = np.ones(len(keys), dtype=bool)
    is_repeat[np.unique(group, return_index=True)[1]] = False
    return Repeats(is_repeat, int(np.bincount(group).max(initial=0)), len(places.keys() & training))


def repeats_of(store: CorpusStore, split: str) -> Repeats:
    """Return which contexts of a split of a corpus store repeat an earlier one.

    :param split: ``valid`` or ``test``; training contexts are data, and none of them is a repeat.
    """
    keys, training = (_keys_of(store, name) for name in (split, "train"))
    return find_repeats(keys, set(training))


def _keys_of(store: CorpusStore, split: str) -> list[Key]:
    contexts = store.contexts(split)
    sentences = store.sentence_texts(
        store.sentence_offsets[contexts.citing_rows] + contexts.positions
    )
    cited = (contexts.cited(i).tolist() for i in range(len(contexts)))
    return context_keys(sentences, cited)
