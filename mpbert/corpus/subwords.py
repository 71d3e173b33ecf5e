"""The subword tokenizer, trained on the training split of a corpus, and sentences as token ids."""

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count, islice, pairwise

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from mpbert.corpus.special_tokens import SEPARATOR, SPECIAL_TOKENS
from mpbert.foundation.lazy_patterns import lazy_re
from mpbert.foundation.ragged import offsets_of, ranges
from mpbert.foundation.ragged_rows import Ragged

# the children that fairseq starts for data never tokenise; say so before tokenizers warns of forks
os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")

WORD_MARK = "▁"
_BETWEEN = "\0"  # stands between words that are cut as one text
_PUNCTUATION = lazy_re(f"([^a-z0-9 {_BETWEEN}])")  # of lower-case ASCII
_AT_ONCE = 10_000  # texts whose letters are counted together
MAX_LETTERS = 500  # the Latin, Greek and mathematical letters of papers
NORMALIZER = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
CUTTER = pre_tokenizers.Sequence(
    [pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Metaspace(WORD_MARK, "always")]
)
_FEW = 16  # texts of a question
_TEXTS = 4096  # whose words lie in memory at once
_LETTERS = 1 << 20  # of words that are remembered, 30 MiB with their tokens
_JOINED = 64  # words that the library cuts as one text, which takes half the time


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
    tokenizer.normalizer, tokenizer.pre_tokenizer = NORMALIZER, CUTTER
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


class TextTokenizer:
    """Texts to token ids, remembering the ids of words; threads may share it.

    No token of :func:`train_tokenizer` reaches over a space, and words come again and again: to
    look one up is ten times as fast as to cut it. Of any other tokenizer a text is one word.
    What looks like a special token in a text ("</s>" in papers on language models) is plain text.

    :param tokenizer: the library's; it is told to read special tokens as text, and not to pad.
    :param sentence_tokens: longest sentence without its separator; the rest is cut off.
    """

    def __init__(self, tokenizer: Tokenizer, sentence_tokens: int) -> None:
        tokenizer.encode_special_tokens = True
        tokenizer.no_padding()
        self.tokenizer, self._most = tokenizer, sentence_tokens
        self._by_word = _cuts_at_spaces(tokenizer)
        self._mark = tokenizer.token_to_id(WORD_MARK)
        self._of_pieces = Tokenizer(tokenizer.model)  # of what is normalized and cut at spaces
        self._of_pieces.pre_tokenizer = pre_tokenizers.CharDelimiterSplit(" ")
        self._known: dict[str, list[int]] = {}
        self._letters = 0  # of the words that are known

    def __call__(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return token ids of sentences, one after another, and their lengths.

        :returns: (N,) int64 ids with ``<S_SEP>`` at the end of each sentence, and (S,) int64.
        """
        parts = [self._some(texts[i : i + _TEXTS]) for i in range(0, max(len(texts), 1), _TEXTS)]
        tokens, lengths = (np.concatenate(each) for each in zip(*parts, strict=True))
        return tokens, lengths

    def _some(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        words = [text.split(" ") for text in texts] if self._by_word else [[t] for t in texts]
        numbers: defaultdict[str, int] = defaultdict(count().__next__)  # of each new word the next
        num_words = np.fromiter(map(len, words), dtype=np.int64, count=len(texts))
        places = map(numbers.__getitem__, chain.from_iterable(words))
        places = np.fromiter(places, dtype=np.int64, count=num_words.sum())
        ids = self._known_ids(list(numbers)).take(places).merged(num_words)
        lengths = np.minimum(ids.lengths, self._most)
        tokens = np.full(lengths.sum() + len(lengths), SEPARATOR, dtype=np.int64)
        tokens[ranges(offsets_of(lengths + 1)[:-1], lengths)] = ids.cut(self._most).items
        return tokens, lengths + 1

    def _known_ids(self, words: list[str]) -> Ragged:
        """Return the ids of distinct words, and remember those that are new."""
        if self._letters > _LETTERS:
            self._known, self._letters = {}, 0  # another thread may still read the old ones
        known = self._known
        if new := [word for word in words if word not in known]:
            kinds: tuple[list[str], list[str]] = [], []
            for word in new:
                kinds[self._by_word and _is_plain(word)].append(word)
            other, plain = kinds
            known.update(zip(plain, self._cut(plain), strict=True))
            known.update(zip(other, self._ids(other), strict=True))
            self._letters += sum(map(len, new))
        found = [known[word] for word in words]
        lengths = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
        items = np.fromiter(chain.from_iterable(found), dtype=np.int64, count=lengths.sum())
        return Ragged.of_lengths(items, lengths)

    def _cut(self, words: list[str]) -> Iterator[list[int]]:
        """Yield the ids of each plain word; many are cut as one text, with a mark between them."""
        groups = [words[i : i + _JOINED] for i in range(0, len(words), _JOINED)]
        cut = self._of_pieces.encode_batch_fast(list(map(_pieces, groups)))
        for group, ids in zip(groups, (each.ids for each in cut), strict=True):
            ends = [i for i, token in enumerate(ids) if token == self._mark]
            if len(ends) == len(group) - 1:
                yield from (ids[a + 1 : b] for a, b in pairwise([-1, *ends, len(ids)]))
            else:  # the token of the mark is in a word, too: a rare letter follows it there
                yield from self._ids(group)

    def _ids(self, texts: list[str]) -> Iterator[list[int]]:
        if len(texts) <= _FEW:  # cut before a second thread has woken up
            return (self.tokenizer.encode(text, add_special_tokens=False).ids for text in texts)
        found = self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return (each.ids for each in found)


def _is_plain(word: str) -> bool:
    """Tell whether :func:`_pieces` normalizes and cuts a word as the tokenizer does."""
    return word.isascii() and word.isprintable()


def _pieces(words: list[str]) -> str:
    """Return what NORMALIZER and CUTTER make of plain words; they take twice as long.

    A space divides the pieces, each of which begins with a mark. A mark alone divides words.
    """
    text = f" {_BETWEEN} ".join(words).lower()
    pieces = " ".join(_PUNCTUATION.split(text)).split()
    return (WORD_MARK + f" {WORD_MARK}".join(pieces)).replace(_BETWEEN, "")


def _cuts_at_spaces(tokenizer: Tokenizer) -> bool:
    """Tell whether the words of a text, each by itself, have the tokens of the text."""
    found = tokenizer.normalizer, tokenizer.pre_tokenizer
    if list(map(repr, found)) != list(map(repr, (NORMALIZER, CUTTER))) or tokenizer.truncation:
        return False
    if not all(added.special for added in tokenizer.get_added_tokens_decoder().values()):
        return False  # one may hold a space, and ``_of_pieces`` knows none of them
    mark = tokenizer.encode(WORD_MARK, add_special_tokens=False).ids  # one token, of nothing else
    dropout = getattr(tokenizer.model, "dropout", None)
    return mark == [tokenizer.token_to_id(WORD_MARK)] and not dropout
