"""What a transformer learns from augmented abstracts: two objectives.

``contrastive``: of all papers of a batch, a context is closest to the one it cites (Oord et al.,
arXiv:1807.03748, with negatives from the batch):

    loss = -log(e^(cos(q, p) / τ) / Σ_n e^(cos(q, n) / τ))

where q is a training context, p a paper it cites, sampled afresh at each epoch, and n all papers
that were sampled for the batch, each read once, without the others that q cites. A paper's contexts
are never those of a manuscript of the batch: at test time the query's manuscript is unknown to all
papers. With ``citing_vectors`` p is a sum of vectors: :mod:`mpbert.methods.citing_vectors`.

``mlm``: masked tokens are predicted from the rest (Devlin et al., NAACL 2019, Sec. 3.1): 15 % of
them, of which 80 % become the mask, 10 % a random token.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.ragged import ranges, row_numbers, smallest_per_row
from mpbert.foundation.ragged_rows import Ragged, stacked
from mpbert.methods.citing_vectors import with_citing
from mpbert.methods.huggingface.augmented_texts import AugmentedTexts
from mpbert.methods.training_citations import CitingQueries
from mpbert.model.objectives import multi_positive_contrastive
from mpbert.pretrained.encoder import PretrainedEncoder, length_batches

_MASKED = 0.15  # of the tokens


class Contrastive:
    """Contexts near the papers they cite."""

    def __init__(
        self,
        encoder: PretrainedEncoder,
        texts: AugmentedTexts,
        store: CorpusStore,
        num_contexts: int,
        temperature: float,
        citing_vectors: bool = False,
    ) -> None:
        self.encoder, self.texts = encoder, texts
        self.num_contexts, self.temperature = num_contexts, temperature
        self.citing_vectors = citing_vectors
        self.known = CitingQueries.of(texts.training, store.paper_splits == "train")
        self.examples = self.known.numbers
        self.num_papers = store.num_papers

    def backward(self, examples: np.ndarray, rng: np.random.Generator) -> float:
        """Sample a paper for each context, and texts of the papers; see the module."""
        places = np.searchsorted(self.known.numbers, examples)
        first, end = self.known.offsets[places], self.known.offsets[places + 1]
        targets = self.known.cited[rng.integers(first, end)]
        manuscripts = self.texts.training.citing_rows[examples]
        once, back = np.unique(targets, return_inverse=True)
        papers = self._papers(once, rng, manuscripts)
        excluded = torch.from_numpy(self.other_positives(examples, targets))
        loss = contrastive_loss(
            self.encoder(self.texts.queries(examples)),
            papers[torch.from_numpy(back).to(self.encoder.device)],
            excluded.to(self.encoder.device),
            self.temperature,
        )
        loss.backward()
        return loss.item()

    def _papers(self, rows: np.ndarray, rng: np.random.Generator, without: np.ndarray) -> Tensor:
        """Return (M, D) vectors of papers, with contexts of other manuscripts than those."""
        if not self.citing_vectors:
            return self.encoder(self.texts.papers(rows, self.num_contexts, rng, without=without))
        contexts, counts = self.texts.sample(rows, self.num_contexts, rng, without)
        texts = stacked([self.texts.papers_alone(rows), self.texts.queries(contexts)])
        own, citing = self.encoder(texts).split([len(rows), len(contexts)])
        return with_citing(own, citing, counts)

    def other_positives(self, examples: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return (B, B): whether context i cites the target of j, for i other than j."""
        contexts = self.texts.training
        starts, ends = contexts.cited_offsets[examples], contexts.cited_offsets[examples + 1]
        cited = contexts.cited_rows[ranges(starts, ends - starts)]
        pairs = row_numbers(ends - starts) * self.num_papers + cited
        found = np.isin(np.arange(len(examples))[:, None] * self.num_papers + targets, pairs)
        return found & ~np.eye(len(examples), dtype=bool)


def contrastive_loss(
    queries: Tensor, papers: Tensor, excluded: Tensor, temperature: float
) -> Tensor:
    """Return the mean loss of the module's first formula, that of one positive a query.

    :param queries: (B, D); ``papers`` (B, D), paper i is cited by query i.
    :param excluded: (B, B), papers that are no negatives of a query; never on the diagonal.
    """
    cosines = F.normalize(queries, dim=1) @ F.normalize(papers, dim=1).T
    is_cited = torch.eye(len(cosines), dtype=torch.bool, device=cosines.device)
    return multi_positive_contrastive(cosines / temperature, is_cited, excluded | is_cited).mean()


class MaskedLanguage:
    """Masked tokens of augmented abstracts of the training papers."""

    def __init__(
        self,
        encoder: PretrainedEncoder,
        texts: AugmentedTexts,
        store: CorpusStore,
        num_contexts: int,
    ) -> None:
        self.encoder, self.texts, self.num_contexts = encoder, texts, num_contexts
        self.examples = np.flatnonzero(store.paper_splits == "train")

    def backward(self, examples: np.ndarray, rng: np.random.Generator) -> float:
        """Mask the texts of a batch; gradients are added part by part."""
        rows = self.texts.papers(examples, self.num_contexts, rng)
        inputs, targets = mask(rows, self.encoder.tokenizer, rng)
        num_masked, total = max(int((targets.items >= 0).sum()), 1), 0.0
        for part in length_batches(rows.lengths, self.encoder.batch_tokens):
            tokens, is_token = self.encoder.batch(inputs.take(part))
            labels = torch.from_numpy(targets.take(part).padded(-100)[0]).to(tokens.device)
            with self.encoder.precision():
                found = self.encoder.model(input_ids=tokens, attention_mask=is_token.long())
            loss = F.cross_entropy(
                found.logits.float().flatten(0, 1), labels.flatten(), reduction="sum"
            )
            (loss / num_masked).backward()
            total += loss.item()
        return total / num_masked


def mask(rows: Ragged, tokenizer: object, rng: np.random.Generator) -> tuple[Ragged, Ragged]:
    """Return the rows with some tokens masked, and the targets: -100 where none is.

    Special tokens never are; of a row with others at least one is.
    """
    special = np.isin(rows.items, tokenizer.all_special_ids)
    limits = np.maximum((rows.lengths * _MASKED).astype(np.int64), 1)
    chosen = smallest_per_row(rng.random(len(rows.items)) + special, rows.lengths, limits)
    chosen = chosen[~special[chosen]]
    values, targets = rows.items.copy(), np.full(len(rows.items), -100, dtype=np.int32)
    targets[chosen] = values[chosen]
    action = rng.random(len(chosen))
    values[chosen[action < 0.8]] = tokenizer.mask_token_id
    replaced = chosen[action >= 0.9]
    values[replaced] = rng.integers(len(tokenizer), size=len(replaced))
    return Ragged(values, rows.offsets), Ragged(targets, rows.offsets)
