"""The subword tokenizer, trained on the training split of a corpus, and sentences as token ids."""

import os
from collections.abc import Iterable, Sequence

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from mpbert.data.binary import SEPARATOR, SPECIAL_TOKENS
from mpbert.data.ragged import offsets_of, ranges

# the children that fairseq starts for data never tokenise; say so before tokenizers warns of forks
os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")


def train_tokenizer(texts: Iterable[str], vocab_size: int, num_texts: int) -> Tokenizer:
    """Return a lower-casing byte-pair tokenizer (Sennrich et al., ACL 2016) of these texts.

    :param vocab_size: V, special tokens included; fewer if the texts hold fewer pairs.
    :param num_texts: number of texts, for the progress bar.
    """
    tokenizer = Tokenizer(models.BPE(unk_token=SPECIAL_TOKENS[0]))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(SPECIAL_TOKENS),
        continuing_subword_prefix="##",
        min_frequency=2,
        limit_alphabet=500,  # the Latin, Greek and mathematical letters of papers
        show_progress=os.isatty(2),
    )
    tokenizer.train_from_iterator(texts, trainer, length=num_texts)
    return tokenizer


def tokenize(
    tokenizer: Tokenizer, texts: Sequence[str], max_tokens: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return token ids of sentences, one after another, and their lengths.

    :param max_tokens: longest sentence without its separator; the rest is cut off.
    :returns: (N,) int64 ids with ``<S_SEP>`` at the end of each sentence, and (S,) int64 lengths.
    """
    ids = [e.ids for e in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]
    full = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
    flat = np.concatenate([np.asarray(row, dtype=np.int64) for row in ids] or [np.zeros(0, int)])
    kept = np.minimum(full, max_tokens)
    tokens = np.full(int(kept.sum()) + len(kept), SEPARATOR, dtype=np.int64)
    tokens[ranges(offsets_of(kept + 1)[:-1], kept)] = flat[ranges(offsets_of(full)[:-1], kept)]
    return tokens, kept + 1
