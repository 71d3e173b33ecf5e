import hashlib
import random
import subprocess
import sys
from itertools import chain

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from mpbert.corpus import subwords
from mpbert.corpus.special_tokens import END, SENTENCE_MASK, SEPARATOR, SPECIAL_TOKENS
from mpbert.corpus.subwords import MAX_LETTERS, TextTokenizer, train_tokenizer

TEXTS = ["The parser parses Parsing, parsers; ﬁne naïve.", "a parse of the fine text"] * 5


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(lambda: TEXTS, 300, len(TEXTS))


def pieces(tokenizer, tokens):
    return [tokenizer.id_to_token(int(token)) for token in tokens]


def test_special_tokens_have_the_ids_that_the_arrays_use(tokenizer):
    for number, token in zip((0, END, SEPARATOR, SENTENCE_MASK), SPECIAL_TOKENS, strict=True):
        assert tokenizer.token_to_id(token) == number


def test_words_are_folded_and_begin_with_a_mark(tokenizer):
    tokens, lengths = TextTokenizer(tokenizer, 50)(["The FINE ﬁne parse"])
    text = "".join(pieces(tokenizer, tokens[:-1]))
    assert text == "▁the▁fine▁fine▁parse"
    assert lengths.tolist() == [len(tokens)]


def test_every_sentence_ends_with_a_separator_and_long_ones_are_cut(tokenizer):
    tokens, lengths = TextTokenizer(tokenizer, 5)(["the text", "", "the " * 30, "日本"])
    assert lengths.tolist()[1:3] == [1, 6]
    ends = lengths.cumsum() - 1
    assert (tokens[ends] == SEPARATOR).all()
    assert (tokens == SEPARATOR).sum() == 4
    assert SPECIAL_TOKENS.index("<unk>") in tokens[ends[2] + 1 :]


def test_no_text_gives_no_token(tokenizer):
    tokens, lengths = TextTokenizer(tokenizer, 5)([])
    assert (len(tokens), len(lengths)) == (0, 0)


def drawn_texts(number):
    """Texts of words, spaces of all kinds, punctuation, and letters that normalisation moves."""
    draw = random.Random(7)
    letters = [*"the parser TEXT,.;:-()[]<>/'\"", " ", " ", " ", "  ", "\t", "\n", "\x1c", "\x85"]
    letters += [
        "\u00a0",
        "\u2003",
        "\u0301",
        "\u00a8",
        "ﬁ",
        "é",
        "ß",
        "Σ",
        "日",
        "각",
        "\u1100",
        "\u1161",
    ]
    letters += [*SPECIAL_TOKENS, "▁", "½", "𝔸", "\u200d", "ǅ", "İ"]
    return ["".join(draw.choices(letters, k=draw.randrange(60))) for _ in range(number)]


@pytest.fixture(scope="module")
def ascii_tokenizer():
    """Knows each letter of ASCII: words with one that it does not know are cut another way."""
    texts = [*TEXTS, *map(chr, range(128)), *map(chr, range(128))]
    return train_tokenizer(lambda: texts, 400, len(texts))


@pytest.mark.parametrize("joined", [1, 2, 64])
@pytest.mark.parametrize("trained", ["tokenizer", "ascii_tokenizer"])
def test_word_by_word_the_tokens_are_those_of_the_library(trained, request, monkeypatch, joined):
    tokenizer = request.getfixturevalue(trained)
    monkeypatch.setattr(subwords, "_JOINED", joined)
    monkeypatch.setattr(subwords, "_TEXTS", 64)
    monkeypatch.setattr(subwords, "_LETTERS", 2000)  # what is known is forgotten now and then
    texts = [f"a{x}b x{x} {x}y {x}" for x in map(chr, range(128))] + drawn_texts(3000) + TEXTS
    by_word = TextTokenizer(tokenizer, 12)
    assert by_word._by_word
    for _ in range(2):  # unknown words, then known ones
        tokens, lengths = by_word(texts)
        whole = [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)]
        expected = [[*ids[:12], SEPARATOR] for ids in whole]
        assert lengths.tolist() == list(map(len, expected))
        assert tokens.tolist() == list(chain.from_iterable(expected))


