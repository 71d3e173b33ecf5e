"""The arrays that are looked up at a question, worked out once from the tables of an index.

They lie in temporary files and are mapped, so that memory does not grow with them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mpbert.corpus.cocitation import cocited
from mpbert.corpus.vocabulary import Vocabulary
from mpbert.corpus.word_counts import Texts, WordCounts, mapped_counts, summed
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.growing_arrays import Numbers, release
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of, row_numbers
from mpbert.foundation.transposing import Run, merged
from mpbert.methods.lexical import bm25, tfidf
from mpbert.recommending.columns import TextColumn
from mpbert.recommending.lookup import TIMES, ContextWords, FieldWords, Lookup, Postings
from mpbert.recommending.tables import IndexTables

_ALONE = 1, 1  # as lookup.TIMES, without bodies
_WITH_BODIES = {"k1": 16.0, "b": 0.5}  # settings of BM25, those of the row bm25_fields
_CITING_WEIGHT = 3  # a citing sentence beside its neighbours, as in a question
_CONTEXTS = 1 << 14  # contexts that are weighed at once


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
        """Count them.

        :raises CorpusError: there is no word at all.
        """
        stems = Vocabulary()
        papers, contexts, bodies = tables.papers, tables.contexts, tables.bodies
        found = cls(
            tables,
            _counted("titles", papers["title"], stems),
            _counted("abstracts", papers["abstract"], stems),
            _counted("citing sentences", contexts["text"], stems),
            None if bodies is None else _counted("bodies", bodies["body"], stems),
            stems,
        )
        if not len(stems):
            raise CorpusError("the papers of the index hold no word; expected titles, add some")
        return found

    @cached_property
    def citing_contexts(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (N + 1,) offsets and the contexts that cite each paper."""
        offsets, cited = self.tables.cited()
        order = np.argsort(cited, kind="stable")
        sizes = np.bincount(cited, minlength=self.tables.papers.num_rows)
        return offsets_of(sizes), row_numbers(np.diff(offsets))[order].astype(np.int32)

    def about(self, times: int) -> list[Texts]:
        """Return titles and abstracts, which count so often."""
        return [Texts.of_each(counts, times) for counts in (self.titles, self.abstracts)]

    def cited_in(self, times: int) -> Texts:
        """Return the sentences that cite each paper, which count so often."""
        return Texts(self.citing, *self.citing_contexts, times)

    @cached_property
    def stems(self) -> list[str]:
        """Return (V,) all stems, in the order in which an index has them: that of their letters."""
        return sorted(self.vocabulary.words())

    @cached_property
    def numbers(self) -> np.ndarray:
        """Return (V,) the place of each stem of ``vocabulary`` among ``stems``."""
        place_of = {stem: place for place, stem in enumerate(self.stems)}
        return np.fromiter(map(place_of.__getitem__, self.vocabulary.words()), np.int64)

    def postings(self, parts: list[Texts], **settings: float) -> Postings:
        """Return what each word weighs in the score of each paper, or context, with these texts.

        :param settings: of BM25.
        """
        lengths = np.zeros(len(parts[0].offsets) - 1, dtype=np.int64)
        runs = _measured(summed(parts, self.numbers), lengths)
        offsets, papers, counts = merged(runs, len(self.stems), np.dtype(np.int32))
        weights = bm25.weigh(offsets, papers, counts, lengths, **settings)
        return Postings(offsets, papers, _mapped(weights, papers, counts))

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


def _measured(runs: Iterable[Run], lengths: np.ndarray) -> Iterator[Run]:
    """Yield runs, and add to (N,) lengths the words of each paper."""
    for words, papers, counts in runs:
        if len(papers):
            first = papers.min()
            sums = np.bincount(papers - first, counts).astype(np.int64)
            lengths[first : first + len(sums)] += sums
        yield words, papers, counts


def _mapped(blocks: Iterable[np.ndarray], *read: np.ndarray) -> np.ndarray:
    """Return blocks as one array, mapped; what was read for each is given back."""
    numbers = Numbers(np.float32)
    for block in blocks:
        numbers.extend(block)
        for array in read:
            release(array)
    return numbers.array()


def build_lookup(words: CountedWords) -> Lookup:
    """Return the arrays that any index has."""
    tables, bodies = words.tables, words.bodies
    about, citing = _ALONE if bodies is None else TIMES
    parts = [*words.about(about), words.cited_in(citing)]
    parts += [] if bodies is None else [Texts.of_each(bodies, 1)]
    postings = words.postings(parts, **({} if bodies is None else _WITH_BODIES))
    return Lookup(
        *(postings.offsets, postings.papers, postings.weights),
        *(*words.citing_contexts, *words.bags()),
        *cocited(*tables.cited(), tables.papers.num_rows),
    )


def build_field_words(words: CountedWords) -> FieldWords:
    """Return the words of fields apart."""
    fields = words.about(1), [words.cited_in(1)]
    abstract, citing = (words.postings(parts) for parts in fields)
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
    found = words.postings(parts)
    return ContextWords(found.offsets, found.papers, found.weights)


def _counted(name: str, texts: TextColumn, vocabulary: Vocabulary) -> WordCounts:
    return mapped_counts(progress(texts.blocks(), f"words of {name}", "block"), vocabulary)
