"""The sentences of a corpus as token ids, some papers at a time."""

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from mpbert.corpus.store import CorpusStore
from mpbert.corpus.subwords import tokenize
from mpbert.foundation.engines import Job, Maker
from mpbert.foundation.parts import Arrays


def paper_chunks(store: CorpusStore, sentences: int) -> list[tuple[int, int]]:
    """Return (first, last + 1) rows of papers that together have about so many sentences.

    Chunks end at papers; one that starts a new multiple of the number starts a chunk.
    """
    starts = store.sentence_offsets[:-1] // sentences
    borders = np.append(np.flatnonzero(np.diff(starts, prepend=-1)), store.num_papers)
    return list(itertools.pairwise(borders.tolist()))


def token_type(tokenizer: Tokenizer) -> type[np.integer]:
    """Return the smallest type that holds all tokens."""
    return np.uint16 if tokenizer.get_vocab_size() <= 2**16 else np.int32


@dataclass(frozen=True)
class Tokenizing(Job):
    """From (first, last + 1) rows of papers to ``tokens`` and the ``lengths`` of sentences.

    :param corpus: corpus store.
    :param tokenizer: as JSON.
    :param sentence_tokens: longest sentence without its separator; the rest is cut off.
    """

    corpus: Path
    tokenizer: str
    sentence_tokens: int

    def open(self) -> Maker:
        """Open the corpus."""
        store, tokenizer = CorpusStore(self.corpus), Tokenizer.from_str(self.tokenizer)

        def make(papers: tuple[int, int]) -> Arrays:
            texts = _texts(store, *papers)
            tokens, lengths = tokenize(tokenizer, texts, self.sentence_tokens)
            return {
                "tokens": tokens.astype(token_type(tokenizer)),
                "lengths": lengths.astype(np.uint16),
            }

        return make


def _texts(store: CorpusStore, first: int, last: int) -> list[str]:
    """Return the sentences of papers, each paper's title before them."""
    offsets = store.sentence_offsets
    start, end = int(offsets[first]), int(offsets[last])
    body = store.sentences[start:end].to_pylist()
    texts = np.empty(len(body) + last - first, dtype=object)
    title_places = offsets[first:last] - start + np.arange(last - first)
    is_title = np.zeros(len(texts), dtype=bool)
    is_title[title_places] = True
    texts[is_title] = store.titles[first:last]
    texts[~is_title] = body
    return texts.tolist()