def test_joined_words_are_cut_by_themselves_only_where_one_holds_the_mark(tokenizer, monkeypatch):
    cut = []
    read = TextTokenizer(tokenizer, 50)
    ids_of = read._ids

    def recorded(texts):
        cut.extend(texts)
        return ids_of(texts)

    monkeypatch.setattr(read, "_ids", recorded)
    read([f"the{number}" for number in range(100)])
    assert not cut
    texts = ["日", "the▁text", "▁", "w"]  # of a "w" this tokenizer makes a mark and a letter
    tokens, lengths = read(texts)
    assert sorted(cut) == sorted(texts)
    expected = [[*tokenizer.encode(text).ids, SEPARATOR] for text in texts]
    assert tokens.tolist() == list(chain.from_iterable(expected))
    assert lengths.tolist() == list(map(len, expected))


def test_a_tokenizer_that_cuts_texts_off_or_ends_words_by_itself_reads_whole_texts(tokenizer):
    texts = ["日 本 the text", "the parser " * 40]
    known = {"vocab": tokenizer.get_vocab(), "merges": [], "unk_token": SPECIAL_TOKENS[0]}
    ends_words = models.BPE(**known, end_of_word_suffix="</w>")
    for change in ("truncation", "model"):
        other = Tokenizer.from_str(tokenizer.to_str())
        if change == "truncation":
            other.enable_truncation(7)
        else:
            other.model = ends_words
        tokens, _ = TextTokenizer(other, 50)(texts)
        expected = [[*other.encode(text).ids[:50], SEPARATOR] for text in texts]
        assert tokens.tolist() == list(chain.from_iterable(expected))


def test_a_tokenizer_whose_tokens_may_hold_spaces_reads_whole_texts(tokenizer):
    other = Tokenizer.from_str(tokenizer.to_str())
    other.pre_tokenizer = pre_tokenizers.Metaspace("▁", "never", split=False)
    added = Tokenizer.from_str(tokenizer.to_str())
    added.add_tokens(["the text"])
    text = "the text of the parser"
    for one in (other, added):
        tokens, _ = TextTokenizer(one, 50)([text])
        whole, *words = (one.encode(part).ids for part in (text, *text.split(" ")))
        assert tokens.tolist() == [*whole, SEPARATOR]
        assert whole != list(chain.from_iterable(words))


def test_a_tokenizer_that_pads_adds_nothing_to_words(tokenizer):
    padding = Tokenizer.from_str(tokenizer.to_str())
    padding.enable_padding(length=8)
    texts = ["the text", "日 of the parser"]
    expected, found = (TextTokenizer(one, 50)(texts) for one in (tokenizer, padding))
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]


@pytest.mark.parametrize("special", SPECIAL_TOKENS)
def test_special_tokens_in_a_text_are_plain_text(tokenizer, special):
    reloaded = Tokenizer.from_str(tokenizer.to_str())
    for one in (tokenizer, reloaded):
        tokens, _ = TextTokenizer(one, 50)([f"the {special} text"])
        inside = set(tokens[:-1].tolist())
        assert not inside & {END, SEPARATOR, SENTENCE_MASK}


TRAIN_IN_ANOTHER_PROCESS = """
import hashlib, random
from mpbert.corpus.subwords import train_tokenizer
draw = random.Random(1)
letters = [chr(0x4E00 + n) for n in range(900)] + list("abcdefgh")
texts = ["".join(draw.choices(letters, k=40)) + " " + "".join(draw.choices("abcdefgh", k=9))
         for _ in range(200)]
print(hashlib.sha256(train_tokenizer(lambda: texts, 900, 200).to_str().encode()).hexdigest())
"""


def test_the_same_texts_give_the_same_tokenizer_in_another_process():
    draw = random.Random(1)
    letters = [chr(0x4E00 + n) for n in range(900)] + list("abcdefgh")
    texts = [
        "".join(draw.choices(letters, k=40)) + " " + "".join(draw.choices("abcdefgh", k=9))
        for _ in range(200)
    ]
    here = train_tokenizer(lambda: texts, 900, 200).to_str()
    assert len(set("".join(texts))) > MAX_LETTERS
    found = subprocess.run(
        [sys.executable, "-c", TRAIN_IN_ANOTHER_PROCESS], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert found == hashlib.sha256(here.encode()).hexdigest()
