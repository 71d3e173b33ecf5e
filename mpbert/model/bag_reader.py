"""A token bag reads texts, with numpy alone: what an index needs to answer.

The formulas are those of :mod:`~mpbert.model.bag`, :mod:`~mpbert.model.encoder` and
:mod:`~mpbert.model.lexical`, which torch computes in training; a test holds both together.
Symbols: N tokens, S sentences, B papers or manuscripts, D dim, V vocabulary, R roles.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

from mpbert.corpus.special_tokens import SPECIAL_TOKENS
from mpbert.corpus.subwords import TextTokenizer
from mpbert.foundation.ragged import budget_batches, distinct, offsets_of, row_numbers
from mpbert.model.config import ROLES, STEP, ModelConfig
from mpbert.model.description import (
    WEIGHTS,
    EncoderDescription,
    read_tokenizer,
    unreadable_weights,
    wrong_weights,
)
from mpbert.model.sampling import ABSTRACT, SampledSentences
from mpbert.model.token_vectors import TokenVectors
from mpbert.vectors.matches import TokenWeights

_VECTORS = "encoder.bag.embedding.weight"  # those of tokens
_EPSILON = 1e-5  # of torch's LayerNorm
_SMALLEST = 1e-9  # of sums that divide
_FEW = 8192  # tokens, whose sums take less than the library's start
_ROWS = 256  # token vectors that are added up at once
_SENTENCES = 4096  # read at once: of fewer, the tokens are cut before a second core has woken up


class BagTower:
    """One tower: from tokens to vectors.

    :param vectors: of its tokens.
    :param state: its other weights, by the names of the encoder's file without that of the tower.
    """

    def __init__(
        self, config: ModelConfig, vectors: TokenVectors, state: dict[str, np.ndarray]
    ) -> None:
        self._sums, self._vectors = config.bag.sums, vectors
        self._tokens = _exponentials(state.get("encoder.bag.log_weights.weight"))  # (V,)
        self._roles = _exponentials(state.get("log_role_weights.weight"))  # (R,)
        self._gain, self._shift = state["norm.weight"], state["norm.bias"]

    def embed(
        self, tokens: np.ndarray, lengths: np.ndarray, per_item: np.ndarray, roles: np.ndarray
    ) -> np.ndarray:
        """Return (B, D) float32 vectors: LayerNorm of the weighted sums of token vectors.

        :param tokens: (N,) of all sentences, one after another; ``lengths`` (S,) of the sentences.
        :param per_item: (B,) sentences of each text; ``roles`` (S,) of the sentences.
        """
        weights = np.ones(len(tokens)) if self._tokens is None else self._tokens[tokens]
        if not self._sums:
            sums = np.add.reduceat(weights, offsets_of(lengths)[:-1])
            weights = weights / np.repeat(np.maximum(sums, _SMALLEST), lengths)
        if self._roles is not None:
            weights = weights * np.repeat(self._roles[roles], lengths)
        ends = offsets_of(lengths)[offsets_of(per_item)]  # (B + 1,) in tokens
        return self._norm(self._sums_of(tokens, weights.astype(np.float32), ends))

    def _sums_of(self, tokens: np.ndarray, weights: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return (B, D) float32 weighted sums of token vectors, added up in their order.

        :param tokens: (N,) text after text, ``weights`` (N,) of them; text i ends before
            ``ends[i + 1]``.
        """
        table, tokens = self._vectors.of(tokens)
        if len(tokens) > _FEW and find_spec("scipy"):  # the base install has none
            from scipy import sparse  # takes a tenth of a second

            shape = len(ends) - 1, len(table)
            return sparse.csr_array((weights, tokens, ends), shape=shape) @ table
        sums = np.zeros((len(ends) - 1, table.shape[1]), dtype=np.float32)
        memory = np.empty((1 + _ROWS, sums.shape[1]), dtype=np.float32)
        for out, (a, b) in zip(sums, pairwise(ends.tolist()), strict=True):
            for start in range(a, b, _ROWS):
                part = slice(start, min(start + _ROWS, b))
                rows = memory[: 1 + part.stop - start]
                rows[0] = out  # added up first, as if there were no parts
                np.multiply(table[tokens[part]], weights[part, None], out=rows[1:])
                np.add.reduce(rows, out=out)
        return sums

    def _norm(self, sums: np.ndarray) -> np.ndarray:
        """Return (B, D) LayerNorm of sums times √D, which stand in the same memory."""
        sums -= sums.mean(axis=1, keepdims=True)
        squares = np.einsum("bd,bd->b", sums, sums)  # (B,); the mean of those times √D
        sums *= np.sqrt(sums.shape[1] / (squares + _EPSILON))[:, None]
        sums *= self._gain
        sums += self._shift
        return sums


