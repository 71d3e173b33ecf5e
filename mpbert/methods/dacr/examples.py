"""What DACR reads of a citation context: its words, its section, and the manuscript's citations."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from mpbert.corpus.bags import known_words
from mpbert.corpus.store import Contexts, CorpusStore
from mpbert.corpus.text import words
from mpbert.foundation.ragged import row_numbers
from mpbert.foundation.ragged_rows import Ragged

ABSTRACT, OTHER = 0, 1  # kinds of section; the commonest headings follow


@dataclass(frozen=True)
class DacrExamples:
    """Citation contexts as numbers.

    :param words: (Q,) rows in the vocabulary, unknown words are left out; the last item of each
        context is its kind of section, counted on from the vocabulary.
    :param known: (Q,) rows of the papers that the manuscript cites elsewhere.
    """

    words: Ragged
    known: Ragged

    def __len__(self) -> int:
        return len(self.words)

    def take(self, rows: np.ndarray) -> "DacrExamples":
        """Return these contexts."""
        return DacrExamples(self.words.take(rows), self.known.take(rows))

    def without_known(self) -> "DacrExamples":
        """Return the contexts of manuscripts of which no other citation is known."""
        return replace(self, known=self.known.where(np.zeros(len(self.known.items), dtype=bool)))

    def thinned(
        self, word_dropout: float, known_dropout: float, rng: np.random.Generator
    ) -> "DacrExamples":
        """Return the contexts without a share of their words, some without known citations."""
        kept_words = rng.random(len(self.words.items)) >= word_dropout
        kept_known = rng.random(len(self)) >= known_dropout
        return DacrExamples(
            self.words.where(kept_words),
            self.known.where(np.repeat(kept_known, self.known.lengths)),
        )


def read_examples(
    store: CorpusStore, contexts: Contexts, vocabulary: pa.Array, headings: list[str]
) -> DacrExamples:
    """Return contexts as numbers.

    :param vocabulary: (V,) known words.
    :param headings: headings that are kinds of section of their own, see :func:`common_headings`.
    """
    kinds = {heading: OTHER + 1 + kind for kind, heading in enumerate(headings)}
    names = section_names(store, contexts)
    sections = [ABSTRACT if name is None else kinds.get(name, OTHER) for name in names]
    known = known_words(pa.array(store.local_texts(contexts), pa.large_string()), vocabulary)
    return DacrExamples(
        words=Ragged(
            np.insert(known.items, known.offsets[1:], len(vocabulary) + np.array(sections, int)),
            known.offsets + np.arange(len(known.offsets)),
        ),
        known=known_citations(contexts, store.num_papers),
    )


def known_citations(contexts: Contexts, num_papers: int) -> Ragged:
    """Return, for each context, the papers that other contexts of its manuscript cite.

    Whatever the context itself cites is left out, even where the manuscript cites it once more:
    it is what has to be found.
    """
    lengths = np.diff(contexts.cited_offsets)
    manuscripts, numbers = np.unique(contexts.citing_rows, return_inverse=True)
    pairs = np.unique(np.repeat(numbers, lengths) * num_papers + contexts.cited_rows)
    per_manuscript = np.bincount(pairs // num_papers, minlength=len(manuscripts))
    cited = Ragged.of_lengths(pairs % num_papers, per_manuscript).take(numbers)
    gold = row_numbers(lengths) * num_papers + contexts.cited_rows
    keys = row_numbers(cited.lengths) * num_papers + cited.items
    return cited.where(~np.isin(keys, gold))


def common_headings(store: CorpusStore, contexts: Contexts, limit: int) -> list[str]:
    """Return the headings above most of these contexts, commonest first."""
    names = [name for name in section_names(store, contexts) if name]
    found, counts = np.unique(np.array(names, dtype=object), return_counts=True)
    return found[np.argsort(-counts, kind="stable")[:limit]].tolist()


def section_names(store: CorpusStore, contexts: Contexts) -> list[str | None]:
    """Return the heading above each context, lower-case and without numbers; None: the abstract."""
    sentences = store.sentence_offsets[contexts.citing_rows] + contexts.positions
    sections = store.sentence_sections[sentences]
    names: dict[int, list[str | None]] = {
        row: [None, *map(_normalised, store.headings(row))]
        for row in np.unique(contexts.citing_rows).tolist()
    }
    pairs = zip(contexts.citing_rows.tolist(), sections.tolist(), strict=True)
    return [names[row][section] for row, section in pairs]


def _normalised(heading: str) -> str:
    return " ".join(word for word in words(heading) if not word.isdigit())
