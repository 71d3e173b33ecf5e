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
from mpbert.foundation.ragged import ranges
from mpbert.methods.checkpoint import Checkpoint, State
from mpbert.methods.method import Method
from mpbert.methods.training import Learner, Plan
from mpbert.methods.training import train as train_steps

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


def new_model(settings: Method, seed: int, kind: str = "Word2Vec", **more: int) -> "GensimWord2Vec":
    """Return an untrained model of gensim, with negative sampling.

    :param settings: ``dim``, ``window``, ``negatives``, ``min_count``, ``learning_rate`` and
        ``workers``.
    :param kind: Word2Vec, Mikolov et al. (NIPS 2013), or Doc2Vec; ``more`` are parameters of it.
    """
    import gensim.models  # a second, which --help need not wait for

    return getattr(gensim.models, kind)(
        vector_size=settings.dim,
        window=settings.window,
        negative=settings.negatives,
        min_count=settings.min_count,
        alpha=settings.learning_rate,
        seed=seed,
        workers=settings.workers,
        **more,
    )


def train(
    model: "GensimWord2Vec",
    lines: Iterable[str],
    epochs: int,
    trim_rule: Callable[[str, int, int], int] | None = None,
    checkpoint: Checkpoint | None = None,
) -> None:
    """Train a model of gensim, its learning rate falling to ``model.min_alpha``.

    :param model: Word2Vec; or Doc2Vec, to which each piece of a line is a document.
    :param trim_rule: says which rare words are kept, see gensim.
    :param checkpoint: where a killed training goes on.
    :raises CorpusError: no word is frequent enough.
    """
    from gensim.models import Doc2Vec as GensimDoc2Vec
    from gensim.models.doc2vec import TaggedLineDocument

    with tempfile.TemporaryDirectory(prefix="mpbert-") as directory:
        path = Path(directory) / "text"
        with path.open("w", encoding="utf-8") as file:
            for line in lines:
                file.writelines(" ".join(piece) + "\n" for piece in pieces(line.split()))
        is_doc2vec = isinstance(model, GensimDoc2Vec)
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
        train_steps(_GensimLearner(model, text, epochs), checkpoint)


class _GensimLearner(Learner):
    """An epoch a step; gensim tells no loss."""

    def __init__(self, model: "GensimWord2Vec", text: dict[str, object], epochs: int) -> None:
        self._model, self._text = model, text
        self.plan = Plan(type(model).__name__.lower(), epochs)
        self._rates = np.linspace(model.alpha, model.min_alpha, epochs + 1)

    def step(self, number: int) -> Iterator[float]:
        """Read the text once."""
        self._model.train(
            **self._text,
            total_words=self._model.corpus_total_words,
            epochs=1,
            start_alpha=self._rates[number],
            end_alpha=self._rates[number + 1],
        )
        return iter(())

    def _matrices(self) -> dict[str, np.ndarray]:
        found = {"words": self._model.wv.vectors, "outputs": self._model.syn1neg}
        documents = getattr(self._model, "dv", None)
        return found if documents is None else {**found, "documents": documents.vectors}

    def state(self) -> State:
        """Return the vectors and the state of the generator."""
        _, keys, place, has_gauss, gauss = self._model.random.get_state()
        arrays = {**self._matrices(), "random": keys}
        return State(arrays, {"random": [place, has_gauss, gauss]})

    def restore(self, state: State) -> None:
        """Put back what :meth:`state` returned."""
        for name, matrix in self._matrices().items():
            matrix[:] = state.arrays[name]
        keys = state.arrays["random"]
        self._model.random.set_state(("MT19937", keys, *state.values["random"]))
