"""An encoder of Hugging Face's library with its tokenizer, run on rows of tokens."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
import transformers
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint as recomputed

from mpbert.foundation.progress import progress
from mpbert.foundation.ragged_rows import Ragged
from mpbert.pretrained.device import trained_on
from mpbert.pretrained.texts import TextLayout
from mpbert.pretrained.unpadded_bert import UnpaddedBert, groups_of

_CHUNK = 4096  # texts tokenised at once
_CPU_TOKENS = 4096  # of a batch whose states stay in the caches of a core

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()


@dataclass
class PretrainedEncoder:
    """A model with its tokenizer.

    :param model: a transformer, with or without a head.
    :param pooling: ``cls``, ``mean`` or ``sum`` of the last hidden states of a row.
    :param batch_tokens: most tokens, padding included, whose activations are in memory.
    :param bfloat16: whether matrix products are in bfloat16.
    :param device: where it runs.
    """

    model: nn.Module
    tokenizer: transformers.PreTrainedTokenizerBase
    pooling: str
    batch_tokens: int
    bfloat16: bool
    device: torch.device = field(default_factory=trained_on)
    _unpadded: UnpaddedBert | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.model.to(self.device).eval()
        self.dim = self.model.config.hidden_size

    @property
    def body(self) -> nn.Module:
        """The transformer without a head."""
        return self.model.base_model

    @property
    def part_tokens(self) -> int:
        """Most tokens, padding included, that the model reads at once."""
        if self.device.type == "cpu":
            return min(self.batch_tokens, _CPU_TOKENS)
        return self.batch_tokens

    @property
    def longest(self) -> int:
        """Most tokens that the model reads, special ones included."""
        return min(self.tokenizer.model_max_length, _num_positions(self.model))

    def layout(self, paper_tokens: int, context_tokens: int) -> TextLayout:
        """Return how texts become rows of tokens that the model can read."""
        tokenizer = self.tokenizer
        return TextLayout(
            start=tokenizer.cls_token_id,
            separator=tokenizer.sep_token_id,
            paper_tokens=paper_tokens,
            context_tokens=context_tokens,
            longest=self.longest,
        )

    def tokenize(self, texts: Sequence[str], limit: int) -> Ragged:
        """Return token ids; what looks like a special token in a text is plain text."""
        rows: list[np.ndarray] = []
        for start in progress(range(0, len(texts), _CHUNK), "tokenize", "part"):
            found = self.tokenizer(
                list(texts[start : start + _CHUNK]),
                add_special_tokens=False,
                split_special_tokens=True,
                truncation=True,
                max_length=limit,
                return_attention_mask=False,
                return_token_type_ids=False,
            )["input_ids"]
            rows += [np.asarray(ids, dtype=np.int32) for ids in found]
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        return Ragged.of_lengths(np.concatenate([np.zeros(0, np.int32), *rows]), lengths)

    def batch(self, rows: Ragged) -> tuple[Tensor, Tensor]:
        """Return (B, T) token ids and the mask of attention, on the device."""
        tokens, is_token = rows.padded(self.tokenizer.pad_token_id or 0)
        return torch.from_numpy(tokens).to(self.device), torch.from_numpy(is_token).to(self.device)

    def pool(self, tokens: Tensor, is_token: Tensor) -> Tensor:
        """Return (B, D) float32 vectors of a batch; special tokens count."""
        if torch.is_grad_enabled():
            self._unpadded = None  # training changes the weights
        with self.precision():
            states = self.states_of(tokens, is_token)
        return self.pooled(states.float(), is_token)

    def pooled(self, states: Tensor, is_token: Tensor) -> Tensor:
        """Return (B, D) of (B, T, D) last states."""
        if self.pooling == "cls":
            return states[:, 0]
        sums = (states * is_token[:, :, None]).sum(dim=1)
        return sums / is_token.sum(dim=1, keepdim=True) if self.pooling == "mean" else sums

    def precision(self) -> torch.autocast:
        """Return a context in which matrix products are as exact as is wanted."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.bfloat16)

    def __call__(self, rows: Ragged) -> Tensor:
        """Return (M, D) vectors with gradients; see :func:`made_in_parts`."""
        return made_in_parts(
            rows.lengths,
            self.part_tokens,
            self.batch_tokens,
            lambda part: self.batch(rows.take(part)),
            self.pool,
        )

    def embed_texts(self, texts: Sequence[str], limit: int, what: str) -> np.ndarray:
        """Return (M, D) float32 vectors of texts that are read once: nothing of them is kept.

        :param limit: most tokens of a text; ``what`` for the progress bar.
        """
        layout, vectors = self.layout(limit, limit), [np.empty((0, self.dim), np.float32)]
        for start in progress(range(0, len(texts), _CHUNK), what, "part"):
            with self.passing():
                tokens = self.tokenize(texts[start : start + _CHUNK], limit)
                vectors.append(self.embed(layout.rows(layout.ended(tokens))))
        return np.concatenate(vectors)

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Keep nothing of the texts that the block tokenises."""
        yield

    @torch.inference_mode()
    def embed(self, rows: Ragged, what: str = "") -> np.ndarray:
        """Return (M, D) float32 vectors.

        Rows of nearly the same length share a batch. Which they are moves a vector by no more than
        the rounding of its sums: 1e-5 of its length in float32, 1e-2 in bfloat16.

        :param what: for the progress bar; empty: there is none.
        """
        self.model.eval()
        vectors = np.empty((len(rows), self.dim), dtype=np.float32)
        parts = length_batches(rows.lengths, self.part_tokens)
        with self.precision():  # around all batches: weights are rounded once
            for part in progress(parts, what, "part") if what else parts:
                vectors[part] = self._vectors(rows.take(part)).cpu().numpy()
        return vectors

    def _vectors(self, rows: Ragged) -> Tensor:
        """Return (M, D) of rows that ascend by length."""
        unpadded = self.unpadded()
        if unpadded is None:
            return self.pool(*self.batch(rows))
        return self.pooled_rows(unpadded(rows)[1], rows.lengths)

    @torch.inference_mode()
    def states(self, rows: Ragged, above: int = 0) -> tuple[Tensor, Tensor]:
        """Return (N, D) float32 states that enter the last ``above`` layers, and the last states.

        Call it within :meth:`precision`.

        :param rows: of token ids, ascending by length.
        """
        unpadded = self.unpadded()
        if unpadded is not None:
            return unpadded(rows, above)
        tokens, is_token = self.batch(rows)
        found = self.body(
            input_ids=tokens, attention_mask=is_token.long(), output_hidden_states=bool(above)
        )
        last = found.last_hidden_state
        entered = found.hidden_states[-1 - above] if above else last
        return entered[is_token].float(), last[is_token].float()

    def pooled_rows(self, states: Tensor, lengths: np.ndarray) -> Tensor:
        """Return (M, D) of (N, D) last states of rows of (M,) ascending lengths."""
        views = [states[tokens].unflatten(0, (-1, length)) for tokens, length in groups_of(lengths)]
        return torch.cat([self.pooled(view, view.new_ones(view.shape[:2])) for view in views])

    def unpadded(self) -> UnpaddedBert | None:
        """Return the faster way to the states of this model as it is now; None: there is none."""
        if not UnpaddedBert.can_read(self.body, self.device):
            return None
        if self._unpadded is None or not self._unpadded.is_current():
            self._unpadded = None  # two copies of the weights are enough
            dtype = torch.bfloat16 if self.bfloat16 else torch.float32
            self._unpadded = UnpaddedBert(self.body, dtype)
        return self._unpadded

    def states_of(self, tokens: Tensor, is_token: Tensor) -> Tensor:
        """Return the (B, T, D) last states."""
        return self.body(input_ids=tokens, attention_mask=is_token.long()).last_hidden_state

    def save(self, directory: Path) -> None:
        """Write a folder that Hugging Face's library loads, and this method as ``model=``."""
        self.model.save_pretrained(directory)
        self.tokenizer.save_pretrained(directory)


