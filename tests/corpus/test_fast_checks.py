"""Quick looks at a sentence give what the plain, slow pattern gives."""

import re
import unicodedata

import numpy as np
import pytest

from mpbert.citations.bibliography import _is_strong
from mpbert.citations.finder import _may_cite
from mpbert.corpus.raw.extracted_text import debris
from mpbert.corpus.text import MARKER_LIKE, clean_characters, find_marker_like

STRONG = re.compile(
    r"^\W*(?:1[89]|20)\d\d[a-h]?\W*$|\b[Ii]n:?\s(?:[A-Z][\w.]+\s){0,2}Proc|\bProceedings\s(?:of|the)"
    r"|\bProc\.|\bpages?\s\d+\W|\bpp\.?\s?\d|\bUniversity Press\b|\b[Tt]echnical [Rr]eport\b"
    r"|\bPh\.?\s?D\.?\s[Tt]hesis|\b[Dd]issertation\b|\d+\s?\(\d+(?:[-–/]\d+)?\)\s?[:,]"
    r"|\b[Vv]ol(?:ume|\.)\s?\d|\beds?\.|\(eds?\b|\b[Ee]ditors?\b|\barXiv\b|\bAcademic Press\b"
    r"|\bMIT Press\b|\bSpringer\b|\bKluwer\b|\bElsevier\b|\bVerlag\b|\bJournal of\b"
)
STRONG_SENTENCES = (
    "(2003b).|In Proc|in: The Annual Proc|Proceedings of it|Proceedings the|Proc. 3|page 1-8|pp. 3|"
    "pages 12, 13|pp 3|MIT University Press|a Technical Report|technical report|Ph.D. Thesis|"
    "Vol. 3|PhD thesis|A Dissertation|dissertation|12(3): 4|12 (3-4) ,|volume 3|In ed. by|eds. A|"
    "(ed A|(eds A|editors|Editor|arXiv|Academic Press|MIT Press|Springer|Kluwer|Elsevier|Verlag|"
    "Journal of"
).split("|")
MAY_CITE = re.compile(
    r"\d\d|\[\s?\d|et al|in press|to appear|forthcoming|this volume|in prep|submitted"
)
PIECES = (
    "(|[|)|]| |, |-|a|Koo| et al. | and |see |1|12|1999|2008a|RFC|rfc|Rfc-|STD|BCP|IEN |٣٣|20٣٣|[ |"
    "in press|to appear|forthcoming|this volume|in prep|submitted|pp|page|ed.|Proc|Journal|"
    "Koo (1999)|(Koo, 20٣٣|[12]|[1, 2"
).split("|")


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(1)
    chosen = ["".join(rng.choice(PIECES, size)) for size in rng.integers(1, 8, 4000)]
    return [*chosen, *STRONG_SENTENCES, *(s.lower() for s in STRONG_SENTENCES)]


@pytest.mark.parametrize("sentence", STRONG_SENTENCES)
def test_every_sign_of_a_reference_is_found(sentence):
    assert STRONG.search(sentence)
    assert _is_strong(sentence)
    assert _is_strong(f"({sentence}), ") == bool(STRONG.search(f"({sentence}), "))


def test_signs_of_references_are_those_of_one_pattern(texts):
    expected = [STRONG.search(text) is not None for text in texts]
    assert [_is_strong(text) for text in texts] == expected
    assert 100 < sum(expected) < len(expected) - 100


def test_what_may_cite_is_what_one_pattern_finds(texts):
    expected = [MAY_CITE.search(text) is not None for text in texts]
    assert [_may_cite(text) for text in texts] == expected
    assert 100 < sum(expected) < len(expected) - 100


def test_hints_hide_no_marker(texts):
    def plain(text):
        return next((kind for kind, found in MARKER_LIKE.items() if found.search(text)), None)

    expected = [plain(text) for text in texts]
    assert [find_marker_like(text) for text in texts] == expected
    assert all(expected.count(kind) > 5 for kind in MARKER_LIKE)


def test_every_character_is_cleaned_alike_in_plain_text():
    removed = re.compile("[\u00ad\u200b-\u200f\u2060]")
    control = re.compile(r"[\x00-\x1f\x7f-\x9f\ufeff\ufffe\uffff\u2028\u2029\ud800-\udfff]")
    for character in map(chr, [*range(0x3100), 0xFEFF, 0xFFFE, 0xFB01, 0x1D400]):
        for text in (f" a{character}b  c", f"{character}a {character}b"):
            spaced = unicodedata.normalize("NFC", control.sub(" ", text))
            assert clean_characters(text) == re.sub(r"\s+", " ", removed.sub("", spaced)).strip()


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("x = 2 a b", "debris_without_words"),
        ("", "debris_without_words"),
        ("x " * 200 + "two words", "debris_without_words"),  # beyond the first 400 characters
        ("NP 12", "single_words"),
        ("NP VP", None),
        ("Ab1cd", None),  # two runs of letters
    ],
)
def test_debris_is_what_holds_fewer_than_two_words(sentence, kind):
    assert debris(sentence) == kind
