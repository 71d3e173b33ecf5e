"""The words that stand for a paper, and those that stand for a citation context.

Fields of a paper, which are joined by ``+``; words of two fields are counted in both. A field may
count several times, as ``3*citing`` does:

* ``abstract``: title and abstract;
* ``text``: title, abstract and body;
* ``citing``: the training sentences that cite it, of which no word comes from a validation or test
  paper; the sentence alone, since its neighbours did worse on the validation splits.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mpbert.corpus.bags import count_matrix
from mpbert.corpus.queries import Contexts, Queries
from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers

if TYPE_CHECKING:  # to tell types
    from scipy import sparse

Texts = tuple[pa.Array, np.ndarray]  # (M,) texts, (M,) the paper of each, counted from the first
_BLOCK = 1 << 17  # texts counted at once: their words lie in memory one by one
_BYTES = 1 << 25  # of these texts


@dataclass(frozen=True)
class FieldTexts:
    """Texts of the papers of a corpus.

    :param sizes: (N,) texts of each paper.
    :param read: from a row up to another to the texts of these papers.
    """

    sizes: np.ndarray
    read: Callable[[int, int], Texts]


def titles(store: CorpusStore) -> FieldTexts:
    """Return all titles."""

    def read(first: int, last: int) -> Texts:
        return pa.array(store.titles[first:last], pa.large_string()), np.arange(last - first)

    return FieldTexts(np.ones(store.num_papers, dtype=np.int64), read)


def abstract_sentences(store: CorpusStore) -> FieldTexts:
    """Return all sentences of abstracts."""

    def read(first: int, last: int) -> Texts:
        lengths = store.num_abstract[first:last]
        sentence_rows = ranges(store.sentence_offsets[first:last], lengths)
        return store.sentences.take(pa.array(sentence_rows, pa.int64())), row_numbers(lengths)

    return FieldTexts(store.num_abstract, read)


def all_sentences(store: CorpusStore) -> FieldTexts:
    """Return all sentences of abstracts and bodies."""

    def read(first: int, last: int) -> Texts:
        offsets = store.sentence_offsets[first : last + 1]
        return store.sentences[offsets[0] : offsets[-1]], row_numbers(np.diff(offsets))

    return FieldTexts(np.diff(store.sentence_offsets), read)


def citing_sentences(store: CorpusStore) -> FieldTexts:
    """Return the known sentences that cite papers, once per cited paper."""
    contexts = store.contexts(*store.known)
    cited_rows = contexts.cited_rows
    sentence_rows = store.sentence_offsets[contexts.citing_rows] + contexts.positions
    once_per_cited = np.repeat(sentence_rows, np.diff(contexts.cited_offsets))
    by_paper = np.argsort(cited_rows, kind="stable")
    sizes = np.bincount(cited_rows, minlength=store.num_papers)
    ends = offsets_of(sizes)

    def read(first: int, last: int) -> Texts:
        places = np.sort(by_paper[ends[first] : ends[last]])  # as they stand in the corpus
        texts = store.sentences.take(pa.array(once_per_cited[places], pa.int64()))
        return texts, cited_rows[places] - first

    return FieldTexts(sizes, read)


FIELDS: dict[str, tuple[Callable[[CorpusStore], FieldTexts], ...]] = {
    "abstract": (titles, abstract_sentences),
    "citing": (citing_sentences,),
    "text": (titles, all_sentences),
}


def split_fields(fields: str) -> dict[str, int]:
    """Return the names of fields that ``+`` joins, and how often each counts.

    :raises ConfigError: one is unknown or stands twice, or counts less than once.
    """
    found: dict[str, int] = {}
    for part in fields.split("+"):
        times, star, name = part.rpartition("*")
        weight = int(times) if times.isdecimal() else int(not star)
        if name not in FIELDS or name in found or weight < 1:
            raise ConfigError(
                f"fields={fields}: found {part!r}{' twice' if name in found else ''}; expected "
                f"one or more of {', '.join(FIELDS)}, each once, with + between, such as "
                f"text+3*citing"
            )
        found[name] = weight
    return found


def paper_counts(
    store: CorpusStore, fields: str, vocabulary: pa.Array | None = None, stemmed: bool = False
) -> "tuple[sparse.csr_array, pa.Array]":
    """Return how often each paper holds each word in these fields.

    :param vocabulary: (V,) words to count, others are skipped; None for all words.
    :param stemmed: whether to count stems; a given vocabulary holds stems too.
    :returns: (N, V) int32 counts and the vocabulary.
    :raises ConfigError: a field is unknown or stands twice.
    :raises CorpusError: there is no word.
    """
    sources = (
        (name, *source.read(0, store.num_papers), weight)
        for name, source, weight in _sources(store, fields)
    )
    counts, vocabulary = sum_counts(sources, store.num_papers, vocabulary, stemmed)
    if not len(vocabulary):
        raise no_word(store, fields)
    return counts, vocabulary


def no_word(store: CorpusStore, fields: str) -> CorpusError:
    """Return the error of a corpus without a word in some fields."""
    return CorpusError(
        f"{store.path}: found no word in fields={fields}; expected some, choose other fields"
    )


def paper_blocks(
    store: CorpusStore, fields: str
) -> Iterator[tuple[int, "sparse.csr_array", pa.Array]]:
    """Yield the stems of papers, one block after another: memory holds those of one.

    :returns: the row of the first paper, (n, V) int32 counts of the stems of n papers, and the (V,)
        stems of the block.
    """
    found = _sources(store, fields)
    sizes = offsets_of(sum(source.sizes for _, source, _ in found))
    borders = np.searchsorted(sizes, np.arange(0, sizes[-1], _BLOCK))
    blocks = list(itertools.pairwise(np.unique([*borders, store.num_papers]).tolist()))
    for first, last in progress(blocks, "words on disk", "block"):
        sources = (("", *source.read(first, last), weight) for _, source, weight in found)
        yield first, *sum_counts(sources, last - first, stemmed=True)


def _sources(store: CorpusStore, fields: str) -> list[tuple[str, FieldTexts, int]]:
    """Return the name of each source of these fields, its texts, and how often it counts."""
    return [
        (source.__name__, source(store), weight)
        for name, weight in split_fields(fields).items()
        for source in FIELDS[name]
    ]


def sum_counts(
    sources: Iterable[tuple[str, pa.Array, np.ndarray, int]],
    num_papers: int,
    vocabulary: pa.Array | None = None,
    stemmed: bool = False,
) -> "tuple[sparse.csr_array, pa.Array]":
    """Return how often the texts of each paper, from all sources, hold each word.

    :param sources: (name, (M,) texts, (M,) row of the paper of each, how often they count); the
        name is that of the progress, and none is shown where it is empty.
    :param vocabulary: (V,) words to count, others are skipped; None for all words.
    :returns: (N, V) int32 counts and the vocabulary, which may be empty.
    """
    from scipy import sparse

    blocks = []  # rows of papers, columns among the block's own words, counts
    vocabularies = []
    for name, texts, papers, weight in sources:
        blocks_of_texts = _blocks(texts)
        if name:
            blocks_of_texts = progress(blocks_of_texts, f"words of {name}", "block")
        for block in blocks_of_texts:
            owners = papers[block]
            counts, words = count_matrix(texts[block], vocabulary, stemmed)
            blocks.append(weight * _sum_by_paper(counts, owners, num_papers))
            vocabularies.append(words)
    if not any(map(len, vocabularies)):
        nothing = pa.array([], pa.large_string())
        return sparse.csr_array((num_papers, 0), dtype=np.int32), nothing
    vocabulary = pc.unique(pa.concat_arrays(vocabularies))
    columns = [
        pc.index_in(words, value_set=vocabulary).to_numpy()[block.col]
        for words, block in zip(vocabularies, blocks, strict=True)
    ]
    places = np.concatenate([block.row for block in blocks]), np.concatenate(columns)
    counts = np.concatenate([block.data for block in blocks])
    return sparse.csr_array((counts, places), shape=(num_papers, len(vocabulary))), vocabulary


def _blocks(texts: pa.Array) -> list[slice]:
    """Return parts of the texts, each of a text or more."""
    ends = np.cumsum(pc.fill_null(pc.binary_length(texts), 0).to_numpy(zero_copy_only=False))
    starts = [0]
    while starts[-1] < len(texts):
        first = starts[-1]
        before = ends[first - 1] if first else 0
        fits = int(np.searchsorted(ends, before + _BYTES, side="right"))
        starts.append(min(max(fits, first + 1), first + _BLOCK, len(texts)))
    return [slice(start, end) for start, end in itertools.pairwise(starts)]


def _sum_by_paper(
    counts: "sparse.csr_array", papers: np.ndarray, num_papers: int
) -> "sparse.coo_array":
    from scipy import sparse

    ones = np.ones(len(papers), dtype=np.int32)
    owners = sparse.csr_array((ones, (papers, np.arange(len(papers)))), (num_papers, len(papers)))
    return (owners @ counts).tocoo()  # (N, V)


def plain_texts(store: CorpusStore, queries: Queries) -> list[str]:
    """Return (Q,) texts: the local text of a context, title and abstract of a manuscript."""
    if isinstance(queries, Contexts):
        return store.local_texts(queries)
    return store.abstract_texts(queries.citing_rows)


def query_texts(
    store: CorpusStore, queries: Queries, citing_weight: int, query: str = "context"
) -> list[str]:
    """Return (Q,) texts: what ``query`` names of contexts, title and abstract of manuscripts.

    :param citing_weight: how often the citing sentence stands beside its neighbours.
    :param query: ``context``, ``abstract`` of the citing paper, with its title, or both.
    """
    if not isinstance(queries, Contexts) or query == "abstract":
        return store.abstract_texts(queries.citing_rows)
    texts = _weighted_texts(store, queries, citing_weight)
    if query == "context":
        return texts
    rows, each = np.unique(queries.citing_rows, return_inverse=True)
    abstracts = store.abstract_texts(rows)
    return [f"{text} {abstracts[i]}" for text, i in zip(texts, each, strict=True)]


def _weighted_texts(store: CorpusStore, contexts: Contexts, citing_weight: int) -> list[str]:
    sentence_rows = store.sentence_offsets[contexts.citing_rows] + contexts.positions
    citing = store.sentence_texts(sentence_rows)
    local = store.local_texts(contexts)
    return [
        " ".join([text] + [one] * (citing_weight - 1))
        for text, one in zip(local, citing, strict=True)
    ]
