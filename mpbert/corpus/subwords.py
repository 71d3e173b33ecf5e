"""The subword tokenizer, trained on the training split of a corpus, and sentences as token ids."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from mpbert.corpus.binary import SEPARATOR, SPECIAL_TOKENS
from mpbert.foundation.ragged import offsets_of, ranges

# the children that fairseq starts for data never tokenise; say so before tokenizers warns of forks
os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")

WORD_MARK = "▁"
_AT_ONCE = 10_000  # texts whose letters are counted together
MAX_LETTERS = 500  # the Latin, Greek and mathematical letters of papers


def train_tokenizer(
    read_texts: Callable[[], Iterable[str]], vocab_size: int, num_texts: int
) -> Tokenizer:
    """Return a lower-casing byte-pair tokenizer (Sennrich et al., ACL 2016) of these texts.

    The same texts give the same tokenizer: the library numbers "##" pieces, and picks among equally
    rare letters, in the random order of a hash table; hence words begin with a mark instead, and
    the letters are chosen here.

    :param read_texts: yields the texts; called twice.
    :param vocab_size: V, special tokens included; fewer if the texts hold fewer pairs.
    :param num_texts: number of texts, for the progress bar.
    """
    tokenizer = Tokenizer(models.BPE(unk_token=SPECIAL_TOKENS[0]))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Metaspace(WORD_MARK, "always")]
    )
    letters = _letters(read_texts(), tokenizer.normalizer)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(SPECIAL_TOKENS),
        min_frequency=2,
        initial_alphabet=letters,
        limit_alphabet=len(letters),
        show_progress=os.isatty(2),
    )
    tokenizer.train_from_iterator(read_texts(), trainer, length=num_texts)
    return tokenizer


def _letters(texts: Iterable[str], normalizer: normalizers.Normalizer) -> list[str]:
    """Return the mark of words and the most frequent letters, ties in the order of Unicode."""
    counts, rest = np.zeros(sys.maxunicode + 1, dtype=np.int64), iter(texts)
    while some := list(islice(rest, _AT_ONCE)):
        codes = np.frombuffer("".join(some).encode("utf-32-le"), dtype="<u4")
        counts += np.bincount(codes, minlength=len(counts))
    folded: Counter[str] = Counter()
    for code in np.flatnonzero(counts).tolist():
        letter, count = chr(code), int(counts[code])
        for part in normalizer.normalize_str(letter).split():
            folded.update(dict.fromkeys(part, count))
    ranked = sorted(folded, key=lambda letter: (-folded[letter], letter))
    return [WORD_MARK, *ranked[: MAX_LETTERS - 1]]


def tokenize(
    tokenizer: Tokenizer, texts: Sequence[str], sentence_tokens: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return token ids of sentences, one after another, and their lengths.

    What looks like a special token in a text ("</s>" in papers on language models) is plain text.

    :param sentence_tokens: longest sentence without its separator; the rest is cut off.
    :returns: (N,) int64 ids with ``<S_SEP>`` at the end of each sentence, and (S,) int64 lengths.
    """
    if not tokenizer.encode_special_tokens:  # set once: another thread may be reading
        tokenizer.encode_special_tokens = True  # as the text that they are
    ids = [e.ids for e in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]
    full = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
    flat = np.fromiter(chain.from_iterable(ids), dtype=np.int64, count=int(full.sum()))
    kept = np.minimum(full, sentence_tokens)
    tokens = np.full(int(kept.sum()) + len(kept), SEPARATOR, dtype=np.int64)
    tokens[ranges(offsets_of(kept + 1)[:-1], kept)] = flat[ranges(offsets_of(full)[:-1], kept)]
    return tokens, kept + 1
