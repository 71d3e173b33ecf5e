"""Text of the training split as gensim reads it, one line after another, and training on it.

A line is a text's words with spaces between. gensim cuts a line after 10,000 words.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from gensim.models import Word2Vec as GensimWord2Vec

from mpbert.data.bags import spaced_words
from mpbert.data.ragged import ranges
from mpbert.data.store import CorpusStore
from mpbert.errors import CorpusError
from mpbert.progress import progress

MAX_LINE = 10_000  # words; MAX_SENTENCE_LEN and MAX_DOCUMENT_LEN of gensim
_BLOCK = 1 << 16  # sentences whose words are found at once


def context_lines(store: CorpusStore, prefix: str) -> Iterator[str]:
    """Yield the words of each training context, with its cited papers in the middle.

    :param prefix: stands before the row of a cited paper, and in no word.
    """
    contexts = store.contexts("train")
    texts = pa.array(store.local_texts(contexts), pa.large_string())
    for context, line in enumerate(spaced_words(texts).to_pylist()):
        tokens = line.split()
        middle = len(tokens) // 2
        tokens[middle:middle] = [f"{prefix}{row}" for row in contexts.cited(context)]
        yield " ".join(tokens)


def sentence_lines(store: CorpusStore) -> Iterator[str]:
    """Yield the words of each title and each sentence of the training papers."""
    papers = np.flatnonzero(store.paper_splits == "train")
    titles = pa.array(store.titles, pa.large_string()).take(pa.array(papers))
    yield from spaced_words(titles).to_pylist()
    rows = ranges(store.sentence_offsets[papers], np.diff(store.sentence_offsets)[papers])
    for start in range(0, len(rows), _BLOCK):
        block = store.sentences.take(pa.array(rows[start : start + _BLOCK]))
        yield from spaced_words(block).to_pylist()


def train(
    model: GensimWord2Vec,
    lines: Iterable[str],
    epochs: int,
    trim_rule: Callable[[str, int, int], int] | None = None,
) -> None:
    """Train a model of gensim, its learning rate falling to ``model.min_alpha``.

    :param model: Word2Vec, or Doc2Vec, to which each line is a document.
    :param trim_rule: says which rare words are kept, see gensim.
    :raises CorpusError: no word is frequent enough.
    """
    name = type(model).__name__.lower()
    with tempfile.TemporaryDirectory(prefix="mpbert-") as directory:
        text = Path(directory) / "text"
        with text.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
        model.build_vocab(corpus_file=str(text), trim_rule=trim_rule)
        if not len(model.wv):
            raise CorpusError(
                f"no word occurs {model.min_count} times in the training split, and no paper is "
                f"cited; choose other years or --settings min_count=1"
            )
        rates = np.linspace(model.alpha, model.min_alpha, epochs + 1)
        for epoch in progress(range(epochs), name, "epoch"):
            model.train(
                corpus_file=str(text),
                total_words=model.corpus_total_words,
                epochs=1,
                start_alpha=rates[epoch],
                end_alpha=rates[epoch + 1],
            )
