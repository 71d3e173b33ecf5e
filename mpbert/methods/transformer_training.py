"""Fine-tuning of a transformer on augmented abstracts: two objectives and one loop.

``contrastive``: of all papers of a batch, a context is closest to the one it cites (Oord et al.,
arXiv:1807.03748, with negatives from the batch):

    loss = -log(e^(cos(q, p) / τ) / Σ_n e^(cos(q, n) / τ))

where q is a training context, p a paper it cites, drawn afresh at each epoch, and n all papers that
were drawn for the batch, without the others that q cites. A paper's contexts are never drawn from
a manuscript of the batch: at test time the query's manuscript is unknown to all papers.

``mlm``: masked tokens are predicted from the rest (Devlin et al., NAACL 2019, Sec. 3.1): 15 % of
them, of which 80 % become the mask, 10 % a random token.
"""

import logging
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mpbert.corpus.store import CorpusStore
from mpbert.foundation.errors import ConfigError, CorpusError
from mpbert.foundation.progress import progress
from mpbert.foundation.ragged import offsets_of, ranges, row_numbers, smallest_per_row
from mpbert.foundation.training_log import loss_fields
from mpbert.methods import checkpoint as checkpoints
from mpbert.methods.transformer_model import Encoder, length_batches
from mpbert.methods.transformer_texts import AugmentedTexts, Ragged

logger = logging.getLogger(__name__)

SAVE_SECONDS = 120.0  # what a killed run has to do again, at most
_WARM_UP = 0.1  # of all updates
_WEIGHT_DECAY = 0.01  # of matrices
_MAX_GRADIENT = 1.0  # norm


class Objective(Protocol):
    """What is learnt: ``examples`` (M,) to visit once an epoch."""

    examples: np.ndarray

    def backward(self, examples: np.ndarray, rng: np.random.Generator) -> float:
        """Add the gradient of a batch; return its loss, in nats."""


class Contrastive:
    """Contexts near the papers they cite."""

    def __init__(
        self,
        encoder: Encoder,
        texts: AugmentedTexts,
        store: CorpusStore,
        num_contexts: int,
        temperature: float,
    ) -> None:
        self.encoder, self.texts = encoder, texts
        self.num_contexts, self.temperature = num_contexts, temperature
        contexts = texts.training
        known = store.paper_splits[contexts.cited_rows] == "train"  # others are not for training
        owners = row_numbers(np.diff(contexts.cited_offsets))[known]
        self.cited = contexts.cited_rows[known]
        self.num_cited = np.bincount(owners, minlength=len(contexts))
        self.examples = np.flatnonzero(self.num_cited)
        self.num_papers = store.num_papers

    def backward(self, examples: np.ndarray, rng: np.random.Generator) -> float:
        """Draw a paper for each context, and texts of the papers; see the module."""
        first = offsets_of(self.num_cited)[examples]
        targets = self.cited[first + rng.integers(self.num_cited[examples])]
        manuscripts = self.texts.training.citing_rows[examples]
        papers = self.texts.papers(targets, self.num_contexts, rng, without=manuscripts)
        excluded = torch.from_numpy(self.other_positives(examples, targets))
        loss = contrastive_loss(
            self.encoder(self.texts.queries(examples)),
            self.encoder(papers),
            excluded.to(self.encoder.device),
            self.temperature,
        )
        loss.backward()
        return loss.item()

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
    """Return the mean loss of the module's first formula, by cosine.

    :param queries: (B, D); ``papers`` (B, D), paper i is cited by query i.
    :param excluded: (B, B), papers that are no negatives of a query; never on the diagonal.
    """
    cosines = F.normalize(queries, dim=1) @ F.normalize(papers, dim=1).T
    scores = (cosines / temperature).masked_fill(excluded, float("-inf"))
    return F.cross_entropy(scores, torch.arange(len(scores), device=scores.device))


class MaskedLanguage:
    """Masked tokens of augmented abstracts of the training papers."""

    def __init__(
        self, encoder: Encoder, texts: AugmentedTexts, store: CorpusStore, num_contexts: int
    ) -> None:
        self.encoder, self.texts, self.num_contexts = encoder, texts, num_contexts
        self.examples = np.flatnonzero(store.paper_splits == "train")

    def backward(self, examples: np.ndarray, rng: np.random.Generator) -> float:
        """Mask the texts of a batch; gradients are added part by part."""
        rows = self.texts.papers(examples, self.num_contexts, rng)
        inputs, targets = mask(rows, self.encoder.tokenizer, rng)
        num_masked, total = max(int((targets.values >= 0).sum()), 1), 0.0
        device, bfloat16 = self.encoder.device, self.encoder.bfloat16
        for part in length_batches(rows.lengths, self.encoder.max_tokens):
            tokens, is_token = self.encoder.batch(inputs.take(part))
            labels = torch.from_numpy(targets.take(part).padded(-100)[0]).to(device)
            with torch.autocast(device.type, torch.bfloat16, enabled=bfloat16):
                found = self.encoder.model(input_ids=tokens, attention_mask=is_token.long())
            loss = F.cross_entropy(
                found.logits.float().flatten(0, 1), labels.flatten(), reduction="sum"
            )
            (loss / num_masked).backward()
            total += loss.item()
        return total / num_masked


