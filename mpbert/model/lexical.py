"""Exact token matches in the score of the model: BM25 of fields, whose weights are learnt.

A bag of dense vectors blurs rare tokens, and reads a part of a text. This part matches the tokens
themselves, over all of a paper and all training sentences that cite it. It begins as BM25F
(Robertson, Zaragoza and Taylor, CIKM 2004). It learns beside the vectors, by a loss of its own:
trained by one loss, each leaves to the other what it could do alone. Symbols: B manuscripts, U
papers, M distinct tokens of all texts of a batch, V vocabulary.
"""

import math
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mpbert.model.bag import weights_of
from mpbert.model.config import STEP, LexicalConfig
from mpbert.model.packing import TokenCounts
from mpbert.model.sampling import ABSTRACT
from mpbert.model.shares import Share

# logarithms, of ROLES, to begin with
_PAPER_ROLES = (0.0, math.log(3), 0.0, math.log(4))
_MANUSCRIPT_ROLES = (math.log(0.5), 0.0, 0.0, math.log(10))
_SATURATION, _SLOPE = 8.0, 0.75  # k1 and b of BM25
_LEAST_IDF = 1e-3
_SCALE = 40.0  # of scores, which are at most 1, as logits


class LexicalLevel(nn.Module):
    """Weights of tokens in manuscripts and papers, whose products add up to a score.

    :param config: its weights are those of search, and nothing of the training.
    """

    def __init__(self, vocab_size: int, config: LexicalConfig) -> None:
        super().__init__()
        self._config = config
        self.log_weights = nn.Embedding(vocab_size, 1)
        nn.init.zeros_(self.log_weights.weight)
        self.paper_roles = _table(_PAPER_ROLES)
        self.manuscript_roles = _table(_MANUSCRIPT_ROLES)
        self.log_saturation = nn.Parameter(torch.tensor(math.log(_SATURATION) / STEP))
        self.slope_logit = nn.Parameter(torch.tensor(math.log(_SLOPE / (1 - _SLOPE)) / STEP))
        self.log_scale = nn.Parameter(torch.tensor(math.log(_SCALE) / STEP))
        self.register_buffer("mean_length", torch.tensor(1.0))

    def start_from(self, frequencies: Tensor, num_papers: int, counts: TokenCounts) -> None:
        """Start from the idf of BM25, and from the mean length of some papers.

        :param frequencies: (V,) how many of ``num_papers`` papers hold each token.
        :param counts: of the papers whose mean length is taken.
        """
        idf = torch.log1p((num_papers - frequencies + 0.5) / (frequencies + 0.5))
        self.log_weights.weight.data[:, 0] = idf.clamp(min=_LEAST_IDF).log() / STEP
        total = self._frequencies(counts, self.paper_roles).sum() / counts.num_texts
        self.mean_length.fill_(total.item())

    def weigh_papers(self, counts: TokenCounts) -> Tensor:
        """Return (M,) how much each token of papers counts: BM25F's saturated frequency.

        tf / (tf + k1 · (1 - b + b · |d| / mean |d|)),  tf = Σ_role weight · count,  |d| = Σ tf
        """
        tf = self._frequencies(counts, self.paper_roles)
        lengths = torch.zeros(counts.num_texts, device=tf.device).index_add(0, counts.texts, tf)
        b = torch.sigmoid(STEP * self.slope_logit)
        k = (STEP * self.log_saturation).exp() * (1 - b + b * lengths / self.mean_length)
        return tf / (tf + k[counts.texts])

    def weigh_manuscripts(self, counts: TokenCounts) -> Tensor:
        """Return (M,) weights of the tokens of manuscripts, those of each together 1."""
        tf = self._frequencies(counts, self.manuscript_roles)
        weights = tf * weights_of(self.log_weights, counts.tokens)[:, 0]
        totals = torch.zeros(counts.num_texts, device=tf.device)
        totals = totals.index_add(0, counts.texts, weights).clamp(min=1e-9)
        return weights / totals[counts.texts]

    def search_weights(self, counts: TokenCounts) -> Tensor:
        """Return (M,) weights of the tokens of manuscripts in search, beside a cosine."""
        weight = torch.where(counts.roles == ABSTRACT, self._config.match_abstract, 1.0)
        weighed = replace(counts, counts=counts.counts * weight)
        return self._config.match_weight * self.weigh_manuscripts(weighed)

    def forward(
        self, manuscripts: TokenCounts, papers: TokenCounts, share: Share | None = None
    ) -> Tensor:
        """Return (B, U) logits: scale · Σ_token weight in the manuscript · weight in the paper.

        :param share: of the papers, where several processes have them; U is then that of all.
        """
        texts, tokens, weights = papers.texts, papers.tokens, self.weigh_papers(papers)
        num_papers = papers.num_texts
        if share is not None:
            texts, tokens, weights = share.gather_ragged(texts, tokens, weights)
            num_papers = sum(share.sizes)
        asked, rows = manuscripts.tokens.unique(return_inverse=True)
        place = torch.full((self.log_weights.num_embeddings,), -1, device=asked.device)
        place[asked] = torch.arange(len(asked), device=asked.device)
        of_papers = place[tokens]
        kept = of_papers >= 0
        table = torch.zeros(len(asked), num_papers, device=asked.device).index_put(
            (of_papers[kept], texts[kept]), weights[kept]
        )
        lengths = torch.bincount(manuscripts.texts, minlength=manuscripts.num_texts)
        scores = F.embedding_bag(
            rows,
            table,
            lengths.cumsum(0) - lengths,
            mode="sum",
            per_sample_weights=self.weigh_manuscripts(manuscripts),
        )
        return (STEP * self.log_scale).exp() * scores

    def _frequencies(self, counts: TokenCounts, roles: nn.Embedding) -> Tensor:
        """Return (M,) Σ_role weight · count."""
        parts = counts.counts * weights_of(roles, counts.roles)[:, 0]
        return torch.zeros(len(counts.tokens), device=parts.device).index_add(
            0, counts.places, parts
        )


def _table(logarithms: tuple[float, ...]) -> nn.Embedding:
    return nn.Embedding.from_pretrained(torch.tensor(logarithms)[:, None] / STEP, freeze=False)
