"""Texts of a query and of a candidate as one row of tokens, joined for each batch anew.

    [CLS] query [SEP] title, abstract of the candidate [SEP]

* The *query* is a citation context, title and abstract of its paper, or these and then the context
  (HAtten's reranker: Gu, Gao and Hahnloser, ECIR 2022, Sec. 4.2). Of both, the context stays whole
  and title and abstract lose what is too much, as in that paper's code.
* The *candidate* may be followed by a few training sentences that cite it, none of the query's own
  paper or of a newer one. They get at most half of its tokens; title and abstract get the rest.
* A row that is still too long for the model loses tokens of its longer part (Nogueira, Jiang, Cho
  and Lin, 2020, Sec. 3).

Token types tell the second text from the first, as in BERT. They may also tell tokens that the
other text holds from those it lacks, which a model that was not pretrained can hardly learn: a cue
like the marks of MarkedBERT (Boualili, Moreno and Boughanem, SIGIR 2020), without more tokens.

Each text is tokenised once, not once per pair.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mpbert.corpus.store import CITING_FIRST, IN_ORDER, Contexts, CorpusStore, Queries
from mpbert.foundation.ragged import row_numbers, smallest_per_row
from mpbert.foundation.ragged_rows import Ragged, constant, joined, repeated
from mpbert.foundation.seeding import hashed_uniform
from mpbert.methods.training_contexts import TrainingContexts
from mpbert.pretrained.texts import Tokenize

_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class PairLayout:
    """How two texts become a row.

    :param before: special tokens before the query's text.
    :param between: special tokens between both.
    :param after: special tokens at the end.
    :param separator: token between the parts of a text, or None.
    :param query_tokens: most tokens of a query's text.
    :param paper_tokens: most tokens of a candidate's text.
    :param longest: most tokens of a row, special ones included.
    :param marked: whether token types tell which tokens stand in both texts.
    :param tokens_of: returns the token ids of rows that hold something else.
    """

    before: np.ndarray
    between: np.ndarray
    after: np.ndarray
    separator: int | None
    query_tokens: int
    paper_tokens: int
    longest: int
    marked: bool = False
    tokens_of: Callable[[Ragged], Ragged] = lambda rows: rows

    def rows(self, first: Ragged, second: Ragged) -> "Pairs":
        """Return the rows of (M,) texts of queries and (M,) texts of candidates."""
        special = len(self.before) + len(self.between) + len(self.after)
        limits = longest_first(first.lengths, second.lengths, self.longest - special)
        first, second = first.cut(limits[0]), second.cut(limits[1])
        parts = [self.before, first, self.between, second, self.after]
        parts = [p if isinstance(p, Ragged) else repeated(p, len(first)) for p in parts]
        types = [
            Ragged(np.full(len(part.items), text, dtype=np.int32), part.offsets)
            for part, text in zip(parts, (0, 0, 0, 1, 1), strict=True)
        ]
        if self.marked:
            of_both = shared(self.tokens_of(first), self.tokens_of(second))
            for place, is_shared in zip((1, 3), of_both, strict=True):
                types[place].items[is_shared] += 2
        return Pairs(joined(*parts), joined(*types))


@dataclass(frozen=True)
class Pairs:
    """Rows of two texts.

    :param rows: M rows of token ids.
    :param types: M rows of token types: 0 in the first text, 1 in the second; 2 more where the
        other text holds the token too, if that is marked.
    :param features: (M, F) of each pair, where the scorer reads some.
    """

    rows: Ragged
    types: Ragged
    features: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, items: np.ndarray) -> "Pairs":
        """Return some rows, in this order."""
        features = None if self.features is None else self.features[items]
        return Pairs(self.rows.take(items), self.types.take(items), features)


def shared(first: Ragged, second: Ragged) -> tuple[np.ndarray, np.ndarray]:
    """Return which tokens of each text stand in the other text of the same row, too."""
    size = int(max(first.items.max(initial=0), second.items.max(initial=0))) + 1
    one, two = (row_numbers(text.lengths) * size + text.items for text in (first, second))
    return np.isin(one, two), np.isin(two, one)


def longest_first(
    first: np.ndarray, second: np.ndarray, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return lengths after the longer of two texts has lost tokens until both have ``limit``.

    :param first: (M,) lengths of the first texts; ``second`` (M,) of the others.
    """
    kept = np.minimum(first, np.maximum(limit - second, (limit + 1) // 2))
    return kept, np.minimum(second, limit - kept)


class PairTexts:
    """Papers of a corpus, and training sentences that cite them, tokenised once.

    :param citing: most training sentences that stand behind a candidate's abstract.
    :param seed: of their choice.
    """

    def __init__(
        self, store: CorpusStore, tokenize: Tokenize, layout: PairLayout, citing: int, seed: int
    ) -> None:
        self._store, self._tokenize, self._layout = store, tokenize, layout
        self._citing, self._seed = citing, seed
        limit = max(layout.paper_tokens, layout.query_tokens)
        self._papers = tokenize(store.abstract_texts(np.arange(store.num_papers)), limit)
        if citing:
            self._read_citing_sentences()

    def _read_citing_sentences(self) -> None:
        training = self._store.contexts("train")
        rows = self._store.sentence_offsets[training.citing_rows] + training.positions
        each = max(self._layout.paper_tokens // (2 * self._citing) - 1, 1)
        sentences = self._tokenize(self._store.sentence_texts(rows), each)
        self._sentences = joined(constant(self._layout.separator, len(sentences)), sentences)
        self._citations = TrainingContexts(self._store)

    def queries(self, queries: Queries, query: str, begins: str = "context") -> Ragged:
        """Return (Q,) texts of queries; of manuscripts title and abstract.

        :param query: of contexts ``context``, ``abstract`` or ``context+abstract``.
        :param begins: ``sentence``: a context begins with the sentence that cites, so that this is
            not cut; ``context``: with the sentence before.
        """
        limit = self._layout.query_tokens
        if not isinstance(queries, Contexts) or query == "abstract":
            return self._papers.take(queries.citing_rows).cut(limit)
        order = CITING_FIRST if begins == "sentence" else IN_ORDER
        contexts = self._tokenize(self._store.local_texts(queries, order), limit)
        if query == "context":
            return contexts
        contexts = joined(constant(self._layout.separator, len(contexts)), contexts).cut(limit)
        return joined(
            self._papers.take(queries.citing_rows).cut(limit - contexts.lengths), contexts
        )

    def pairs(
        self, texts: Ragged, numbers: np.ndarray, own: np.ndarray, rows: np.ndarray, sample: int = 0
    ) -> Pairs:
        """Return the rows of M pairs.

        :param texts: of queries.
        :param numbers: (M,) the query of each pair among them.
        :param own: (M,) row of the query's own paper, none of whose sentences is read.
        :param rows: (M,) row of the candidate.
        :param sample: which sentences that cite a candidate are read; at test time always the same.
        """
        chosen, counts = _NONE, np.zeros(len(rows), np.int64)
        if self._citing:
            chosen, counts = self.citing_contexts(rows, own, sample)
        return self.with_sentences(texts.take(numbers), rows, chosen, counts)

    def with_sentences(
        self, texts: Ragged, rows: np.ndarray, chosen: np.ndarray, counts: np.ndarray
    ) -> Pairs:
        """Return the rows of M pairs.

        :param texts: (M,) of queries; ``rows`` (M,) of candidates.
        :param chosen: training contexts whose sentences follow, ``counts`` (M,) of each candidate.
        """
        limit = self._layout.paper_tokens
        if not len(chosen):
            return self._layout.rows(texts, self._papers.take(rows).cut(limit))
        sentences = self._sentences.take(chosen).merged(counts).cut(limit // 2)
        papers = self._papers.take(rows).cut(limit - sentences.lengths)
        return self._layout.rows(texts, joined(papers, sentences))

    def citing_contexts(
        self, rows: np.ndarray, own: np.ndarray, sample: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers of training contexts that cite each candidate, and (M,) how many.

        None is of the query's own paper, or of one that is newer.
        """
        places, counts = self._citations.known(rows, own)
        keys = hashed_uniform(self._seed, "citing sentences", sample, places)
        taken = smallest_per_row(keys, counts, self._citing)
        return self._citations.contexts[places[taken]], np.minimum(counts, self._citing)

    def known_contexts(self, rows: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers of all such contexts, and (M,) how many."""
        places, counts = self._citations.known(rows, own)
        return self._citations.contexts[places], counts
