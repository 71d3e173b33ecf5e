"""Word vectors for networks: trained on the corpus, or one's own in the format of word2vec.

They stand in the place of pretrained ones, which are not to be had here: GloVe's vectors
(Pennington et al., EMNLP 2014) in HAtten, those of Citeomatic in DualLCR. Ours are Word2Vec's
(gensim), continuous bag of words with the window and the learning rate that served SIF, on the
sentences of the training papers. Their size matters to HAtten, since positions are added: with a
root mean square of 1 a dimension, recall on the validation split of the RFC corpus was better than
with 0.4 or 2. Vectors of one's own stay as they are.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import VectorsError
from mpbert.methods.checkpoint import Checkpoint, State
from mpbert.methods.gensim_training import sentence_lines, train
from mpbert.methods.method import Method

if TYPE_CHECKING:  # gensim takes a second to import, which --help need not wait for
    from gensim.models import KeyedVectors

_WINDOW, _LEARNING_RATE = 20, 0.05


def words_of(method: Method, store: CorpusStore, seed: int) -> tuple[pa.Array, np.ndarray]:
    """Return (V,) words and their (V, D) float32 vectors, of a file or trained as the settings say.

    :param method: whose settings are ``word_vectors``, a file of one's own, or ``dim``,
        ``word_epochs`` and ``min_count``; a killed run of it trains no word twice.
    """
    if method.word_vectors:
        return read_words(Path(method.word_vectors))
    checkpoint = method.checkpoint_of(store, seed, part="words")
    if checkpoint and (found := checkpoint.load()):
        return pa.array(found.values["words"], pa.large_string()), found.arrays["vectors"]
    epochs = method.checkpoint_of(store, seed, part="word-epochs")
    words, vectors = train_words(
        store, method.dim, method.word_epochs, method.min_count, seed, epochs
    )
    if checkpoint:
        checkpoint.save(State({"vectors": vectors}, {"words": words.to_pylist()}))
    return words, vectors


def train_words(
    store: CorpusStore,
    dim: int,
    epochs: int,
    min_count: int,
    seed: int,
    checkpoint: Checkpoint | None = None,
) -> tuple[pa.Array, np.ndarray]:
    """Return (V,) words and their (V, D) float32 vectors; one thread, so always the same.

    :param checkpoint: where a killed training goes on.
    :raises CorpusError: no word of the training papers occurs often enough.
    """
    from gensim.models import Word2Vec as GensimWord2Vec

    rates = {"window": _WINDOW, "alpha": _LEARNING_RATE}
    model = GensimWord2Vec(vector_size=dim, min_count=min_count, seed=seed, workers=1, **rates)
    train(model, sentence_lines(store), epochs, checkpoint=checkpoint)
    words, vectors = _arrays(model.wv)
    size = np.sqrt(np.mean(np.square(vectors, dtype=np.float64)))
    return words, vectors / np.float32(size)


def read_words(path: Path) -> tuple[pa.Array, np.ndarray]:
    """Return (V,) words and their (V, D) float32 vectors of a file.

    :param path: text in the format of word2vec, or of GloVe, which lacks the line of counts; or a
        folder that holds such a ``vectors.txt``, as ``export-vectors`` writes it.
    :raises VectorsError: it is none.
    """
    from gensim.models import KeyedVectors

    file = path / "vectors.txt" if path.is_dir() else path
    try:
        with file.open(encoding="utf-8") as lines:
            has_counts = len(lines.readline().split()) == 2
        found = KeyedVectors.load_word2vec_format(str(file), no_header=not has_counts)
    except (OSError, ValueError, EOFError) as error:
        raise VectorsError(
            f"{file}: unreadable ({' '.join(str(error).split())}); expected word vectors as text, "
            f"one word and its dimensions a line; mend word_vectors={path}, or leave it out"
        ) from error
    if not len(found) or not np.isfinite(found.vectors).all():
        raise VectorsError(
            f"{file}: found {len(found)} words, or dimensions that are not finite; expected word "
            f"vectors as text, one word and its dimensions a line"
        )
    return _arrays(found)


def _arrays(found: "KeyedVectors") -> tuple[pa.Array, np.ndarray]:
    return pa.array(found.index_to_key, pa.large_string()), found.vectors.astype(np.float32)
