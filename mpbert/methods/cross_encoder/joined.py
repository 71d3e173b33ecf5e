"""A cross-encoder whose lower layers read each text alone, and whose top layers read both.

MacAvaney et al., Efficient Document Re-Ranking for Transformers by Precomputing Term
Representations (SIGIR 2020), Sec. 3: states below the joined layers do not depend on the other
text, so each text is read once, not once per pair. Of the last layer only the first token is made.
Beside that paper:

* The lower layers stay as they were pretrained.
* The score starts as that of the list, and training adds to it:

      s(q, d) = w · (z, cos(q, d), cos(q, c), has c) + v · h

  with z the list's score, standardised in the list; the cosines of mean states, those of the whole
  encoder as it was pretrained; c the training sentence nearest to q that cites d; h the last state
  of the first token, and v, which starts at 0. Without training w is (1, 0, 0, 0), so the order is
  that of the list. Training first finds the w that makes what the queries cite likeliest.
* Both texts begin at position 0. A vector for each text, 0 at first, is added to its tokens.
"""

import copy
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from mpbert.foundation.ragged import offsets_of
from mpbert.methods.cross_encoder.model import PairScorer
from mpbert.methods.cross_encoder.near_texts import FEATURES
from mpbert.methods.cross_encoder.texts import PairLayout, Pairs
from mpbert.methods.linear_fusion import rounded_weights
from mpbert.pretrained.frozen_layers import FrozenLayers, UpperEncoder, bert_layer

_SAVED = "joined.safetensors"  # beside the pretrained model, in its folder
_NONE = np.zeros(0, np.int32)


class JoinedLayers(nn.Module):
    """The layers that read both texts, and v · h.

    :param layers: of a BERT, lowest first; they are copied.
    :param dim: of its states, D.
    :ivar linear: (1 + F,) w: of the list's score, and of the features.
    """

    linear: Tensor

    def __init__(self, layers: list[nn.Module], dim: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(map(copy.deepcopy, layers))
        self.of_text = nn.Embedding.from_pretrained(torch.zeros(4, dim), freeze=False)
        self.out = nn.Parameter(torch.zeros(dim))
        start = torch.zeros(1 + len(FEATURES), dtype=torch.float64)
        start[0] = 1
        self.register_buffer("linear", start)

    def forward(self, states: Tensor, is_token: Tensor, types: Tensor) -> Tensor:
        """Return (B,) v · h of pairs.

        :param states: (B, T, D); ``is_token`` (B, T); ``types`` (B, T), those of the layout.
        """
        states = states + self.of_text(types)
        for layer in self.layers[:-1]:
            states = bert_layer(layer, states, is_token)
        first = bert_layer(self.layers[-1], states, is_token, only_first=True)
        return first[:, 0].float() @ self.out


@dataclass
class JoinedScorer(PairScorer):
    """Scores of pairs, but for the part of the list; a row holds numbers of kept states.

    :param joined: top layers that read both texts.
    :ivar frozen: the layers below, and the states they made.
    :ivar upper: the encoder as it was pretrained, over those states.
    :ivar model: what is trained.
    """

    joined: int = 1
    frozen: FrozenLayers = field(init=False)
    upper: UpperEncoder = field(init=False)
    model: JoinedLayers = field(init=False)

    def __post_init__(self) -> None:
        self.frozen = FrozenLayers(self.encoder, self.joined)
        self.upper = UpperEncoder(self.frozen, "mean")
        self.model = JoinedLayers(self.frozen.upper, self.encoder.dim).to(self.encoder.device)
        self.model.eval()

    @property
    def trained(self) -> "JoinedScorer":
        """What holds the ``model`` to train."""
        return self

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        return self.encoder.device

    def layout(self, query_tokens: int, paper_tokens: int) -> PairLayout:
        """Return how two texts become a row; each has its special tokens already."""
        return PairLayout(
            before=_NONE,
            between=_NONE,
            after=_NONE,
            separator=None,
            query_tokens=query_tokens,
            paper_tokens=paper_tokens,
            longest=query_tokens + paper_tokens,
            marked=self.marked,
            tokens_of=self.frozen.tokens,
        )

    def learn_linear(self, old: np.ndarray, features: np.ndarray, cited: np.ndarray) -> None:
        """Set w so that w · (z, features) alone makes the cited papers of lists likeliest.

        :param old: (Q, K) z; -inf beyond the end of a list.
        :param features: (M, F), of the pairs of the lists, one list after another.
        :param cited: (Q, K), some in each list.
        """
        has = np.isfinite(old)
        lengths = has.sum(axis=1)
        shares = (cited / np.maximum(cited.sum(axis=1, keepdims=True), 1))[has]
        inputs = np.column_stack([old[has], features]).astype(np.float64)
        spread = np.maximum(inputs.std(axis=0), 1e-9)
        weights = rounded_weights(inputs / spread, offsets_of(lengths), shares) / spread
        self.model.linear.copy_(torch.from_numpy(weights))

    def of_list(self, old: np.ndarray) -> np.ndarray:
        """Return the part of the list's score in all scores; both (Q, K).

        :param old: z; -inf beyond the end of a list, and so returned.
        """
        weight, has = self.model.linear[0].item(), np.isfinite(old)
        return np.where(has, weight * np.where(has, old, 0), -np.inf)

    def save(self, directory: Path) -> None:
        """Write the pretrained model, and beside it what was trained."""
        self.encoder.save(directory)
        trained = self.model.state_dict()
        save_file(
            {k: v.detach().cpu().contiguous() for k, v in trained.items()}, directory / _SAVED
        )

    def load(self, directory: Path) -> None:
        """Take what :meth:`save` wrote beside the model, if it did."""
        if (directory / _SAVED).is_file():
            self.model.load_state_dict(load_file(directory / _SAVED))

    def _batch(self, pairs: Pairs) -> tuple[Tensor, ...]:
        states, is_token = self.frozen.batch(pairs.rows)
        types = torch.from_numpy(pairs.types.padded(0)[0]).to(states.device)
        linear = np.asarray(pairs.features) @ self.model.linear[1:].cpu().numpy()
        return states, is_token, types, torch.from_numpy(linear).float().to(states.device)

    def _score(self, *batch: Tensor) -> Tensor:
        *read, linear = batch
        with self.encoder.precision():
            return self.model(*read) + linear
