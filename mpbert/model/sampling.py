"""Dynamic context sampling of MP-BERT4CR: Zhang & Ma (WI-IAT 2021), Sec. 4.1.1.

A manuscript is read as its fundamental context (citing sentence, the one before, the one after)
and a random supplement from what stands before; a cited paper as its abstract and a random
supplement from its body. Ours, and not the paper's: a manuscript may also be read with its first
sentences, and a paper with a random supplement of training sentences that cite it. All functions
work on whole batches, return sentence numbers of the corpus in reading order, and draw by keys that
depend only on (seed, visit, item, sentence), so an item is read afresh at each visit and yet the
same in any batch.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpbert.foundation.ragged import offsets_of, ranges, row_numbers, smallest_per_row
from mpbert.foundation.seeding import hashed_uniform
from mpbert.model.config import ROLES, ReadingConfig

if TYPE_CHECKING:  # what an index asks without
    from mpbert.corpus.binary import BinaryContexts

BODY, ABSTRACT, NEIGHBOUR, CITING = range(len(ROLES))


class SampledSentences(NamedTuple):
    """Sentences of a batch.

    :param sentences: (S,) sentence numbers of the corpus, item after item, in reading order.
    :param per_item: (B,) how many each item has; at least 1.
    :param roles: (S,) place in ``ROLES`` of what each sentence is read as.
    """

    sentences: np.ndarray
    per_item: np.ndarray
    roles: np.ndarray


class CitingSentences(NamedTuple):
    """The known sentences that cite each paper.

    :param offsets: (N + 1,) paper r is cited by ``sentences[offsets[r]:offsets[r + 1]]``.
    :param citing_rows: (M,) the papers that these sentences are of.
    """

    offsets: np.ndarray
    sentences: np.ndarray
    citing_rows: np.ndarray

    @classmethod
    def of(cls, known: "BinaryContexts", num_papers: int) -> "CitingSentences":
        """Gather them from contexts: in training those of the training split."""
        contexts = row_numbers(np.diff(known.cited_offsets))
        order = np.argsort(known.cited_rows, kind="stable")
        counts = np.bincount(known.cited_rows, minlength=num_papers)
        contexts = contexts[order]
        return cls(offsets_of(counts), known.sentences[contexts], known.citing_rows[contexts])

    def candidates(
        self, rows: np.ndarray, unread: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the sentences that cite these papers, paper after paper, and (B,) how many.

        :param unread: rows of papers whose sentences are left out: the manuscripts that are trained
            on together with these papers, which would give their citations away.
        """
        lengths = np.diff(self.offsets)[rows]
        places = ranges(self.offsets[rows], lengths)
        if unread is None:
            return self.sentences[places], lengths
        kept = ~np.isin(self.citing_rows[places], unread)
        counts = np.bincount(row_numbers(lengths)[kept], minlength=len(rows))
        return self.sentences[places[kept]], counts


def sample_manuscripts(
    first: np.ndarray,
    citing: np.ndarray,
    last: np.ndarray,
    items: np.ndarray,
    config: ReadingConfig,
    seed: int,
    visit: int | np.ndarray,
) -> SampledSentences:
    """Read each manuscript around a citation, and what stands before it.

    The neighbours exist unless the citation stands first or last; a manuscript with less text
    before the citation is read whole. What comes after the fundamental context is never read.

    :param first: (B,) first sentence of each citing paper.
    :param citing: (B,) sentence with the citation.
    :param last: (B,) last sentence of each citing paper.
    :param items: (B,) number of each query, the key of its random draw.
    :param visit: epoch in training, number of the reading at test time; (B,), or one for all.
    """
    start, end = np.maximum(citing - 1, first), np.minimum(citing + 1, last)
    fundamental = end - start + 1
    known = np.minimum(config.manuscript_abstract, start - first)  # never what comes after
    limits = np.maximum(config.manuscript_sentences - fundamental, 0)
    before = start - first - known
    supplement = _draw(
        first + known, before, limits, items, config.dynamic, seed, visit, nearest_end=True
    )
    near = ranges(start, fundamental)
    roles = np.where(near == np.repeat(citing, fundamental), CITING, NEIGHBOUR)
    return _join(
        _Part(ranges(first, known), known, ABSTRACT),
        _Part(*supplement, BODY),
        _Part(near, fundamental, roles),
    )


def sample_papers(
    first: np.ndarray,
    num_abstract: np.ndarray,
    num_sentences: np.ndarray,
    rows: np.ndarray,
    config: ReadingConfig,
    seed: int,
    visit: int,
    citing: tuple[np.ndarray, np.ndarray] | None = None,
) -> SampledSentences:
    """Read each paper's title and abstract, and random sentences of its body and that cite it.

    :param first: (B,) first sentence of each paper; ``num_abstract`` (B,) sentences of title and
        abstract; ``num_sentences`` (B,) of the whole paper.
    :param rows: (B,) number of each paper, the key of its random draw.
    :param visit: epoch in training, number of the reading at test time.
    :param citing: :meth:`CitingSentences.candidates` of these papers, if any are to be read.
    """
    fundamental = np.minimum(num_abstract, config.abstract_sentences)
    body = _draw(
        first + num_abstract,
        num_sentences - num_abstract,
        np.full(len(rows), config.body_sentences),
        rows,
        config.dynamic,
        seed,
        visit,
        nearest_end=False,
    )
    parts = [_Part(ranges(first, fundamental), fundamental, ABSTRACT), _Part(*body, BODY)]
    if citing is not None:
        sentences, counts = citing
        owner = np.repeat(rows, counts)
        when = visit if config.dynamic else 0
        keys = hashed_uniform(seed, "citing sentences", when, owner, sentences)
        limits = np.full(len(rows), config.citing_sentences)
        taken = smallest_per_row(keys, counts, limits)
        parts.append(_Part(sentences[taken], np.minimum(counts, limits), CITING, of_others=True))
    return _join(*parts)


def _draw(
    start: np.ndarray,
    lengths: np.ndarray,
    limits: np.ndarray,
    items: np.ndarray,
    dynamic: bool,
    seed: int,
    visit: int | np.ndarray,
    nearest_end: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return sentences drawn without replacement from each range, and how many of each."""
    candidates = ranges(start, lengths)
    if dynamic:
        if isinstance(visit, np.ndarray):
            visit = np.repeat(visit, lengths)
        keys = hashed_uniform(seed, "sentences", visit, np.repeat(items, lengths), candidates)
    else:
        keys = -candidates if nearest_end else candidates
    taken = smallest_per_row(keys, lengths, limits)
    return candidates[taken], np.minimum(lengths, limits)


class _Part(NamedTuple):
    """Sentences of a batch that are read as one thing.

    :param sentences: item after item; ``counts`` (B,) of each item.
    :param roles: of all, or of each.
    :param of_others: whether they stand in other papers, and so are read last.
    """

    sentences: np.ndarray
    counts: np.ndarray
    roles: np.ndarray | int
    of_others: bool = False


def _join(*parts: _Part) -> SampledSentences:
    """Merge in reading order: numbers ascend within a paper; those that cite it come last."""
    sentences = np.concatenate([part.sentences for part in parts])
    owner = np.concatenate([row_numbers(part.counts) for part in parts])
    roles = np.concatenate([np.broadcast_to(part.roles, part.sentences.shape) for part in parts])
    of_others = np.concatenate([np.full(len(part.sentences), part.of_others) for part in parts])
    order = np.lexsort((sentences, of_others, owner))
    per_item = np.sum([part.counts for part in parts], axis=0)
    return SampledSentences(sentences[order], per_item, roles[order])
