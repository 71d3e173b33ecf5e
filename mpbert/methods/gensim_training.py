"""Texts as gensim reads them, one a line, as words with spaces between; and training on them.

gensim leaves out what follows after the first 10,000 words of a line, so longer ones are cut into
several. It reads lines fastest from a file by itself (``corpus_file``). With PV-DM it must not do
so: gensim 4.4 then takes the reduced windows from memory that nothing has written
(``d2v_train_epoch_dm`` in doc2vec_corpusfile.pyx), and so Doc2Vec is given documents one by one.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from mpbert.corpus.bags import spaced_words
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import ranges

if TYPE_CHECKING:  # gensim takes a second to import, which --help need not wait for
    from gensim.models import Word2Vec as GensimWord2Vec

_LONGEST = 10_000  # words of a line; MAX_SENTENCE_LEN and MAX_DOCUMENT_LEN of gensim
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


def paper_lines(store: CorpusStore, rows: Iterable[int], whole: bool) -> Iterator[str]:
    """Yield the words of papers.

    :param whole: title, abstract and body; otherwise title and abstract.
    """
    ends = np.diff(store.sentence_offsets) if whole else store.num_abstract
    for row in rows:
        sentences = store.sentences.slice(store.sentence_offsets[row], ends[row])
        texts = pa.concat_arrays([pa.array([store.titles[row]], sentences.type), sentences])
        yield " ".join(filter(None, spaced_words(texts).to_pylist()))


def pieces(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield words in pieces that gensim reads to the end; none where there is no word."""
    for start in range(0, len(words), _LONGEST):
        yield words[start : start + _LONGEST]


def train(
    model: "GensimWord2Vec",
    lines: Iterable[str],
    epochs: int,
    trim_rule: Callable[[str, int, int], int] | None = None,
) -> None:
    """Train a model of gensim, its learning rate falling to ``model.min_alpha``.

    :param model: Word2Vec; or Doc2Vec, to which each piece of a line is a document.
    :param trim_rule: says which rare words are kept, see gensim.
    :raises CorpusError: no word is frequent enough.
    """
    from gensim.models import Doc2Vec as GensimDoc2Vec
    from gensim.models.doc2vec import TaggedLineDocument

    is_doc2vec = isinstance(model, GensimDoc2Vec)
    with tempfile.TemporaryDirectory(prefix="mpbert-") as directory:
        path = Path(directory) / "text"
        with path.open("w", encoding="utf-8") as file:
            for line in lines:
                file.writelines(" ".join(piece) + "\n" for piece in pieces(line.split()))
        text = (
            {"corpus_iterable": TaggedLineDocument(str(path))}
            if is_doc2vec
            else {"corpus_file": str(path)}
        )
        model.build_vocab(**text, trim_rule=trim_rule)
        if not len(model.wv):
            raise CorpusError(
                f"no word occurs {model.min_count} times in the training split, and no paper is "
                f"cited; choose other years or --settings min_count=1"
            )
        rates = np.linspace(model.alpha, model.min_alpha, epochs + 1)
        name = type(model).__name__.lower()
        for epoch in progress(range(epochs), name, "epoch"):
            model.train(
                **text,
                total_words=model.corpus_total_words,
                epochs=1,
                start_alpha=rates[epoch],
                end_alpha=rates[epoch + 1],
            )
