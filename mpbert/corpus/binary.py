"""Binary corpus: token ids of all sentences as one memory-mapped array, and the contexts.

Written by ``binarize``; read by pretraining, fine-tuning and embedding, none of which sees text.
The first sentence of a paper is its title. Sentence numbers count all sentences of the corpus.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from mpbert.corpus.splits import SPLITS
from mpbert.foundation.arrays import load_array
from mpbert.foundation.errors import CorpusError
from mpbert.foundation.manifest import check_format
from mpbert.foundation.ragged import offsets_of, ranges


@dataclass(frozen=True)
class BinaryContexts:
    """Citation contexts of one split.

    :param sentences: (Q,) sentence number of the citing sentence; ``citing_rows`` (Q,) its paper.
    :param cited_offsets: (Q + 1,) context i cites ``cited_rows[cited_offsets[i]:...[i + 1]]``.
    :param is_repeat: (Q,) bool, whether an earlier context of its split is the same; never in
        training.
    """

    citing_rows: np.ndarray
    sentences: np.ndarray
    cited_offsets: np.ndarray
    cited_rows: np.ndarray
    is_repeat: np.ndarray

    def __len__(self) -> int:
        return len(self.citing_rows)


_MOST_OFFSETS = 1 << 26  # sentences whose offsets are all kept in memory: half a GiB
_BLOCK = 256  # sentences, of the first of which the offset is kept where there are more


class BinaryCorpus:
    """A directory made by ``binarize``; arrays are mapped, not loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not (path / "tokens.npy").is_file() or not (path / "meta.json").is_file():
            raise CorpusError(
                f"{path}: found no tokens.npy and meta.json; expected an output of mpbert binarize"
            )
        check_format(path)

    def _map(self, name: str) -> np.ndarray:
        try:
            return load_array(self.path / f"{name}.npy")
        except (OSError, ValueError, EOFError) as error:
            raise self._unreadable(f"{name}.npy", error) from error

    def _read(self, name: str) -> str:
        try:
            return (self.path / name).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise self._unreadable(name, error) from error

    def _unreadable(self, name: str, error: Exception) -> CorpusError:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        return CorpusError(f"{self.path / name}: unreadable ({reason}); run mpbert binarize again")

    @cached_property
    def tokens(self) -> np.ndarray:
        """(T,) uint16 or int32: token ids, each sentence ended by ``<S_SEP>``."""
        return self._map("tokens")

    @cached_property
    def token_offsets(self) -> np.ndarray:
        """(S + 1,) int64: sentence s owns ``tokens[token_offsets[s]:token_offsets[s + 1]]``."""
        return offsets_of(self._map("sentence_lengths"))

    @cached_property
    def sentence_offsets(self) -> np.ndarray:
        """(N + 1,) int64: paper r owns sentences ``sentence_offsets[r]`` and following."""
        return offsets_of(self._map("paper_lengths"))

    @cached_property
    def num_abstract(self) -> np.ndarray:
        """(N,) sentences of title and abstract."""
        return np.asarray(self._map("num_abstract"))

    @cached_property
    def splits(self) -> np.ndarray:
        """(N,) uint8: place of each paper's split in ``SPLITS``."""
        return np.asarray(self._map("splits"))

    @property
    def num_papers(self) -> int:
        """Number N of papers."""
        return len(self.splits)

    @cached_property
    def paper_ids(self) -> list[str]:
        """Ids of the papers, by row."""
        return self._read("papers.ids.txt").split("\n")[:-1]

    def context_ids(self, split: str) -> list[str]:
        """Ids of the contexts of a split, in their order."""
        return self._read(f"contexts.{split}.ids.txt").split("\n")[:-1]

    def contexts(self, *splits: str) -> BinaryContexts:
        """Return the contexts of splits; training asks for no other than its own."""

        def joined(name: str) -> np.ndarray:
            return np.concatenate([self._map(f"contexts.{split}.{name}") for split in splits])

        names = ("citing_rows", "sentences", "cited_rows", "is_repeat")
        citing, sentences, cited, is_repeat = map(joined, names)
        counts = [np.diff(self._map(f"contexts.{split}.cited_offsets")) for split in splits]
        offsets = offsets_of(np.concatenate(counts))
        return BinaryContexts(citing, sentences, offsets, cited, is_repeat)

    def distinct_contexts(self, split: str) -> BinaryContexts:
        """Return the contexts of one split that repeat no other."""
        contexts = self.contexts(split)
        kept = np.flatnonzero(~contexts.is_repeat)
        counts = np.diff(contexts.cited_offsets)[kept]
        return BinaryContexts(
            contexts.citing_rows[kept],
            contexts.sentences[kept],
            offsets_of(counts),
            contexts.cited_rows[ranges(contexts.cited_offsets[kept], counts)],
            contexts.is_repeat[kept],
        )

    def training_contexts(self, known: Sequence[str] = ("train",)) -> BinaryContexts:
        """Return the contexts that train, less citations of papers whose text is not for training.

        :param known: splits whose contexts and papers train.
        """
        contexts = self.contexts(*known)
        places = [SPLITS.index(split) for split in known]
        kept = np.isin(self.splits[contexts.cited_rows], places)
        offsets = np.concatenate([[0], np.cumsum(kept)])[contexts.cited_offsets]
        return replace(contexts, cited_offsets=offsets, cited_rows=contexts.cited_rows[kept])

    @cached_property
    def _meta(self) -> dict[str, int]:
        text = self._read("meta.json")
        try:
            meta = json.loads(text)
            return {name: int(meta[name]) for name in ("vocab_size", "max_tokens")}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._unreadable("meta.json", error) from error

    @property
    def vocab_size(self) -> int:
        """Tokens of the tokenizer, special ones included."""
        return self._meta["vocab_size"]

    @property
    def sentence_tokens(self) -> int:
        """Tokens at which sentences were cut, without the separator."""
        return self._meta["max_tokens"]

    def token_counts(self) -> np.ndarray:
        """Return (V,) how often each token occurs in papers of the training split."""
        counts = np.zeros(self.vocab_size, dtype=np.int64)
        offsets = self.token_offsets[self.sentence_offsets]
        for row in np.flatnonzero(self.splits == SPLITS.index("train")):
            part = self.tokens[offsets[row] : offsets[row + 1]]
            counts += np.bincount(part, minlength=self.vocab_size)
        return counts

    def gather(self, sentences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the tokens of sentences, one after another, and (S,) their lengths."""
        lengths = self._lengths[sentences].astype(np.int64)
        return np.asarray(self.tokens[ranges(self._starts(sentences), lengths)]), lengths

    @cached_property
    def _lengths(self) -> np.ndarray:
        return self._map("sentence_lengths")

    def _starts(self, sentences: np.ndarray) -> np.ndarray:
        """Return (S,) ``token_offsets[sentences]``; of a large corpus without making them all."""
        if len(self._lengths) <= _MOST_OFFSETS:
            return self.token_offsets[sentences]
        blocks, block_of = np.unique(sentences // _BLOCK, return_inverse=True)
        places = blocks[:, None] * _BLOCK + np.arange(_BLOCK)
        lengths = self._lengths[np.minimum(places, len(self._lengths) - 1)]
        before = np.cumsum(lengths, axis=1, dtype=np.int64) - lengths  # (blocks, _BLOCK)
        return self._block_offsets[blocks][block_of] + before[block_of, sentences % _BLOCK]

    @cached_property
    def _block_offsets(self) -> np.ndarray:
        """Offsets of each ``_BLOCK``-th sentence."""
        starts = np.arange(0, len(self._lengths), _BLOCK)
        return offsets_of(np.add.reduceat(self._lengths, starts, dtype=np.int64))
