"""How a text is read: the one place that says it, for training, embedding and recommending.

A *reading* is one random sample of the sentences of a text. Where a configuration is not dynamic,
all readings of a text are the same.
"""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from mpbert.model.config import ReadingConfig
from mpbert.model.sampling import (
    CitingSentences,
    SampledSentences,
    sample_manuscripts,
    sample_papers,
)

if TYPE_CHECKING:  # what an index asks without
    from mpbert.corpus.binary import BinaryContexts, BinaryCorpus


class Reading:
    """Reads manuscripts and papers as an encoder was trained to read them.

    :param config: how many sentences of which part are read.
    :param seed: of all readings: the same item is read the same at the same visit.
    """

    def __init__(self, config: ReadingConfig, seed: int) -> None:
        self.config, self.seed = config, seed

    def nearest(self) -> "Reading":
        """Return a reading of the same sizes that takes what stands nearest to the citation."""
        return Reading(dataclasses.replace(self.config, dynamic=False), self.seed)

    def manuscripts(
        self,
        first: np.ndarray,
        citing: np.ndarray,
        last: np.ndarray,
        items: np.ndarray,
        visit: int | np.ndarray,
    ) -> SampledSentences:
        """Read manuscripts around a citation, see ``sampling.sample_manuscripts``.

        :param first: (B,) first sentence of each; ``citing`` (B,) that which cites; ``last`` (B,).
        :param items: (B,) number of each, the key of its reading.
        :param visit: epoch in training, number of the reading at test time; (B,), or one for all.
        """
        return sample_manuscripts(first, citing, last, items, self.config, self.seed, visit)

    def papers(
        self,
        first: np.ndarray,
        num_abstract: np.ndarray,
        num_sentences: np.ndarray,
        items: np.ndarray,
        visit: int,
        citing: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> SampledSentences:
        """Read papers that may be cited, see ``sampling.sample_papers``.

        :param first: (B,) first sentence of each; ``num_abstract`` (B,) sentences of its title and
            abstract; ``num_sentences`` (B,) of all of it.
        :param citing: sentences that cite them, one paper's after another's, and (B,) how many.
        """
        return sample_papers(
            first, num_abstract, num_sentences, items, self.config, self.seed, visit, citing
        )

    def contexts_of(
        self,
        corpus: "BinaryCorpus",
        contexts: "BinaryContexts",
        chosen: np.ndarray,
        visit: int,
        items: np.ndarray | None = None,
    ) -> SampledSentences:
        """Read the manuscripts of some contexts of a corpus.

        :param chosen: (B,) numbers of the contexts.
        :param items: (B,) keys; None: the citing sentences, which are the same in whatever split.
        """
        rows, citing = contexts.citing_rows[chosen], contexts.sentences[chosen]
        offsets = corpus.sentence_offsets
        keys = citing if items is None else items
        return self.manuscripts(offsets[rows], citing, offsets[rows + 1] - 1, keys, visit)

    def papers_of(
        self,
        corpus: "BinaryCorpus",
        rows: np.ndarray,
        visit: int,
        citing: CitingSentences,
        items: np.ndarray | None = None,
        unread: np.ndarray | None = None,
    ) -> SampledSentences:
        """Read some papers of a corpus, with the training sentences that cite them.

        :param rows: (B,) the papers.
        :param items: (B,) keys; None: the rows.
        :param unread: rows of papers whose sentences are left out, see
            :meth:`~mpbert.model.sampling.CitingSentences.candidates`.
        """
        offsets = corpus.sentence_offsets
        return self.papers(
            offsets[rows],
            corpus.num_abstract[rows],
            offsets[rows + 1] - offsets[rows],
            rows if items is None else items,
            visit,
            citing.candidates(rows, unread),
        )
