"""A transformer that reads two texts at once and returns one number, run over many pairs."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import transformers
from torch import Tensor, nn

from mpbert.foundation.errors import EncoderError
from mpbert.methods.cross_encoder.texts import PairLayout, Pairs
from mpbert.pretrained.encoder import PretrainedEncoder, length_batches, made_in_parts


@dataclass
class PairScorer:
    """Scores of pairs: the logarithm of the odds that the candidate is cited.

    :param encoder: a model for the classification of sequences with a single label.
    :param marked: whether token types tell which tokens stand in both texts.
    """

    encoder: PretrainedEncoder
    marked: bool

    def __post_init__(self) -> None:
        if self.marked:
            mark_types(self.encoder.model)
        self._has_types = getattr(self.encoder.model.config, "type_vocab_size", 0) > 1

    @property
    def trained(self) -> PretrainedEncoder:
        """What holds the ``model`` to train."""
        return self.encoder

    def layout(self, query_tokens: int, paper_tokens: int) -> PairLayout:
        """Return how two texts become a row that the model can read."""
        tokenizer = self.encoder.tokenizer
        before, between, after = special_tokens(tokenizer)
        return PairLayout(
            before=before,
            between=between,
            after=after,
            separator=tokenizer.sep_token_id,
            query_tokens=query_tokens,
            paper_tokens=paper_tokens,
            longest=self.encoder.layout(paper_tokens, query_tokens).longest,
            marked=self.marked,
        )

    def __call__(self, pairs: Pairs) -> Tensor:
        """Return (M,) float32 scores with gradients.

        Activations of more tokens than the budget are dropped and computed again when needed.
        """
        budget = self.encoder.batch_tokens
        return made_in_parts(
            pairs.rows.lengths,
            budget,
            budget,
            lambda part: self._batch(pairs.take(part)),
            self._score,
        )

    def save(self, directory: Path) -> None:
        """Write a folder that Hugging Face's library reads."""
        self.encoder.save(directory)

    @torch.inference_mode()
    def score(self, pairs: Pairs) -> np.ndarray:
        """Return (M,) float64 scores; pairs of nearly the same length share a batch."""
        scores = np.empty(len(pairs))
        for part in length_batches(pairs.rows.lengths, self.encoder.batch_tokens):
            scores[part] = self._score(*self._batch(pairs.take(part))).double().cpu().numpy()
        return scores

    def _batch(self, pairs: Pairs) -> tuple[Tensor, Tensor, Tensor]:
        tokens, is_token = self.encoder.batch(pairs.rows)
        types = torch.from_numpy(pairs.types.padded(0)[0]).to(tokens.device)
        return tokens, is_token, types

    def _score(self, tokens: Tensor, is_token: Tensor, types: Tensor) -> Tensor:
        inputs = {"input_ids": tokens, "attention_mask": is_token.long()}
        if self._has_types:
            inputs["token_type_ids"] = types
        with self.encoder.precision():
            return self.encoder.model(**inputs).logits[:, 0].float()


def mark_types(model: nn.Module) -> None:
    """Give a model of two token types two more, for tokens of both texts; they start as copies.

    :raises EncoderError: it has other types.
    """
    num_types = getattr(model.config, "type_vocab_size", 0)
    if num_types == 4:  # it was trained so
        return
    if num_types != 2:
        raise EncoderError(
            f"{model.config.model_type}: found {num_types} token types; expected 2 to mark the "
            f"tokens of both texts, choose --settings matches=unmarked"
        )
    embeddings = model.base_model.embeddings
    both = embeddings.token_type_embeddings.weight.detach().repeat(2, 1)
    embeddings.token_type_embeddings = nn.Embedding.from_pretrained(both, freeze=False)
    model.config.type_vocab_size = 4


def special_tokens(
    tokenizer: transformers.PreTrainedTokenizerBase,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the special tokens before, between and after two texts, as the tokenizer sets them.

    :raises EncoderError: it sets none between them.
    """
    found = tokenizer("a", "a", return_special_tokens_mask=True)
    tokens = np.asarray(found["input_ids"])
    plain = np.flatnonzero(np.asarray(found["special_tokens_mask"]) == 0)
    gaps = np.flatnonzero(np.diff(plain) > 1)
    if len(gaps) != 1:
        raise EncoderError(
            f"{tokenizer.name_or_path}: its tokenizer puts no special token between two texts; "
            f"expected one for pairs, such as that of BERT"
        )
    first, second = plain[gaps[0]], plain[gaps[0] + 1]
    return tokens[: plain[0]], tokens[first + 1 : second], tokens[plain[-1] + 1 :]