def length_batches(lengths: np.ndarray, batch_tokens: int) -> list[np.ndarray]:
    """Return rows in batches of nearly the same length.

    The longest row of a batch is at most 15 % longer than the shortest, or 8 tokens.

    :param batch_tokens: most rows times length of the longest row, unless a single row has more.
    """
    order = np.argsort(lengths, kind="stable")
    ascending, start, batches = lengths[order], 0, []
    while start < len(order):
        longest = max(ascending[start] * 1.15, ascending[start] + 8)
        near = ascending[start : np.searchsorted(ascending, longest, side="right")]
        sizes = near * np.arange(1, len(near) + 1)
        end = start + max(int(np.searchsorted(sizes, batch_tokens, side="right")), 1)
        batches.append(order[start:end])
        start = end
    return batches


def made_in_parts(
    lengths: np.ndarray,
    part_tokens: int,
    budget: int,
    read: Callable[[np.ndarray], tuple[Tensor, ...]],
    make: Callable[..., Tensor],
) -> Tensor:
    """Return what ``make`` makes of M rows, with gradients; rows of nearly one length are a part.

    Where activations exceed the budget, they are dropped, and computed again part by part when they
    are needed.

    :param lengths: (M,) tokens of each row.
    :param part_tokens: most tokens of a part, padding included.
    :param budget: most tokens, padding included, whose activations are kept.
    :param read: from numbers of rows to what ``make`` takes.
    """
    parts = length_batches(lengths, part_tokens)
    over = sum(len(part) * lengths[part[-1]] for part in parts) > budget
    made = []
    for part in parts:
        batch = read(part)
        made.append(recomputed(make, *batch, use_reentrant=False) if over else make(*batch))
    back = torch.from_numpy(np.argsort(np.concatenate(parts))).to(made[0].device)
    return torch.cat(made)[back]


def _num_positions(model: nn.Module) -> int:
    """Return how many tokens have a position; RoBERTa and its kin count from the padding's id."""
    learnt = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(learnt, "padding_idx", None)
    offset = 0 if padding is None else padding + 1
    return getattr(model.config, "max_position_embeddings", 512) - offset
