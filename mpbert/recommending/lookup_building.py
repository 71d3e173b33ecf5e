"""The arrays that are looked up at a question, worked out once from the tables of an index.

They lie in temporary files and are mapped, so that memory does not grow with them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mpbert.corpus.cocitation import cocited
from mpbert.corpus.vocabulary import Vocabulary
from mpbert.corpus.word_counts import Texts, WordCounts, mapped_counts, summed
from mpbert.foundation.growing_arrays import Lazy, Numbers, blocks, mapped
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of, row_numbers
from mpbert.foundation.transposing import Run, merged
from mpbert.methods.lexical import bm25_formulas, tfidf
from mpbert.recommending.columns import TextColumn
from mpbert.recommending.lookup import TIMES, ContextWords, FieldWords, Lookup, Postings
from mpbert.recommending.tables import IndexTables

_ALONE = 1, 1  # as lookup.TIMES, without bodies
_WITH_BODIES = {"k1": 16.0, "b": 0.5}  # settings of BM25, those of the row bm25_fields
_CITING_WEIGHT = 3  # a citing sentence beside its neighbours, as in a question
_CONTEXTS = 1 << 14  # contexts that are weighed at once
MOST_TIMES = np.iinfo(np.uint16).max  # that an index tells


@dataclass(frozen=True)
class CountedWords:
    """The words of the texts of an index; same tables, same bytes.

    :param citing: of the sentences that cite, each once.
    :param vocabulary: their stems, in the order in which they came.
    """

    tables: IndexTables
    titles: WordCounts
    abstracts: WordCounts
    citing: WordCounts
    bodies: WordCounts | None
    vocabulary: Vocabulary

    @classmethod
    def of(cls, tables: IndexTables) -> "CountedWords":
        """Count them."""
        stems = Vocabulary()
        papers, contexts, bodies = tables.papers, tables.contexts, tables.bodies
        return cls(
            tables,
            _counted("titles", papers["title"], stems),
            _counted("abstracts", papers["abstract"], stems),
            _counted("citing sentences", contexts["text"], stems),
            None if bodies is None else _counted("bodies", bodies["body"], stems),
            stems,
        )

    @classmethod
    def of_contexts(cls, tables: IndexTables, stems: TextColumn) -> "CountedWords":
        """Count those of the sentences that cite alone, whose stems are among these, in order."""
        known, nothing = Vocabulary(stems, grows=False), mapped_counts((), Vocabulary())
        citing = _counted("citing sentences", tables.contexts["text"], known)
        return cls(tables, nothing, nothing, citing, None, known)

    def about(self, times: int) -> list[Texts]:
        """Return titles and abstracts, which count so often."""
        return [Texts.of_each(counts, times) for counts in (self.titles, self.abstracts)]

    def cited_in(self, times: int) -> Texts:
        """Return the sentences that cite each paper, which count so often."""
        return Texts(self.citing, *citing_contexts(self.tables), times)

    def of_papers(self) -> "Held":
        """Return the papers by all that is searched."""
        about, citing = _ALONE if self.bodies is None else TIMES
        parts = [*self.about(about), self.cited_in(citing)]
        return self.held(parts + ([] if self.bodies is None else [Texts.of_each(self.bodies, 1)]))

    @cached_property
    def stems(self) -> list[str]:
        """Return (V,) all stems, in the order in which an index has them: that of their letters."""
        return sorted(self.vocabulary.words())

    @cached_property
    def numbers(self) -> np.ndarray:
        """Return (V,) the place of each stem of ``vocabulary`` among ``stems``."""
        place_of = {stem: place for place, stem in enumerate(self.stems)}
        return np.fromiter(map(place_of.__getitem__, self.vocabulary.words()), np.int64)

    def held(self, parts: list[Texts]) -> "Held":
        """Return the papers, or contexts, that hold each word in these texts."""
        lengths = np.zeros(len(parts[0].offsets) - 1, dtype=np.int64)
        runs = _measured(summed(parts, self.numbers), lengths)
        return Held(*merged(runs, len(self.stems), np.dtype(np.int32)), lengths)

    def bags(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return (C + 1,) offsets, stems and weights of each context, and (V,) idf of the stems."""
        held, num_stems = self.citing, len(self.stems)
        idf = np.ones(num_stems)
        if len(held):
            holding = np.bincount(held.words, minlength=num_stems)
            idf[self.numbers] = tfidf.idf(holding, len(held))
        words, weights = Numbers(np.int32), Numbers(np.float32)
        for first in range(0, len(held), _CONTEXTS):
            offsets = held.offsets[first : first + _CONTEXTS + 1]
            part = slice(offsets[0], offsets[-1])
            numbers = self.numbers[held.words[part]]
            order = np.argsort((row_numbers(np.diff(offsets)) << 32) + numbers)
            numbers = numbers[order]
            words.extend(numbers)
            weights.extend(
                tfidf.weigh(offsets - offsets[0], numbers, held.counts[part][order], idf)
            )
        return held.offsets, words.array(), weights.array(), idf.astype(np.float32)


