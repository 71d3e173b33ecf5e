"""How often texts hold tokens, by role of the sentence: what exact matches are made of.

Symbols: B papers or manuscripts, V vocabulary, R roles, M distinct tokens of all of them.
"""

import numpy as np
from scipy import sparse

from mpbert.corpus.binary import BinaryCorpus
from mpbert.corpus.special_tokens import SPECIAL_TOKENS
from mpbert.foundation.ragged import ranges, row_numbers
from mpbert.model.packing import NUM_ROLES, TokenCounts
from mpbert.model.sampling import ABSTRACT, BODY, CITING, CitingSentences

_BLOCK = 1024  # papers counted at once: their tokens lie in memory one by one


def count_tokens(
    tokens: np.ndarray,
    lengths: np.ndarray,
    per_item: np.ndarray,
    roles: np.ndarray,
    vocab_size: int,
) -> sparse.csr_array:
    """Return (B, V·R) counts: token t in sentences of role r stands in column t·R + r.

    Special tokens are left out.

    :param tokens: (N,) of all sentences, one after another; ``lengths`` (S,) of the sentences.
    :param per_item: (B,) sentences of each text; ``roles`` (S,) of the sentences.
    """
    columns = tokens.astype(np.int64) * NUM_ROLES + np.repeat(roles, lengths)
    owners = np.repeat(row_numbers(per_item), lengths)
    kept = tokens >= len(SPECIAL_TOKENS)
    ones = np.ones(np.count_nonzero(kept), dtype=np.int32)
    shape = (len(per_item), vocab_size * NUM_ROLES)
    return sparse.csr_array((ones, (owners[kept], columns[kept])), shape=shape)


class PaperTokens:
    """Counts of whole papers, whatever a reading takes of them.

    :param corpus: its own text is counted once, here.
    :param citing: the training sentences that cite each paper.
    """

    def __init__(self, corpus: BinaryCorpus, citing: CitingSentences) -> None:
        self._corpus, self._citing = corpus, citing
        rows = np.arange(corpus.num_papers)
        blocks = (rows[first : first + _BLOCK] for first in range(0, len(rows), _BLOCK))
        self._own = sparse.vstack([self._count_own(block) for block in blocks], format="csr")

    def of(self, rows: np.ndarray, unread: np.ndarray | None = None) -> TokenCounts:
        """Return the counts of some papers and of the sentences that cite them.

        :param unread: see :meth:`CitingSentences.candidates`.
        """
        sentences, per_item = self._citing.candidates(rows, unread)
        roles = np.full(len(sentences), CITING)
        return TokenCounts.of(self._own[rows] + self._count(sentences, per_item, roles))

    def document_frequencies(self, rows: np.ndarray) -> np.ndarray:
        """Return (V,) how many of these papers hold each token in their own text."""
        columns = self._own[rows]
        tokens = TokenCounts.of(columns).tokens.numpy()
        return np.bincount(tokens, minlength=self._corpus.vocab_size)

    def _count_own(self, rows: np.ndarray) -> sparse.csr_array:
        first = self._corpus.sentence_offsets[rows]
        per_item = self._corpus.sentence_offsets[rows + 1] - first
        is_abstract = ranges(np.zeros(len(rows)), per_item) < np.repeat(
            self._corpus.num_abstract[rows], per_item
        )
        roles = np.where(is_abstract, ABSTRACT, BODY)
        return self._count(ranges(first, per_item), per_item, roles)

    def _count(
        self, sentences: np.ndarray, per_item: np.ndarray, roles: np.ndarray
    ) -> sparse.csr_array:
        tokens, lengths = self._corpus.gather(sentences)
        return count_tokens(tokens, lengths, per_item, roles, self._corpus.vocab_size)
