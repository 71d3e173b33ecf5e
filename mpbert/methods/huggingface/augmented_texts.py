"""Contexts, and abstracts that contexts augment, as rows of tokens.

    query    [CLS] fundamental context [SEP]
    paper    [CLS] title [SEP] abstract [SEP] context that cites it [SEP] ...

Title and abstract are parted as SPECTER does (Cohan et al., ACL 2020, Sec. 2.2). A tokenizer that
has no such tokens goes without.
"""

from collections.abc import Sequence

import numpy as np

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.ragged import row_numbers, smallest_per_row
from mpbert.foundation.ragged_rows import Ragged, joined
from mpbert.methods.training_contexts import TrainingContexts
from mpbert.pretrained.texts import TextLayout, Tokenize, joined_abstracts


class AugmentedTexts:
    """Papers and training contexts of a corpus, tokenised once, joined for each batch anew.

    :param tokenize: the tokenizer.
    """

    def __init__(self, store: CorpusStore, tokenize: Tokenize, layout: TextLayout) -> None:
        self._layout, self._tokenize = layout, tokenize
        self.training = store.contexts("train")
        self._contexts = self._context_part(store.local_texts(self.training))
        titles = tokenize(store.titles, layout.paper_tokens)
        abstracts = tokenize(joined_abstracts(store), layout.paper_tokens)
        both = joined(layout.ended(titles), abstracts).cut(layout.paper_tokens)
        self._papers = layout.ended(both)
        self._citing = TrainingContexts(store)
        self.num_citing = self._citing.counts

    def queries(self, items: np.ndarray) -> Ragged:
        """Return the rows of training contexts."""
        return self._layout.rows(self._contexts.take(items))

    def papers_alone(self, rows: np.ndarray) -> Ragged:
        """Return the rows of titles and abstracts."""
        return self._layout.rows(self._papers.take(rows))

    def papers(
        self,
        rows: np.ndarray,
        num_contexts: int,
        rng: np.random.Generator,
        without: np.ndarray | None = None,
    ) -> Ragged:
        """Return the rows of papers, each with some random training contexts that cite it.

        :param num_contexts: how many; fewer where there are not so many.
        :param without: rows of citing papers of which no context may be read.
        """
        contexts, counts = self.sample(rows, num_contexts, rng, without)
        parts = self._papers.take(rows), self._contexts.take(contexts).merged(counts)
        return self._layout.rows(*parts)

    def sample(
        self,
        rows: np.ndarray,
        num_contexts: int,
        rng: np.random.Generator,
        without: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers of training contexts that cite the papers, and how many of each."""
        places, counts = self._citing.of(rows)
        contexts = self._citing.contexts[places]
        if without is not None:
            keep = ~np.isin(self.training.citing_rows[contexts], without)
            counts = np.bincount(row_numbers(counts)[keep], minlength=len(rows))
            contexts = contexts[keep]
        limits = np.minimum(counts, num_contexts)
        return contexts[smallest_per_row(rng.random(len(contexts)), counts, limits)], limits

    def _context_part(self, texts: Sequence[str]) -> Ragged:
        return self._layout.ended(self._tokenize(texts, self._layout.context_tokens))
