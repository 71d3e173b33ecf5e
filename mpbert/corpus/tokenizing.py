"""The sentences of a corpus as token ids, some papers at a time."""

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from mpbert.corpus.store import CorpusStore
from mpbert.corpus.subwords import TextTokenizer
from mpbert.foundation.engines import Job, Maker
from mpbert.foundation.parts import Arrays


def paper_chunks(store: CorpusStore, sentences: int) -> list[tuple[int, np.ndarray]]:
    """Return papers that together have about so many sentences: items of :class:`Tokenizing`.

    Chunks end at papers; one that starts a new multiple of the number starts a chunk.
    """
    offsets = store.sentence_offsets
    starts = np.flatnonzero(np.diff(offsets[:-1] // sentences, prepend=-1))
    borders = np.append(starts, store.num_papers).tolist()
    return [(first, offsets[first : last + 1]) for first, last in itertools.pairwise(borders)]


def token_type(tokenizer: Tokenizer) -> type[np.integer]:
    """Return the smallest type that holds all tokens."""
    return np.uint16 if tokenizer.get_vocab_size() <= 2**16 else np.int32


@dataclass(frozen=True)
class Tokenizing(Job):
    """From papers to ``tokens`` and the ``lengths`` of sentences, titles before the others.

    An item is the row of the first paper, and (K + 1,) offsets of the sentences of K papers.

    :param corpus: corpus store.
    :param tokenizer: as JSON.
    :param sentence_tokens: longest sentence without its separator; the rest is cut off.
    """

    corpus: Path
    tokenizer: str
    sentence_tokens: int

    def open(self) -> Maker:
        """Open the corpus, of which no more than the papers of an item is read at once."""
        store, tokenizer = CorpusStore(self.corpus), Tokenizer.from_str(self.tokenizer)
        tokenize = TextTokenizer(tokenizer, self.sentence_tokens)

        def make(papers: tuple[int, np.ndarray]) -> Arrays:
            tokens, lengths = tokenize(_texts(store, *papers))
            return {
                "tokens": tokens.astype(token_type(tokenizer)),
                "lengths": lengths.astype(np.uint16),
            }

        return make


def _texts(store: CorpusStore, first: int, offsets: np.ndarray) -> list[str]:
    """Return the sentences of papers, each paper's title before them."""
    papers = len(offsets) - 1
    body = store.column("sentences", "text", int(offsets[0]), int(offsets[-1]))
    texts = np.empty(len(body) + papers, dtype=object)
    is_title = np.zeros(len(texts), dtype=bool)
    is_title[offsets[:-1] - offsets[0] + np.arange(papers)] = True
    texts[is_title] = store.column("papers", "title", first, first + papers)
    texts[~is_title] = body
    return texts.tolist()