class BagMatches:
    """Exact matches: from tokens to their weights in manuscripts and in papers.

    :param state: weights of the lexical level, by their names in it.
    """

    def __init__(self, config: ModelConfig, state: dict[str, np.ndarray]) -> None:
        self._vocab_size, self._match_weight = config.vocab_size, config.lexical.match_weight
        self._tokens = _exponentials(state["log_weights.weight"])
        self._paper_roles = _exponentials(state["paper_roles.weight"])
        self._manuscript_roles = _exponentials(state["manuscript_roles.weight"])
        self._manuscript_roles[ABSTRACT] *= config.lexical.match_abstract
        self._saturation = float(np.exp(STEP * state["log_saturation"]))
        self._slope = float(1 / (1 + np.exp(-STEP * state["slope_logit"])))
        self._mean_length = float(state["mean_length"])

    def weigh_manuscripts(self, *read: np.ndarray) -> TokenWeights:
        """Return (B, V) weights in search, beside a cosine; arrays as :meth:`BagTower.embed`."""
        texts, tokens, tf = self._frequencies(self._manuscript_roles, *read)
        weights = tf * self._tokens[tokens]
        totals = np.maximum(np.bincount(texts, weights, len(read[2])), _SMALLEST)
        return self._rows(texts, tokens, self._match_weight * weights / totals[texts], read)

    def weigh_papers(self, *read: np.ndarray) -> TokenWeights:
        """Return (B, V) weights of papers: BM25F's saturated frequency, see ``model.lexical``."""
        texts, tokens, tf = self._frequencies(self._paper_roles, *read)
        lengths = np.bincount(texts, tf, len(read[2])) / self._mean_length
        k = self._saturation * (1 - self._slope + self._slope * lengths)
        return self._rows(texts, tokens, tf / (tf + k[texts]), read)

    def _frequencies(
        self,
        role_weights: np.ndarray,
        tokens: np.ndarray,
        lengths: np.ndarray,
        per_item: np.ndarray,
        roles: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (M,) texts, ascending, (M,) their tokens, ascending, and Σ_role weight · count."""
        kept = tokens >= len(SPECIAL_TOKENS)
        owners = np.repeat(row_numbers(per_item), lengths)[kept]
        pairs = owners * self._vocab_size + tokens[kept]
        keys = distinct(pairs)
        parts = np.repeat(role_weights[roles], lengths)[kept]
        tf = np.bincount(keys.searchsorted(pairs), weights=parts, minlength=len(keys))
        return *np.divmod(keys, self._vocab_size), tf

    def _rows(
        self, texts: np.ndarray, tokens: np.ndarray, weights: np.ndarray, read: Sequence[np.ndarray]
    ) -> TokenWeights:
        offsets = offsets_of(np.bincount(texts, minlength=len(read[2])))
        return TokenWeights(offsets, tokens, weights.astype(np.float32), self._vocab_size)


class BagReader:
    """Both towers and the exact matches of a bag; ``level_reader.LevelReader`` has this interface.

    Of each method: ``texts`` are sentences, and ``sampled`` what is read of them, by their places.
    Weights of a part are read from the file when they are first asked for.

    :param path: encoder directory, ``description`` what it says.
    :ivar reads_apart: whether no digit of a vector depends on what is read with its text.
    :raises EncoderError: weights or tokenizer are missing or damaged.
    """

    reads_apart = True

    def __init__(self, path: Path, description: EncoderDescription) -> None:
        self._file, self._config = path / WEIGHTS, description.model
        tokenizer, has = read_tokenizer(path), self._config.vocab_size
        if (known := tokenizer.get_vocab_size()) > has:
            reason = f"found vectors of {has:,} tokens, expected those of the tokenizer's {known:,}"
            raise wrong_weights(self._file, reason)
        self._tokenize = TextTokenizer(tokenizer, description.reading.sentence_tokens)
        self._names = self._checked_names()

    @property
    def num_matched(self) -> int:
        """Number of tokens V whose exact matches count; 0: they do not."""
        lexical = self._config.lexical.exact_matches
        return self._config.vocab_size if lexical else 0

    def read_ahead(self, manuscripts: Sequence[tuple[Sequence[str], SampledSentences]]) -> None:
        """Do nothing: :meth:`embed_manuscripts` reads a batch at once."""

    def embed_manuscripts(self, texts: Sequence[str], sampled: SampledSentences) -> np.ndarray:
        """Return (B, D) float32 vectors of manuscripts; ``sampled`` are places in ``texts``."""
        return self._embed(self._manuscript, texts, sampled)

    def embed_papers(self, texts: Sequence[str], sampled: SampledSentences) -> np.ndarray:
        """Return (B, D) float32 vectors of papers that may be cited."""
        return self._embed(self._citation, texts, sampled)

    def weigh_manuscripts(self, texts: Sequence[str], sampled: SampledSentences) -> TokenWeights:
        """Return (B, V) weights of the tokens of manuscripts, for search."""
        return self._read(self._matches.weigh_manuscripts, texts, sampled)

    def weigh_papers(self, texts: Sequence[str], sampled: SampledSentences) -> TokenWeights:
        """Return (B, V) weights of the tokens of papers."""
        return self._read(self._matches.weigh_papers, texts, sampled)

    def _embed(
        self, tower: BagTower, texts: Sequence[str], sampled: SampledSentences
    ) -> np.ndarray:
        """Return (B, D) vectors, made in blocks."""
        per_item, ends = sampled.per_item, offsets_of(sampled.per_item)
        vectors = np.empty((len(per_item), self._config.dim), dtype=np.float32)
        for items in budget_batches(per_item, np.arange(len(per_item)), _SENTENCES, None):
            part = slice(ends[items[0]], ends[items[-1] + 1])
            block = SampledSentences(sampled.sentences[part], per_item[items], sampled.roles[part])
            vectors[items[0] : items[-1] + 1] = self._read(tower.embed, texts, block)
        return vectors

    def _read(self, compute: Callable, texts: Sequence[str], sampled: SampledSentences) -> object:
        tokens, lengths = self._tokenize([texts[number] for number in sampled.sentences.tolist()])
        return compute(tokens, lengths, sampled.per_item, sampled.roles)

    @cached_property
    def _manuscript(self) -> BagTower:
        return self._tower("manuscript.")

    @cached_property
    def _citation(self) -> BagTower:
        return self._tower("citation.")

    @cached_property
    def _matches(self) -> BagMatches:
        return BagMatches(self._config, self._state("lexical."))

    def _tower(self, prefix: str) -> BagTower:
        vectors = TokenVectors(self._opened().get_slice(prefix + _VECTORS))
        return BagTower(self._config, vectors, self._state(prefix))

    def _state(self, prefix: str) -> dict[str, np.ndarray]:
        """Return the weights of a part but vectors, by their names in it, as float32."""
        with self._opened() as file:
            return {
                name[len(prefix) :]: file.get_tensor(name).astype(np.float32, copy=False)
                for name in self._names
                if name.startswith(prefix) and name != prefix + _VECTORS
            }

    def _checked_names(self) -> list[str]:
        """Return the names of all weights, and check their shapes."""
        with self._opened() as file:
            found = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}
        expected = shapes_of(self._config)
        if wrong := sorted(name for name, _ in found.items() ^ expected.items()):
            raise wrong_weights(self._file, f"{wrong[0]}, and {len(wrong) - 1} more")
        return list(found)

    def _opened(self) -> safe_open:
        try:
            return safe_open(self._file, framework="numpy")
        except (OSError, SafetensorError) as error:
            raise unreadable_weights(self._file, error) from error


def shapes_of(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all weights of a bag, by their names."""
    vocab, roles = config.vocab_size, len(ROLES)
    tower = {_VECTORS: (vocab, config.dim)}
    tower |= {"norm.weight": (config.dim,), "norm.bias": (config.dim,)}
    if config.bag.token_weights:
        tower["encoder.bag.log_weights.weight"] = (vocab, 1)
    if config.sentence_roles:
        tower["log_role_weights.weight"] = (roles, 1)
    shapes = {f"{n}.{k}": v for n in ("manuscript", "citation") for k, v in tower.items()}
    if config.lexical.exact_matches:
        shapes |= {"lexical.log_weights.weight": (vocab, 1), "lexical.mean_length": ()}
        shapes |= {f"lexical.{n}_roles.weight": (roles, 1) for n in ("paper", "manuscript")}
        shapes |= {"lexical.log_saturation": (), "lexical.slope_logit": (), "lexical.log_scale": ()}
    return shapes


def _exponentials(logarithms: np.ndarray | None) -> np.ndarray | None:
    """Return (V,) positive weights from a table (V, 1) of their logarithms."""
    return None if logarithms is None else np.exp(STEP * logarithms[:, 0].astype(np.float64))