def mask(
    rows: Ragged, tokenizer: object, rng: np.random.Generator, probability: float = 0.15
) -> tuple[Ragged, Ragged]:
    """Return the rows with some tokens masked, and the targets: -100 where none is.

    Special tokens never are; of a row with others at least one is.
    """
    special = np.isin(rows.values, tokenizer.all_special_ids)
    limits = np.maximum((rows.lengths * probability).astype(np.int64), 1)
    chosen = smallest_per_row(rng.random(len(rows.values)) + special, rows.lengths, limits)
    chosen = chosen[~special[chosen]]
    values, targets = rows.values.copy(), np.full(len(rows.values), -100, dtype=np.int32)
    targets[chosen] = values[chosen]
    action = rng.random(len(chosen))
    values[chosen[action < 0.8]] = tokenizer.mask_token_id
    replaced = chosen[action >= 0.9]
    values[replaced] = rng.integers(len(tokenizer), size=len(replaced))
    return Ragged(values, rows.lengths), Ragged(targets, rows.lengths)


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to learn.

    :param epochs: visits of each example.
    :param batch: examples of an update.
    :param learning_rate: the highest; it rises linearly in the first tenth of the updates and
        falls linearly to 0 in the rest.
    """

    epochs: int
    batch: int
    learning_rate: float

    def rate(self, step: int, num_steps: int) -> float:
        """Return the learning rate of an update, counted from 0."""
        rising = max(math.ceil(num_steps * _WARM_UP), 1)
        if step < rising:
            return self.learning_rate * (step + 1) / rising
        return self.learning_rate * (num_steps - step) / (num_steps - rising + 1)


def train(
    encoder: Encoder,
    objective: Objective,
    schedule: Schedule,
    seed: int,
    checkpoint: "Checkpoint | None" = None,
) -> int:
    """Fine-tune by AdamW (Loshchilov and Hutter, ICLR 2019); return the number of updates.

    :param seed: of the order of examples and all that is drawn for them.
    :param checkpoint: where to go on, and what to save now and then.
    :raises CorpusError: there is nothing to learn from.
    :raises ConfigError: the loss is no number any more.
    """
    num_examples = len(objective.examples)
    if num_examples < 2:
        raise CorpusError(
            "fewer than two training examples; expected training contexts that cite training "
            "papers: choose other years, or --settings epochs=0"
        )
    per_epoch = math.ceil(num_examples / schedule.batch)
    num_steps = schedule.epochs * per_epoch
    optimizer = _optimizer(encoder)
    encoder.model.train()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        start = checkpoint.load(encoder, optimizer) if checkpoint else 0
        losses: list[float] = []
        saved = time.monotonic()
        for step in progress(range(start, num_steps), "fine-tune", "update"):
            epoch, place = divmod(step, per_epoch)
            order = np.random.default_rng([seed, epoch]).permutation(objective.examples)
            examples = np.array_split(order, per_epoch)[place]
            for group in optimizer.param_groups:
                group["lr"] = schedule.rate(step, num_steps)
            rng = np.random.default_rng([seed, epoch, place])
            losses.append(objective.backward(examples, rng))
            if not math.isfinite(losses[-1]):
                raise ConfigError(
                    f"learning_rate={schedule.learning_rate:g}: the loss is {losses[-1]} at update "
                    f"{step + 1} of {num_steps}; expected a number, choose a lower rate"
                )
            torch.nn.utils.clip_grad_norm_(encoder.model.parameters(), _MAX_GRADIENT)
            optimizer.step()
            optimizer.zero_grad()
            if place == per_epoch - 1:
                mean = np.mean(losses)
                logger.info(
                    "epoch %d of %d: loss %.3f",
                    *(epoch + 1, schedule.epochs, mean),
                    extra=loss_fields("fine-tune", step + 1, mean),
                )
                losses.clear()
            if checkpoint and time.monotonic() - saved >= SAVE_SECONDS:
                checkpoint.save(encoder, optimizer, step + 1)
                saved = time.monotonic()
    encoder.model.eval()
    return num_steps


def _optimizer(encoder: Encoder) -> torch.optim.AdamW:
    parameters = list(encoder.model.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": _WEIGHT_DECAY},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups)


class Checkpoint:
    """A safetensors file of weights, moments of AdamW and random state, in its own directory.

    :param directory: where it is; made when first saved.
    :param identity: what the training is of; a file of another identity is not used.
    """

    def __init__(self, directory: Path, identity: str) -> None:
        self._file = checkpoints.Checkpoint(directory, "training", identity)

    def save(self, encoder: Encoder, optimizer: torch.optim.AdamW, step: int) -> None:
        """Replace the file."""
        tensors = checkpoints.training_tensors(encoder.model, [optimizer])
        tensors["random.cpu"] = torch.get_rng_state()
        if encoder.device.type == "cuda":
            tensors["random.cuda"] = torch.cuda.get_rng_state()
        self._file.save(tensors, {"step": step})

    def load(self, encoder: Encoder, optimizer: torch.optim.AdamW) -> int:
        """Restore what was saved, if anything was; return the number of updates done."""
        saved = self._file.load()
        if saved is None:
            return 0
        tensors, values = saved
        checkpoints.restore_training(encoder.model, [optimizer], tensors)
        torch.set_rng_state(tensors["random.cpu"])
        if encoder.device.type == "cuda":
            torch.cuda.set_rng_state(tensors["random.cuda"])
        logger.info("training goes on after %d updates", values["step"])
        return values["step"]
