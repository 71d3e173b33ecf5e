"""Objectives: HIBERT's masked-sentence loss and the multi-positive triplets of MP-BERT4CR.

Zhang & Ma (WI-IAT 2021), Sec. 4.1.5. Symbols of the equations and shapes of the code:
s manuscript (B, D); t target citation (B, D); c_i co-citations drawn as positives (B, P, D), of
which ``is_positive`` (B, P) are real and the rest is filler; n_j negatives (B, K, D); d Euclidean
distance. All return (B,), in nats for the log-sum-exp objectives, not reduced. With no positive
the multi-positive objectives are the N-tuplet loss on s, t and the negatives.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def euclidean_distance(a: Tensor, b: Tensor) -> Tensor:
    """Return ||a - b|| over the last axis; 1e-12 under the root keeps its gradient finite at 0."""
    return ((a - b).square().sum(dim=-1) + 1e-12).sqrt()


def triplet(s: Tensor, t: Tensor, c: Tensor, is_positive: Tensor, n: Tensor) -> Tensor:
    """Triplet loss with margin 1: Zhang & Ma (WI-IAT 2021), Eq. 3, mean over the negatives.

    loss = 1/K Σ_j max(d(s,t) - d(s,n_j) + 1, 0); the positives c are not used.
    """
    gap = euclidean_distance(s, t)[:, None] - euclidean_distance(s[:, None], n)  # (B, K)
    return F.relu(gap + 1.0).mean(dim=1)


def mpt_tgt(s: Tensor, t: Tensor, c: Tensor, is_positive: Tensor, n: Tensor) -> Tensor:
    """Target-based objective: Zhang & Ma (WI-IAT 2021), Eq. 4.

    loss = log(1 + Σ_j e^(d(s,t) - d(s,n_j)) + Σ_i Σ_j e^(d(c_i,t) - d(c_i,n_j)))

    As printed the first exponential stands inside the sum over i, where it would be counted once
    per positive and vanish without one; read here as the sum over j alone.
    """
    return _log_one_plus_sum(
        _gaps(s[:, None], t[:, None], n),
        _masked(_gaps(c, t[:, None], n), is_positive),
    )


def mpt_src(s: Tensor, t: Tensor, c: Tensor, is_positive: Tensor, n: Tensor) -> Tensor:
    """Source-based objective: Zhang & Ma (WI-IAT 2021), Eq. 5 (there ``d_s^i`` is a slip for d_s).

    loss = log(1 + Σ_j e^(d(s,t) - d(s,n_j)) + Σ_j Σ_i e^(d(s,c_i) - d(s,n_j)))
    """
    return _log_one_plus_sum(
        _gaps(s[:, None], t[:, None], n),
        _masked(_gaps(s[:, None], c, n), is_positive),
    )


def mpt_src_tgt(s: Tensor, t: Tensor, c: Tensor, is_positive: Tensor, n: Tensor) -> Tensor:
    """Source-target-based objective, the default: Zhang & Ma (WI-IAT 2021), Eq. 6.

    loss = log(1 + Σ_j e^(d(s,t) - d(s,n_j)) + Σ_j Σ_i e^(d(s,c_i) - d(s,n_j))
                 + Σ_j Σ_i e^(d(t,c_i) - d(t,n_j)))
    """
    return _log_one_plus_sum(
        _gaps(s[:, None], t[:, None], n),
        _masked(_gaps(s[:, None], c, n), is_positive),
        _masked(_gaps(t[:, None], c, n), is_positive),
    )


OBJECTIVES = {
    "triplet": triplet,
    "mpt-src": mpt_src,
    "mpt-tgt": mpt_tgt,
    "mpt-src-tgt": mpt_src_tgt,
}


def multi_positive_contrastive(logits: Tensor, is_positive: Tensor, is_known: Tensor) -> Tensor:
    """Contrast each paper that a context cites with all papers of the batch that it does not.

    loss = mean over cited i of  -log( e^(l_i) / (e^(l_i) + Σ_j e^(l_j)) ),   j not known

    Ours, beside the objectives of the paper: its negatives are drawn, four to an example; these are
    all papers that are encoded anyway.

    :param logits: (B, U) of each manuscript and each paper of the batch.
    :param is_positive: (B, U) papers to bring near, at least one each; ``is_known`` (B, U) papers
        that are no negatives: all that the context cites, and the manuscript itself.
    """
    others = logits.masked_fill(is_known, float("-inf")).logsumexp(dim=1, keepdim=True)
    losses = F.softplus(others - logits)  # -log of 1 / (1 + e^(others - l_i))
    return (losses * is_positive).sum(dim=1) / is_positive.sum(dim=1)


def contrastive_logits(
    s: Tensor, papers: Tensor, log_counts: Tensor, temperature: float, correction: float
) -> Tensor:
    """Return (B, U) cosines over the temperature, less part of the logarithm of citation counts.

    :param s: (B, D); ``papers`` (U, D); ``log_counts`` (U,) ln(1 + citations).
    """
    cosines = F.normalize(s, dim=1) @ F.normalize(papers, dim=1).T
    return less_counts(cosines / temperature, log_counts, correction)


def less_counts(logits: Tensor, log_counts: Tensor, correction: float) -> Tensor:
    """Return (B, U) logits less part of the logarithm of citation counts.

    A paper that is cited often is a negative often; without the correction the scores would learn
    to make up for it (Bengio & Senécal 2008; Yi et al., RecSys 2019).

    :param log_counts: (U,) ln(1 + citations).
    """
    return logits - correction * log_counts


def _gaps(anchor: Tensor, near: Tensor, far: Tensor) -> Tensor:
    """Return (B, P, K): d(anchor, near_i) - d(anchor, far_j).

    :param anchor: (B, 1 or P, D); ``near`` (B, 1 or P, D); ``far`` (B, K, D).
    """
    to_near = euclidean_distance(anchor, near)  # (B, P)
    to_far = euclidean_distance(anchor[:, :, None], far[:, None])  # (B, 1 or P, K)
    return to_near[:, :, None] - to_far


def _masked(gaps: Tensor, is_positive: Tensor) -> Tensor:
    """Take the filler among the positives out of the sum: its exponential becomes 0."""
    return gaps.masked_fill(~is_positive[:, :, None], float("-inf"))


def _log_one_plus_sum(*gaps: Tensor) -> Tensor:
    exponents = torch.cat([gap.flatten(1) for gap in gaps], dim=1)
    return torch.logsumexp(F.pad(exponents, (1, 0)), dim=1)  # the 0 in front is the 1 of the sum


def masked_sentence_loss(logits: Tensor, targets: Tensor, label_smoothing: float) -> Tensor:
    """Cross entropy of the words of masked sentences: Zhang et al. (ACL 2019), Eq. 5.

    :param logits: (N, V); ``targets`` (N,) token ids.
    :param label_smoothing: probability spread evenly over the vocabulary (0.1 in HIBERT's command).
    :returns: scalar, sum over tokens, in nats.
    """
    return F.cross_entropy(
        logits.float(), targets, reduction="sum", label_smoothing=label_smoothing
    )


def masked_vector_logits(
    guesses: Tensor, vectors: Tensor, masked: Tensor, blocks: Tensor, temperature: float
) -> Tensor:
    """Return (M, S) cosines of guesses with the sentences of the batch, over the temperature.

    InfoNCE of van den Oord et al. (2018), Eq. 4, is the cross entropy of these. Sentences of the
    same block that are not masked are no candidates: what is guessed from them resembles them.

    :param guesses: (M, E); ``vectors`` (S, E) of the sentences, before masking.
    :param masked: (M,) which of them are guessed; ``blocks`` (S,) whose they are.
    """
    logits = F.normalize(guesses.float()) @ F.normalize(vectors.float()).T / temperature
    is_seen = torch.ones(len(vectors), dtype=torch.bool, device=logits.device)
    is_seen[masked] = False
    return logits.masked_fill((blocks[masked][:, None] == blocks) & is_seen, float("-inf"))
