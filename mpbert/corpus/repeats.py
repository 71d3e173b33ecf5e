"""Contexts that say what an earlier one says: the same words, and the same papers cited.

Standards repeat whole sentences ("The key words MUST ..."). Measures count such a sentence once in
a split. Words are those of :func:`mpbert.corpus.text.words` after case folding, in their order.
Neither the neighbours of the sentence nor its paper matter, nor the order of the cited papers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.corpus.text import words

KEY = np.dtype("S16")  # of what a context says and cites


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


def context_key(sentence: str, cited: Iterable[int]) -> bytes:
    """Return what two contexts share where one repeats the other: a digest of 16 bytes.

    :param sentence: text of the citing sentence.
    :param cited: rows of the papers that it cites.
    """
    said = " ".join(words(sentence.casefold())).encode("utf-8", "surrogatepass")
    rows = ",".join(map(str, sorted(set(cited)))).encode("ascii")
    return blake2b(said + b"\n" + rows, digest_size=16).digest()


def context_keys(sentences: Iterable[str], cited: Iterable[Iterable[int]]) -> np.ndarray:
    """Return (Q,) the keys of contexts, see :func:`context_key`.

    :param sentences: (Q,) texts of the citing sentences.
    :param cited: (Q,) rows of the papers that each cites.
    """
    return np.array([context_key(*one) for one in zip(sentences, cited, strict=True)], KEY)


def find_repeats(keys: np.ndarray, training: Iterable[np.ndarray]) -> Repeats:
    """Return which contexts of a split repeat an earlier one.

    :param keys: (Q,) of :func:`context_keys`, in the order of the corpus.
    :param training: those of the training contexts, in blocks of any size.
    """
    distinct, first, sizes = np.unique(keys, return_index=True, return_counts=True)
    is_repeat = np.ones(len(keys), dtype=bool)
    is_repeat[first] = False
    return Repeats(is_repeat, int(sizes.max(initial=0)), _num_found(distinct, training))


def _num_found(distinct: np.ndarray, blocks: Iterable[np.ndarray]) -> int:
    """Return how many of (D,) distinct keys, ascending, are among others, in any order.

    The others are read a block at a time: they are most, and none of them is sorted.
    """
    is_found = np.zeros(len(distinct), dtype=bool)
    for some in blocks if len(distinct) else ():
        places = np.minimum(np.searchsorted(distinct, some), len(distinct) - 1)
        is_found[places[distinct[places] == some]] = True
    return int(is_found.sum())


def repeats_of(store: CorpusStore, split: str) -> Repeats:
    """Return which contexts of a split of a corpus store repeat an earlier one.

    :param split: ``valid`` or ``test``; training contexts are data, and none of them is a repeat.
    """
    return find_repeats(_keys_of(store, split), [_keys_of(store, "train")])


def _keys_of(store: CorpusStore, split: str) -> np.ndarray:
    contexts = store.contexts(split)
    rows = store.sentence_offsets[contexts.citing_rows] + contexts.positions
    cited = (contexts.cited(i).tolist() for i in range(len(contexts)))
    return context_keys(store.sentence_texts(rows), cited)