@dataclass(frozen=True)
class Held:
    """Papers by word, and how often each holds it.

    :param offsets: (V + 1,) word w is in ``papers[offsets[w]:offsets[w + 1]]``, ``counts`` beside.
    :param lengths: (N,) words of each paper.
    """

    offsets: np.ndarray
    papers: np.ndarray | Lazy
    counts: np.ndarray | Lazy
    lengths: np.ndarray

    def weighed(self, **settings: float) -> Postings:
        """Return what each word weighs in the score of each paper.

        :param settings: of BM25.
        """
        held = self.offsets, self.papers, self.counts
        weigh = bm25_formulas.weigher(*held, self.lengths, **settings)
        weights = Lazy((len(self.papers),), np.float32, weigh, held[1:])
        if not isinstance(self.papers, Lazy):
            weights = mapped(weights)
        return Postings(self.offsets, self.papers, weights)

    def times(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return counts and lengths in few bytes; None where these do not hold them."""
        counts = self.counts
        if counts.dtype != np.uint16:
            if any(block.max() > MOST_TIMES for block in blocks(counts)):
                return None, None
            few = Lazy(counts.shape, np.uint16, lambda a, b: counts[a:b], (counts,))
            counts = mapped(few)
        return counts, self.lengths.astype(np.int32)


def _measured(runs: Iterable[Run], lengths: np.ndarray) -> Iterator[Run]:
    """Yield runs, and add to (N,) lengths the words of each paper."""
    for words, papers, counts in runs:
        if len(papers):
            first = papers.min()
            sums = np.bincount(papers - first, counts).astype(np.int64)
            lengths[first : first + len(sums)] += sums
        yield words, papers, counts


def build_lookup(words: CountedWords) -> Lookup:
    """Return the arrays that any index has."""
    return lookup_of(words.tables, words.of_papers(), words.bags())


def lookup_of(tables: IndexTables, held: Held, bags: Sequence[np.ndarray]) -> Lookup:
    """Return the arrays of an index.

    :param held: papers by all that is searched; ``bags`` as :meth:`CountedWords.bags` gives them.
    """
    postings = held.weighed(**({} if tables.bodies is None else _WITH_BODIES))
    return Lookup(
        *(postings.offsets, postings.papers, postings.weights),
        *(*citing_contexts(tables), *bags),
        *cocited(*tables.cited(), tables.papers.num_rows),
        *held.times(),
    )


def citing_contexts(tables: IndexTables) -> tuple[np.ndarray, np.ndarray]:
    """Return (N + 1,) offsets and the contexts that cite each paper."""
    offsets, cited = tables.cited()
    order = np.argsort(cited, kind="stable")
    sizes = np.bincount(cited, minlength=tables.papers.num_rows)
    return offsets_of(sizes), row_numbers(np.diff(offsets))[order].astype(np.int32)


def build_field_words(words: CountedWords) -> FieldWords:
    """Return the words of fields apart."""
    fields = words.about(1), [words.cited_in(1)]
    abstract, citing = (words.held(parts).weighed() for parts in fields)
    return FieldWords(
        *(abstract.offsets, abstract.papers, abstract.weights),
        *(citing.offsets, citing.papers, citing.weights),
    )


def build_context_words(words: CountedWords) -> ContextWords:
    """Return the contexts by their words.

    Words weigh what they do in :class:`mpbert.methods.lexical.bm25_contexts.Bm25Contexts`.
    """
    known = Vocabulary(words.vocabulary.words(), grows=False)
    around = _counted("their neighbours", words.tables.contexts["around"], known)
    parts = [Texts.of_each(words.citing, _CITING_WEIGHT), Texts.of_each(around, 1)]
    found = words.held(parts).weighed()
    return ContextWords(found.offsets, found.papers, found.weights)


def _counted(name: str, texts: TextColumn, vocabulary: Vocabulary) -> WordCounts:
    return mapped_counts(progress(texts.blocks(), f"words of {name}", "block"), vocabulary)
